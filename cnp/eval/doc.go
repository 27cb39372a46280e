// Package eval measures how good predictions are: log-likelihood and squared error, whether the predicted spread is
// right (calibration), whether predictions move with the data (equivariance), and how likely whole tasks are (Joint).
//
//	curves := task.CurveSource[float32]{Name: "rbf", Curves: task.PaperTest(task.RBF(1))}
//	report, err := eval.Run(ctx, eval.Model(m), curves, eval.Options{Tasks: 1000, Seed: 1}) // m is a cnp.Model[float32]
//	fmt.Println(report.LogLikelihood, report.SquaredError)
package eval
