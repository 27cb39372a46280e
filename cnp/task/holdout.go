package task

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// heldOut returns which of n tasks a share of them, drawn with seed, holds out, in ascending order, and the others: at least one of each.
func heldOut(n int, share float64, seed uint64) (kept, held []int, err error) {
	if !(share > 0 && share < 1) {
		return nil, nil, fmt.Errorf("task: a share of %g held out, need more than 0 and less than 1", share)
	}
	if n < 2 {
		return nil, nil, fmt.Errorf("task: %w: %d task, of which none can be held out", ErrData, n)
	}
	all := rand.New(rand.NewPCG(seed, 0x686f6c646f7574)).Perm(n) // a stream of its own: "holdout"
	m := min(max(1, int(math.Round(share*float64(n)))), n-1)
	held, kept = all[:m], all[m:]
	slices.Sort(held)
	slices.Sort(kept)
	return kept, held, nil
}

// holdoutNames are the names of the two parts of a set of that name, from which a run that continues knows them again.
func holdoutNames(name string, kept, held int, seed uint64) (train, test string) {
	of := fmt.Sprintf("%s of %d drawn with seed %d, of %s", "%d", kept+held, seed, name)
	return fmt.Sprintf("the others than "+of, held), fmt.Sprintf("the held out "+of, held)
}

// Holdout takes a share of the images out of the set: those to train on, and those to test on. Images of a folder are files. Equal
// seeds draw equal ones.
func (s *ImageSet) Holdout(share float64, seed uint64) (train, test *ImageSet, err error) {
	kept, held, err := heldOut(s.N, share, seed)
	if err != nil {
		return nil, nil, err
	}
	part := func(images []int) *ImageSet {
		out := &ImageSet{N: len(images), C: s.C, H: s.H, W: s.W}
		for _, i := range images {
			out.Pix = append(out.Pix, s.Image(i)...)
			if n := s.H * s.W; s.Mask != nil {
				out.Mask = append(out.Mask, s.Mask[i*n:(i+1)*n]...)
			}
		}
		return out
	}
	train, test = part(kept), part(held)
	train.Name, test.Name = holdoutNames(s.Name, len(kept), len(held), seed)
	train.Skipped = s.Skipped
	return train, test, nil
}

// Holdout takes a share of the tasks out of the set: those to train on, and those to test on. Equal seeds draw equal ones.
func (s *CurveSet) Holdout(share float64, seed uint64) (train, test *CurveSet, err error) {
	kept, held, err := heldOut(len(s.Curves), share, seed)
	if err != nil {
		return nil, nil, err
	}
	part := func(tasks []int) *CurveSet {
		out := &CurveSet{Dx: s.Dx, Dy: s.Dy, inputs: s.inputs, Auxiliary: s.Auxiliary, Static: s.Static}
		for _, i := range tasks {
			out.Curves = append(out.Curves, s.Curves[i])
		}
		return out
	}
	train, test = part(kept), part(held)
	train.Name, test.Name = holdoutNames(s.Name, len(kept), len(held), seed)
	return train, test, nil
}
