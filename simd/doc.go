// Package simd holds the numeric kernels that every hot loop of the library runs through: vector math, reductions,
// matrix products and the gathered sums of group convolution, in float32 and float64.
//
// # What there is
//
// Names stand for the generic function and its F32 and F64 forms, where it has all three.
//
//	Exp Log SinCos Atan2 Hypot              elementwise mathematics        features, angles and distances of many points
//	ReLU Swish Sigmoid Softplus Tanh        activations; ...Grad: their    a layer of any network, forwards and backwards
//	                                        gradients
//	Sqrt Erf Expm1 Log1p Pow                more elementwise mathematics   distributions, distances
//	Softmax LogSumExp GELU LayerNorm        layers of transformers, and    attention, likelihoods of classes
//	SoftmaxGrad GELUGrad LayerNormGrad      their gradients
//	Add Sub Mul Div Min Max Abs Clip        elementwise arithmetic         residuals, weights, bounds
//	Floor Ceil Trunc RoundToEven            rounding to whole numbers      cells of grids, quantisation
//	Axpy Scale ScaleRows                    y+a·x, a·x, a row by its       sums of gradients, steps of solvers
//	                                        factor
//	Sum SumSq SumAbs Dot MinMax             reductions, sums in float64    losses, norms, the box around a point cloud
//	ArgMax ArgMin                           where an extreme stands        classes, nearest of all
//	DotSingleF32                            a dot product in float32       scores of many vectors, BLAS
//	Rotate Swap                             two vectors at once            Givens rotations in QR, SVD and eigenvalue solvers; pivoting
//	WeightedMoments Norm NormSums NormGrad  mean, variance, normalising    batch normalisation with its gradients, standardising
//	Gemm GemmNT GemmTN                      products of matrices           dense layers; NT and TN give the gradients to input and weights
//	Gemv GemvT                              a matrix times a vector        a layer for one input, solvers
//	Pack PackTransposed GemmPacked          A·B + bias, B packed once      inference: the same weights for many inputs
//	GemmNTI8 PackI8 GemmPackedI8            products of 8-bit integers,    many vectors and many others, quantised layers
//	                                        exact in int32
//	GemmRuns                                many products of a few rows    mixtures of experts, sparse convolution on voxels
//	WeightNet DenseSwish                    an MLP, rows kept in a cache   convolution weights from relative positions; small MLPs
//	SquaredL2Rows... DotRows...             one vector and the rows of a   search among stored vectors, in float32,
//	L1Rows... CosineRows...                 matrix                         bfloat16 and int8
//	Depthwise...                            Σ w[pose]·f[index], by channel graph, point cloud and Lie group convolution
//	PointConv...                            the same, all pairs of         PointConv layers, one dense map after them
//	                                        channels
//	SetConv...                              Σ Gauss(t-x)·phi               ConvCNPs, kernel smoothing, from points to a grid
//	Adam                                    a step of the optimiser        training anything that lies in slices
//	BF16FromF32 F32FromBF16                 bfloat16 and back              storing weights and tables in half the memory
//	Levels SetLevel CurrentLevel ...        which instructions are used    tests and measurements at a lower level
//
// # What is in assembly
//
// At levels AVX2, AVX512 and NEON; everything else is portable Go. TestFloat64Kernels keeps the column of float64 true.
//
//	                                        float32            float64
//	Exp Log SinCos Atan2 Hypot              all                all
//	activations and their gradients         all                all
//	Sqrt                                    AVX2 AVX512        AVX2 AVX512
//	Softmax LogSumExp                       AVX2 AVX512; elsewhere by Exp, in both types
//	Add Sub Mul Div Axpy Scale ScaleRows    all                all
//	Pow                                     all, in float64    all
//	Erf GELU Expm1 Log1p                    all, NEON: float64 all
//	Min Max Abs Clip                        all                all
//	Floor Ceil Trunc RoundToEven            all                all
//	ArgMax ArgMin                           all                all
//	LayerNorm, SoftmaxGrad                  by WeightedMoments, Dot and elementwise functions, in both types
//	Sum SumSq SumAbs Dot MinMax             all                all
//	DotSingleF32                            all                -
//	Rotate                                  all                all
//	Swap                                    AVX2 AVX512        AVX2 AVX512
//	Gemm GemmNT GemmTN GemmPacked           all                all
//	Gemv GemvT                              all                all
//	GemmRuns                                AVX2 AVX512        AVX2 AVX512; elsewhere one GemmF.. after the other
//	GemmNTI8 GemmPackedI8                   AVX512 where there is AVX512_VNNI; elsewhere by DotRowsI8
//	WeightedMoments Norm NormSums NormGrad  all                AVX2 AVX512
//	Adam                                    all                all
//	WeightNet DenseSwish                    AVX2 AVX512        elsewhere, and in float64 at every level, by GemmPacked
//	DotRows SquaredL2Rows L1Rows CosineRows all                -
//	...of bfloat16                          by float32         -
//	...of int8                              all                -
//	Depthwise PointConv SetConv             all                all
//	SetConvGradParams                       AVX2 AVX512        AVX2 AVX512
//	BF16FromF32 F32FromBF16                 all                -
//
// At level WASM128, which needs Go 1.27 and GOEXPERIMENT=simd, kernels are Go with vectors: Exp, activations, Depthwise,
// PointConv and SetConv in float32, without their gradients; Sum in float64; Add Sub Mul Div Sqrt Axpy Scale ScaleRows SumSq Dot
// MinMax WeightedMoments Gemm GemmNT GemmTN GemmPacked in both types.
//
// # Contract
//
// What follows holds for every exported function unless its comment says otherwise.
//
//   - Shape: data are flat row-major slices, the destination comes first, lengths must match exactly.
//   - Aliasing: a destination may be exactly an input where the comment says so; any other overlap gives undefined
//     values.
//   - Errors: a wrong length panics with the function, the argument and both numbers, as in
//     "simd: GemmF32: len(a) = 11, need 12". Bad numbers never panic: NaN in, NaN out.
//   - Accuracy: eps is the distance from 1 to the next larger number, 2^-23 in float32 and 2^-52 in float64. Bounds on
//     sums of products hold where products and partial sums stay within the range of normal numbers.
//   - Memory: nothing is allocated, no goroutine is started, and no byte outside the given slices is read. Pack, PackI8 and the
//     constructors of plans allocate what they return, GemmNTI8 what PackI8 does; NewDepthwisePlan starts goroutines, as many as
//     GOMAXPROCS says.
//   - Reproducibility: at one Level on one machine type the same inputs give the same bits. An elementwise result does
//     not depend on the element's position or the slice's length; a result row does not depend on which rows are
//     computed in the same call. So a caller may cut work into chunks of rows for its goroutines as it likes.
//
// Every kernel exists as a concrete function per type, ExpF32 and ExpF64, and as a thin generic one, Exp, for callers
// that are generic themselves (zadapter.go).
//
// # Structure
//
// A family of kernels keeps one file stem: exp.go holds the exported functions with their documentation and checks,
// exp_generic.go the portable twin that defines their meaning. Between the two stands a dispatcher, expF32 in
// zmaps_amd64.go (exp_noasm.go where there is no assembly), which chooses the
// implementation for the current Level. Dispatchers of elementwise functions and the assembly, zexp_amd64.s, are written by
// the generators in the module asm; those with other loops, as gemm_amd64.go, by hand.
//
// # Assembly
//
// Assembly cannot be preempted, so dispatchers hand it pieces of bounded size. Builds with the race detector tell it what
// the assembly reads and writes. Building with -tags purego leaves all assembly out.
package simd

//go:generate go run -C ../asm . -o ../simd
