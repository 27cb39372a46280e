package layers

import (
	"fmt"

	"github.com/equivcnp/equivcnp/layers/internal/check"
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
		check.Len("Grads.Add", g.Params[i].Name, len(o.Data[i]), len(d))
		for k, v := range o.Data[i] {
			d[k] += v
		}
	}
}

// Of returns the gradient of a live parameter array, or nil for an array without a gradient here, such as a frozen parameter.
func (g *Grads[T]) Of(param []T) []T {
	if g == nil {
		panic("layers: nil Grads")
	}
	if len(param) == 0 {
		return nil
	}
	return g.of[&param[0]]
}
