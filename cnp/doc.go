// Package cnp holds the conditional neural processes: EquivCNP for continuous inputs and for images, after "Group
// Equivariant Conditional Neural Processes" (Kawano, Kumagai, Sannai, Iwasawa, Matsuo; ICLR 2021), and the baselines CNP
// (Garnelo et al. 2018) and ConvCNP (Gordon et al. 2020).
//
// A model maps a set of observed points, the context, to a predictive mean and standard deviation at any target points. New
// builds one from a Config, package cnp/weights reads one from a file, and the interfaces Regressor and Completer say what it can
// do. Each model reads top to bottom as encoder, representation, decoder, likelihood.
//
// # Plans
//
// What does not depend on features is computed once and kept in a plan. Every model makes plans of a Shape: Pixels of
// an image, an Interval of the line, Scattered places or the Sphere; where there can be none the error wraps ErrNoPlan.
// A plan is immutable, safe for concurrent use, and does not follow later changes of the model's parameters. It refuses
// tasks of another shape than its own. Complete and Predict keep plans of recent shapes themselves, small ones, and do
// notice such changes. With returns a model that shares the parameters of another and has other Options: a precision, a
// folder that keeps plans.
//
// An image plan stores the convolution weights of every pose as far as PlanOptions.Memory allows, and computes the others in
// every call, tile by tile, for all images of the call at once. Under translations the weights are few and always stored. On 64 x
// 64 pixels, all weights of the paper's rotation groups take 1.1 GB, or half of it in bfloat16; by default a plan stores what
// fits into 900 MB together with everything else. Stored or computed, alone or in a batch, on one thread or many, an image gets
// the same bits. A plan keeps the memory of one call for the next, so that calls allocate nothing; goroutines live only as long
// as the call that needs them.
//
// # Training
//
// Differentiate predicts, and keeps what a backward pass needs (Pass). Its Gradient gives the authors' loss, the
// mean over tasks of -Σ log N, and adds the gradients of all parameters to a layers.Grads; its Backward takes any other
// loss's gradients to mean and standard deviation. Package cnp/train holds the training loop and the optimiser.
//
// # Likelihoods
//
// A Prediction says what new observations are distributed as: by mean and standard deviation, and by its methods for
// all else, densities, quantiles and samples among them. Config.Likelihood names the family. Under the independent
// normal of the authors' models mean and deviation are all there is; under others Params has the rest. lowrank makes
// the values of a task jointly normal: the network gives each target a vector of features, and the covariance of two
// targets is the product of theirs. normal:noise and lowrank tell the function from the noise of its observations.
// RegisterLikelihood adds one of a user's own, and RegisterArchitecture a model.
//
// # Fields
//
// Config.Outputs says which of a point's values are scalars and which the components of a vector. Under a group that turns (group.Turner)
// vectors turn with their places, and so does the full covariance of their prediction (the likelihood full): every lift sees the
// context as an observer does who has been turned by the lift's rotation, and what it says is turned back and averaged.
//
// # Targets
//
// The prediction at one target should not depend on which other targets are requested: only then do a model's predictions belong
// to one stochastic process. Under ReadoutQueries and PlacementContext, the default of new models under T(1), it does not depend
// on them. Every task has an endless lattice, positioned by its context, and only the part that influences a target is computed.
// Predicted one by one, together or with a plan, targets get the same bits. In other models one lattice spans the points of a
// batch (PlacementBatch; a CurvePlan fixes it). The authors' models carry features at the targets as well (ReadoutTargets), where
// they are neighbours of everything else. For a model trained in this way on 100 targets between -2 and 2, the log-likelihood on
// [-4, 4] is 1.22, 1.16 and 0.96 at 200, 400 and 800 targets.
//
// # Equivariance
//
// Moving context and targets by an element of the model's group moves the prediction with them, up to rounding, as long
// as the points that carry the features move too. With PointsPerUnit 0 the context carries them, and this holds for any
// group, but for what a point in the centre of rotations is a neighbour of (group.SO2). A lattice follows the data under
// translations, up to rounding: the lattice of each task under PlacementContext, that of the whole batch under
// PlacementBatch. Without a context there is nothing to follow, and the lattice under PlacementContext lies at 0.
// (Where the distance of two lattice points equals the radius, as in the authors' models, rounding under PlacementBatch
// changes neighbourhoods, and so has a larger effect.)
// A lattice and the box around it do not follow rotations and scalings, and the prediction changes accordingly: when
// the data are rotated by random angles, the mean of a random SO(2) model with large outputs moves by 1.1, 0.6, 0.3 and
// 0.3 of its standard deviation over the targets at 1, 2, 4 and 8 points per unit (TestLatticeResidual). A pixel grid
// maps to itself only under rotations by multiples of 90 degrees, and there the prediction is exact. On the sphere
// (PlacementSphere) the lattice stays where it is when the globe turns, and a prediction changes by as much as its
// points are uneven: less, the finer it is for the data (TestSphereTurned). Random stabiliser samples (SO(3), SE(3))
// are equivariant in expectation, K evenly spaced ones (SE(2)) under rotations by multiples of 360/K degrees.
package cnp
