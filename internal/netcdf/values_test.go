package netcdf

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

var nan = math.NaN()

// stored makes a file of one variable with these stored values, and reads it again.
func stored(t *testing.T, kind Type, values []float64, attrs ...Attr) *File {
	t.Helper()
	f := &File{Dims: []Dim{{Name: "x", Len: len(values)}}}
	require.NoError(t, f.Add("v", kind, []int{0}, values))
	for _, a := range attrs {
		if a.Name == "_FillValue" { // Encode gives it the variable's type, as the format wants it
			a.Name = "_FillValuX"
		}
		f.Vars[0].Attrs = append(f.Vars[0].Attrs, a)
	}
	var b bytes.Buffer
	require.NoError(t, Encode(&b, f, 5))
	back, err := Decode(bytes.Replace(b.Bytes(), []byte("_FillValuX"), []byte("_FillValue"), 1))
	require.NoError(t, err)
	return back
}

func requireValues(t *testing.T, want, got []float64) {
	t.Helper()
	require.Len(t, got, len(want))
	for i, x := range want {
		if x != x {
			require.True(t, math.IsNaN(got[i]), "value %d is %v, need none", i, got[i])
		} else {
			require.InDelta(t, x, got[i], 1e-4, "value %d", i)
		}
	}
}

// The right values are those of netCDF4-python and xarray; ranges in the units of what is meant are the NetCDF user guide's.
func TestValues(t *testing.T) {
	numbers := func(name string, kind Type, v ...float64) Attr { return Attr{Name: name, Type: kind, Numbers: v} }
	unsigned := Text("_Unsigned", "true")
	for _, c := range []struct {
		name         string
		kind         Type
		stored, want []float64
		attrs        []Attr
	}{
		{"unsigned bytes", Byte, []float64{0, 100, -56, -1}, []float64{0, 100, 200, 255}, []Attr{unsigned}},
		{"unsigned shorts", Short, []float64{0, -1, -32768}, []float64{0, 65535, 32768}, []Attr{unsigned}},
		{"unsigned ints", Int, []float64{0, -1}, []float64{0, 4294967295}, []Attr{unsigned}},
		{"unsigned longs", Int64, []float64{0, -1024}, []float64{0, 18446744073709550592}, []Attr{unsigned}},
		{"signed bytes of an unsigned type", UByte, []float64{0, 255}, []float64{0, -1}, []Attr{Text("_Unsigned", "false")}},
		{"unsigned with a fill value", Byte, []float64{1, -1}, []float64{1, nan}, []Attr{unsigned, numbers("_FillValue", Byte, -1)}},
		{"unsigned with a missing value in short", Byte, []float64{1, -1}, []float64{1, nan},
			[]Attr{unsigned, numbers("missing_value", Short, 255)}},
		{"unsigned with a missing value in double of the stored sign", Byte, []float64{1, -128, -1}, []float64{1, nan, 255},
			[]Attr{unsigned, numbers("missing_value", Double, -128)}},
		{"unsigned with a missing value in int of the stored sign", Short, []float64{1, -1}, []float64{1, nan},
			[]Attr{unsigned, numbers("missing_value", Int, -1)}},
		{"unsigned with a range", Byte, []float64{0, -56, -1}, []float64{0, 200, nan},
			[]Attr{unsigned, numbers("valid_range", Byte, 0, -2)}},
		{"unsigned with a range in short", Byte, []float64{0, -56, -1}, []float64{0, 200, nan},
			[]Attr{unsigned, numbers("valid_range", Short, 0, 254)}},
		{"unsigned with a scale", Byte, []float64{0, -56}, []float64{10, 110},
			[]Attr{unsigned, numbers("scale_factor", Float, 0.5), numbers("add_offset", Float, 10)}},
		{"the default fill of shorts", Short, []float64{1, -32767}, []float64{1, nan}, nil},
		{"a value of unsigned shorts", Short, []float64{1, -32767}, []float64{1, 32769}, []Attr{unsigned}},
		{"a missing value of a wider type", Short, []float64{1, -1}, []float64{1, -1}, []Attr{numbers("missing_value", Int, 65535)}},
		{"a missing value of the other sign", Short, []float64{1, -1}, []float64{1, nan}, []Attr{numbers("missing_value", UShort, 65535)}},
		{"a range of one number", Short, []float64{1, 2, 3}, []float64{1, 2, 3}, []Attr{numbers("valid_range", Short, 2)}},
		{"the sign of floats", Float, []float64{-1}, []float64{-1}, []Attr{unsigned}},
		{"missing in double, data in float", Float, []float64{1, float64(float32(1e20))}, []float64{1, nan},
			[]Attr{numbers("missing_value", Double, 1e20)}},
		{"missing in double, -999.9", Float, []float64{1, float64(float32(-999.9))}, []float64{1, nan},
			[]Attr{numbers("missing_value", Double, -999.9)}},
		{"fill in double", Float, []float64{1, float64(float32(-999.9))}, []float64{1, nan}, []Attr{numbers("_FillValue", Double, -999.9)}},
		{"missing as text", Short, []float64{1, -99}, []float64{1, nan}, []Attr{Text("missing_value", "-99")}},
		{"several are missing", Int, []float64{1, -99, -98}, []float64{1, nan, nan}, []Attr{numbers("missing_value", Int, -99, -98)}},
		{"missing in double, data in short", Short, []float64{1, -999}, []float64{1, nan}, []Attr{numbers("missing_value", Double, -999)}},
		{"missing is no short", Short, []float64{1, -999}, []float64{1, -999}, []Attr{numbers("missing_value", Double, -999.5)}},
		{"missing is NaN", Float, []float64{1, nan}, []float64{1, nan}, []Attr{numbers("missing_value", Float, nan)}},
		{"a range in the packed units", Short, []float64{100, 1000, -1}, []float64{274.15, 283.15, nan},
			[]Attr{numbers("scale_factor", Float, 0.01), numbers("add_offset", Float, 273.15), numbers("valid_range", Short, 0, 2000)}},
		{"a range in the unpacked units", Short, []float64{100, 1000, -1000, 300, 30000}, []float64{274.15, 283.15, 263.15, 276.15, nan},
			[]Attr{numbers("scale_factor", Float, 0.01), numbers("add_offset", Float, 273.15), numbers("valid_range", Float, 200, 350)}},
		{"in double", Byte, []float64{1, 2, 3}, []float64{0.1, 0.2, nan}, []Attr{numbers("scale_factor", Double, 0.1),
			numbers("valid_max", Double, 0.2)}},
		{"at the range's end, in float", Byte, []float64{1, 2, 3}, []float64{0.1, 0.2, nan},
			[]Attr{numbers("scale_factor", Float, 0.1), numbers("valid_max", Float, 0.2)}},
		{"min and max", Int, []float64{-1, 0, 5, 6}, []float64{nan, 0, 5, nan},
			[]Attr{numbers("valid_min", Int, 0), numbers("valid_max", Int, 5)}},
		{"a maximum in double of floats", Float, []float64{float64(float32(0.1)), 0.2}, []float64{0.1, nan},
			[]Attr{numbers("valid_max", Double, 0.1)}},
		{"floats that are packed into double", Float, []float64{1, 100}, []float64{1001, nan},
			[]Attr{numbers("scale_factor", Double, 1), numbers("add_offset", Double, 1000), numbers("valid_max", Double, 1050)}},
		{"the default fill of longs", Int64, []float64{1, math.MinInt64}, []float64{1, math.MinInt64}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := stored(t, c.kind, c.stored, c.attrs...)
			requireValues(t, c.want, f.Values(&f.Vars[0]))
		})
	}
}

// What attributes do not say is an error, where it matters.
func TestCheck(t *testing.T) {
	numbers := func(name string, kind Type, v ...float64) Attr { return Attr{Name: name, Type: kind, Numbers: v} }
	for _, c := range []struct {
		name  string
		want  string // "": no error
		attrs []Attr
	}{
		{"a scale", "", []Attr{numbers("scale_factor", Float, 0.5)}},
		{"two scales", "scale_factor", []Attr{numbers("scale_factor", Float, 0.5, 0.25)}},
		{"a scale of letters", "scale_factor", []Attr{Text("scale_factor", "half")}},
		{"an offset without a number", "add_offset", []Attr{numbers("add_offset", Float)}},
		{"a range of doubles beside a scale of floats", "valid_range",
			[]Attr{numbers("scale_factor", Float, 0.1), numbers("valid_range", Double, 0, 250)}},
		{"a minimum of floats beside a scale of doubles", "valid_min",
			[]Attr{numbers("scale_factor", Double, 0.1), numbers("valid_min", Float, 15)}},
		{"a range that all are in, stored and scaled", "",
			[]Attr{numbers("scale_factor", Float, 0.1), numbers("valid_range", Double, 0, 1000)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := stored(t, Short, []float64{100, 300}, c.attrs...)
			err := f.Check(&f.Vars[0])
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrFormat)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// 64-bit integers are compared as such: sentinels and ends of ranges beside which float64 has no other number.
func TestWideSentinels(t *testing.T) {
	const least, most = 1 << 63, math.MaxUint64 // as bits
	attr := func(name string, kind Type, v ...uint64) Attr {
		a := Attr{Name: name, Type: kind, whole: v}
		for _, x := range v {
			a.Numbers = append(a.Numbers, map[Type]float64{Int64: float64(int64(x)), UInt64: float64(x)}[kind])
		}
		return a
	}
	for _, c := range []struct {
		name   string
		kind   Type
		stored []uint64
		good   []bool
		attrs  []Attr
	}{
		{"the greatest unsigned", UInt64, []uint64{7, most, most - 1, most - 2}, []bool{true, false, true, true},
			[]Attr{attr("_FillValue", UInt64, most)}},
		{"the library's own", UInt64, []uint64{7, most, most - 1, most - 2}, []bool{true, true, false, true}, nil},
		{"the library's own, signed", Int64, []uint64{7, least, least + 2, least + 3}, []bool{true, true, false, true}, nil},
		{"the greatest signed", Int64, []uint64{7, least - 1, least - 2, least}, []bool{true, false, true, true},
			[]Attr{attr("_FillValue", Int64, least-1)}},
		{"two missing", Int64, []uint64{7, least - 1, 0, least}, []bool{true, false, false, true},
			[]Attr{attr("missing_value", Int64, least-1, 0)}},
		{"the least, read without sign", Int64, []uint64{least - 1, least, least + 1}, []bool{true, false, true},
			[]Attr{Text("_Unsigned", "true"), attr("_FillValue", Int64, least)}},
		{"missing in double", Int64, []uint64{1<<53 + 1, 1 << 53}, []bool{true, false},
			[]Attr{{Name: "missing_value", Type: Double, Numbers: []float64{1 << 53}}}},
		{"a range", Int64, []uint64{1 << 60, 1<<60 - 1, 1<<60 + 5, 1<<60 + 6}, []bool{true, false, true, false},
			[]Attr{attr("valid_range", Int64, 1<<60, 1<<60+5)}},
		{"a least value without sign", Int64, []uint64{most - 4, most - 5, 3}, []bool{true, false, false},
			[]Attr{Text("_Unsigned", "true"), attr("valid_min", Int64, most-4)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := stored(t, c.kind, make([]float64, len(c.stored)), c.attrs...)
			for i := range f.Vars[0].Attrs {
				f.Vars[0].Attrs[i].whole = c.attrs[i].whole
			}
			for i, s := range c.stored {
				binary.BigEndian.PutUint64(f.Vars[0].data[8*i:], s)
			}
			text := f.Wholes(&f.Vars[0])
			for i, x := range f.Values(&f.Vars[0]) {
				require.Equal(t, c.good[i], x == x, "value %d", i)
				want := ""
				signed := c.kind == Int64 && (len(c.attrs) == 0 || c.attrs[0].Name != "_Unsigned")
				if c.good[i] && signed {
					want = strconv.FormatInt(int64(c.stored[i]), 10)
				} else if c.good[i] {
					want = strconv.FormatUint(c.stored[i], 10)
				}
				require.Equal(t, want, text[i], "value %d", i)
			}
		})
	}
}

func TestWholes(t *testing.T) {
	f := stored(t, Int64, []float64{1, 1 << 53})
	f.Vars[0].data[15]++ // 2^53 + 1
	require.Equal(t, []string{"1", "9007199254740993"}, f.Wholes(&f.Vars[0]))
	f = stored(t, Int64, []float64{-1, 7}, Text("_Unsigned", "true"), Attr{Name: "_FillValue", Type: Int64, Numbers: []float64{7}})
	require.Equal(t, []string{"18446744073709551615", ""}, f.Wholes(&f.Vars[0]))
	f = stored(t, Int, []float64{1})
	require.Nil(t, f.Wholes(&f.Vars[0]))
}

// The files of the public archives' kinds.
func TestCases(t *testing.T) {
	for name, want := range map[string][]float64{
		"01_unsigned_byte":        {0, 100, 200, 255},
		"02_missing_value_double": {1, 2, nan, 3},
		"03_valid_range_unpacked": {274.15, 283.15, 263.15, 276.15},
	} {
		b, err := os.ReadFile(testkit.Shared(t, "cases", name+".nc"))
		require.NoError(t, err)
		f, err := Decode(b)
		require.NoError(t, err)
		requireValues(t, want, f.Values(f.Var("y")))
	}
}
