package netcdf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The values of a variable are what the conventions say of the stored ones: first the sign (_Unsigned), then which
// values are missing (_FillValue, missing_value), then which are out of range, and last scale and offset. Missing
// values are compared in the type of the data, as they were written: a missing_value of 1e20 in double is 1e20 in float
// where the data are. Conventions: https://docs.unidata.ucar.edu/nug/current/best_practices.html,
// https://cfconventions.org.

// fills are what the NetCDF library writes where nothing was written.
var fills = map[Type]float64{Short: -32767, UShort: 65535, Int: -2147483647, UInt: 4294967295,
	Float: float64(float32(9.9692099683868690e+36)), Double: 9.9692099683868690e+36}

// wideFills are the bits of the fill values of 64-bit integers, the least number but two and the greatest but one.
var wideFills = map[Type]uint64{Int64: 1<<63 + 2, UInt64: math.MaxUint64 - 1}

// fill is what the library writes of a type where nothing was written, nil where any value is as good as another.
func (t Type) fill() []byte {
	if x, ok := fills[t]; ok {
		return appendValue(nil, t, x)
	}
	if t.wide() {
		return binary.BigEndian.AppendUint64(nil, wideFills[t])
	}
	return nil
}

// filled reports whether the library's own fill value stands for what was not written. In a file of HDF5 that another program made, which
// names no such value, it is one of those that data have: 65535 is the largest count of 16 bits.
func (v *Var) filled() bool {
	if v.Attr("_FillValue") != nil {
		return false
	}
	if v.set == nil || v.short {
		return true
	}
	stored := v.set.Fill()
	return stored != nil && bytes.Equal(bytes4(v.set.Type, stored), v.Type.fill())
}

// numbers decodes values.
func numbers(t Type, b []byte) []float64 {
	be := binary.BigEndian
	out := make([]float64, len(b)/t.Size())
	for i := range out {
		switch t {
		case Byte:
			out[i] = float64(int8(b[i]))
		case Char, UByte:
			out[i] = float64(b[i])
		case Short:
			out[i] = float64(int16(be.Uint16(b[2*i:])))
		case UShort:
			out[i] = float64(be.Uint16(b[2*i:]))
		case Int:
			out[i] = float64(int32(be.Uint32(b[4*i:])))
		case UInt:
			out[i] = float64(be.Uint32(b[4*i:]))
		case Float:
			out[i] = float64(math.Float32frombits(be.Uint32(b[4*i:])))
		case Double:
			out[i] = math.Float64frombits(be.Uint64(b[8*i:]))
		case Int64:
			out[i] = float64(int64(be.Uint64(b[8*i:])))
		case UInt64:
			out[i] = float64(be.Uint64(b[8*i:]))
		}
	}
	return out
}

// wholes decodes 64-bit integers of either sign, as their bits.
func wholes(b []byte) []uint64 {
	out := make([]uint64, len(b)/8)
	for i := range out {
		out[i] = binary.BigEndian.Uint64(b[8*i:])
	}
	return out
}

// wide reports whether values are 64-bit integers, which float64 does not tell from their neighbours.
func (t Type) wide() bool { return t == Int64 || t == UInt64 }

// bits is a whole number that the type has as its 64 bits.
func (t Type) bits(x float64) uint64 {
	if t == UInt64 {
		return uint64(x)
	}
	return uint64(int64(x))
}

// below reports whether one value of the type, a 64-bit integer, is less than another.
func (t Type) below(a, b uint64) bool {
	if t == UInt64 {
		return a < b
	}
	return int64(a) < int64(b)
}

// integer reports whether values of the type are whole numbers.
func (t Type) integer() bool { return t != Float && t != Double && t != Char && t.Size() > 0 }

// withSign is the integer type of the same size that is signed or not.
func (t Type) withSign(signed bool) Type {
	for _, pair := range [][2]Type{{Byte, UByte}, {Short, UShort}, {Int, UInt}, {Int64, UInt64}} {
		if t == pair[0] || t == pair[1] {
			if signed {
				return pair[0]
			}
			return pair[1]
		}
	}
	return t
}

// meant is the type in which the values of a variable are to be read: the formats before CDF-5 have no unsigned
// integers, and _Unsigned says so.
func (v *Var) meant() Type {
	a := v.Attr("_Unsigned")
	if a == nil || !v.Type.integer() {
		return v.Type
	}
	switch text := strings.ToLower(strings.TrimSpace(a.Text)); {
	case text == "true", text == "1", len(a.Numbers) == 1 && a.Numbers[0] == 1:
		return v.Type.withSign(false)
	case text == "false", text == "0", len(a.Numbers) == 1 && a.Numbers[0] == 0:
		return v.Type.withSign(true)
	}
	return v.Type
}

// list is the values of an attribute of numbers, or of a text that says one.
func (a *Attr) list() []float64 {
	if a == nil {
		return nil
	}
	if a.Type == Char {
		if x, err := strconv.ParseFloat(strings.TrimSpace(a.Text), 64); err == nil {
			return []float64{x}
		}
		return nil
	}
	return a.Numbers
}

// as is a value of an attribute as the data's type has it. Where it is an integer of that size, one of the wrong sign is the
// same bits; false: the type has no such value.
func (t Type) as(x float64, same bool) (float64, bool) {
	switch {
	case t == Double || math.IsNaN(x):
		return x, true
	case t == Float:
		return float64(float32(x)), true
	case x != math.Trunc(x):
		return 0, false
	}
	span := math.Ldexp(1, 8*t.Size())
	switch signed := t == t.withSign(true); {
	case same && signed && x >= span/2 && x < span:
		x -= span
	case same && !signed && x < 0 && x >= -span/2:
		x += span
	case signed && (x < -span/2 || x >= span/2), !signed && (x < 0 || x >= span):
		return 0, false
	}
	return x, true
}

// packing is what the attributes of a variable say of its values.
type packing struct {
	kind          Type
	scale, offset float64
	absent        []float64
	// The range: of the stored values, or of those that are meant.
	lo, hi   float64
	unpacked bool
	unsure   string  // the attribute of the range that may be either
	slack    float64 // of the range's ends
	// Of 64-bit integers: the bits of absent values, and of the ends of the range of stored values, which have none.
	bits []uint64
	ends [2][]uint64
}

func (v *Var) packing() packing {
	p := packing{kind: v.meant(), scale: 1, lo: math.Inf(-1), hi: math.Inf(1)}
	for _, name := range []string{"_FillValue", "missing_value"} {
		a := v.Attr(name)
		for i, x := range a.list() {
			// A value of another sign than that in which the data are read may be any type's.
			same := a.Type.integer() && a.Type.Size() == p.kind.Size() || x < 0 && p.kind != v.Type
			switch x, ok := p.kind.as(x, same); {
			case p.kind.wide() && a.whole != nil:
				p.bits = append(p.bits, a.whole[i])
			case ok && p.kind.wide():
				p.bits = append(p.bits, p.kind.bits(x))
			case ok:
				p.absent = append(p.absent, x)
			}
		}
	}
	// Where the sign is another than the type's, the library's own fill value is one of many that data have.
	if p.kind == v.Type && v.filled() {
		if fill, ok := fills[v.Type]; ok {
			p.absent = append(p.absent, fill)
		}
		if p.kind.wide() {
			p.bits = append(p.bits, wideFills[v.Type])
		}
	}
	internal := Type(0) // of scale and offset, the wider
	for name, to := range map[string]*float64{"scale_factor": &p.scale, "add_offset": &p.offset} {
		if a := v.Attr(name); len(a.list()) > 0 {
			*to = a.list()[0]
			if a.Type == Double || a.Type == Float && internal != Double {
				internal = a.Type
			}
		}
	}
	p.limits(v, internal)
	if p.kind.integer() {
		p.slack = 1e-3 * math.Abs(p.scale)
	}
	if internal == Float {
		p.slack = max(p.slack, 1e-6*(math.Abs(p.offset)+math.Abs(p.scale)))
	}
	return p
}

// limits reads the range. One of the type of scale and offset, which is wider than the data's, is one of what is meant;
// others are one of what is stored (NUG, valid_range). That floats stand beside floats of another size is no sign of
// either.
func (p *packing) limits(v *Var, internal Type) {
	both := v.Attr("valid_range").list()
	for end, name := range []string{"valid_min", "valid_max"} {
		a := v.Attr(name)
		x, at := 0.0, 0
		switch list := a.list(); {
		case len(list) > 0:
			x = list[0]
		case len(both) == 2:
			a, x, at, name = v.Attr("valid_range"), both[end], end, "valid_range"
		default:
			continue
		}
		float := a.Type == Float || a.Type == Double
		wider := float && (p.kind.integer() || p.kind == Float && a.Type == Double && internal == Double)
		switch {
		case internal != 0 && wider:
			p.unpacked = true
			if a.Type != internal {
				p.unsure = name
			}
		case a.whole != nil && p.kind.wide():
			p.ends[end] = a.whole[at : at+1]
			continue
		case x < 0 && a.Type == v.Type && p.kind != p.kind.withSign(true) || p.kind == Float:
			x, _ = p.kind.as(x, true)
		}
		*[]*float64{&p.lo, &p.hi}[end] = x
	}
}

// Check is an error where the values of a variable cannot be read, or its attributes do not say what they mean. Whoever wants values
// calls it first: those of a NetCDF-4 file are read only then.
func (f *File) Check(v *Var) error {
	if err := f.load(v); err != nil {
		return err
	}
	if v.IsText() {
		return nil
	}
	for _, name := range []string{"scale_factor", "add_offset"} {
		if a := v.Attr(name); a != nil && len(a.list()) != 1 {
			return fmt.Errorf("%w: variable %q: its %s is not one number", ErrFormat, v.Name, name)
		}
	}
	p := v.packing()
	if p.unsure == "" {
		return nil
	}
	stored := p
	stored.unpacked = false
	for i, x := range numbers(p.kind, f.raw(v)) {
		if a, b := p.value(x), stored.value(x); (a == a) != (b == b) {
			return fmt.Errorf("%w: variable %q: does its %s say which stored values are good, or which scaled ones? Its type is neither"+
				" the data's nor that of scale_factor and add_offset, and value %d is in one range alone", ErrFormat, v.Name, p.unsure, i)
		}
	}
	return nil
}

// value is what a stored value means, NaN where it is missing.
func (p *packing) value(x float64) float64 {
	if slices.Contains(p.absent, x) {
		return math.NaN()
	}
	y := x
	if p.scale != 1 || p.offset != 0 {
		y = float64(x*p.scale) + p.offset
	}
	slack := 0.0
	if p.unpacked {
		x, slack = y, p.slack
	}
	if x < p.lo-slack || x > p.hi+slack {
		return math.NaN()
	}
	return y
}

// Values returns a variable's values as the conventions CF mean them: those that equal _FillValue or missing_value, or
// are beyond valid_min, valid_max and valid_range, are NaN; the others are multiplied by scale_factor, and add_offset
// is added.
func (f *File) Values(v *Var) []float64 {
	p := v.packing()
	b := f.raw(v)
	out := numbers(p.kind, b)
	for i, x := range out {
		out[i] = p.value(x)
	}
	if p.kind.wide() {
		for i, s := range wholes(b) {
			lo, hi := p.ends[0], p.ends[1]
			if slices.Contains(p.bits, s) || len(lo) > 0 && p.kind.below(s, lo[0]) || len(hi) > 0 && p.kind.below(hi[0], s) {
				out[i] = math.NaN()
			}
		}
	}
	return out
}

// Wholes returns the values of a variable of 64-bit integers without scale and offset as text, "" where one is missing;
// nil for other variables, whose values float64 holds exactly.
func (f *File) Wholes(v *Var) []string {
	p := v.packing()
	if p.kind != Int64 && p.kind != UInt64 || p.scale != 1 || p.offset != 0 {
		return nil
	}
	values, b := f.Values(v), f.raw(v)
	out := make([]string, len(values))
	for i, x := range values {
		switch s := binary.BigEndian.Uint64(b[8*i:]); {
		case x != x:
		case p.kind == Int64:
			out[i] = strconv.FormatInt(int64(s), 10)
		default:
			out[i] = strconv.FormatUint(s, 10)
		}
	}
	return out
}
