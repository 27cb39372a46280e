package x86

import (
	"encoding/binary"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
)

// Constants are the read-only numbers of a package's kernels. They stand in a file of their own, once for all files of the package.
type Constants struct {
	all    []*ir.Global
	places map[string]operand.Mem // by the bytes there
	names  map[string]bool
}

// NewConstants returns the constants of a package that has none yet.
func NewConstants() *Constants {
	return &Constants{places: map[string]operand.Mem{}, names: map[string]bool{}}
}

// Result returns the file; its sections are the constants.
func (c *Constants) Result() (*ir.File, error) {
	ctx := build.NewContext()
	ctx.ConstraintExpr("!purego")
	f, err := ctx.Result()
	if err != nil {
		return nil, err
	}
	for _, g := range c.all {
		f.AddSection(g)
	}
	return f, nil
}

// place returns where these numbers stand. Constants with the same bytes share a place and the name of the first.
func (c *Constants) place(name string, e Elem, numbers []uint64) operand.Mem {
	var bytes []byte
	for _, v := range numbers {
		if e == F64 {
			bytes = binary.LittleEndian.AppendUint64(bytes, v)
		} else {
			bytes = binary.LittleEndian.AppendUint32(bytes, uint32(v))
		}
	}
	if m, ok := c.places[string(bytes)]; ok {
		return m
	}
	if c.names[name] { // with other numbers, in another file
		name += e.String()
	}
	check(!c.names[name], "constant %s has two values", name)
	c.names[name] = true
	// The prefix keeps it apart from what the package declares in Go.
	g := ir.NewGlobal(operand.Symbol{Name: "·data" + strings.ToUpper(name[:1]) + name[1:]})
	c.all = append(c.all, g)
	g.Attributes = attr.RODATA | attr.NOPTR
	c.places[string(bytes)] = g.Base()
	for ; len(bytes) >= 8; bytes = bytes[8:] {
		g.Append(operand.U64(binary.LittleEndian.Uint64(bytes)))
	}
	if len(bytes) > 0 {
		g.Append(operand.U32(binary.LittleEndian.Uint32(bytes)))
	}
	return g.Base()
}
