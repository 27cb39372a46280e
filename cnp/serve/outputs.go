package serve

import (
	"slices"

	"github.com/equivcnp/equivcnp/cnp/predict"
)

// asked reports whether a request that names no outputs gets one: mean and std, and what its parameters ask for.
func (j *job) asked(name string) bool {
	switch name {
	case "mean", "std":
		return true
	case "samples":
		return j.alone != nil && j.alone.draw != nil
	case "quantiles":
		return j.alone != nil && j.alone.quantiles != nil
	}
	return false
}

// offer says in metadata what a model answers with.
func (m *model) offer() {
	for _, o := range m.offered {
		m.outputs = append(m.outputs, tensorInfo{o.Name, "FP32", wide(o.Shape(predict.TargetShape(&m.cfg), m.likelihood))})
	}
}

// wide returns a shape as the protocols have it.
func wide(shape []int) (out []int64) {
	for _, n := range shape {
		out = append(out, int64(n))
	}
	return out
}

// output returns the output of that name.
func (j *job) output(name string) (predict.Output, bool) {
	i := slices.IndexFunc(j.offered, func(o predict.Output) bool { return o.Name == name })
	if i < 0 {
		return predict.Output{}, false
	}
	return j.offered[i], true
}

// wants are the outputs that a request gets, in the order in which it names them.
func (j *job) wants(r *request) []wanted {
	if len(r.outputs) > 0 {
		return r.outputs
	}
	var all []wanted
	for _, o := range j.offered {
		if j.asked(o.Name) {
			all = append(all, wanted{o.Name, r.binary})
		}
	}
	return all
}

// fill makes the tensors of the answer, once there is a prediction.
func (j *job) fill(r *request) error {
	result := predict.Result{Prediction: j.prediction, Shape: j.shapeOf()}
	if a := j.alone; a != nil {
		result.Quantiles = a.quantiles
		if a.draw != nil {
			result.Samples, result.Drawn = a.samples, a.draw.Samples
		}
	}
	if j.curves != nil && j.curves.TargetMask != nil {
		result.Counts = make([]bool, j.values)
		for i := range result.Counts {
			result.Counts[i] = j.curves.TargetMask[i/j.model.cfg.DimY]
		}
	}
	for _, w := range j.wants(r) {
		tensors, err := result.Tensors(w.name)
		if err != nil {
			return err
		}
		j.answers = append(j.answers, answer{w.name, wide(tensors[0].Shape), tensors[0].Values, w.binary})
	}
	return nil
}

// asText is how many bytes a number of an answer takes as JSON, which is written and then checked. A byte of an id, which may be written
// as six, takes no more.
const asText = 24

// answerBytes is about how much memory the answers of a job take, as float32 and on the way there, and the request's id, which goes back.
// It is an error if an output is too large to be made, or if the request does not say what it needs.
func (j *job) answerBytes(r *request) (int64, error) {
	total, samples, quantiles := asText*int64(len(r.id)), 0, 0
	if a := j.alone; a != nil {
		if quantiles = len(a.quantiles); a.draw != nil {
			samples = a.draw.Samples
		}
	}
	for _, w := range j.wants(r) {
		if w.name == "quantiles" && quantiles == 0 {
			return 0, invalid(`output "quantiles": the parameter quantiles says which, as in "0.05,0.5,0.95"`)
		}
		o, ok := j.output(w.name)
		if !ok {
			return 0, invalid("%v", predict.NoOutput(w.name, j.offered))
		}
		n, ok := o.Size(j.shapeOf(), j.likelihood, samples, quantiles)
		if !ok {
			return 0, tooLarge("output %q: %d tasks of %d values have too many of it", w.name, j.tasks, j.perTask())
		}
		each := int64(12) // made in float64, of the parameters
		switch w.name {
		case "mean", "std", "samples":
			each = 4
		}
		if !w.binary {
			each += asText
		}
		total += each * n
	}
	return total, nil
}
