// Package neighbor finds who is near whom: balls and nearest neighbours in the distance of a Lie group, and the table of
// relative poses that a convolution over such balls needs.
//
// [Ball] answers the question of every convolution layer: which points j lie within distance r of which query i? The
// answer is a [Neighborhood] in compressed sparse rows, and every pair carries the number of its relative pose in a table
// of distinct poses, because the convolution's weights depend on the pose alone. Nothing of size queries × points is ever
// built: memory grows with the number of pairs within the radius.
//
// # What is exact
//
//   - Membership is decided in float64 by the group's own Distance, strictly: distance < Radius. Every method gives the
//     same pairs, and any GOMAXPROCS the same bits.
//   - Rows list their neighbours by ascending index. [KNearest] orders by (distance, index), so ties have one right
//     answer.
//   - Poses merge only when they agree to the bits that the group's arithmetic leaves meaningful; see
//     [Options.MergeTolerance].
//
// # Points without a group
//
// [KDTree] and [Grid] are useful alone, for float32 and float64: balls, nearest points and boxes in the Euclidean
// distance, on up to eight axes, each of which may be periodic (tree) or on up to three (grid). [Arrange] chooses
// between them. Searches for many points at once, [EachBall], [BallCounts], [EachNearest] and [Nearest], are 8 to 70
// times as fast on each core as one by one where the queries are about as dense as the points: queries that stand
// together look up their surroundings once, and each then scans the points found there with vectors. Sparse queries
// share little: 20,000 random ones among a million points gain a factor of 1.4 to 6. With periodic axes, where the
// look-up has no vectors, balls are 6 to 18 times and nearest points 3 to 7 times as fast as one by one. [Balls], which
// writes a list of points and distances for every query, is 6 to 10 times as fast as a list by Ball, and 3 to 6 times
// with periodic axes (BenchmarkOneByOne, AVX-512). All searches are exact: they find the same pairs, bit for bit, as a
// scan of all pairs in that type.
//
// [Vectors] is for rows of many numbers, such as embeddings, where trees do not help: the k best by Euclidean distance,
// sum of differences, inner product or cosine, exactly. [VectorsBF16] and [VectorsI8] keep rows in half and a quarter of the memory.
// [Top] keeps the k best of scores that are computed elsewhere, part by part.
//
// # How it searches
//
// Up to some hundred thousand points, [Ball] looks at every point, through a group.Finder: a filter in fixed point tests 64
// points in a few cycles, and the kernels that decide see only the points that pass. Beyond that, groups that implement
// group.Bounder are searched with a [KDTree] over their bounding coordinates, which yields runs of stored points; the group's
// distance then decides. Other groups are scanned.
//
// # How poses merge
//
// The pose table is defined as the one that results from entering all pairs in order. Poses that lie far apart never merge, so
// tables for different regions of the space of poses are filled independently. Most poses need no look-up where points stand on a
// lattice that the group moves along, where a few rows show nearly all poses, or where rotations of the group map the points to
// themselves, as quarter turns do with an image. [Neighborhood.Classes] says which rows share their poses.
package neighbor
