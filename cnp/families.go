package cnp

import "github.com/equivcnp/equivcnp/cnp/likelihood"

// The families of distributions, of package likelihood.
type (
	// Likelihood is a family of predictive distributions of one value; see [likelihood.Family].
	Likelihood = likelihood.Family
	// Gaussian is a Likelihood whose parameters are mean and standard deviation.
	Gaussian = likelihood.Gaussian
	// Noisy is a Likelihood that tells the function from the noise of its observations.
	Noisy = likelihood.Noisy
	// Rescaler is a Likelihood whose distributions can be brought to other units.
	Rescaler = likelihood.Rescaler
	// JointLikelihood is a Likelihood under which the values of a task depend on each other.
	JointLikelihood = likelihood.Joint
	// TargetLikelihood is a Likelihood under which the values of a target depend on each other.
	TargetLikelihood = likelihood.Target
	// Turning is a Likelihood whose numbers turn with vectors.
	Turning = likelihood.Turning
	// Observer is a Likelihood that can be told that the value was observed.
	Observer = likelihood.Observer
	// Objective changes the loss of Pass.Gradient.
	Objective = likelihood.Objective
	// Mixture is one of normals around the same mean; see Calibrated.
	Mixture = likelihood.Mixture
	// Affine maps numbers of the data to the model's units.
	Affine = likelihood.Affine
	// Output says what a model's second output is.
	Output = likelihood.Output
	// FieldType says how a field's values move with their places.
	FieldType = likelihood.FieldType
	// Field is a part of the values of a point.
	Field = likelihood.Field
)

// The outputs.
const (
	OutputVariance = likelihood.OutputVariance // the authors' 1D models
	OutputStd      = likelihood.OutputStd      // the authors' image models
)

// The types of fields.
const (
	Scalar = likelihood.Scalar // one number at every place, such as a temperature
	Vector = likelihood.Vector // as many numbers as a place has coordinates, which turn with the places
)

// FieldTypes lists them in the order of documentation.
var FieldTypes = likelihood.FieldTypes

// Normal is the independent normal distribution, for predictions that no model makes.
var Normal = likelihood.Normal

var identity = Affine{Factor: 1}

// NodeOf returns between which of several mixtures a value of a deviation is; see [likelihood.NodeOf].
func NodeOf(mixtures []Mixture, std float64) (node int, weight float64) {
	return likelihood.NodeOf(mixtures, std)
}

// RegisterLikelihood makes a likelihood known under a name: Config.Likelihood is then the name, or the name, a colon and
// an argument. See [likelihood.Register].
func RegisterLikelihood(name string, make func(o likelihood.Options, arg string) (Likelihood, error)) {
	likelihood.Register(name, make)
}

// Likelihoods lists the names that are known.
func Likelihoods() []string { return likelihood.Names() }
