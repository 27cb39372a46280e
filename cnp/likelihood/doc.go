// Package likelihood holds the families of distributions that a model predicts: what the numbers that a network gives for
// a value mean. Package cnp trains and predicts by any of them, and knows none by name.
//
// A Family turns the numbers of one value into parameters, and has densities, gradients, quantiles and samples of these.
// What else it can do it says by further interfaces: Joint and Target for values that depend on each other, Noisy where
// the function is told from the noise of its observations, Turning for vectors, Rescaler for other units, Observer for
// values that were observed. The independent normal of the published models is a member like the others; that its
// parameters are mean and standard deviation it says as a Gaussian.
//
// The families are normal and normal:noise; lowrank:R, under which the values of a task are jointly normal with a
// covariance of rank R; full, under which those of a target are; mixture:K, which has K normals for a value that may be
// in one of several places; scales, normals whose deviations were calibrated; gamma and log-normal for positive values;
// bernoulli-gamma for non-negative amounts that are often zero; spiked-beta for shares from 0 to 1. Register adds one
// of a user's own. Parse finds a family by name, Spread turns a network's number into a standard deviation.
package likelihood
