package serve

import "github.com/equivcnp/equivcnp/cnp"

// output is a tensor that models answer with.
type output struct {
	name   string
	of     func(m *model) bool                        // whether that model has it
	asked  bool                                       // only where the request names it
	shape  func(m *model) []int64                     // in the metadata
	values func(p *cnp.Prediction[float32]) []float32 // of a job
	size   func(j *job) []int64                       // the shape in an answer
}

// outputs are all of them, in the order of metadata and answers.
var outputs = []output{
	{name: "mean", of: everyModel, shape: targetShape, size: (*job).shapeOf, values: func(p *cnp.Prediction[float32]) []float32 { return p.Mean }},
	{name: "std", of: everyModel, shape: targetShape, size: (*job).shapeOf, values: func(p *cnp.Prediction[float32]) []float32 { return p.Std }},
}

func everyModel(*model) bool { return true }

// targetShape is the shape of a value per target.
func targetShape(m *model) []int64 {
	if m.completer != nil {
		return []int64{-1, int64(m.cfg.DimY), -1, -1}
	}
	return []int64{-1, -1, int64(m.cfg.DimY)}
}

// answer is a tensor of a response.
type answer struct {
	name   string
	shape  []int64
	values []float32
	binary bool
}

// answers are the tensors that a request gets, in the order in which it names them.
func (j *job) answers(r *request) []answer {
	var out []answer
	add := func(o *output, binary bool) {
		out = append(out, answer{o.name, o.size(j), o.values(j.prediction), binary})
	}
	if len(r.outputs) == 0 {
		for i := range outputs {
			if o := &outputs[i]; o.of(j.model) && !o.asked {
				add(o, r.binary)
			}
		}
	}
	for _, w := range r.outputs {
		for i := range outputs {
			if o := &outputs[i]; o.name == w.name {
				add(o, w.binary)
			}
		}
	}
	return out
}
