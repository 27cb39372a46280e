package main

import (
	"strings"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// writeNEON writes a file's functions for both types: the arithmetic of the amd64 kernels, in NEON's instructions.
func (m matrixFile) writeNEON(f *neon.File) {
	pool := f.Pool(strings.TrimPrefix(m.file, "z") + "Consts")
	for _, o := range m.ops {
		for _, e := range []x86.Elem{x86.F32, x86.F64} {
			if e == x86.F32 && o.onlyF64 {
				continue
			}
			x86.BatchNEON(f, pool, x86.Batch{
				Name: strings.ToLower(o.name[:1]) + o.name[1:] + e.String(), Doc: o.doc, Elem: e,
				Unroll: o.unroll, Pinned: o.pinned, Stages: o.stages,
			})
		}
	}
}
