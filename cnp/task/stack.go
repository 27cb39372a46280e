package task

import (
	"fmt"

	"github.com/equivcnp/equivcnp/cnp/taskfile"
)

// StackOf reads a stack of images, [N, H, W] or [N, C, H, W], from a file of arrays (npz, npy, NetCDF, safetensors):
// the array of that name, or if that is empty image, with a mask or y_target as ImagesOf reads them, or else the only
// array of so many axes. Images are of that many channels, 0: of any. NaN, to which a NetCDF file's fill values are
// read, is a value that is missing; images without any are left out. Arrays [N, H, W, C] are refused. Errors
// name the file and the array. Integers may be levels (see taskfile.Pixels), as the set's name then says.
func StackOf(f *taskfile.File, name string, channels int) (*ImageSet, error) {
	if name == "" && f.Tensor("image") != nil {
		if f.Tensor("mask") != nil || f.Tensor("y_target") != nil {
			return ImagesOf(f, channels)
		}
		name = "image" // images of which all is known
	}
	path := f.Name()
	var all, stacks []string
	for _, x := range f.Tensors() {
		if all = append(all, fmt.Sprintf("%s %v", x.Name, x.Shape)); len(x.Shape) == 3 || len(x.Shape) == 4 {
			stacks = append(stacks, x.Name)
		}
	}
	switch {
	case name != "":
	case len(stacks) == 1:
		name = stacks[0]
	default:
		return nil, fmt.Errorf("%s: %w: %d arrays [N, H, W] or [N, C, H, W], name one of them; the file has %q", path, ErrData,
			len(stacks), all)
	}
	x := f.Tensor(name)
	if x == nil || len(x.Shape) != 3 && len(x.Shape) != 4 {
		return nil, fmt.Errorf("%s: %w: there is no array %q [N, H, W] or [N, C, H, W]; the file has %q", path, ErrData, name, all)
	}
	n, c, h, w := x.Shape[0], 1, x.Shape[len(x.Shape)-2], x.Shape[len(x.Shape)-1]
	if len(x.Shape) == 4 {
		c = x.Shape[1]
	}
	what, of := fmt.Sprintf("array %q", name), name+" of "+path
	if name == "" { // the only one of an .npy file
		what, of = "the array", path
	}
	if few := 4; len(x.Shape) == 4 && w <= few && c > few { // red, green, blue and alpha
		return nil, fmt.Errorf("%s: %w: %s %v has its channels last: need [N, C, H, W], as numpy's transpose(0, 3, 1, 2) gives", path,
			ErrData, what, x.Shape)
	}
	if channels != 0 && c != channels {
		return nil, fmt.Errorf("%s: %w: %s %v has images of %d channels, the model has %d", path, ErrData, what, x.Shape, c, channels)
	}
	if err := sized(n, c, h, w); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", path, what, err)
	}
	pixels, levels, err := taskfile.Pixels(x)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", path, what, err)
	}
	s := &ImageSet{Name: of, N: n, C: c, H: h, W: w, Pix: pixels}
	s.inLevels(levels)
	if err := s.usable(what); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// HoldoutLast is Holdout of the last images: of a stack that has a time, of the latest.
func (s *ImageSet) HoldoutLast(share float64) (train, test *ImageSet, err error) {
	_, held, err := heldOut(s.N, share, 0) // as many
	if err != nil {
		return nil, nil, err
	}
	part := func(from, to int, name string) *ImageSet {
		out := &ImageSet{Name: fmt.Sprintf("the %s %d of %s", name, to-from, s.Name), N: to - from, C: s.C, H: s.H, W: s.W,
			Pix: s.Pix[from*s.C*s.H*s.W : to*s.C*s.H*s.W], Skipped: s.Skipped}
		if s.Mask != nil {
			out.Mask = s.Mask[from*s.H*s.W : to*s.H*s.W]
		}
		return out
	}
	at := s.N - len(held)
	return part(0, at, "first"), part(at, s.N, "last"), nil
}
