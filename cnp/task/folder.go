package task

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/internal/raster"
)

// FolderOptions say which images of a folder are wanted.
type FolderOptions struct {
	// Channels is 1 for grey, to which colour images are converted (their luma), or 3 for colour, where grey images get
	// three equal channels.
	Channels int
	// H and W are the size; 0, 0 is that of the first readable image, which most of the others must then have, too.
	H, W int
	// Resize scales every image until it covers H x W, which must then be given, and cuts off what juts out.
	Resize bool
}

// ReadFolder reads the PNG, JPEG and TIFF images of a folder and those below it, in the order of their paths. Other files do not
// count; images that cannot be read or, unless they are resized, have another size are left out and listed in Skipped. Errors
// name the folder: where it has no usable image, they name the first one that was skipped.
func ReadFolder(dir string, opt FolderOptions) (*ImageSet, error) {
	if opt.Channels != 1 && opt.Channels != 3 {
		return nil, fmt.Errorf("task: images of %d channels, need 1 (grey) or 3 (colour)", opt.Channels)
	}
	if err := sized(1, opt.Channels, opt.H, opt.W); err != nil && opt.Resize {
		return nil, fmt.Errorf("task: images are resized to %d x %d pixels: %w", opt.W, opt.H, err)
	}
	var paths []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch strings.ToLower(filepath.Ext(path)) {
		case ".png", ".jpg", ".jpeg", ".tif", ".tiff":
			// Pipes and devices, which may never end, are no images; links to files are.
			if info, err := os.Stat(path); d.Type().IsRegular() || err == nil && info.Mode().IsRegular() {
				paths = append(paths, path)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	resized := 0
	s := &ImageSet{Name: dir, C: opt.Channels, H: opt.H, W: opt.W}
	first, others := "", 0 // the image that settles the size, and how many have another one
	for _, path := range paths {
		im, err := raster.ReadChannels(path, opt.Channels)
		if err == nil && s.H == 0 && s.W == 0 {
			s.H, s.W, first = im.H, im.W, path
		}
		if err == nil && opt.Resize && (im.H != s.H || im.W != s.W) {
			im, resized = im.Cover(s.H, s.W), resized+1
		}
		if err == nil && (im.H != s.H || im.W != s.W) {
			others++
			whose := "wanted are"
			if first != "" {
				whose = "the first image has"
			}
			err = fmt.Errorf("%s: %w: %d x %d pixels, %s %d x %d", path, raster.ErrSize, im.W, im.H, whose, s.W, s.H)
		}
		if err != nil {
			s.Skipped = append(s.Skipped, err.Error())
			continue
		}
		if !slices.ContainsFunc(im.Pix, func(v float32) bool { return v == v }) {
			s.Skipped = append(s.Skipped, fmt.Sprintf("%s: %v: it has no value at all", path, ErrData))
			continue
		}
		s.N++
		if err := sized(s.N, s.C, s.H, s.W); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		s.Pix = append(s.Pix, im.Pix...)
	}
	switch {
	case first != "" && others > s.N:
		return nil, fmt.Errorf("%s: %w: the images have several sizes: %d have not the %d x %d pixels of the first, %s; "+
			"resize them, or say which size to use, and the others are left out", dir, ErrData, others, s.W, s.H, first)
	case s.N == 0 && len(s.Skipped) > 0:
		return nil, fmt.Errorf("%s: %w: none of %d images is usable, the first is not: %s", dir, ErrData, len(s.Skipped), s.Skipped[0])
	case s.N == 0:
		return nil, fmt.Errorf("%s: %w: no PNG, JPEG or TIFF image in it", dir, ErrData)
	}
	if resized > 0 {
		s.Name += fmt.Sprintf(" with %d resized", resized)
	}
	return s, nil
}
