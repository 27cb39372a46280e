package layers

import (
	"fmt"

	"github.com/equivcnp/equivcnp/internal/parallel"
)

// Grads holds a gradient for every parameter of a layer or model. Backward methods add to it, so a parameter that is used twice,
// or by several batches, gets the sum. Only one Backward may run on a Grads at a time.
type Grads[T Float] struct {
	// Params are the parameters and buffers that it was made for; Data holds their gradients in the same order, nil for buffers.
	Params []Param[T]
	Data   [][]T

	of map[*T][]T // by the parameter's first element
}

// NewGrads returns zero gradients for live parameters, as Params and State of a layer or model list them.
func NewGrads[T Float](params []Param[T]) *Grads[T] {
	g := &Grads[T]{Params: params, Data: make([][]T, len(params)), of: make(map[*T][]T, len(params))}
	for i, p := range params {
		if !p.Buffer && len(p.Data) > 0 {
			g.Data[i] = make([]T, len(p.Data))
			g.of[&p.Data[0]] = g.Data[i]
		}
	}
	return g
}

// Zero clears all gradients.
func (g *Grads[T]) Zero() {
	for _, d := range g.Data {
		clear(d)
	}
}

// Add adds the gradients of o, which must have been made for the same parameters.
func (g *Grads[T]) Add(o *Grads[T]) {
	if len(o.Data) != len(g.Data) {
		panic(fmt.Sprintf("layers: Grads.Add: %d parameters, need %d", len(o.Data), len(g.Data)))
	}
	for i, d := range g.Data {
		checkLen("Grads.Add", g.Params[i].Name, len(o.Data[i]), len(d))
		for k, v := range o.Data[i] {
			d[k] += v
		}
	}
}

// Of returns the gradient of a live parameter array, or nil for an array that has none here, such as a frozen parameter.
func (g *Grads[T]) Of(param []T) []T {
	if g == nil {
		panic("layers: nil Grads")
	}
	if len(param) == 0 {
		return nil
	}
	return g.of[&param[0]]
}

// maxParts bounds the partial sums of a reduction over rows, and with it their memory.
const maxParts = 32

// partRows is the number of rows of each partial sum, at least grain. It does not depend on the number of goroutines, so the bits
// of a sum do not either.
func partRows(rows, grain int) int { return max(grain, (rows+maxParts-1)/maxParts) }

// sumRows calls f for ranges of at least grain rows; f adds to its argument [width], which starts at zero. It returns the sum of
// these parts, added in order.
func sumRows(rows, grain, width int, f func(sum []float64, lo, hi int)) []float64 {
	grain = partRows(rows, grain)
	parts := make([]float64, (rows+grain-1)/grain*width)
	parallel.For(rows, grain, func(lo, hi int) {
		f(parts[lo/grain*width:][:width], lo, hi)
	})
	total := make([]float64, width)
	for i := 0; i < len(parts); i += width {
		for k, v := range parts[i : i+width] {
			total[k] += v
		}
	}
	return total
}

// addTo adds float64 sums to a gradient; the gradient of a frozen parameter is nil and left out.
func addTo[T Float](dst []T, sum []float64) {
	for i := range dst {
		dst[i] += T(sum[i])
	}
}
