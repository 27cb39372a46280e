package neon

// Instructions for kernels that select elements: comparisons of float64 and 16-bit numbers, masks as bits, and packing of selected lanes.

// The float64 forms of instructions of inst.go.
func (f *Func) DivD(d, a, b Vec) { f.three(0x6e20fc00|wideBit, "fdiv", "2d", d, a, b) }
func (f *Func) MaxD(d, a, b Vec) { f.three(0x4e20f400|wideBit, "fmax", "2d", d, a, b) }
func (f *Func) MinD(d, a, b Vec) { f.three(0x4ea0f400|wideBit, "fmin", "2d", d, a, b) }
func (f *Func) AbsD(d, a Vec)    { f.two(0x4ea0f800|wideBit, "fabs", "", "2d", d, a) }
func (f *Func) GTD(d, a, b Vec)  { f.three(0x6ea0e400|wideBit, "fcmgt", "2d", d, a, b) }

// SubHalf is a - b on eight 16-bit lanes; GEHalf sets those to all ones where a ≥ b without sign.
func (f *Func) SubHalf(d, a, b Vec) { f.known3("VSUB", "H8", d, a, b) }
func (f *Func) GEHalf(d, a, b Vec)  { f.three(0x6e603c00, "cmhs", "8h", d, a, b) }

// LowBytes keeps the lower bytes of the 16-bit lanes of lo, then of hi. AddBytePairs puts the sums of neighbouring bytes of a,
// then of b, into d.
func (f *Func) LowBytes(d, lo, hi Vec)   { f.known3("VUZP1", "B16", d, lo, hi) }
func (f *Func) AddBytePairs(d, a, b Vec) { f.known3("VADDP", "B16", d, a, b) }

// Lookup puts byte index[i] of a into byte i of d, and 0 where that is no byte of a.
func (f *Func) Lookup(d, a, index Vec) {
	for i := range d {
		f.Text("VTBL V%d.B16, [V%d.B16], V%d.B16", index.at(i), a.at(i), d[i])
	}
}

// SumAcrossInt puts the sum of the four lanes of a into a general register.
func (f *Func) SumAcrossInt(r R, a, tmp Vec) {
	f.Text("VADDV V%d.S4, V%d", a[0], tmp[0])
	f.Text("FMOVS F%d, %v", tmp[0], r)
}

// Table returns the address of a table of constants that functions of the file share by that name.
func (f *Func) Table(name string, cs ...Const) R {
	known := false
	for _, t := range f.file.tables {
		known = known || t.name == name
	}
	if !known {
		f.file.tables = append(f.file.tables, &table{name: name, data: cs})
	}
	r := f.R()
	f.Text("MOVD $%s<>(SB), %v", name, r)
	return r
}

// SplatAt loads the element at p, of 4 bytes, or 8 if wide, into all lanes.
func (f *Func) SplatAt(d Vec, p R, wide bool) {
	lanes := "S4"
	if wide {
		lanes = "D2"
	}
	f.Text("VLD1R (%v), [V%d.%s]", p, d[0], lanes)
}
