package train

import (
	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// witnessBatches of witnessTasks tasks each are looked at.
const witnessBatches, witnessTasks = 32, 8

// Witnessed returns what the tasks of a source look like to a model of a configuration: a seeded sample of those it is trained on.
func Witnessed[T cnp.Float](src task.Source[T], c cnp.Config, seed uint64) (*cnp.Trained, error) {
	var w cnp.Witness
	for step := range witnessBatches {
		b, err := src.Batch(witnessTasks, seed, step)
		if err != nil {
			return nil, err
		}
		if b.Curves != nil {
			cnp.AddCurves(&w, b.Curves, b.Y, c.DimX, c.DimY)
		} else {
			cnp.AddImages(&w, b.Images, b.Y)
		}
	}
	return w.Trained(), nil
}
