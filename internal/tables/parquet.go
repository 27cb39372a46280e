package tables

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/equivcnp/equivcnp/internal/tabular"
)

// ErrParquet is wrapped by every error about the content of a Parquet file.
var ErrParquet = errors.New("not a Parquet file that can be read")

const parquetMagic = "PAR1"

// unixDays is the unit of dates and times, which are numbers here.
const unixDays = tabular.UnixDays

// unitKey is what the unit of a column is kept under in a file's metadata: the format has no place for units.
const unitKey = "unit:"

func isParquet(b []byte) bool { return bytes.HasPrefix(b, []byte(parquetMagic)) }

// badParquet is an error about a file's content.
func badParquet(text string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrParquet, fmt.Sprintf(text, args...))
}

// cellsIn bounds the cells of a table in a file of n bytes: runs of equal values take next to nothing, and a file must
// not say that it has more of them than memory.
func cellsIn(n int) int { return min(maxCells, 1<<17+100*n) }

// ofParquet makes a table of a Parquet file's columns of numbers, dates and text. Columns of lists, and those of other types, are left out.
//
// The structures of file and pages are decoded by parquet-go's packages format and thrift. Their decoder believes the
// lengths of lists, and its readers of pages believe those of runs; so wellFormed goes through a structure first, and
// pages are read here (parquetpages.go), where every length is compared with the bytes and rows that are there.
func ofParquet(b []byte) (t *tabular.Table, err error) {
	defer func() { // the decoder may panic where a structure is not one of the format's
		if r := recover(); r != nil {
			t, err = nil, badParquet("%v", r)
		}
	}()
	if len(b) < 12 || string(b[len(b)-4:]) != parquetMagic {
		return nil, badParquet("it does not end as one: cut off?")
	}
	size := binary.LittleEndian.Uint32(b[len(b)-8:])
	if int64(size) > int64(len(b)-12) {
		return nil, badParquet("a footer of %d bytes in a file of %d", size, len(b))
	}
	var meta fileMetaData
	if _, err := decodeThrift(b[len(b)-8-int(size):len(b)-8], &meta); err != nil {
		return nil, err
	}
	leaves, others, count, err := parquetLeaves(meta.Schema)
	if err != nil {
		return nil, err
	}
	if len(leaves) == 0 && len(others) > 0 { // without a column it would be a table of nothing, as an empty file is
		return nil, fmt.Errorf("%w: none of them holds numbers, dates or text; %s hold lists or other types", tabular.ErrColumns,
			strings.Join(others, ", "))
	}
	r := pageReader{file: b[:len(b)-8-int(size)]}
	rows, cells := 0, len(leaves)
	for _, l := range leaves {
		if l.text {
			cells += 2 // the words of a string
		}
	}
	most := cellsIn(len(b)) / max(1, cells)
	for g := range meta.RowGroups {
		n := meta.RowGroups[g].NumRows
		if n < 0 || n > int64(most-rows) {
			return nil, badParquet("more than %d rows of %d columns in a file of %d bytes", most, len(leaves), len(b))
		}
		if len(meta.RowGroups[g].Columns) != count {
			return nil, badParquet("row group %d has %d columns, the schema %d", g, len(meta.RowGroups[g].Columns), count)
		}
		rows += int(n)
	}
	t = &tabular.Table{Cols: len(leaves), Header: []string{}, LeftOut: others, Values: make([]float64, rows*len(leaves)),
		Texts: make([][]string, len(leaves)), Units: make([]string, len(leaves))}
	units := map[string]string{}
	for _, kv := range meta.KeyValueMetadata {
		if name, ok := strings.CutPrefix(kv.Key, unitKey); ok {
			units[name] = kv.Value
		}
	}
	for c := range leaves {
		l := &leaves[c]
		t.Header, t.Single = append(t.Header, l.name), append(t.Single, l.kind == format.Float)
		if t.Units[c] = units[l.name]; t.Units[c] == "" {
			t.Units[c] = l.unit
		}
		if l.text {
			t.Texts[c] = make([]string, rows)
		}
		row := 0
		for g := range meta.RowGroups {
			group := &meta.RowGroups[g]
			if err := r.chunk(l, &group.Columns[l.index], int(group.NumRows), t, row, c); err != nil {
				return nil, fmt.Errorf("%w: column %q, row group %d", err, l.name, g)
			}
			row += int(group.NumRows)
		}
	}
	return t, nil
}

// fileMetaData is what a table needs of a file's footer. parquet-go's own type wants a value of every key, which the
// format leaves optional.
type fileMetaData struct {
	Version          int32                  `thrift:"1,required"`
	Schema           []format.SchemaElement `thrift:"2,required"`
	NumRows          int64                  `thrift:"3,required"`
	RowGroups        []rowGroup             `thrift:"4,required"`
	KeyValueMetadata []keyValue             `thrift:"5,optional"`
}

type keyValue struct {
	Key   string `thrift:"1,required"`
	Value string `thrift:"2,optional"`
}

type rowGroup struct {
	Columns []columnChunk `thrift:"1,required"`
	NumRows int64         `thrift:"3,required"`
}

type columnChunk struct {
	FilePath string                `thrift:"1,optional"`
	MetaData columnMetaData        `thrift:"3,optional"`
	Crypto   thrift.Null[struct{}] `thrift:"8,optional"` // of an encrypted column
}

type columnMetaData struct {
	Codec                format.CompressionCodec `thrift:"4,required"`
	NumValues            int64                   `thrift:"5,required"`
	DataPageOffset       int64                   `thrift:"9,required"`
	DictionaryPageOffset int64                   `thrift:"11,optional"`
}

// leaf is a column of numbers or text.
type leaf struct {
	name     string
	index    int // among all leaves of the schema
	kind     format.Type
	length   int // bytes of a FixedLenByteArray
	levels   int // the definition level of a value that is there
	text     bool
	unsigned bool
	half     bool    // numbers of 16 bits (IEEE 754, binary16)
	divisor  float64 // of a number
	scale    int     // digits of a decimal number behind the point
	unit     string
}

// parquetLeaves are the columns that a table takes, the names of the others, and the number of all.
func parquetLeaves(schema []format.SchemaElement) (leaves []leaf, others []string, count int, err error) {
	at := 1
	var walk func(prefix string, children int32, levels int, repeated bool, depth int) error
	walk = func(prefix string, children int32, levels int, repeated bool, depth int) error {
		for range children {
			if at >= len(schema) || depth > 64 {
				return badParquet("the schema says %d children, and has none", children)
			}
			e := &schema[at]
			at++
			levels, repeated := levels, repeated
			if e.RepetitionType.Valid && e.RepetitionType.V != format.Required {
				levels++
				repeated = repeated || e.RepetitionType.V == format.Repeated
			}
			if !e.Type.Valid {
				if err := walk(prefix+e.Name+".", e.NumChildren.V, levels, repeated, depth+1); err != nil {
					return err
				}
				continue
			}
			if l, ok := leafOf(e); ok && !repeated {
				l.name, l.index, l.levels = prefix+e.Name, count, levels
				leaves = append(leaves, l)
			} else {
				others = append(others, prefix+e.Name)
			}
			count++
		}
		return nil
	}
	if len(schema) == 0 {
		return nil, nil, 0, badParquet("it has no schema")
	}
	err = walk("", schema[0].NumChildren.V, 0, false, 0)
	return leaves, others, count, err
}

// leafOf is a column of an element's type, unless it holds neither numbers nor text.
func leafOf(e *format.SchemaElement) (l leaf, ok bool) {
	l = leaf{kind: e.Type.V, length: int(e.TypeLength.V), divisor: 1}
	dates := func(divisor float64) {
		l.divisor, l.unit = divisor, unixDays
	}
	const day = 24 * time.Hour
	decimal, scale := false, int32(0)
	switch v := e.LogicalType.Value.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		l.text = true
	case *format.DateType:
		dates(1)
	case *format.TimestampType:
		if v.Unit.Value == nil {
			return l, false
		}
		dates(float64(day / v.Unit.Value.Duration()))
	case *format.IntType:
		l.unsigned = !v.IsSigned
	case *format.DecimalType:
		decimal, scale = true, v.Scale
	case *format.Float16Type:
		l.half = l.kind == format.FixedLenByteArray && l.length == 2
		return l, l.half
	case *format.TimeType:
		if v.Unit.Value == nil {
			return l, false
		}
		l.divisor, l.unit = float64(time.Second/v.Unit.Value.Duration()), "s"
	case nil:
		if !e.ConvertedType.Valid {
			l.text = l.kind == format.ByteArray // as old writers leave it
			break
		}
		switch e.ConvertedType.V {
		case deprecated.UTF8, deprecated.Enum, deprecated.Json:
			l.text = true
		case deprecated.Date:
			dates(1)
		case deprecated.TimestampMillis:
			dates(float64(day / time.Millisecond))
		case deprecated.TimestampMicros:
			dates(float64(day / time.Microsecond))
		case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
			l.unsigned = true
		case deprecated.Decimal:
			decimal, scale = true, e.Scale.V
		case deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
		case deprecated.TimeMillis:
			l.divisor, l.unit = 1e3, "s"
		case deprecated.TimeMicros:
			l.divisor, l.unit = 1e6, "s"
		default:
			return l, false
		}
	default:
		return l, false
	}
	if decimal {
		if scale < 0 || scale > 300 {
			return l, false
		}
		l.divisor, l.scale = math.Pow(10, float64(scale)), int(scale)
	}
	switch l.kind {
	case format.Boolean, format.Int32, format.Int64, format.Float, format.Double:
		return l, !l.text
	case format.Int96: // times of day and days of Julius Scaliger
		l.unit = unixDays
		return l, !l.text
	case format.ByteArray:
		return l, l.text || decimal
	case format.FixedLenByteArray:
		return l, decimal && l.length > 0 && l.length <= maxDecimal
	}
	return l, false
}

// decodeThrift decodes the structure that b begins with, and says of how many bytes it is.
func decodeThrift(b []byte, v any) (n int, err error) {
	if walk := (thriftWalk{b}); !walk.value(thriftStruct, 0) {
		return 0, badParquet("a structure of its metadata is cut off or has no end")
	}
	r := new(thrift.CompactProtocol).NewReaderFromBytes(b)
	if err := thrift.NewDecoder(r).Decode(v); err != nil {
		return 0, badParquet("%v", err)
	}
	return r.BytesRead(), nil
}

// thriftWalk goes through values of Thrift's compact protocol without decoding them. What is well formed takes,
// decoded, no more than a multiple of its bytes: no list is longer than what follows it.
type thriftWalk struct{ b []byte }

const thriftStruct = 12

func (w *thriftWalk) skip(n uint64) bool {
	if n > uint64(len(w.b)) {
		return false
	}
	w.b = w.b[n:]
	return true
}

func (w *thriftWalk) number() (v uint64, ok bool) {
	v, n := binary.Uvarint(w.b)
	return v, n > 0 && w.skip(uint64(n))
}

// value walks through a value of a type.
func (w *thriftWalk) value(kind byte, depth int) bool {
	if depth > 64 {
		return false
	}
	switch kind {
	case 1, 2, 3: // a boolean or a byte in a list
		return w.skip(1)
	case 4, 5, 6:
		_, ok := w.number()
		return ok
	case 7:
		return w.skip(8)
	case 8:
		n, ok := w.number()
		return ok && w.skip(n)
	case 9, 10:
		if len(w.b) == 0 {
			return false
		}
		head := w.b[0]
		w.b = w.b[1:]
		n, ok := uint64(head>>4), true
		if n == 15 {
			n, ok = w.number()
		}
		if of := head & 15; ok && of == thriftStruct {
			ok = n <= uint64(len(w.b))/2 // a struct without fields says nothing
		}
		return ok && w.items(n, depth, head&15)
	case 11:
		n, ok := w.number()
		if n == 0 || !ok || len(w.b) == 0 {
			return ok && n == 0
		}
		head := w.b[0]
		w.b = w.b[1:]
		return w.items(n, depth, head>>4, head&15)
	case thriftStruct:
		for {
			if len(w.b) == 0 {
				return false
			}
			head := w.b[0]
			w.b = w.b[1:]
			if head == 0 {
				return true
			}
			if head>>4 == 0 { // the field's number follows
				if _, ok := w.number(); !ok {
					return false
				}
			}
			if of := head & 15; of > 2 && !w.value(of, depth+1) { // a field's boolean is its type
				return false
			}
		}
	}
	return false
}

// items walks through n values of each of some types, in turns.
func (w *thriftWalk) items(n uint64, depth int, kinds ...byte) bool {
	if n > uint64(len(w.b)) {
		return false
	}
	for range n {
		for _, k := range kinds {
			if !w.value(k, depth+1) {
				return false
			}
		}
	}
	return true
}
