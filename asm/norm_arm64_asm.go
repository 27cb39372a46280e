package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// normNEON writes the passes of batch normalisation. The parameters of a block of columns stay in registers while all rows go
// by. Per row and 8 columns: norm 6 instructions of arithmetic and 2 moves, the sums 8, the gradient 12 and 2 moves, beside
// loads, stores and 5 for the loop.
func normNEON(file *neon.File) {
	normPass(file, "normF32NEON", "(y, x, mean, low, scale, bias *float32, rows, c, stride int)",
		"normF32NEON sets y[i, j] = ((x[i, j] - mean[j]) - low[j])·scale[j] + bias[j] for j < c columns. rows is "+
			"positive; they lie stride bytes\n"+
			"apart. y may be x.",
		normShape{columns: []string{"mean", "low", "scale", "bias"}, in: []string{"x"}, out: "y",
			row: func(f *neon.Func, p, in []neon.Vec, _ neon.Vec) neon.Vec {
				y := f.V(len(in[0]))
				f.Sub(in[0], in[0], p[0])
				f.Sub(in[0], in[0], p[1])
				f.Mov(y, p[3])
				f.Mla(y, in[0], p[2])
				return y
			}})
	normPass(file, "normSumsF32NEON", "(sum, sumX, dz, x, mean, low *float32, rows, c, stride int)",
		"normSumsF32NEON adds dz[i, j] to sum[j] and dz[i, j]·((x[i, j] - mean[j]) - low[j]) to sumX[j] for j < c "+
			"columns. rows is positive; they lie stride bytes\n"+
			"apart.",
		normShape{columns: []string{"mean", "low"}, sums: []string{"sum", "sumX"}, in: []string{"x", "dz"},
			row: func(f *neon.Func, p, in []neon.Vec, _ neon.Vec) neon.Vec {
				f.Sub(in[0], in[0], p[0])
				f.Sub(in[0], in[0], p[1])
				f.Add(p[2], p[2], in[1])
				f.Mla(p[3], in[1], in[0])
				return nil
			}})
	normPass(file, "normGradF32NEON", "(dx, dz, x *float32, weight *int32, mean, low, a, p, q *float32, rows, c, stride int)",
		"normGradF32NEON sets dx[i, j] = a[j]·dz[i, j] - weight[i]·(p[j] + q[j]·((x[i, j] - mean[j]) - low[j])) for j < c columns; a nil\n"+
			"weight means 1 for all. rows is positive; they lie stride bytes\n"+
			"apart. dx may be dz.",
		normShape{columns: []string{"mean", "low", "a", "p", "q"}, in: []string{"x", "dz"}, out: "dx", weighted: true,
			row: func(f *neon.Func, p, in []neon.Vec, w neon.Vec) neon.Vec {
				t := f.V(len(in[0]))
				f.Sub(in[0], in[0], p[0])
				f.Sub(in[0], in[0], p[1])
				f.Mov(t, p[3])
				f.Mla(t, in[0], p[4])
				f.Mul(in[1], in[1], p[2])
				for i := range t {
					f.Mls(in[1][i:i+1], t[i:i+1], w)
				}
				f.Free(t)
				return in[1]
			}})
}

// normShape is one pass: what it reads per column, adds up per column, reads and writes per row, and the arithmetic of a row,
// which gets the columns' values, the sums behind them. It returns what goes to out, nil for nothing.
type normShape struct {
	columns, sums, in []string
	out               string
	weighted          bool
	row               func(f *neon.Func, p, in []neon.Vec, weight neon.Vec) neon.Vec
}

func normPass(file *neon.File, name, signature, doc string, s normShape) {
	f := file.Func(name, signature, doc)
	var columns []neon.R
	for _, arg := range append(append([]string{}, s.columns...), s.sums...) {
		columns = append(columns, f.Arg(arg))
	}
	left, stride, count, k := f.Arg("c"), f.Arg("stride"), f.R(), f.R()
	done := f.R() // bytes of the columns that are done
	var rows []neon.R
	for range s.in {
		rows = append(rows, f.R())
	}
	to, weight := f.R(), f.R()
	f.Text("MOVD $0, %v", done)
	for _, cols := range neonRows(8) {
		block, next := f.NewLabel("block"), f.NewLabel("narrower")
		loop, plain := f.NewLabel("row"), f.NewLabel("unweighted")
		f.Label(block)
		f.Text("CMP $%d, %v", cols.width, left)
		f.Text("BLT %s", next)
		var p, in []neon.Vec
		for _, c := range columns {
			v := f.V(cols.regs)
			cols.load(f, v, c, 0)
			p = append(p, v)
		}
		var w neon.Vec
		if s.weighted {
			w = f.V(1)
			f.Text("FMOVS $1.0, F%d", w[0])
			f.Text("VDUP V%d.S[0], V%d.S4", w[0], w[0])
			f.LoadArg(weight, "weight")
		}
		start := func(p neon.R, arg string) {
			f.LoadArg(p, arg)
			f.Text("ADD %v, %v", done, p)
		}
		for i, arg := range s.in {
			start(rows[i], arg)
		}
		if s.out != "" {
			start(to, s.out)
		}
		f.LoadArg(count, "rows")
		f.Label(loop)
		if s.weighted {
			f.Text("CBZ %v, %s", weight, plain)
			f.Text("MOVW.P 4(%v), %v", weight, k)
			f.Text("SCVTFS %v, F%d", k, w[0])
			f.Text("VDUP V%d.S[0], V%d.S4", w[0], w[0])
			f.Label(plain)
		}
		for _, r := range rows {
			v := f.V(cols.regs)
			cols.load(f, v, r, 0)
			in = append(in, v)
		}
		if y := s.row(f, p, in, w); y != nil {
			cols.store(f, y, to)
			if len(in) == 1 {
				f.Free(y)
			}
			f.Text("ADD %v, %v", stride, to)
		}
		for _, r := range rows {
			f.Text("ADD %v, %v", stride, r)
		}
		f.Text("SUBS $1, %v", count)
		f.Text("BNE %s", loop)
		for i, c := range columns {
			if i >= len(s.columns) {
				cols.store(f, p[i], c)
			}
			f.Text("ADD $%d, %v", 4*cols.width, c)
		}
		f.Free(p...)
		f.Free(in...)
		if w != nil {
			f.Free(w)
		}
		f.Text("ADD $%d, %v", 4*cols.width, done)
		f.Text("SUB $%d, %v", cols.width, left)
		f.Text("B %s", block)
		f.Label(next)
	}
	f.Text("RET")
}
