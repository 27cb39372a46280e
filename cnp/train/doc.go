// Package train trains models: the loop (Run) with its checkpoints, log, scores and early stop, and the optimiser, Adam with
// gradient clipping, weight decay and learning-rate schedules.
//
//	run, err := train.NewRun(model, source, train.DefaultConfig(10000), train.Options[float32]{Checkpoint: "run.checkpoint"})
//	err = run.Resume() // optional: from where that file was written
//	err = run.Train(ctx)
//
// A run is a function of model, source and configuration: neither the number of goroutines nor interruptions change a bit of
// its result on one instruction set level. Whoever wants a loop of their own takes one step as
//
//	pass, err := model.Differentiate(ctx, batch, layers.Train)
//	loss, err := pass.Gradient(y, grads)
//	err = adam.Step(grads)
//	grads.Zero()
package train
