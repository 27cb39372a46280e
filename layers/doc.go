// Package layers holds the layers of the models, generic over float32 and float64: Linear, masked batch normalisation,
// the WeightNet that turns relative poses into convolution weights, LieConv (PointConv over a group), its depthwise and
// separable forms, the residual block, the RBF kernel psi of the set convolution, and the ordinary convolutions of the
// baselines.
//
// # Shapes
//
// Features are row-major [rows, channels]; a batch of b images over one geometry is [b, rows, channels]. A Geometry is a
// set of lifted points with its neighbourhoods; where the tasks of a batch have points of their own, the geometry holds
// all of them as separate blocks and the batch is 1.
//
// # Modes
//
// In Eval mode batch normalisation uses its running statistics and folds into the linear maps. In Train mode it uses
// the statistics of all pairs, updates the running ones, and the radius moves towards the wanted fill after it was used.
// Eval-mode calls change nothing and may run concurrently.
//
// # Gradients
//
// ForwardTape is Forward, in either mode, and returns a tape: what the layer's Backward needs besides the parameters, which
// must not change in between. Backward takes the gradient to the result, sets the gradient to the input and adds those
// to the parameters to a Grads. Inputs and results that a tape refers to stay the caller's, and unchanged until Backward.
// Gradients to features gather along the transposed neighbourhood, gradients to the convolution weights along the pairs of
// each pose: no two goroutines add to one place, the WeightNet's backward pass runs once per distinct pose, and every bit
// is independent of GOMAXPROCS.
//
// # Sizes
//
// Forward methods panic on slices of the wrong length, as kernels do: whoever takes data from outside checks them first.
package layers
