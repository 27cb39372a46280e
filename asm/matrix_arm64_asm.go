package main

import (
	"path"
	"strings"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// writeNEON writes a file's functions for both types: the arithmetic of the amd64 kernels, in NEON's instructions.
func (m matrixFile) writeNEON(f *neon.File) {
	pool := f.Pool(strings.TrimPrefix(path.Base(m.file), "z") + "Consts")
	for _, o := range m.ops {
		for _, e := range []x86.Elem{x86.F32, x86.F64} {
			if e == x86.F32 && o.onlyF64 {
				continue
			}
			x86.BatchNEON(f, pool, x86.Batch{
				Name: strings.ToLower(o.name[:1]) + o.name[1:] + e.String(), Doc: o.doc, Elem: e,
				Unroll: o.unroll, Pinned: o.pinned, Square: o.square, Stages: o.stages,
			})
		}
	}
}

// widenNEON writes the conversions of package batch's buffer of wide matrices, for amd64 in widen_amd64_asm.go: rows of numbers, a
// multiple of eight.
func widenNEON(file *neon.File) {
	f := file.Func("widenF32NEON", "(dst *float64, src *float32, n int)",
		"widenF32NEON sets dst[i] = src[i] for i < n, n a positive multiple of 8.")
	dst, src, n := f.Arg("dst"), f.Arg("src"), f.Arg("n")
	narrow, wide := f.V(2), f.V(4)
	loop := f.NewLabel("loop")
	f.Counted(loop, 8, "numbers", func() {
		f.Text("FLDPQ.P 32(%v), (F%d, F%d)", src, narrow[0], narrow[1])
		for i := range narrow {
			lo, hi := wide[2*i:2*i+1], wide[2*i+1:2*i+2]
			f.Widen(lo, narrow[i:i+1])
			f.WidenHigh(hi, narrow[i:i+1])
			f.Text("FSTPQ.P (F%d, F%d), 32(%v)", lo[0], hi[0], dst)
		}
		f.Text("SUBS $8, %v", n)
		f.Text("BGT %s", loop)
	})
	f.Text("RET")

	f = file.Func("narrowF64NEON", "(dst *float32, src *float64, n int)",
		"narrowF64NEON sets dst[i] = src[i], rounded, for i < n, n a positive multiple of 8.")
	dst, src, n = f.Arg("dst"), f.Arg("src"), f.Arg("n")
	narrow, wide = f.V(2), f.V(4)
	loop = f.NewLabel("loop")
	f.Counted(loop, 8, "numbers", func() {
		for i := range narrow {
			lo, hi := wide[2*i:2*i+1], wide[2*i+1:2*i+2]
			f.Text("FLDPQ.P 32(%v), (F%d, F%d)", src, lo[0], hi[0])
			f.Narrow(narrow[i:i+1], lo)
			f.NarrowHigh(narrow[i:i+1], hi)
		}
		f.Text("FSTPQ.P (F%d, F%d), 32(%v)", narrow[0], narrow[1], dst)
		f.Text("SUBS $8, %v", n)
		f.Text("BGT %s", loop)
	})
	f.Text("RET")
}
