// Package train holds the optimiser: Adam with gradient clipping, weight decay and learning-rate schedules. A step is
//
//	pass, err := model.Differentiate(ctx, batch, layers.Train)
//	loss, err := pass.Gradient(y, grads)
//	err = adam.Step(grads)
//	grads.Zero()
package train
