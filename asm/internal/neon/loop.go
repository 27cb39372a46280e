package neon

import "bytes"

// Loop describes a pass over slices of N float32 or float64 elements.
type Loop struct {
	// Lanes is the type: S4 for float32.
	Lanes Lanes
	// N holds the number of elements left, In and Out the addresses of the next ones. All are used up.
	N       R
	In, Out []R
	// Unroll is the number of vectors that one turn of the main loop takes: 1 or an even number.
	Unroll int
	// Whole says that N is a multiple of a vector's length.
	Whole bool
	// Body computes a group of vectors from one group per input and returns one per output. Registers it takes are given back
	// afterwards.
	Body func(in []Vec) []Vec
}

// Each emits the loop. Its body is written twice, for Unroll vectors and for one. The second is used for the remaining
// whole vectors, and for the last elements, which fill only a part of a vector: they are loaded and stored lane by
// lane, and the other lanes are zero. So every element passes through the same arithmetic, wherever it stands.
func (f *Func) Each(l Loop) {
	rest, compute, done := f.NewLabel("rest"), f.NewLabel("compute"), f.NewLabel("done")
	partIn, partOut := f.NewLabel("partIn"), f.NewLabel("partOut")
	lanes := l.Lanes.Count()
	if l.Unroll > 1 {
		loop := f.NewLabel("loop")
		f.Text("CMP $%d, %v", lanes*l.Unroll, l.N)
		f.Text("BLT %s", rest)
		f.Counted(loop, lanes*l.Unroll, "elements", func() {
			f.group(l, l.Unroll, func(in []Vec) {
				for i, x := range in {
					for j := 0; j < l.Unroll; j += 2 {
						f.Text("FLDPQ.P 32(%v), (F%d, F%d)", l.In[i], x[j], x[j+1])
					}
				}
			}, func(out []Vec) {
				for i, x := range out {
					for j := 0; j < l.Unroll; j += 2 {
						f.Text("FSTPQ.P (F%d, F%d), 32(%v)", x[j], x[j+1], l.Out[i])
					}
				}
			})
			f.Text("SUB $%d, %v", lanes*l.Unroll, l.N)
			f.Text("CMP $%d, %v", lanes*l.Unroll, l.N)
			f.Text("BGE %s", loop)
		})
	}
	var in, out []Vec
	single := func() {
		f.Text("CBZ %v, %s", l.N, done)
		f.group(l, 1, func(x []Vec) {
			in = x
			if !l.Whole {
				f.Text("CMP $%d, %v", lanes, l.N)
				f.Text("BLT %s", partIn)
			}
			for i := range in {
				f.Text("FMOVQ.P 16(%v), F%d", l.In[i], in[i][0])
			}
			if !l.Whole {
				f.Label(compute)
			}
		}, func(x []Vec) {
			out = x
			if !l.Whole {
				f.Text("CMP $%d, %v", lanes, l.N)
				f.Text("BLT %s", partOut)
			}
			for i := range out {
				f.Text("FMOVQ.P F%d, 16(%v)", out[i][0], l.Out[i])
			}
			f.Text("SUB $%d, %v", lanes, l.N)
			f.Text("B %s", rest)
		})
	}
	if l.Unroll > 1 {
		f.Label(rest)
		single()
	} else {
		f.Counted(rest, lanes, "elements", single)
	}
	if l.Whole {
		f.Label(done)
		return
	}
	f.Label(partIn)
	for i := range in {
		f.LoadFirst(l.Lanes, in[i][0], l.In[i], l.N)
	}
	f.Text("B %s", compute)
	f.Label(partOut)
	for i := range out {
		f.StoreFirst(l.Lanes, out[i][0], l.Out[i], l.N)
	}
	f.Label(done)
}

// group emits load, body and store for u vectors and gives all their registers back.
func (f *Func) group(l Loop, u int, load, store func([]Vec)) {
	before := f.freeV
	in := make([]Vec, len(l.In))
	for i := range in {
		in[i] = f.V(u)
	}
	load(in)
	store(l.Body(in))
	f.freeV = before
}

// Counted emits a loop under that label and states above it how many instructions a turn takes for how much work.
func (f *Func) Counted(label string, work int, unit string, body func()) {
	outer, before := f.body, f.instructions
	f.body = bytes.Buffer{}
	body()
	turn := f.body
	f.body = outer
	f.Label(label)
	n := f.instructions - before
	f.each = float64(n) / float64(work)
	f.Comment("%d instructions for %d %s, %.4g each", n, work, unit, f.each)
	f.body.Write(turn.Bytes())
}

// PerUnit returns the number of instructions that the loop written last by Counted takes for one unit of its work.
func (f *Func) PerUnit() float64 { return f.each }

// LoadFirst and StoreFirst are LoadPart and StorePart for either type; in float64 n can only be 1.
func (f *Func) LoadFirst(l Lanes, v V, p, n R) {
	if l == D2 {
		f.Text("FMOVD (%v), F%d", p, v)
		return
	}
	f.LoadPart(v, p, n)
}

func (f *Func) StoreFirst(l Lanes, v V, p, n R) {
	if l == D2 {
		f.Text("FMOVD F%d, (%v)", v, p)
		return
	}
	f.StorePart(v, p, n)
}

// LoadPart loads the first n elements at p, 1 to 3, and sets the other lanes to zero. p moves.
func (f *Func) LoadPart(v V, p, n R) {
	one, end := f.NewLabel("loadOne"), f.NewLabel("loaded")
	f.Text("TBZ $1, %v, %s", n, one)
	f.Text("FMOVD.P 8(%v), F%d", p, v)
	f.Text("TBZ $0, %v, %s", n, end)
	f.Text("VLD1 (%v), V%d.S[2]", p, v)
	f.Text("B %s", end)
	f.Label(one)
	f.Text("FMOVS (%v), F%d", p, v)
	f.Label(end)
}

// StorePart stores the first n lanes, 1 to 3, at p. p moves.
func (f *Func) StorePart(v V, p, n R) {
	one, end := f.NewLabel("storeOne"), f.NewLabel("stored")
	f.Text("TBZ $1, %v, %s", n, one)
	f.Text("FMOVD.P F%d, 8(%v)", v, p)
	f.Text("TBZ $0, %v, %s", n, end)
	f.Text("VST1 V%d.S[2], (%v)", v, p)
	f.Text("B %s", end)
	f.Label(one)
	f.Text("FMOVS F%d, (%v)", v, p)
	f.Label(end)
}

// LoadUpTo loads the first n elements at p, 1 to what two registers hold, and sets the other lanes to zero. p moves.
func (f *Func) LoadUpTo(l Lanes, x Vec, p, n R) {
	few, rest, end := f.NewLabel("loadFew"), f.NewLabel("loadRest"), f.NewLabel("loadEnd")
	f.Text("CMP $%d, %v", l.Count(), n)
	f.Text("BLT %s", few)
	f.Text("FMOVQ.P 16(%v), F%d", p, x[0])
	f.Clear(x[1:])
	f.Text("BEQ %s", end)
	f.Text("CMP $%d, %v", 2*l.Count(), n)
	f.Text("BLT %s", rest)
	f.Text("FMOVQ (%v), F%d", p, x[1])
	f.Text("B %s", end)
	f.Label(few)
	f.Clear(x[1:])
	f.LoadFirst(l, x[0], p, n)
	f.Text("B %s", end)
	// From 5 to 7 the low bits of n are those of n-4.
	f.Label(rest)
	f.LoadFirst(l, x[1], p, n)
	f.Label(end)
}

// StoreUpTo stores the first n lanes of two registers, at least 1, at p. p moves.
func (f *Func) StoreUpTo(l Lanes, x Vec, p, n R) {
	few, rest, end := f.NewLabel("storeFew"), f.NewLabel("storeRest"), f.NewLabel("storeEnd")
	f.Text("CMP $%d, %v", l.Count(), n)
	f.Text("BLT %s", few)
	f.Text("FMOVQ.P F%d, 16(%v)", x[0], p)
	f.Text("BEQ %s", end)
	f.Text("CMP $%d, %v", 2*l.Count(), n)
	f.Text("BLT %s", rest)
	f.Text("FMOVQ F%d, (%v)", x[1], p)
	f.Text("B %s", end)
	f.Label(few)
	f.StoreFirst(l, x[0], p, n)
	f.Text("B %s", end)
	f.Label(rest)
	f.StoreFirst(l, x[1], p, n)
	f.Label(end)
}

// LoadUpTo8 and StoreUpTo8 do so with float32.
func (f *Func) LoadUpTo8(x Vec, p, n R)  { f.LoadUpTo(S4, x, p, n) }
func (f *Func) StoreUpTo8(x Vec, p, n R) { f.StoreUpTo(S4, x, p, n) }
