// Package predict runs models of package cnp from a name to tensors. It is what the program, the server, the Beam pipeline and the examples
// share: whatever one of them can give, all can.
//
// A table needs no model:
//
//	mean, std, err := predict.Interpolate(x, y, targets) // x [n, d], y [n], targets [m, d], in any units
//
// With a model, shipped or from a file, there are three steps: open, prepare, run.
//
//	m, err := predict.OpenRegressor(ctx, predict.OpenOptions{}, "rbf-levels")
//	...
//	prepared, err := predict.PrepareCurves(m, batch, predict.Options{Quantiles: []float64{0.05, 0.95}})
//	...
//	result, err := prepared.Run(ctx) // result.Prediction.Mean and Std [B, Nt, dy]
//
// Outputs is the table of the tensors that predictions have: names, shapes and meanings. A Result makes them.
package predict
