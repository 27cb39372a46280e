package raster

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// maxWorldFile bounds the bytes of a world file, six numbers, and maxBeside those of other files that are looked into.
const (
	maxWorldFile = 1 << 10
	maxBeside    = 1 << 22
)

// Unread says what files beside the raster, which are not read, say of it: GDAL's .aux.xml, .prj and, unless the raster is a TIFF file,
// .msk.
func (s *Strips) Unread(p *Place) (notes []string) {
	name := s.file.Name()
	base := strings.TrimSuffix(name, filepath.Ext(name))
	note := func(file, what string) { notes = append(notes, fmt.Sprintf("%s is not read: it says %s", file, what)) }
	there := func(file string) bool {
		info, err := os.Stat(file)
		return err == nil && info.Mode().IsRegular()
	}
	if file := name + ".msk"; s.picture == nil && there(file) {
		note(file, "which pixels have values; give it as the mask")
	}
	for _, file := range []string{name + ".aux.xml", base + ".aux.xml"} {
		if !there(file) {
			continue
		}
		text := string(head(file, maxBeside))
		if strings.Contains(text, "<NoDataValue") && !s.absent() {
			note(file, "which value stands for none")
		}
		if strings.Contains(text, "<SRS") && !p.has(tagGeoKeys) {
			note(file, "in which coordinates pixels are")
		} else if strings.Contains(text, "<GeoTransform") && !p.Located() {
			note(file, "where pixels are")
		}
	}
	if file := base + ".prj"; there(file) && !p.has(tagGeoKeys) {
		note(file, "in which coordinates pixels are")
	}
	return notes
}

// absent reports whether the file itself says which value stands for none.
func (s *Strips) absent() bool {
	if s.picture == nil {
		return false
	}
	_, ok := s.picture.tags[tagNoData]
	return ok
}

// head is the first bytes of a file, none if it cannot be read.
func head(path string, most int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, most))
	return b
}

// beside adds what the world file of a picture says, if there is one: of image.tif it is image.tfw, image.tifw or
// image.wld, in this order, or one of these names in capitals.
func (p *Place) beside(picture string) error {
	ending := filepath.Ext(picture)
	if len(ending) < 3 {
		return nil
	}
	base := strings.TrimSuffix(picture, ending)
	for _, end := range []string{ending[:2] + ending[len(ending)-1:] + "w", ending + "w", ".wld"} {
		for _, name := range []string{base + end, base + strings.ToLower(end), base + strings.ToUpper(end)} {
			v, err := worldFile(name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err == nil {
				p.tags = append(p.tags, worldTags(v)...)
			}
			return err
		}
	}
	return nil
}

// worldFile reads the numbers of a world file: how x and y change along a row, how they change along a column, and the
// centre of the first pixel.
func worldFile(path string) (v [6]float64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return v, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxWorldFile))
	if err != nil {
		return v, err
	}
	words := strings.Fields(string(b))
	bad := len(words) < len(v)
	for i := range v {
		if !bad {
			v[i], err = strconv.ParseFloat(strings.ReplaceAll(words[i], ",", "."), 64)
			bad = err != nil || v[i]-v[i] != 0
		}
	}
	if bad || v[0]*v[3]-v[1]*v[2] == 0 {
		return v, fmt.Errorf("%s is not a world file of six numbers", filepath.Base(path))
	}
	return v, nil
}

// worldTags are the tags of GeoTIFF for a world file. Theirs are places of corners: pixel (0, 0) begins at its first one.
func worldTags(v [6]float64) []tiffEntry {
	a, d, b, e := v[0], v[1], v[2], v[3]
	x, y := v[4]-a/2-b/2, v[5]-d/2-e/2
	if b == 0 && d == 0 && a > 0 && e < 0 {
		return []tiffEntry{tiffDoubles(tagPixelScale, a, -e, 0), tiffDoubles(tagTiePoints, 0, 0, 0, x, y, 0)}
	}
	return []tiffEntry{tiffDoubles(tagTransformation, a, b, 0, x, d, e, 0, y, 0, 0, 0, 0, 0, 0, 0, 1)}
}
