// Package axis lays evenly spaced coordinates: those of lattices, and of the pixels of images.
package axis

// Even writes n evenly spaced values from lo to hi; one value is lo. Both halves are computed from their own end, as
// torch.linspace does.
func Even(dst []float64, lo, hi float64) {
	n := len(dst)
	if n == 1 {
		dst[0] = lo
		return
	}
	step := (hi - lo) / float64(n-1)
	for i := range dst {
		if i < n/2 {
			dst[i] = lo + float64(step*float64(i))
		} else {
			dst[i] = hi - float64(step*float64(n-1-i))
		}
	}
}

// Pixels returns the coordinates of n pixels along an axis. A single pixel is in the middle, as several are around it.
func Pixels(n int) []float64 {
	axis := make([]float64, n)
	if n > 1 {
		Even(axis, -float64(n)/2, float64(n)/2)
	}
	return axis
}

// Grid returns the coordinates [h·w, 2] of an image's pixels: Even from -h/2 to h/2 by Even from -w/2 to w/2, row
// first, as the authors lay it. Their step is h/(h-1), not 1.
func Grid(h, w int) []float64 {
	ys, xs := Pixels(h), Pixels(w)
	out := make([]float64, 0, 2*h*w)
	for _, y := range ys {
		for _, x := range xs {
			out = append(out, y, x)
		}
	}
	return out
}
