// Package krige interpolates one table without any training: it is kriging, that is, Gaussian process regression, with a covariance that is
// estimated from the table itself.
//
//	m, err := krige.Fit(ctx, x, y, krige.Options{Dim: 2})
//	mean, std, err := m.Predict(ctx, targets)
//
// The answer is equivariant. Coordinates have neither an origin nor a unit, and neither have values: a table that was shifted, scaled or
// reflected, or whose rows were permuted, gives predictions that moved along, to rounding. See frame.go. Only tables of equal values, or of
// two or three, depend on the magnitude of their values. See slip.go.
//
// A fit considers several families of covariance functions (Matérn of smoothness 1/2, 3/2 and 5/2, squared exponential, rational
// quadratic, sums of two scales, and seasons in one dimension, up to two at once), each with noise, a linear trend whose slope has a prior,
// and anisotropy: of any direction. Within a family it integrates over the
// parameters, around their posterior's mode, and between families it weighs by evidence: a small table does not say which covariance is
// right, and a prediction that pretends to know is overconfident. See posterior.go.
//
// Values may also be linear in columns that are known at every row and target, as in kriging with external drift. See drift.go.
//
// What every value of the context would have been predicted as from the others is known at little cost. From it follow the weights of two
// simple predictors beside the Gaussian processes (a constant and inverse distances), the scale of the standard deviations, and where and
// at which values they are larger than elsewhere. See combine.go.
//
// Outliers, which the other values make all but impossible, are left out where that is asked for. See robust.go.
//
// Beyond the ends of a series, half of the weight is that of processes that wander from where they are, unless the values speak against
// them. See wander.go.
//
// A joint sample is a function: a path drawn from the covariance, plus the prediction of what it lacks at the rows. See path.go and
// sample.go.
//
// Many tables of one kind say what none of them can: Shared is the covariance that they have in common, and Population the random process
// that all were drawn from, with level, variance and a covariance of their own. Tables of one waveform, which may jump, are no Gaussian
// process. A population learns the waveform and finds the wave of a new table; see wave.go.
//
// Up to a few hundred points predictions are exact. Beyond that, a member whose covariance is smooth predicts from all points, by way of
// some of them that say what the others are (see inducing.go), and a rough one from the points near a target, whatever the other targets
// (see local.go). The covariance is estimated from blocks of neighbouring points, so that time is linear in the number of points.
package krige
