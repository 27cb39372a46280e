// Package eval measures how good predictions are: log-likelihood and squared error, whether the predicted spread is
// right (calibration), and whether predictions move with the data (equivariance).
package eval
