// Package eval measures how good predictions are: log-likelihood and squared error, whether the predicted spread is
// right (calibration), whether predictions move with the data (equivariance), and how likely whole tasks are (Joint).
package eval
