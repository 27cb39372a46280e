package cnp

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
)

// Architecture names a model.
type Architecture string

// The architectures.
const (
	EquivCNPCurve Architecture = "equivcnp"       // continuous inputs, LieConv on a lattice
	EquivCNPImage Architecture = "equivcnp-image" // pixel grids, separable LieConv
	ConvCNPCurve  Architecture = "convcnp"        // the 1D baseline of Gordon et al. 2020
	ConvCNPImage  Architecture = "convcnp-image"  // its on-the-grid variant
	CNPCurve      Architecture = "cnp"            // Garnelo et al. 2018
	CNPImage      Architecture = "cnp-image"      // the same on pixel coordinates
)

// Architectures lists them in the order of documentation, then those that RegisterArchitecture was told of.
var Architectures = []Architecture{EquivCNPCurve, EquivCNPImage, ConvCNPCurve, ConvCNPImage, CNPCurve, CNPImage}

// images are what RegisterArchitecture was told of an architecture: whether its models complete images.
var images = map[Architecture]bool{}

// Image reports whether models of this architecture complete images; the others regress.
func (a Architecture) Image() bool { return images[a] }

// Readout says how EquivCNPCurve reads its features at the targets.
type Readout string

// The readouts.
const (
	// ReadoutQueries computes features on the lattice alone (without one, on the context points); the last LieConv has the
	// targets as its queries. A prediction depends on the context and on the lattice, not on what else is asked for, and only
	// one layer has poses off the lattice. For new models.
	ReadoutQueries Readout = "queries"
	// ReadoutTargets appends the targets to the lattice, carries features there through all layers, and reads them: the
	// authors' way. Targets are neighbours of each other and of the lattice, so how many there are, and where, has an
	// influence on every prediction.
	ReadoutTargets Readout = "targets"
	// ReadoutRBF sums the lattice's features through evenly spaced RBF basis functions (appendix D.1 of the paper).
	ReadoutRBF Readout = "rbf"
)

// Readouts lists them in the order of documentation.
var Readouts = []Readout{ReadoutQueries, ReadoutTargets, ReadoutRBF}

// Placement says where the lattice of an EquivCNPCurve lies; that of a ConvCNPCurve is always the batch's.
type Placement string

// The placements.
const (
	// PlacementBatch lays one lattice over all context points and targets of a batch: the authors' way, and that of files that do not
	// name a placement. Where targets lie, and the other tasks of a batch, has an influence on every prediction; and targets that lie far
	// apart need a lattice from one to the other, which may have too many points (Config.MaxLattice).
	PlacementBatch Placement = ""
	// PlacementContext gives every task a lattice of its own that has a point at the least coordinate of the task's context (at 0
	// without one), and no end: points, 1/PointsPerUnit apart, are computed as far away from a target as they have any influence on
	// it, and only there. A prediction depends on the task's context and on the target, bit for bit, and moves with them, as far
	// as their coordinates' rounding allows. Targets may lie anywhere: beyond the reach of the context the prediction is
	// that without a context. The latter is constant in models with Levels; in others it changes a little with the place
	// between two lattice points. For new models under T(1) whose targets are queries.
	PlacementContext Placement = "context"
	// PlacementSphere is for points on the sphere, under SO(3): latitude and longitude in degrees where DimX is 2, unit vectors where it is
	// 3. The lattice is neighbor.SphereLattice of 4π·PointsPerUnit² points, so that a unit is a radian, and stays where it is: a prediction
	// depends on the task's context and on the target, bit for bit, and turns with them as far as the lattice is even. For models with
	// Levels, whose convolutions know the angle between two points alone: all that rotations leave invariant about them.
	PlacementSphere Placement = "sphere"
)

// LiftSamples says which elements of a group's stabiliser the lifts of a model with levels are.
type LiftSamples string

// The samples.
const (
	// SamplesEven are evenly spread and always the same: those of files that do not name any. Predictions turn exactly
	// with the rotations that take the samples to each other; under SE(3) there are such beside the identity where the
	// lifts are 4, 12, 24 or 60 (group.SE3.LiftUniform).
	SamplesEven LiftSamples = ""
	// SamplesRandom are drawn uniformly: in training anew for every batch, as a function of it and of LiftSeed, so that
	// the network sees all rotations whatever the number of lifts; in prediction from LiftSeed alone. Predictions turn
	// with every rotation as far as the mean over the samples is that over all rotations.
	SamplesRandom LiftSamples = "random"
)

// Config is everything that fixes a model but its weights. It is also what a model file stores.
type Config struct {
	Architecture Architecture `json:"architecture"`

	// Group is the group's name (group.Parse, or that of a group of the user's own), Alpha its distance's weight (0: the group's
	// default), Lifts the number of stabiliser samples per point.
	Group    string  `json:"group,omitempty"`
	Alpha    float64 `json:"alpha,omitempty"`
	Lifts    int     `json:"lifts,omitempty"`
	LiftSeed uint64  `json:"lift_seed,omitempty"`
	// LiftSamples says how a model with Levels under SE(3) takes its lifts' rotations.
	LiftSamples LiftSamples `json:"lift_samples,omitempty"`

	// DimX is the number of input coordinates (curves), DimY that of outputs or of image channels.
	DimX int `json:"dim_x,omitempty"`
	DimY int `json:"dim_y"`

	// Outputs are the types of the fields that a point's values consist of, in the context and at the targets: a vector
	// is as many of the DimY numbers as there are coordinates, and turns with the places. Nil: all are scalars, as in
	// files that name no types.
	Outputs []FieldType `json:"outputs,omitempty"`

	// Inputs are the types of the fields that a context point has, where these are not all: some of Outputs, in their
	// order, each the first of its type that none before has taken. The others are predicted and never observed; what a
	// context says of them is not read. Nil: all, as in files that name none. For models with Levels and
	// ChannelDensity.
	Inputs []FieldType `json:"inputs,omitempty"`

	// Auxiliary names inputs that are known at the context and at the targets, and are not predicted: scalars, such as the elevation of a
	// place or the hour of the day (Batch.AuxContext, AuxTarget). Models of curves of architecture EquivCNPCurve have them.
	Auxiliary []string `json:"auxiliary,omitempty"`

	// Static names fields that are known at places of their own, and are not predicted: scalars, such as the elevation
	// on a grid (Batch.XStatic, YStatic). Models of curves of architecture EquivCNPCurve with ChannelDensity have them.
	Static []string `json:"static,omitempty"`

	// Multiplicity K: phi(y) = [1, y, y², .. y^K].
	Multiplicity int `json:"multiplicity,omitempty"`

	// The lattice of the curve models: PointsPerUnit points per unit of each coordinate, Margin beyond the outermost
	// points. PointsPerUnit 0 uses no lattice: the context points (and, under ReadoutTargets, the targets) carry the features.
	// Readout says how the targets are read. MaxLattice bounds the number of points.
	PointsPerUnit float64 `json:"points_per_unit,omitempty"`
	Margin        float64 `json:"margin,omitempty"`
	Readout       Readout `json:"readout,omitempty"`
	MaxLattice    int     `json:"max_lattice,omitempty"`
	// FixedStep puts lattice points exactly 1/PointsPerUnit apart, whatever the interval, so that a model meets in use the very
	// poses that it was trained on. Without it, as in the authors' models, the step is a little longer the shorter the interval.
	FixedStep bool `json:"fixed_step,omitempty"`
	// Placement says where the lattice lies; without a lattice it has no meaning. Under PlacementContext Margin is for
	// training alone, where all tasks of a batch share a lattice.
	Placement Placement `json:"placement,omitempty"`

	// EncoderLength is the length scale that the set convolution onto the lattice begins with; 0 is that of the authors' models, 0.69.
	// What is much longer than a curve's features blurs them away, and their gradient with them.
	EncoderLength float64 `json:"encoder_length,omitempty"`

	// DensityFloor is added to the density of the context before the signal is divided by it; 0 is that of the authors' models,
	// 1e-8, and 0.01 where there are Levels.
	DensityFloor float64 `json:"density_floor,omitempty"`
	// DensityCap is the greatest density of the context that an EquivCNP of curves tells from a greater one; 0 is none.
	// A context that lies closer than any of training then looks like the densest that training had, instead of like
	// nothing that the network knows: what it makes of densities that it never saw may be anything, and the chain rule,
	// which goes on where targets become context, gets there.
	DensityCap float64 `json:"density_cap,omitempty"`

	// ChannelDensity gives every output of a model of curves, every auxiliary input and every static field a density of
	// its own, of the context points at which it was observed; NaN among the outputs of a context point is then a value
	// that was not. Without it, as in the authors' models, context points have all their outputs.
	ChannelDensity bool `json:"channel_density,omitempty"`

	// Levels is the number of lattices of a model of curves under T(1), T(2), T(3), SE(2) with 2 or 4 lifts, or on the
	// sphere, of 1, 1/2, 1/4 .. of the points along each coordinate, with LieConvs from one to the next and back
	// (layers/pyramid); 0 is a model of one lattice. Where Outputs are vectors under SE(2), and under SE(3), every lift
	// sees the task with lattices of its own, as an observer does who has been turned by the lift's rotation, and there
	// may be any number of them. Channels are the widths of the levels (of each lift), from the finest one on, Kernel
	// how many points of the finer lattice a convolution sees along each coordinate, and Blocks the number of residual
	// blocks on every level on each way.
	Levels int `json:"levels,omitempty"`

	// CoordinateFeature feeds the absolute coordinate to the network, as the authors' curve models do. It breaks
	// equivariance.
	CoordinateFeature bool `json:"coordinate_feature,omitempty"`

	// Departure, of a model of curves of architecture EquivCNPCurve, gives its points inputs that depend on where they lie,
	// so that the model is equivariant up to a learned, bounded departure; nil: it is equivariant.
	Departure *Departure `json:"departure,omitempty"`

	// Channels are the widths of the network's hidden layers: for curve models the first is that of the pointwise
	// layer, the others those of the convolutions; for image models the one width of all; for CNPs the encoder's and
	// decoder's.
	Channels []int `json:"channels"`
	// Blocks is the number of residual blocks of an image model.
	Blocks int `json:"blocks,omitempty"`
	// Kernel is the width of an ordinary convolution (ConvCNP), odd.
	Kernel int `json:"kernel,omitempty"`
	// Hidden and Mid are the widths of the WeightNets and of PointConv's middle.
	Hidden int `json:"hidden,omitempty"`
	Mid    int `json:"mid,omitempty"`
	// NoBatchNorm removes batch normalisation from the WeightNets of (first) LieConvs, BlockBatchNorm puts it into
	// those of the separable convolutions.
	NoBatchNorm    bool `json:"no_batch_norm,omitempty"`
	BlockBatchNorm bool `json:"block_batch_norm,omitempty"`

	// Fill and BlockFill are the wanted mean neighbourhood sizes as fractions of all points, of the LieConvs and of
	// the residual blocks. RadiusRate is the step of the radius towards them in training; 0 keeps a new model's, which has
	// that fill on reference points (over [-2, 2], or 64 by 64 pixels). On a lattice a moving radius ends up where one more
	// point at its border would come in, and stays there, so that rounding decides who is a neighbour.
	Fill       float64 `json:"fill,omitempty"`
	BlockFill  float64 `json:"block_fill,omitempty"`
	RadiusRate float64 `json:"radius_rate,omitempty"`
	// Window says how much a neighbour counts by its distance: under layers.WindowSmooth a prediction is continuous in targets, context
	// and radius; empty is layers.WindowBox, that of the authors' models and of files that do not name one.
	Window layers.Window `json:"window,omitempty"`

	// ImageSize is the height and width, in pixels, of the images that an image model was trained on; 0: nobody knows. Images of
	// another size are laid so that their diagonal is as long as that of these; see ImageEquivCNP.Geometry.
	ImageSize [2]int `json:"image_size,omitzero"`

	// Views, of an image model under Sim(2), make every lift a view of the image, which a network under translations
	// sees; nil: the lifts are those of the network's convolutions.
	Views *Views `json:"views,omitempty"`

	// KeepObserved, of a model of convolutions on images, lets a pixel that was observed keep its value, with a
	// deviation of Floor: the prediction there is the network's, given that the pixel was seen with such a noise.
	// Without it, as in the authors' models and in files that do not say so, a network says of observed pixels what it
	// says of the others: what it can remember of them, and things that are finer than its filters blur. Training is
	// that of the network: Differentiate does not look at it. For likelihoods that are an Observer.
	KeepObserved bool `json:"keep_observed,omitempty"`

	// MaxNeighbors caps a neighbourhood by a random choice without replacement, drawn once with NeighborSeed (the paper's
	// Monte-Carlo sample); 0 is no cap. A model draws by a point's place in its task, so it is not equivariant.
	MaxNeighbors int `json:"max_neighbors,omitempty"`
	// BlockNeighbors is the cap in the residual blocks of an image model, where it is not MaxNeighbors; 0: it is. The
	// paper has 121 for the embedding and 81 for the blocks.
	BlockNeighbors int    `json:"block_neighbors,omitempty"`
	NeighborSeed   uint64 `json:"neighbor_seed,omitempty"`

	// SamplingFraction is the share of the points with features at which a convolution of a model of curves computes
	// features of its own: the queries are a subsample, farthest points in the group's distance, drawn with
	// NeighborSeed, and later convolutions see these alone. The last convolution reads at all targets. 0 and 1 are all
	// points. For readout queries and placement "batch".
	SamplingFraction float64 `json:"sampling_fraction,omitempty"`

	// Trained says what the model has seen in training; nil: nobody knows.
	Trained *Trained `json:"trained,omitempty"`

	// Likelihood names what values are distributed as: normal (the default, as in all models of the authors'), or another of
	// Likelihoods. Under normal:noise the model tells the function from the noise of observations, under lowrank:64 the values
	// of a task are jointly normal, with a covariance of that rank beside the noise.
	Likelihood string `json:"likelihood,omitempty"`

	// Waves, of a low-rank normal, let the covariance of targets depend on their difference even where there is no
	// context; nil: it depends on what the context says of each of them, as in files that name none.
	Waves *Waves `json:"waves,omitempty"`

	// Output says what the softplus of the network's second output is, variance or deviation, and Floor is the least that it
	// can be: a clamp, max(Floor, softplus), but for CNPs, which have Floor + (1-Floor)·softplus. Under other likelihoods than
	// the normal one they are those of its deviations, and the floor is a clamp in CNPs, too.
	Output Output  `json:"output"`
	Floor  float64 `json:"floor,omitempty"`

	// Own is what an architecture of another package (RegisterArchitecture) keeps beside these fields, as JSON that it
	// reads and checks itself; nil: nothing.
	Own json.RawMessage `json:"own,omitempty"`
}

// clone returns a copy that shares no memory with c.
func (c *Config) clone() Config {
	d := *c
	d.Outputs, d.Inputs = slices.Clone(c.Outputs), slices.Clone(c.Inputs)
	d.Auxiliary, d.Static = slices.Clone(c.Auxiliary), slices.Clone(c.Static)
	d.Channels, d.Own = slices.Clone(c.Channels), slices.Clone(c.Own)
	d.Departure, d.Views, d.Waves = copied(c.Departure), copied(c.Views), copied(c.Waves)
	if d.Trained = copied(c.Trained); d.Trained != nil {
		t := d.Trained
		t.X, t.Y, t.Aux, t.Static = slices.Clone(t.X), slices.Clone(t.Y), slices.Clone(t.Aux), slices.Clone(t.Static)
		t.Window, t.Marks = slices.Clone(t.Window), slices.Clone(t.Marks)
		if t.Units = copied(t.Units); t.Units != nil {
			u := t.Units
			u.X, u.Y, u.Aux, u.Static = slices.Clone(u.X), slices.Clone(u.Y), slices.Clone(u.Aux), slices.Clone(u.Static)
		}
	}
	return d
}

// copied returns a pointer to a copy of what p points to.
func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

func (c *Config) group() (group.Group, error) { return group.Parse(c.Group, c.Alpha) }

// Waves make amplitudes of features of a low-rank normal. A feature moves with the task, so where there is no context
// all targets have the same ones, and no prior covariance that falls off with distance can be said. With waves, two
// features a, b of a target at x become the real and the imaginary part of
//
//	(a + i·b)·exp(i·w·x)
//
// for a frequency w of their own. The covariance of two targets is then the sum of Re((a + ib)·conj(a' + ib')·exp(iw·(x
// - x'))) over the frequencies, which knows the targets' difference and nothing else of where they lie: it moves with
// the task as before, and constant amplitudes say any stationary covariance. Features that are left over, and those of
// frequency 0, are as without waves.
//
// Of n coordinates the frequencies are the points of an even grid within a ball, of each and its opposite one.
// Amplitudes begin as those of an exponentiated quadratic covariance of variance 1 and length 3/Fastest, whose spectrum
// falls to a hundredth at Fastest.
//
// Waves are for models of curves of architecture EquivCNPCurve under translations: a group that turns the plane would
// have to turn the frequencies.
type Waves struct {
	// Count is the number of frequencies along a coordinate, from 0 to Fastest, in radians per unit. The covariance
	// repeats after 2π·(Count-1)/Fastest units: tasks should be shorter than that.
	Count   int     `json:"count"`
	Fastest float64 `json:"fastest"`
}

// Views say how a model of images under Sim(2) looks at one, where Config names them. A network that is equivariant
// under translations sees the image as often as the model has lifts: turned by each of its angles, and at each of its
// scales. Every view predicts one half of the observed pixels from the other, and the better it does, the more its
// prediction of the image counts. So the network need know things upright and of one size only, and the model knows
// them at any angle and of any size between Min and Max; the cost grows with the number of views. Turning, scaling or
// shifting an image exchanges what the views see, but for the canvas's cells. A pixel that was observed keeps its
// value, with a deviation of Config.Floor, since cells are wider than pixels.
type Views struct {
	// Min and Max are the sizes of what is seen, as parts of its size in training; the scales are spaced evenly between
	// them, in their logarithms.
	Min float64 `json:"min"`
	Max float64 `json:"max"`
	// Cell is the width of a cell of the network's canvas, in pixels of an image of things in their size in training.
	Cell float64 `json:"cell"`
	// Trust scales what a held-out pixel's log-likelihood counts in the weight of a view: less than 1, since
	// neighbouring pixels say the same.
	Trust float64 `json:"trust"`
}

// Scale returns the middle of the s-th of so many ranges of sizes.
func (v *Views) Scale(s, scales int) float64 {
	return v.Max * math.Pow(v.Min/v.Max, (float64(s)+0.5)/float64(scales))
}
