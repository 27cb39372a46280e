package conformance

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// Difference says how far the numbers of a tensor are from the expected ones.
type Difference struct {
	Model, Tensor string
	// Largest is the largest of |number - expected| / (1 + |expected|) over numbers that count; Tolerance is what it may be. The numbers of
	// cov_factor are those of F·Fᵀ.
	Largest, Tolerance float64
	// Index says where Largest is, in the tensor: [1 49 0], or the two rows whose product the number of F·Fᵀ is. Number is what the
	// prediction has there, Expected what it should have. The index is empty where all numbers are equal.
	Index            string
	Number, Expected float64
	// Beyond is how many of the Numbers that count are not within the tolerance.
	Beyond, Numbers int
	// Problem says why the tensor could not be compared; empty: it was.
	Problem string
}

// Within reports whether the tensor is as it should be. A NaN never is.
func (d Difference) Within() bool { return d.Problem == "" && d.Largest <= d.Tolerance }

// compare fills in what a prediction's tensor differs by from the expected numbers, of that shape. counts is for each value, of which
// a tensor has one or more numbers; nil: all count.
func (d *Difference) compare(p *safetensors.File, shape []int, expected []float64, counts []bool) {
	got := p.Get(d.Tensor)
	if got == nil {
		d.Problem = fmt.Sprintf("the prediction has no tensor %q, it has %s", d.Tensor, names(p))
		return
	}
	if !slices.Equal(got.Shape, shape) {
		d.Problem = fmt.Sprintf("shape %v, need %v", got.Shape, shape)
		return
	}
	numbers, err := got.Float64s()
	if err != nil {
		d.Problem = err.Error()
		return
	}
	if d.Tensor == "cov_factor" {
		d.compareFactors(numbers, expected, shape, counts)
		return
	}
	at := -1
	for i, want := range expected {
		if counts != nil && !counts[i/(len(expected)/len(counts))] {
			continue
		}
		if d.add(numbers[i], want) {
			at = i
		}
	}
	if at >= 0 {
		d.Index = fmt.Sprint(indexOf(at, shape))
	}
}

// compareFactors compares the factors F [..., rank] of the tasks' covariances by what they determine: the numbers of F·Fᵀ, over those of
// values that both count. F itself is determined only up to a rotation of its columns, and may have any.
func (d *Difference) compareFactors(numbers, expected []float64, shape []int, counts []bool) {
	rows, rank := shape[:len(shape)-1], shape[len(shape)-1]
	values := len(expected) / rank / rows[0] // of a task
	dot := func(f []float64, i, j int) (sum float64) {
		for k := range rank {
			sum += f[i*rank+k] * f[j*rank+k]
		}
		return sum
	}
	at := [2]int{-1, -1}
	for i := range len(expected) / rank {
		for j := i / values * values; j <= i; j++ {
			if counts != nil && !(counts[i] && counts[j]) {
				continue
			}
			if d.add(dot(numbers, i, j), dot(expected, i, j)) {
				at = [2]int{i, j}
			}
		}
	}
	if at[0] >= 0 {
		d.Index = fmt.Sprint(indexOf(at[0], rows), "·", indexOf(at[1], rows))
	}
}

// add takes one more number and reports whether it is the farthest from what is expected so far; the first NaN is, and stays so.
func (d *Difference) add(number, expected float64) bool {
	d.Numbers++
	by := math.Abs(number-expected) / (1 + math.Abs(expected))
	if !(by <= d.Tolerance) {
		d.Beyond++
	}
	if by <= d.Largest || math.IsNaN(d.Largest) {
		return false
	}
	d.Largest, d.Number, d.Expected = by, number, expected
	return true
}

// indexOf is the index of the i-th number of a row-major tensor.
func indexOf(i int, shape []int) []int {
	index := make([]int, len(shape))
	for k, n := range slices.Backward(shape) {
		index[k], i = i%n, i/n
	}
	return index
}

// names lists the tensors of a file, the first of them where they are many.
func names(f *safetensors.File) string {
	const most = 8
	var all []string
	for i := range f.Tensors {
		if i == most {
			all = append(all, "...")
			break
		}
		all = append(all, fmt.Sprintf("%q", f.Tensors[i].Name))
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}
