// Package task draws the tasks that models are trained and tested on. A Source gives batches of them, each a function of a seed
// and a number alone.
//
// Curves (CurveSource) come from a Process: Gaussian processes with known kernels, sawtooth waves, mixtures. For a Gaussian
// process the best possible prediction is known too (GP.Predict): no prediction has a higher expected log-likelihood.
//
// The tasks on which neural processes are compared with each other (BenchmarkSource) have several coordinates, too.
//
// Values in the plane of a known symmetry (PlaneSource) test whether it is found.
//
// Images (ImageSource) are Pictures with a random part of their pixels observed: clock digits that this package draws, at any
// angle and scale, or your own, read from MNIST's IDX files, .amat texts, folders of PNG and JPEG files, or safetensors. Nothing
// is ever downloaded.
//
// Your own curves (CurveSetSource) are read from CSV or safetensors files.
package task
