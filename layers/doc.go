// Package layers holds the layers of the models, generic over float32 and float64: Linear, masked batch normalisation,
// the WeightNet that turns relative poses into convolution weights, LieConv (PointConv over a group), its depthwise and
// separable forms, the residual block, the RBF kernel psi of the set convolution, and the ordinary convolutions of the
// baselines.
//
// # What there is
//
//	Linear BatchNorm Conv1d DepthwiseConv2d            parts of any network over rows, series or pixels
//	RBF                                                from scattered points to a lattice and back, as in a ConvCNP
//	WeightNet                                          an MLP from a few numbers to convolution weights
//	Geometry Pairs                                     points and their neighbourhoods, searched once and shared by layers
//	NewLineGeometry                                    the same for tasks on a line (curves, series), several times faster
//	LieConv DepthwiseLieConv SeparableLieConv          equivariant convolutions on scattered points or pixels; the separable
//	  ResidualBlock                                    ones are cheaper, the block stacks two of them
//	Param Grads ...Tape                                training: named parameters, their gradients, what a backward pass needs
//	Arrange Arrangement Order Flat Storage Kept        inference on one geometry again and again: an order of the rows, and
//	  PlannedLinear PlannedSeparable PlannedEmbedding  layers compiled for it, with as many stored weights as memory allows
//	  StorageBytes Workspace Algorithm                 and, on a grid, by sums over pairs or by transforms
//	LinePairs LineChunk LineScratch PlannedLieConv     inference of a LieConv on a line, with the weights of a lattice stored
//
// # Shapes
//
// Features are row-major [rows, channels]; a batch of b images over one geometry is [b, rows, channels]. A Geometry is a
// set of lifted points with its neighbourhoods; where the tasks of a batch have points of their own, the geometry holds
// all of them as separate blocks and the batch is 1.
//
// # Modes
//
// In Eval mode batch normalisation uses its running statistics and is folded into the linear maps. In Train mode it uses the
// statistics of all pairs and updates the running ones, and after each use a radius moves towards the wanted fill. Calls in Eval
// mode change nothing and may run concurrently.
//
// # Gradients
//
// ForwardTape does what Forward does, in either mode, and returns a tape: what the layer's Backward needs besides the parameters,
// which must not change in between. Backward takes the gradient to the result, sets the gradient to the input, and adds the
// gradients to the parameters to a Grads. Inputs and results that a tape refers to belong to the caller and must stay unchanged
// until Backward. Gradients to features gather along the transposed neighbourhood, gradients to the convolution weights along the
// pairs of each pose. So no two goroutines add to one place, the backward pass of the WeightNet runs once per distinct pose, and
// no bit depends on GOMAXPROCS.
//
// # Sizes
//
// Forward methods panic on slices of the wrong length, as kernels do: code that takes data from outside has to check them first.
package layers
