package recipe

import "github.com/equivcnp/equivcnp/cnp/task"

// setOf returns the user's own tasks behind a source, curves or images; both are nil where tasks are drawn.
func setOf(src task.Source[float32]) (curves *task.CurveSet, images *task.ImageSet) {
	switch s := src.(type) {
	case task.Standardised[float32]:
		return setOf(s.Source)
	case task.CurveSetSource[float32]:
		return s.Set, nil
	case task.ViewSource[float32]:
		return setOf(s.ImageSource)
	case task.ImageSource[float32]:
		if moved, ok := s.Pictures.(task.Moved); ok {
			return nil, moved.ImageSet
		}
	}
	return nil, nil
}

// HeldOut reports whether scores are taken on a part of the user's own data that is not trained on.
func (p *Plan) HeldOut() bool {
	curves, images := setOf(p.Source)
	test, pictures := setOf(p.Test)
	return test != nil && test != curves || pictures != nil && pictures != images
}
