//go:build !purego

package simd

import (
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// depthwiseKind selects a kernel for one row at a time.
type depthwiseKind uint8

const (
	depthwisePlain  depthwiseKind = iota
	depthwiseStream               // w is fetched ahead from memory
	depthwiseHalf                 // w is bfloat16, fetched ahead
	depthwiseSeq                  // one accumulator for an element, as in planned rows
)

// depthwiseRun is what the calls for one set of arguments share. Strides are in bytes.
type depthwiseRun struct {
	fn            string // the function that was called
	kind          depthwiseKind
	f, w          unsafe.Pointer
	c             int
	from          int  // the first channel that is computed
	width         int  // numbers from row to row of out
	stride, wsize int  // of a row of f in bytes, of an element of w
	sliced        bool // f and w are a slice of channels; see runSliced
	places        bool // which is read by places
	near          bool // see depthwiseNear
	together      bool // see depthwiseAlike
	mean          int
	ahead, far    int // how many pairs ahead w is fetched, and how; see depthwiseFar
	beyond        int // how many bytes ahead AVX-512 fetches rows of w that are guessed
	lanes         int
	checked       *DepthwiseRows // what is known about the indices, or nil
}

func depthwiseF32(out, f, w []float32, offsets []int, index, pose []int32, c int, mean bool) {
	depthwisePairsF32(out, f, w, offsets, index, pose, nil, c, mean)
}

func depthwiseRowsF32(out, f, w []float32, p *DepthwiseRows, c int, mean bool) {
	depthwisePairsF32(out, f, w, p.offsets, p.index, p.pose, p, c, mean)
}

// depthwisePairsF32 trusts the indices if they are those of checked, which may be nil.
func depthwisePairsF32(out, f, w []float32, offsets []int, index, pose []int32, checked *DepthwiseRows, c int, mean bool) {
	if level == Generic || c == 0 {
		depthwiseGeneric(out, f, w, offsets, index, pose, c, mean)
		return
	}
	raceRead(w)
	d := depthwiseRun{fn: "DepthwiseF32", kind: depthwisePlain, w: unsafe.Pointer(first(w)), wsize: 4, checked: checked}
	// If w is larger than the second-level cache and its rows are used in an order that the machine cannot guess, fetching ahead
	// pays. Within the cache its extra instructions would cost a tenth, and rows that are computed together read w once for all.
	d.together = depthwiseAlike(offsets, pose)
	if len(w)*4 > cpu.DataCaches().L2 && !d.together {
		d.kind = depthwiseStream
		d.fetch(offsets, index, pose)
	}
	if mean {
		d.mean = 1
	}
	if d.kind == depthwisePlain && c > 3*depthwiseLanes() {
		if checked != nil {
			d.near = checked.near
		} else {
			d.near = depthwiseNear(offsets, index)
		}
		if depthwiseSlices(len(f)/c, len(w)/c, len(offsets)-1, len(index), c, d.near, checked != nil) {
			d.runSliced(out, f, w, offsets, index, pose, c)
			return
		}
	}
	d.run(out, f, len(w)/c, offsets, index, pose, c)
}

// depthwiseMost is how many rows the largest group has.
const depthwiseMost = 12

// depthwiseAlike reports whether the first rows have the same poses, as in the gradient to weights that all rows share.
func depthwiseAlike(offsets []int, pose []int32) bool {
	const rows = depthwiseMost
	list := func(i int) []int32 { return pose[offsets[i]-offsets[0] : offsets[i+1]-offsets[0]] }
	if len(offsets) <= rows || len(list(0)) == 0 {
		return false
	}
	for i := 1; i < rows; i++ {
		if !sameIndices(list(0), list(i)) {
			return false
		}
	}
	return true
}

func depthwiseBF16F32(out, f []float32, w []BF16, offsets []int, index, pose []int32, c int, mean bool) {
	if level == Generic || c == 0 {
		depthwiseBF16Generic(out, f, w, offsets, index, pose, c, mean)
		return
	}
	raceRead(w)
	d := depthwiseRun{fn: "DepthwiseBF16F32", kind: depthwiseHalf, w: unsafe.Pointer(first(w)), wsize: 2}
	d.fetch(offsets, index, pose)
	if mean {
		d.mean = 1
	}
	d.run(out, f, len(w)/c, offsets, index, pose, c)
}

// run computes all rows.
func (d *depthwiseRun) run(out, f []float32, poses int, offsets []int, index, pose []int32, c int) {
	d.begin(out, f, offsets, index, pose, c)
	d.walk(out, len(f)/c, poses, offsets, index, pose)
}

func (d *depthwiseRun) begin(out, f []float32, offsets []int, index, pose []int32, c int) {
	raceRead(f)
	raceRead(offsets)
	raceRead(index)
	raceRead(pose)
	raceWrite(out)
	d.f, d.c, d.width, d.stride, d.lanes = unsafe.Pointer(first(f)), c, c, 4*c, depthwiseLanes()
	d.ahead = (depthwiseAhead + c*d.wsize - 1) / (c * d.wsize)
}

func depthwiseLanes() int {
	if level == AVX2 {
		return 8
	}
	return 16
}

// walk goes through the rows chunk by chunk: it checks the indices of a chunk, unless that was done before, and computes it.
func (d *depthwiseRun) walk(out []float32, points, poses int, offsets []int, index, pose []int32) {
	rows, checked := len(offsets)-1, 0 // the indices of rows before checked have been checked
	for lo := 0; lo < rows; {
		hi := gatherChunk(offsets, lo, d.c)
		if d.together { // long rows, too, in groups
			hi = max(hi, min(lo+depthwiseMost, rows))
		}
		a, b := offsets[lo]-offsets[0], offsets[hi]-offsets[0]
		var same []bool
		if d.checked != nil {
			same = d.checked.same[lo:hi]
		} else if checked < hi {
			k := offsets[max(lo, checked)] - offsets[0]
			checkIndex(d.fn, "index", index[k:b], k, points)
			checkIndex(d.fn, "pose", pose[k:b], k, poses)
			checked = hi
		}
		lo += d.chunk(out[lo*d.width:], offsets[lo:hi+1], index[a:b], pose[a:b], same, hi == rows)
	}
}

// chunk computes rows together where neighbouring rows have the same poses, and one by one elsewhere. known says for every row
// whether it has the poses of the row before; if known is nil, chunk compares them. It returns how many rows it has computed: all
// rows of the last chunk; of another chunk, those before its last run of rows with the same poses, which may continue in the next
// chunk, and before what is too few for a group.
func (d *depthwiseRun) chunk(out []float32, offsets []int, index, pose []int32, known []bool, last bool) int {
	rows := len(offsets) - 1
	list := func(i int) []int32 { return pose[offsets[i]-offsets[0] : offsets[i+1]-offsets[0]] }
	alike := func(i, j int) bool { // j follows rows that are like i
		if known != nil {
			return known[j]
		}
		return len(list(i)) > 0 && sameIndices(list(i), list(j))
	}
	single := 0 // rows up to here are done
	if d.kind == depthwisePlain || d.sliced {
		least, most := d.groups()
		i := 0
		for i+least <= rows {
			same := 1
			for same < most && i+same < rows && alike(i, i+same) {
				same++
			}
			if i+same == rows && same < most && i > 0 && !last {
				d.rows(out, offsets, index, pose, single, i)
				return i
			}
			for same >= least {
				d.rows(out, offsets, index, pose, single, i)
				n := least
				if same >= most {
					n = most
				}
				d.group(out, offsets, index, pose, i, n)
				i, same, single = i+n, same-n, i+n
			}
			i += same
		}
		if i > 0 && !last { // with the rows of the next chunk there may be enough for a group
			d.rows(out, offsets, index, pose, single, i)
			return i
		}
	}
	d.rows(out, offsets, index, pose, single, rows)
	return rows
}

// depthwiseAhead is how many bytes ahead rows of w are fetched from memory. Zen 4's own prefetcher follows rows that are used in
// order, and fetching rows of 4 KiB or more ahead would push rows of f out of the cache.
var depthwiseAhead = 16 << 10

// depthwiseFar is 1 if they are fetched into the second-level cache: on the way to the first level they would occupy the few buffers
// that rows of f need as well. A Zen 5 is 1.1 times as fast with rows fetched into the first level, and a Zen 3 with nothing fetched
// by instructions (-1): its own prefetcher follows the rows.
var depthwiseFar = 1

// depthwiseGuess says that AVX-512 guesses rows of w, too: on Zen 5, where that was measured.
var depthwiseGuess bool

// depthwiseFetch returns depthwiseFar, or -2 if at least 7 of 8 poses follow the one before and rows are guessed. A kernel that guesses
// them does not wait for the list of poses, whose next line may come from memory, too: a Zen 3 is 1.1 times as fast, a Zen 5 with AVX-512
// 1.06 to 1.13 times.
func depthwiseFetch(offsets []int, pose []int32) int {
	if depthwiseFar < 0 || depthwiseGuess && level == AVX512 {
		if follow, pairs := depthwiseSteps(offsets, pose, 1, 1); 8*follow >= 7*pairs {
			return -2
		}
	}
	return depthwiseFar
}

// fetch chooses how rows of w are fetched. Where they are guessed and rows of f are near each other, Zen 5's own prefetcher keeps up with
// float32.
func (d *depthwiseRun) fetch(offsets []int, index, pose []int32) {
	d.far = depthwiseFetch(offsets, pose)
	switch {
	case d.wsize == 2:
		d.beyond = 4 << 10
	case d.far == -2 && !depthwiseNear(offsets, index):
		d.beyond = 2 << 10
	}
}

// fetches returns the arguments ahead and far of the kernels of that many vectors. Of AVX-512's, those of eight guess.
func (d *depthwiseRun) fetches(vecs int) (ahead, far int) {
	switch {
	case d.far != -2 || level != AVX512:
		return d.ahead, d.far
	case vecs < 8:
		return d.ahead, depthwiseFar
	}
	return d.beyond, d.far
}

func init() {
	if cpu.AMD {
		depthwiseAhead = 3 << 10
	}
	switch {
	case cpu.Zen5:
		depthwiseFar, depthwiseGuess = 0, true
	case cpu.AMD && !cpu.Zen4:
		depthwiseFar = -1
	}
}

// depthwiseTall says that larger groups of rows are faster: groups of eight rows (AVX2: four), two vectors of channels wide,
// instead of four rows (AVX2: two) and four vectors. Both fetch the same lines of f. The larger group reads a vector of w for
// twice as many rows, but reads twice as many indices for a vector of f. That suits Zen 4, which loads one 512-bit vector a cycle
// but can load an index beside it, and not CPUs that load two such vectors a cycle, where indices compete with vectors.
//
// Where successive pairs are near each other, neighbouring rows find most rows of f in the first-level cache, and the lines that
// have to be fetched, above all those of w, limit the speed: the larger the group, the fewer there are. There all CPUs take
// groups half as large again.
var depthwiseTall = cpu.AMD

// groups returns the least and the greatest number of rows with the same poses that the level's kernels compute together.
func (d *depthwiseRun) groups() (least, most int) {
	least, most = 4, 8
	if level == AVX2 {
		least, most = 2, 4
	}
	switch {
	case d.sliced:
		if d.places {
			most, _ = placeShape()
		}
		least = most
	case d.near:
		most += most / 2
	case !depthwiseTall:
		most = least
	}
	return least, most
}

// block returns how many channels, in how many vectors, a kernel takes next of the c - j that are left. Kernels exist for some
// widths only, and the result is never wider than needed.
func (d *depthwiseRun) block(j, widest int) (vecs, channels, tail int) {
	left := (d.c - j + d.lanes - 1) / d.lanes
	for vecs = widest; vecs > left; {
		vecs /= 2
	}
	channels = min(vecs*d.lanes, d.c-j)
	return vecs, channels, channels - (vecs-1)*d.lanes
}

// rows computes rows lo to hi, one after the other.
func (d *depthwiseRun) rows(out []float32, offsets []int, index, pose []int32, lo, hi int) {
	for lo < hi {
		end := gatherChunk(offsets[:hi+1], lo, d.c)
		d.few(out, offsets, index, pose, lo, end)
		lo = end
	}
}

// few computes rows lo < hi of a chunk.
func (d *depthwiseRun) few(out []float32, offsets []int, index, pose []int32, lo, hi int) {
	a, b := offsets[lo]-offsets[0], offsets[hi]-offsets[0]
	ix, ps, n, pairs := first(index[a:b]), first(pose[a:b]), hi-lo, b-a
	if pairs == 0 {
		for i := lo; i < hi; i++ {
			clear(out[i*d.width+d.from : i*d.width+d.c])
		}
		return
	}
	off, t := &offsets[lo], d.stride
	widest := 8
	if level == AVX2 && (d.kind == depthwiseStream || d.kind == depthwiseHalf) {
		widest = 16
	}
	for j := d.from; j < d.c; {
		vecs, channels, tail := d.block(j, widest)
		o, f := &out[lo*d.width+j], (*float32)(unsafe.Add(d.f, 4*j))
		wj := unsafe.Add(d.w, d.wsize*j)
		w := (*float32)(wj)
		switch {
		case d.kind == depthwisePlain || d.kind == depthwiseSeq && vecs >= 4: // wide blocks have one accumulator in any case
			depthwiseKernel(vecs, o, f, w, off, ix, ps, n, t, tail, d.mean)
		case d.kind == depthwiseSeq:
			depthwiseSeqKernel(vecs, o, f, w, off, ix, ps, n, t, 4*d.width, tail, d.mean)
		case d.kind == depthwiseStream:
			ahead, far := d.fetches(vecs)
			depthwiseStreamKernel(vecs, o, f, w, off, ix, ps, n, t, tail, d.mean, pairs, ahead, far)
		case d.kind == depthwiseHalf:
			ahead, far := d.fetches(vecs)
			depthwiseHalfKernel(vecs, o, f, (*uint16)(wj), off, ix, ps, n, t, t/2, tail, d.mean, pairs, ahead, far)
		}
		j += channels
	}
}

// group computes n rows from i on that have the same poses; n is one of the numbers that groups allows.
func (d *depthwiseRun) group(out []float32, offsets []int, index, pose []int32, i, n int) {
	a, pairs := offsets[i]-offsets[0], offsets[i+1]-offsets[i]
	least, most := d.groups()
	if d.sliced {
		d.tall(&out[i*d.width], (*float32)(d.f), (*float32)(d.w), &index[a], &pose[a], pairs, d.c-d.lanes)
		return
	}
	for j := d.from; j < d.c; {
		vecs, channels, tail := d.block(j, 4)
		f, w := (*float32)(unsafe.Add(d.f, 4*j)), (*float32)(unsafe.Add(d.w, 4*j))
		if n == most && most > least && vecs == 4 {
			d.tallBlock(&out[i*d.width+j], f, w, &index[a], &pose[a], pairs, tail)
		} else {
			for r := 0; r < n; r += least {
				depthwiseGroupKernel(vecs, &out[(i+r)*d.width+j], f, w, &index[a+r*pairs], &pose[a], pairs, d.stride, tail, d.mean)
			}
		}
		j += channels
	}
}

// tallBlock computes a block of four vectors of the larger group, in halves. Narrower blocks need no halves: they have more sets
// of accumulators.
func (d *depthwiseRun) tallBlock(o, f, w *float32, ix, ps *int32, n, tail int) {
	half := 4 * 2 * d.lanes
	next := func(p *float32) *float32 { return (*float32)(unsafe.Add(unsafe.Pointer(p), half)) }
	d.tall(o, f, w, ix, ps, n, d.lanes)
	d.tall(next(o), next(f), next(w), ix, ps, n, tail)
}

// tall computes two vectors of the larger group: as many rows as half of the registers can hold sums for, or three quarters where
// pairs are near. For slices with AVX-512, twelve rows gain nothing over eight.
func (d *depthwiseRun) tall(o, f, w *float32, ix, ps *int32, n, tail int) {
	rows := d.lanes / 2
	if d.near {
		rows += rows / 2
	}
	depthwiseTallKernel(rows, o, f, w, ix, ps, n, d.stride, 4*d.width, tail, d.mean)
}
