package depthwise

import (
	"fmt"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/schedule"
)

// Poses lists the pairs of a neighbourhood by pose, for the gradient of a depthwise convolution to its weights:
//
//	dw[q, j] = Σ_b Σ_k f[b, index[k], j] · dout[b, row of k, j]
//
// over the pairs k of pose q and the images b of a batch. Making it checks all indices. It then serves every image and every
// slice of channels, and is only read, by any number of goroutines. It suits any number of poses; where few poses stand for many
// pairs on a grid, simd.DepthwisePlanGradWF32 is faster.
//
// Poses are divided into parts. A goroutine takes a part and some channels, and is the only one that writes those rows and
// columns of dw.
type Poses struct {
	rows, points, poses int
	// code consists of blocks {pose, counted from the first one of its part; number of pairs; then row and point of each pair}:
	// sums that are added to a row of dw. In the first block of a pose, firstOfPose is set in the number of pairs. Rows and
	// points are counted in bytes of a slice of one image, as unsigned numbers: kernels then need no shift.
	//
	// Blocks of poses that have the same rows are joined, poseGroup at a time: {number of rows; poses; then each row with a point
	// for each pose}. A row that is read then serves all of them.
	code  []int32
	calls []poseCall
	parts []posePart
}

// poseCall is the blocks that a kernel processes at a time: those from entry at of the code on, joined ones or others.
type poseCall struct {
	at, blocks int
	joined     bool
}

// posePart is the poses lo to hi; its calls start with number call.
type posePart struct{ lo, hi, call int }

const (
	// poseLanes is how many channels form a slice, which features are packed in.
	poseLanes = 16
	// posePlace is how many bytes a slice has of a point.
	posePlace = 4 * poseLanes
	// posePoints is the largest number of rows or points: their places must be below 2^32.
	posePoints = 1 << 26
	// poseImages is how many images a kernel adds up at a time.
	poseImages = 4
	// poseGroup is how many poses with the same rows are summed together: the sums of two vectors of channels take twelve registers.
	poseGroup = 6
	// firstOfPose marks a block that overwrites a row of dw instead of adding to it.
	firstOfPose = -1 << 31
	// poseCallPairs bounds the pairs and blocks of a call, as maxGather does elsewhere.
	poseCallPairs = 1 << 13
	// posePartPairs is about how many pairs a part has, and posePartPoses the largest number of poses. A pose is not divided. The
	// gradient of a part takes two megabytes with 128 channels, about a second-level cache. Parts of fewer poses would keep it
	// closer to the core, but would fetch features from far away more often, which costs more.
	posePartPairs = 1 << 16
	posePartPoses = 1 << 12
)

// NewPoses lists a neighbourhood of that many points and poses, given as in simd.DepthwiseF32. It panics if a length does not
// match, offsets descend, an index or pose names no row, or there are more than 2^26 rows or points.
func NewPoses(offsets []int, index, pose []int32, points, poses int) *Poses {
	const fn = "NewPoses"
	check.Size(fn, "points", points)
	check.Size(fn, "poses", poses)
	rows := check.CSR(fn, offsets, index, pose)
	if most := max(rows, points); most > posePoints {
		panic(fmt.Sprintf("depthwise: %s: %d rows or points, need at most %d", fn, most, posePoints))
	}
	check.Indices(fn, "index", index, 0, points)
	check.Indices(fn, "pose", pose, 0, poses)
	lists := (&schedule.Rows{Offsets: offsets, Index: index, Pose: pose, Poses: poses}).ByPose(posePartPairs, posePartPoses, poseGroup)
	p := &Poses{rows: rows, points: points, poses: poses}
	size := 0
	for _, part := range lists.Parts {
		p.parts = append(p.parts, posePart{part.Lo, part.Hi, len(p.calls)})
		call, work := poseCall{at: size}, 0
		for l := part.From; l < part.To; {
			n, joined := poseBlock(lists, l)
			pairs := n * (lists.Offsets[l+1] - lists.Offsets[l] + 1)
			if work += pairs; call.blocks > 0 && (work > poseCallPairs || call.joined != joined) {
				p.calls = append(p.calls, call)
				call, work = poseCall{at: size}, pairs
			}
			call.joined = joined
			call.blocks++
			size += blockSize(pairs, n)
			l += n
		}
		p.calls = append(p.calls, call)
	}
	p.code = make([]int32, size)
	parallel.For(len(lists.Parts), 1, func(k, _ int) {
		part, code := lists.Parts[k], p.code[p.calls[p.parts[k].call].at:]
		for l := part.From; l < part.To; {
			n, joined := poseBlock(lists, l)
			if joined {
				code = joinedCode(code, lists, l, part.Lo)
			} else {
				code = pairsCode(code, lists, l, part.Lo)
			}
			l += n
		}
	})
	return p
}

// poseBlock returns how many lists from l on are a block of the code, and whether they are joined.
func poseBlock(lists *schedule.ByPose, l int) (n int, joined bool) {
	if lists.Lists[l].Together {
		return poseGroup, true
	}
	return 1, false
}

// blockSize returns the length of the code of a block of n lists with so many pairs, of which each list has one more.
func blockSize(pairs, n int) int { return pairs / n * (n + 1) }

// pairsCode writes the block of list l, and returns what is left of code.
func pairsCode(code []int32, lists *schedule.ByPose, l, part int) []int32 {
	row, point := listOf(lists, l)
	code[0], code[1], code = lists.Lists[l].Pose-int32(part), listCount(lists, l), code[2:]
	for k, i := range row {
		code[2*k], code[2*k+1] = i*posePlace, point[k]*posePlace // may wrap into negative numbers
	}
	return code[2*len(row):]
}

// joinedCode writes the joined block of poseGroup lists from l on, and returns what is left of code.
func joinedCode(code []int32, lists *schedule.ByPose, l, part int) []int32 {
	const step = poseGroup + 1
	row, _ := listOf(lists, l)
	code[0] = listCount(lists, l)
	for k, i := range row {
		code[(k+1)*step] = i * posePlace
	}
	for q := range poseGroup {
		code[1+q] = lists.Lists[l+q].Pose - int32(part)
		_, point := listOf(lists, l+q)
		for k, i := range point {
			code[(k+1)*step+1+q] = i * posePlace
		}
	}
	return code[(len(row)+1)*step:]
}

func listOf(lists *schedule.ByPose, l int) (row, point []int32) {
	from, to := lists.Offsets[l], lists.Offsets[l+1]
	return lists.Row[from:to], lists.Point[from:to]
}

// listCount is the number of pairs of list l as the code has it.
func listCount(lists *schedule.ByPose, l int) int32 {
	row, _ := listOf(lists, l)
	if lists.Lists[l].First {
		return int32(len(row)) | firstOfPose
	}
	return int32(len(row))
}

// Parts returns the number of parts.
func (p *Poses) Parts() int { return len(p.parts) }

// Part returns the poses lo to hi of a part.
func (p *Poses) Part(part int) (lo, hi int) { return p.parts[part].lo, p.parts[part].hi }

// callsOf returns the calls of a part.
func (p *Poses) callsOf(part int) []poseCall {
	if part+1 < len(p.parts) {
		return p.calls[p.parts[part].call:p.parts[part+1].call]
	}
	return p.calls[p.parts[part].call:]
}

// PackedLen returns the length of the result of PackF32 for so many images of n rows and c channels. It panics
// if one of them is negative.
func PackedLen(images, n, c int) int {
	const fn = "PackedLen"
	check.Size(fn, "images", images)
	check.Size(fn, "n", n)
	check.Size(fn, "c", c)
	return images * n * poseWidth(c)
}

// poseWidth returns c rounded up to whole slices.
func poseWidth(c int) int { return (c + poseLanes - 1) / poseLanes * poseLanes }

// PackF32 packs rows lo to hi of every image for PosesGradWF32 and BatchF32: in slices of 16
// channels, in which the values of all images of a batch at one point stand together. A slice of all points then fits a
// second-level cache, and one address serves several images.
//
//   - Shape: src is [images, n, c], dst has PackedLen(images, n, c) entries. Rows may be divided among goroutines.
//   - Aliasing: dst must not overlap src.
//   - Errors: panics if a length does not match, a size is negative, or not 0 ≤ lo ≤ hi ≤ n.
func PackF32(dst, src []float32, images, n, c, lo, hi int) {
	const fn = "PackF32"
	check.Len(fn, "dst", len(dst), PackedLen(images, n, c))
	check.Elements(fn, "src", len(src), images, n, c)
	if lo < 0 || hi < lo || hi > n {
		panic(fmt.Sprintf("depthwise: %s: rows %d to %d, need a part of 0 to %d", fn, lo, hi, n))
	}
	width := poseWidth(c)
	for b := 0; b < images; {
		m := imagesAtOnce(images - b)
		for j := 0; j < c; j += poseLanes {
			slice := dst[b*n*width+m*n*j:][:m*n*poseLanes]
			for k := range m {
				image := src[(b+k)*n*c:][:n*c]
				if j+poseLanes > c {
					for i := lo; i < hi; i++ {
						to := slice[(i*m+k)*poseLanes:][:poseLanes]
						clear(to[copy(to, image[i*c+j:i*c+c]):])
					}
					continue
				}
				for i := lo; i < hi; i++ {
					*(*[poseLanes]float32)(slice[(i*m+k)*poseLanes:]) = *(*[poseLanes]float32)(image[i*c+j:])
				}
			}
		}
		b += m
	}
}

// imagesAtOnce returns how many of so many images a kernel takes: 4, 2 or 1.
func imagesAtOnce(images int) int {
	m := poseImages
	for m > images {
		m /= 2
	}
	return m
}

// PosesGradWF32 sets channels from to to of dw, a row for each pose of one part, to the gradient of a depthwise convolution to
// its weights, summed over the images of a batch; see Poses. A pose without pairs gets 0. Parts and slices of channels may be
// divided among goroutines, and the bits do not depend on how.
//
//   - Shape: dw is [hi-lo, c] with lo and hi from plan.Part(part): a slice of all gradients, or of its own, which is small and still in the
//     cache when the caller uses it. dout and f are packed by PackF32, from [images, rows, c] and [images, points, c]. from is a
//     multiple of 16, and so is to, or it is c.
//   - Aliasing: dw must not overlap dout or f.
//   - Errors: panics if a length does not match, a size is negative, or there is no such part or slice.
//   - Accuracy: at most (n+8)·eps·Σ|terms| from the exact value, n the number of a pose's pairs in all images.
func PosesGradWF32(dw, dout, f []float32, plan *Poses, part, from, to, images, c int) {
	const fn = "PosesGradWF32"
	p := plan
	check.Len(fn, "dout", len(dout), PackedLen(images, p.rows, c))
	check.Len(fn, "f", len(f), PackedLen(images, p.points, c))
	if part < 0 || part >= p.Parts() {
		panic(fmt.Sprintf("depthwise: %s: part %d, need 0 to %d", fn, part, p.Parts()-1))
	}
	checkSlice(fn, from, to, c)
	lo, hi := p.Part(part)
	check.Elements(fn, "dw", len(dw), hi-lo, c)
	width := poseWidth(c)
	p.race(dw, dout, f, from, to, c)
	if images == 0 {
		for at := 0; at < len(dw); at += c {
			clear(dw[at+from : at+to])
		}
	}
	for b := 0; b < images; {
		m := imagesAtOnce(images - b)
		for j := from; j < to; j += poseLanes {
			n := m * poseLanes
			d := dout[b*p.rows*width+m*p.rows*j:][:p.rows*n]
			x := f[b*p.points*width+m*p.points*j:][:p.points*n]
			for _, call := range p.callsOf(part) {
				run := runPoses
				if call.joined {
					run = runJoinedPoses
				}
				run(tailOf(dw, j), d, x, p.code[call.at:], call.blocks, m, c, min(poseLanes, to-j), b > 0)
			}
		}
		b += m
	}
}

// poseGeneric computes blocks of the code for a slice of n channels of m images. If more is set, it adds to dw, else it
// overwrites.
func poseGeneric(dw, dout, f []float32, code []int32, blocks, m, c, n int, more bool) {
	for range blocks {
		q, count := int(code[0]), code[1]
		pairs := code[2:][:2*(count&^firstOfPose)]
		code = code[2+len(pairs):]
		to := dw[q*c:][:n]
		if count < 0 && !more {
			clear(to)
		}
		for ; len(pairs) > 0; pairs = pairs[2:] {
			d, x := placeOf(dout, pairs[0], m), placeOf(f, pairs[1], m)
			for b := 0; b < m*poseLanes; b += poseLanes {
				mulAdd(to, d[b:b+n], x[b:b+n])
			}
		}
	}
}

// joinedPoseGeneric is poseGeneric for joined blocks.
func joinedPoseGeneric(dw, dout, f []float32, code []int32, blocks, m, c, n int, more bool) {
	const step = poseGroup + 1
	for range blocks {
		count, poses := code[0], code[1:step]
		rows := code[step:][:step*(count&^firstOfPose)]
		code = code[step+len(rows):]
		for q, pose := range poses {
			to := dw[int(pose)*c:][:n]
			if count < 0 && !more {
				clear(to)
			}
			for at := 0; at < len(rows); at += step {
				d, x := placeOf(dout, rows[at], m), placeOf(f, rows[at+1+q], m)
				for b := 0; b < m*poseLanes; b += poseLanes {
					mulAdd(to, d[b:b+n], x[b:b+n])
				}
			}
		}
	}
}

// placeOf returns the values of m images at a place of the code.
func placeOf(x []float32, place int32, m int) []float32 {
	return x[int(uint32(place)/posePlace)*m*poseLanes:][:m*poseLanes]
}
