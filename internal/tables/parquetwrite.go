package tables

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/equivcnp/equivcnp/internal/tabular"
)

// groupRows and pageRows are how many rows a row group and a page have at most.
const (
	groupRows = 1 << 20
	pageRows  = 1 << 15
)

// writeParquet writes a table's columns of numbers, dates and text, compressed by snappy. What is missing is null, but
// NaN in a column of float32, which is a prediction that there is none.
func writeParquet(w io.Writer, t *tabular.Table) error {
	meta := format.FileMetaData{Version: 2, NumRows: int64(t.Rows()), CreatedBy: "equivcnp",
		Schema: []format.SchemaElement{{Name: "schema", NumChildren: thrift.New(int32(t.Cols))}}}
	out := &parquetWriter{w: w}
	out.write([]byte(parquetMagic))
	columns := make([]parquetColumn, t.Cols)
	seen := map[string]bool{}
	for c := range columns {
		columns[c] = newParquetColumn(t, c)
		name := columns[c].element.Name
		if seen[name] {
			return badParquet("two columns %q", name)
		}
		seen[name] = true
		meta.Schema = append(meta.Schema, columns[c].element)
		if t.Units != nil && t.Units[c] != "" {
			meta.KeyValueMetadata = append(meta.KeyValueMetadata, format.KeyValue{Key: unitKey + name, Value: t.Units[c]})
		}
	}
	for lo := 0; lo < t.Rows(); lo += groupRows {
		hi := min(lo+groupRows, t.Rows())
		group := format.RowGroup{NumRows: int64(hi - lo), Ordinal: int16(lo / groupRows)}
		for c := range columns {
			m := out.chunk(&columns[c], lo, hi)
			group.TotalByteSize += m.TotalUncompressedSize
			group.Columns = append(group.Columns, format.ColumnChunk{MetaData: m})
		}
		meta.RowGroups = append(meta.RowGroups, group)
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		return err
	}
	out.write(footer)
	out.write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	out.write([]byte(parquetMagic))
	return out.err
}

// parquetColumn is a column as it is written.
type parquetColumn struct {
	element format.SchemaElement
	missing func(row int) bool
	append  func(b []byte, row int) []byte
}

func newParquetColumn(t *tabular.Table, c int) parquetColumn {
	name, v := column(t, c)
	p := parquetColumn{element: format.SchemaElement{Name: name, RepetitionType: thrift.New(format.Optional)},
		missing: func(row int) bool { return math.IsNaN(v[row]) }}
	single := t.Single != nil && t.Single[c]
	dated := t.Units != nil && t.Units[c] == unixDays && t.Dated(c) != nil
	whole := true
	for _, x := range v {
		dated = dated && !(math.Abs(x) > 1e6)
		whole = whole && (x == math.Trunc(x) || math.IsNaN(x))
	}
	e := &p.element
	switch {
	case hasText(t, c) || t.Exact != nil && t.Exact[c] != nil:
		e.Type, e.ConvertedType = thrift.New(format.ByteArray), thrift.New(deprecated.UTF8)
		e.LogicalType = format.LogicalType{Value: &format.StringType{}}
		p.missing = func(row int) bool { return t.Cell(row, c) == "" }
		p.append = func(b []byte, row int) []byte {
			text := t.Cell(row, c)
			return append(binary.LittleEndian.AppendUint32(b, uint32(len(text))), text...)
		}
	case single:
		e.Type, e.RepetitionType = thrift.New(format.Float), thrift.New(format.Required)
		p.missing = nil
		p.append = func(b []byte, row int) []byte {
			return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v[row])))
		}
	case dated && whole:
		e.Type, e.ConvertedType = thrift.New(format.Int32), thrift.New(deprecated.Date)
		e.LogicalType = format.LogicalType{Value: &format.DateType{}}
		p.append = func(b []byte, row int) []byte { return binary.LittleEndian.AppendUint32(b, uint32(int32(v[row]))) }
	case dated:
		e.Type, e.ConvertedType = thrift.New(format.Int64), thrift.New(deprecated.TimestampMicros)
		e.LogicalType = format.LogicalType{Value: &format.TimestampType{IsAdjustedToUTC: true,
			Unit: format.TimeUnit{Value: &format.MicroSeconds{}}}}
		p.append = func(b []byte, row int) []byte {
			return binary.LittleEndian.AppendUint64(b, uint64(int64(math.Round(v[row]*86400e6))))
		}
	default:
		e.Type = thrift.New(format.Double)
		p.append = func(b []byte, row int) []byte { return binary.LittleEndian.AppendUint64(b, math.Float64bits(v[row])) }
	}
	return p
}

// parquetWriter counts what it writes.
type parquetWriter struct {
	w   io.Writer
	at  int64
	err error
}

func (w *parquetWriter) write(b []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(b)
	}
	w.at += int64(len(b))
}

// chunk writes some rows of a column, page by page.
func (w *parquetWriter) chunk(p *parquetColumn, lo, hi int) format.ColumnMetaData {
	m := format.ColumnMetaData{Type: p.element.Type.V, Encoding: []format.Encoding{format.Plain, format.RLE},
		PathInSchema: []string{p.element.Name},
		Codec:        format.Snappy, NumValues: int64(hi - lo), DataPageOffset: w.at}
	for ; lo < hi; lo += pageRows {
		n := min(pageRows, hi-lo)
		var page []byte
		nulls := int64(0)
		if p.missing != nil { // a run of groups of eight levels of one bit
			groups := (n + 7) / 8
			levels := append(binary.AppendUvarint(nil, uint64(groups)<<1|1), make([]byte, groups)...)
			present := levels[len(levels)-groups:]
			for i := range n {
				if !p.missing(lo + i) {
					present[i/8] |= 1 << (i % 8)
				} else {
					nulls++
				}
			}
			page = append(binary.LittleEndian.AppendUint32(page, uint32(len(levels))), levels...)
		}
		for i := range n {
			if p.missing == nil || !p.missing(lo+i) {
				page = p.append(page, lo+i)
			}
		}
		packed := snappy.Encode(nil, page)
		head, err := thrift.Marshal(new(thrift.CompactProtocol), &format.PageHeader{Type: format.DataPage,
			UncompressedPageSize: int32(len(page)), CompressedPageSize: int32(len(packed)),
			DataPageHeader: thrift.New(format.DataPageHeader{NumValues: int32(n), Encoding: format.Plain,
				DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
				Statistics: format.Statistics{NullCount: nulls}})})
		if err != nil && w.err == nil {
			w.err = err
		}
		w.write(head)
		w.write(packed)
		m.Statistics.NullCount += nulls
		m.TotalUncompressedSize += int64(len(head) + len(page))
		m.TotalCompressedSize += int64(len(head) + len(packed))
	}
	return m
}
