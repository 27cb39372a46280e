// Package task draws the tasks that models are trained and tested on: curves of Gaussian processes with known kernels, and
// the prediction that nobody beats on them, that of the process itself (GP.Predict).
package task
