package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// The transforms of package spectral are networks of additions and of multiplications by constants. A network is
// recorded once. The way back is the transposed network: every sum becomes a value that goes to two places, and a value
// that goes to two places becomes a sum. So both have about as many operations, and there is nothing to be derived
// twice.

// network is a linear network, operations in order.
type network struct {
	inputs int
	ops    []linearOp
}

// node is a value of a network; inputs come first.
type node int

// linearOp makes the next value: x + factor·y, or factor·y if x is -1.
type linearOp struct {
	x, y   node
	factor float64
}

func newNetwork(inputs int) (*network, []node) {
	x := make([]node, inputs)
	for i := range x {
		x[i] = node(i)
	}
	return &network{inputs: inputs}, x
}

// multiplyAdd is x + factor·y.
func (n *network) multiplyAdd(x node, factor float64, y node) node {
	n.ops = append(n.ops, linearOp{x, y, factor})
	return node(n.inputs + len(n.ops) - 1)
}

func (n *network) add(x, y node) node                { return n.multiplyAdd(x, 1, y) }
func (n *network) sub(x, y node) node                { return n.multiplyAdd(x, -1, y) }
func (n *network) scale(factor float64, y node) node { return n.multiplyAdd(-1, factor, y) }

// term is a contribution to a sum: factor times a value.
type term struct {
	factor float64
	v      x86.Value
}

// sum adds terms up. The result is minus the sum if negative is set.
func sum(b *x86.Block, terms []term) (v x86.Value, negative bool) {
	first := 0 // best a term that need not be multiplied
	for _, factor := range []float64{-1, 1} {
		if i := slices.IndexFunc(terms, func(t term) bool { return t.factor == factor }); i >= 0 {
			first = i
		}
	}
	v, sign := terms[first].v, 1.0
	if factor := terms[first].factor; factor < 0 {
		sign = -1
	}
	if m := math.Abs(terms[first].factor); m != 1 {
		v = b.Mul(v, linearConst(b, m))
	}
	for i, t := range terms {
		if i != first {
			v = plus(b, v, sign*t.factor, t.v)
		}
	}
	return v, sign < 0
}

func linearConst(b *x86.Block, factor float64) x86.Value {
	name := fmt.Sprintf("wave%d", int(math.Round(math.Abs(factor)*1e6)))
	if factor < 0 {
		name = "minus" + name
	}
	return b.Const(name, factor)
}

// plus is x + factor·y.
func plus(b *x86.Block, x x86.Value, factor float64, y x86.Value) x86.Value {
	switch {
	case factor == 1:
		return b.Add(x, y)
	case factor == -1:
		return b.Sub(x, y)
	case factor > 0:
		return b.FMA(y, linearConst(b, factor), x)
	}
	return b.FNMA(y, linearConst(b, -factor), x)
}

// forward records the network: from entries that the block loads to its outputs, which it stores as soon as they are known.
func (n *network) forward(b *x86.Block, out []node) {
	var v []x86.Value
	for i := range n.inputs {
		v = append(v, b.Load(1, i))
	}
	for k, o := range n.ops {
		if o.x < 0 {
			v = append(v, b.Mul(v[o.y], linearConst(b, o.factor)))
		} else {
			v = append(v, plus(b, v[o.x], o.factor, v[o.y]))
		}
		if i := slices.Index(out, node(n.inputs+k)); i >= 0 {
			b.Store(i, v[n.inputs+k])
		}
	}
}

// transposed records the transposed network: from a value for each output of the network, given by in, to one for each input, which goes to
// the block's entry of that number.
func (n *network) transposed(b *x86.Block, out []node, in func(i int) x86.Value) {
	to := make([][]term, n.inputs+len(n.ops))
	// total is what arrives at a value.
	total := func(id node) (x86.Value, bool) {
		if i := slices.Index(out, id); i >= 0 {
			to[id] = append(to[id], term{1, in(i)})
		}
		return sum(b, to[id])
	}
	for k := len(n.ops) - 1; k >= 0; k-- {
		o, sign := n.ops[k], 1.0
		v, negative := total(node(n.inputs + k))
		if negative {
			sign = -1
		}
		if o.x >= 0 {
			to[o.x] = append(to[o.x], term{sign, v})
		}
		to[o.y] = append(to[o.y], term{sign * o.factor, v})
	}
	for i := range n.inputs {
		v, negative := total(node(i))
		if negative {
			panic(fmt.Sprintf("input %d with a sign", i))
		}
		b.Store(i, v)
	}
}

// wave is a complex value; a real one has only a real part.
type wave struct{ re, im node }

// real2, real4, real8 and real16 are transforms of real numbers, by split radix (P. Duhamel and H. Hollmann, 'Split radix' FFT algorithm,
// Electron. Lett. 20 (1984), 14-16). They return the frequencies 0 and half of the length, and others, one of each pair of conjugates.
func real2(n *network, x []node) (zero, half node) { return n.add(x[0], x[1]), n.sub(x[0], x[1]) }

// real4 returns frequencies 0, 2 and 1.
func real4(n *network, x []node) (zero, half node, one wave) {
	a, c := n.add(x[0], x[2]), n.add(x[1], x[3])
	return n.add(a, c), n.sub(a, c), wave{n.sub(x[0], x[2]), n.sub(x[3], x[1])}
}

// every returns every step-th of x, from start on.
func every(x []node, start, step int) (y []node) {
	for i := start; i < len(x); i += step {
		y = append(y, x[i])
	}
	return y
}

// diagonal returns e ± √½·((p-q) - i(p+q)): what the real values p and q at half the length of the two odd quarters make.
func diagonal(n *network, e wave, p, q node) (plus, minus wave) {
	d, s := n.sub(p, q), n.add(p, q)
	const c = math.Sqrt2 / 2
	return wave{n.multiplyAdd(e.re, c, d), n.multiplyAdd(e.im, -c, s)}, wave{n.multiplyAdd(e.re, -c, d), n.multiplyAdd(e.im, c, s)}
}

// real8 returns frequencies 0, 4, 2, 1 and 5.
func real8(n *network, x []node) (zero, half node, two, one, five wave) {
	e0, e2, e1 := real4(n, every(x, 0, 2))
	a0, a1 := real2(n, every(x, 1, 4))
	b0, b1 := real2(n, every(x, 3, 4))
	s := n.add(a0, b0)
	one, five = diagonal(n, e1, a1, b1)
	return n.add(e0, s), n.sub(e0, s), wave{e2, n.sub(b0, a0)}, one, five
}

// real16 returns frequencies 0 and 8, and then, each with real and imaginary part, those in the order of spectral's complexColumns.
func real16(n *network, x []node) (out []node) {
	e0, e4, e2, e1, e5 := real8(n, every(x, 0, 2))
	a0, a2, a1 := real4(n, every(x, 1, 4))
	b0, b2, b1 := real4(n, every(x, 3, 4))
	s := n.add(a0, b0)
	two, ten := diagonal(n, e2, a2, b2)
	// u = exp(-iθ)·a1 and v = exp(-3iθ)·b1, both divided by cos θ: their sum and difference.
	const angle = math.Pi / 8
	t1, t3, ratio := math.Tan(angle), math.Tan(3*angle), math.Cos(3*angle)/math.Cos(angle)
	u := wave{n.multiplyAdd(a1.re, t1, a1.im), n.multiplyAdd(a1.im, -t1, a1.re)}
	v := wave{n.multiplyAdd(b1.re, t3, b1.im), n.multiplyAdd(b1.im, -t3, b1.re)}
	p := wave{n.multiplyAdd(u.re, ratio, v.re), n.multiplyAdd(u.im, ratio, v.im)}
	q := wave{n.multiplyAdd(u.re, -ratio, v.re), n.multiplyAdd(u.im, -ratio, v.im)}
	c := math.Cos(angle)
	one := wave{n.multiplyAdd(e1.re, c, p.re), n.multiplyAdd(e1.im, c, p.im)}
	nine := wave{n.multiplyAdd(e1.re, -c, p.re), n.multiplyAdd(e1.im, -c, p.im)}
	five := wave{n.multiplyAdd(e5.re, c, q.im), n.multiplyAdd(e5.im, -c, q.re)}
	thirteen := wave{n.multiplyAdd(e5.re, -c, q.im), n.multiplyAdd(e5.im, c, q.re)}
	four := wave{e4, n.sub(b0, a0)}
	out = []node{n.add(e0, s), n.sub(e0, s)}
	for _, w := range []wave{one, nine, five, thirteen, two, ten, four} {
		out = append(out, w.re, w.im)
	}
	return out
}

// odd3, odd5 and odd7 are transforms of as many complex or, without imaginary parts, real numbers; of the latter they
// return the first half of the frequencies, and the one in the middle; the first is real.
func odd3(n *network, x []wave, complex bool) []wave {
	half := func(part func(wave) node) (zero, one, d node) {
		a, b, c := part(x[0]), part(x[1]), part(x[2])
		t := n.add(b, c)
		return n.add(a, t), n.multiplyAdd(a, -0.5, t), n.sub(b, c)
	}
	s := math.Sqrt(3) / 2
	zero, one, d := half(realOf)
	if !complex {
		return []wave{{zero, -1}, {one, n.scale(-s, d)}}
	}
	zeroI, oneI, dI := half(imagOf)
	return []wave{{zero, zeroI}, {n.multiplyAdd(one, s, dI), n.multiplyAdd(oneI, -s, d)},
		{n.multiplyAdd(one, -s, dI), n.multiplyAdd(oneI, s, d)}}
}

func odd5(n *network, x []wave, complex bool) []wave {
	c1, c2 := math.Cos(2*math.Pi/5), math.Cos(4*math.Pi/5)
	s, ratio := math.Sin(2*math.Pi/5), math.Sin(4*math.Pi/5)/math.Sin(2*math.Pi/5)
	half := func(part func(wave) node) (zero, one, two, d1, d2 node) {
		a := part(x[0])
		t1, t2 := n.add(part(x[1]), part(x[4])), n.add(part(x[2]), part(x[3]))
		e1, e2 := n.sub(part(x[1]), part(x[4])), n.sub(part(x[2]), part(x[3]))
		zero = n.add(n.add(a, t1), t2)
		one = n.multiplyAdd(n.multiplyAdd(a, c1, t1), c2, t2)
		two = n.multiplyAdd(n.multiplyAdd(a, c2, t1), c1, t2)
		// The sines, divided by s: of frequency 1, and minus that of 2.
		return zero, one, two, n.multiplyAdd(e1, ratio, e2), n.multiplyAdd(e2, -ratio, e1)
	}
	zero, one, two, d1, d2 := half(realOf)
	if !complex {
		return []wave{{zero, -1}, {one, n.scale(-s, d1)}, {two, n.scale(s, d2)}}
	}
	zeroI, oneI, twoI, d1I, d2I := half(imagOf)
	return []wave{
		{zero, zeroI},
		{n.multiplyAdd(one, s, d1I), n.multiplyAdd(oneI, -s, d1)},
		{n.multiplyAdd(two, -s, d2I), n.multiplyAdd(twoI, s, d2)},
		{n.multiplyAdd(two, s, d2I), n.multiplyAdd(twoI, -s, d2)},
		{n.multiplyAdd(one, -s, d1I), n.multiplyAdd(oneI, s, d1)},
	}
}

func odd7(n *network, x []wave, complex bool) []wave {
	c, s := [4]float64{}, [4]float64{}
	for k := range c {
		s[k], c[k] = math.Sincos(2 * math.Pi * float64(k) / 7)
	}
	half := func(part func(wave) node) (f, d [4]node) {
		a := part(x[0])
		var t, e [4]node
		f[0] = a
		for k := 1; k <= 3; k++ {
			t[k], e[k] = n.add(part(x[k]), part(x[7-k])), n.sub(part(x[k]), part(x[7-k]))
			f[0] = n.add(f[0], t[k])
		}
		for k := 1; k <= 3; k++ {
			f[k] = a
			for j := 1; j <= 3; j++ {
				f[k] = n.multiplyAdd(f[k], c[min(j*k%7, 7-j*k%7)], t[j])
			}
		}
		// The sines, divided by s[1]: of frequency 1, and minus those of 2 and 3.
		p, q := s[2]/s[1], s[3]/s[1]
		d[1] = n.multiplyAdd(n.multiplyAdd(e[1], p, e[2]), q, e[3])
		d[2] = n.multiplyAdd(n.multiplyAdd(e[3], q, e[2]), -p, e[1])
		d[3] = n.multiplyAdd(n.multiplyAdd(e[2], -q, e[1]), -p, e[3])
		return f, d
	}
	f, d := half(realOf)
	sines := [4]float64{0, s[1], -s[1], -s[1]}
	out := []wave{{f[0], -1}}
	if !complex {
		for k := 1; k <= 3; k++ {
			out = append(out, wave{f[k], n.scale(-sines[k], d[k])})
		}
		return out
	}
	g, i := half(imagOf)
	out[0].im = g[0]
	for k := 1; k <= 6; k++ {
		j, sine := k, sines[min(k, 7-k)]
		if k > 3 {
			j, sine = 7-k, -sine
		}
		out = append(out, wave{n.multiplyAdd(f[j], sine, i[j]), n.multiplyAdd(g[j], -sine, d[j])})
	}
	return out
}

func realOf(w wave) node { return w.re }
func imagOf(w wave) node { return w.im }

// spectralNetwork is a network with its outputs.
type spectralNetwork struct {
	*network
	out []node
}

func network16() spectralNetwork {
	n, x := newNetwork(16)
	return spectralNetwork{n, real16(n, x)}
}

// networkOdd is a transform of odd points. Inputs are real parts, then imaginary parts. Outputs are slots: of a complex
// frequency the real part, the imaginary part and their sum.
func networkOdd(odd int, complex bool) spectralNetwork {
	inputs := odd
	if complex {
		inputs = 2 * odd
	}
	n, in := newNetwork(inputs)
	x := make([]wave, odd)
	for i := range x {
		x[i] = wave{in[i], -1}
		if complex {
			x[i].im = in[odd+i]
		}
	}
	f := map[int]func(*network, []wave, bool) []wave{3: odd3, 5: odd5, 7: odd7}[odd](n, x, complex)
	var out []node
	for _, w := range f {
		out = append(out, w.re)
		if w.im >= 0 {
			out = append(out, w.im, n.add(w.re, w.im))
		}
	}
	return spectralNetwork{n, out}
}

// forwardBody records the network as arithmetic on lines.
func (s spectralNetwork) forwardBody(b *x86.Block) { s.forward(b, s.out) }

// backBody records the transposed network.
func (s spectralNetwork) backBody(b *x86.Block) {
	s.transposed(b, s.out, func(i int) x86.Value { return b.Load(1, i) })
}

// backOddBody is backBody for slots, whose real and imaginary parts have changed places; see package spectral.
func (s spectralNetwork) backOddBody(complex bool) func(b *x86.Block) {
	return func(b *x86.Block) {
		s.transposed(b, s.out, func(i int) x86.Value {
			at := i
			switch {
			case complex && i%3 < 2:
				at = i/3*3 + 1 - i%3
			case !complex && i > 0 && (i-1)%3 < 2:
				at = (i-1)/3*3 + 2 - (i-1)%3
			}
			return b.Load(1, at)
		})
	}
}

// lineOf is the identity, the places of lines that stand side by side.
func lineOf(e int) int { return e }

// between returns the places of the values of odd transforms among those of 16 points: entry e is number e%odd, its
// imaginary part a line further.
func between(odd int) func(e int) int {
	return func(e int) int { return e%odd*16 + e/odd }
}

// spectralOdds are the numbers of rows of a transform.
var spectralOdds = []int{3, 5, 7}

// spectralStages returns the loops of a transform of 16·odd points: those over lines of 16 points, real columns, and complex ones.
func spectralStages(odd int, back bool) (sixteen, reals, complexes x86.Lines) {
	n, r, c := network16(), networkOdd(odd, false), networkOdd(odd, true)
	width := 1 + odd/2*3
	sixteen = x86.Lines{Body: n.forwardBody, In: lineOf, Out: lineOf, NextIn: 16, NextOut: 16}
	reals = x86.Lines{Body: r.forwardBody, In: between(odd), Out: lineOf, NextIn: 1, NextOut: width}
	complexes = x86.Lines{Body: c.forwardBody, In: between(odd), Out: lineOf, NextIn: 2, NextOut: 3 * odd}
	if back {
		sixteen.Body = n.backBody
		reals = x86.Lines{Body: r.backOddBody(false), In: lineOf, Out: between(odd), NextIn: width, NextOut: 1}
		complexes = x86.Lines{Body: c.backOddBody(true), In: lineOf, Out: between(odd), NextIn: 3 * odd, NextOut: 2}
	}
	return sixteen, reals, complexes
}

const (
	spectralForwardArgs = "(dst, between, in, src *float32, place *int32, n, stride, odd int)"
	spectralForwardDoc  = "puts n lines of src, stride bytes apart, at their places among the points in, and transforms " +
		"these, 16·odd, to slots dst."
	spectralBackArgs = "(dst, between, back, src, scale, check *float32, place *int32, n, stride, odd int)"
	spectralBackDoc  = "transforms slots src to 16·odd points, and sets n lines of dst, stride bytes apart, to " +
		"those at their places, times scale. " +
		"The line check, if it was finite, becomes NaN where a result is not finite."
	spectralLinesArgs = "(dst, src *float32, n, dstStride, srcStride int)"
	spectralLinesDoc  = "sets n lines of dst, dstStride bytes apart, to those of src, srcStride bytes apart."
	spectralAddDoc    = "sets n lines of dst, dstStride bytes apart, to max(0, dst + src), with the lines of src srcStride bytes apart."
	spectralSumArgs   = "(dst, x, k *float32, taps, rows, stride, tapStride, slotStride, slots, add int)"
	spectralSumDoc    = "sets rows of dst to sums of rows of x, or adds these if add is not 0: line i of a slot to Σ " +
		"k[t]·x[i+t] over t < taps, for i < rows, " +
		"a multiple of 8, and that many slots. Rows of dst and of x are stride bytes apart, taps tapStride, and slots " +
		"of k slotStride; slots stand side by side in dst and x. " +
		"dst may be x."
)
