package tables

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/tabular"
)

// measured is a row as another writer of the format has it: in every encoding, of every kind that becomes a number or a text.
type measured struct {
	Lat     float64   `parquet:"lat"`
	Wind    float32   `parquet:"wind,split"`
	Rain    *float64  `parquet:"rain,optional"`
	Station string    `parquet:"station,dict"`
	Region  string    `parquet:"region,optional,delta"`
	Word    string    `parquet:"word"`
	Prefix  string    `parquet:"prefix,delta"`
	Count   int32     `parquet:"count,delta"`
	Large   int64     `parquet:"large,delta"`
	Small   uint32    `parquet:"small,dict"`
	Flag    bool      `parquet:"flag"`
	Cents   int64     `parquet:"cents,decimal(2:10)"`
	At      time.Time `parquet:"at,timestamp(millisecond)"`
	Day     int32     `parquet:"day,date"`
	Place   struct {
		X float64 `parquet:"x"`
	} `parquet:"place"`
	Tags []string `parquet:"tags"` // lists are no columns of a table
}

func measurements(n int) []measured {
	rng := rand.New(rand.NewPCG(3, 4))
	rows := make([]measured, n)
	for i := range rows {
		r := &rows[i]
		r.Lat, r.Wind = rng.NormFloat64(), rng.Float32()
		if v := rng.Float64(); i%3 > 0 {
			r.Rain = &v
		}
		r.Station = fmt.Sprintf("station %d", rng.IntN(7))
		if text := fmt.Sprintf("region %d", i/50); i%5 > 0 {
			r.Region = text
		}
		r.Word, r.Prefix = fmt.Sprint("w", rng.IntN(100)), fmt.Sprint("prefix", i)
		r.Count, r.Large, r.Small = int32(rng.Int32()-1<<30), rng.Int64N(1<<50)-1<<49, rng.Uint32N(40)
		r.Flag, r.Cents = rng.IntN(2) == 0, int64(rng.IntN(100000))
		r.At = time.UnixMilli(1.7e12 + rng.Int64N(1e10)).UTC()
		r.Day, r.Place.X = int32(i%400), rng.Float64()
		r.Tags = []string{"a", "b"}[:rng.IntN(3)]
	}
	return rows
}

// Every encoding, compression and version of pages that parquet-go writes is read as what it says.
func TestParquetOfOthers(t *testing.T) {
	rows := measurements(2500)
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Lz4Raw,
		&parquet.Brotli} {
		for version := 1; version <= 2; version++ {
			t.Run(fmt.Sprintf("%v/v%d", codec, version), func(t *testing.T) {
				var b bytes.Buffer
				w := parquet.NewGenericWriter[measured](&b, parquet.Compression(codec), parquet.DataPageVersion(version),
					parquet.MaxRowsPerRowGroup(1000), parquet.PageBufferSize(3000))
				_, err := w.Write(rows)
				require.NoError(t, err)
				require.NoError(t, w.Close())
				got, err := Decode(b.Bytes(), "a.parquet", nil)
				require.NoError(t, err)
				require.Equal(t, []string{"lat", "wind", "rain", "station", "region", "word", "prefix", "count", "large", "small",
					"flag", "cents", "at", "day", "place.x"}, got.Header)
				require.Equal(t, []string{"tags"}, got.LeftOut)
				_, err = got.Index("tags")
				require.ErrorContains(t, err, "which hold lists")
				require.Equal(t, len(rows), got.Rows())
				require.Equal(t, unixDays, got.Units[12])
				for i, r := range rows {
					number := func(c int) float64 { return got.Values[i*got.Cols+c] }
					require.Equal(t, r.Lat, number(0))
					require.Equal(t, float64(r.Wind), number(1))
					if r.Rain == nil {
						require.True(t, math.IsNaN(number(2)))
					} else {
						require.Equal(t, *r.Rain, number(2))
					}
					require.Equal(t, r.Station, got.Text(i, 3))
					require.Equal(t, r.Region, got.Cell(i, 4))
					require.Equal(t, r.Word, got.Text(i, 5))
					require.Equal(t, r.Prefix, got.Text(i, 6))
					require.Equal(t, []float64{float64(r.Count), float64(r.Large), float64(r.Small)},
						[]float64{number(7), number(8), number(9)})
					require.Equal(t, r.Flag, number(10) == 1)
					require.Equal(t, float64(r.Cents)/100, number(11))
					require.InDelta(t, float64(r.At.UnixMilli())/86400e3, number(12), 1e-9)
					require.Equal(t, float64(r.Day), number(13))
					require.Equal(t, r.Place.X, number(14))
				}
			})
		}
	}
}

// written is a table that has everything that a table can have.
func written() *tabular.Table {
	const n = pageRows + 100 // two pages
	var lat, day, hour, rain, mean []float64
	station := make([]string, n)
	for i := range n {
		lat, day, hour, mean = append(lat, float64(i)/7), append(day, float64(19000+i%365)), append(hour, 19000+float64(i)/24),
			append(mean, float64(float32(i)/3))
		rain = append(rain, float64(i%10))
		station[i] = fmt.Sprint("station ", i%9)
	}
	rain[5], mean[7], station[8] = nan, nan, ""
	t := tabular.Of([]tabular.Column{{Name: "lat", Unit: "degrees_north", Values: lat},
		{Name: "day", Unit: unixDays, Values: day}, {Name: "hour", Unit: unixDays, Values: hour},
		{Name: "rain", Unit: "mm", Values: rain}, {Name: "rain_mean", Values: mean, Single: true},
		{Name: "station", Values: make([]float64, n)}})
	t.Texts[5] = station
	t.Values[8*t.Cols+5] = nan
	return t
}

// What is written is read the same, here and by parquet-go.
func TestParquetWritten(t *testing.T) {
	want := written()
	var b bytes.Buffer
	require.NoError(t, Write(&b, "a.parquet", want, []int{0}))
	got, err := Decode(b.Bytes(), "a.parquet", nil)
	require.NoError(t, err)
	require.Equal(t, want.Header, got.Header)
	require.Equal(t, want.Units, got.Units)
	require.Equal(t, []bool{false, false, false, false, true, false}, got.Single)
	require.Equal(t, want.Rows(), got.Rows())
	for row := range want.Rows() {
		for c := range want.Cols {
			if a, b := want.Values[row*want.Cols+c], got.Values[row*want.Cols+c]; c == 2 {
				require.InDelta(t, a, b, 1e-10) // microseconds
			} else {
				require.Equal(t, want.Cell(row, c), got.Cell(row, c))
			}
		}
	}

	f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	require.Equal(t, int64(want.Rows()), f.NumRows())
	rows := make([]parquet.Row, 10)
	r := parquet.NewReader(f)
	_, err = r.ReadRows(rows)
	require.NoError(t, err)
	require.Equal(t, 6.0/7, rows[6][0].Double())
	require.True(t, rows[5][3].IsNull())
	require.False(t, rows[4][3].IsNull())
	require.True(t, math.IsNaN(float64(rows[7][4].Float())))
	require.Equal(t, "station 3", string(rows[3][5].ByteArray()))
	require.True(t, rows[8][5].IsNull())
	require.Error(t, Write(&b, "a.parquet", tabular.Of([]tabular.Column{{Name: "a"}, {Name: "a"}}), nil))
}

// Damaged files are errors, and take no more memory than their size allows.
func TestParquetDamaged(t *testing.T) {
	rows := measurements(200)
	for version, codec := range map[int]compress.Codec{1: &parquet.Zstd, 2: &parquet.Zstd, 3: &parquet.Lz4Raw, 4: &parquet.Brotli} {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[measured](&b, parquet.Compression(codec), parquet.DataPageVersion(1+version%2))
		_, err := w.Write(rows)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		for n := range 300 {
			rng := rand.New(rand.NewPCG(uint64(version), uint64(n)))
			damaged := bytes.Clone(b.Bytes())
			for range 1 + rng.IntN(4) {
				damaged[rng.IntN(len(damaged))] = byte(rng.IntN(256))
			}
			if n%3 == 0 {
				damaged = append(damaged[:rng.IntN(len(damaged))], b.Bytes()[b.Len()-600:]...)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if got, err := Decode(damaged, "a.parquet", nil); err == nil {
				require.Equal(t, got.Rows()*got.Cols, len(got.Values))
			}
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
		}
	}
}

// LZ4 has a name for two forms: blocks with their lengths before them, and a block alone.
func TestParquetOldLZ4(t *testing.T) {
	text := bytes.Repeat([]byte("the same again, "), 200)
	pack := func(b []byte) []byte {
		out := make([]byte, lz4.CompressBlockBound(len(b)))
		n, err := lz4.CompressBlock(b, out, nil)
		require.NoError(t, err)
		return out[:n]
	}
	var hadoop []byte
	for _, part := range [][]byte{text[:1000], text[1000:]} {
		packed := pack(part)
		hadoop = binary.BigEndian.AppendUint32(hadoop, uint32(len(part)))
		hadoop = append(binary.BigEndian.AppendUint32(hadoop, uint32(len(packed))), packed...)
	}
	var r pageReader
	for _, page := range [][]byte{hadoop, pack(text)} {
		got, err := r.unpack(format.Lz4, page, len(text))
		require.NoError(t, err)
		require.Equal(t, text, got)
		for n := range len(page) {
			if got, err := r.unpack(format.Lz4, page[:n], len(text)); err == nil {
				require.Len(t, got, len(text))
			}
		}
	}
	_, err := r.unpack(format.Lz4, nil, 0)
	require.NoError(t, err)
	_, err = r.unpack(format.LZO, pack(text), len(text))
	require.ErrorContains(t, err, "write it with")
}

// What other writers do: pages of nothing but nulls, chunks whose size leaves out the dictionary, and metadata without a value.
func TestParquetOfOtherWriters(t *testing.T) {
	type row struct {
		ID   int64    `parquet:"id,dict"`
		None *float64 `parquet:"none,optional"`
		Few  *float64 `parquet:"few,optional"`
		Text string   `parquet:"text,dict"`
		No   *int64   `parquet:"no,optional"`
	}
	rows := make([]row, 3000)
	for i := range rows {
		if v := float64(i); i >= 2000 {
			rows[i].Few = &v
		}
		rows[i].ID, rows[i].Text = 1<<53+int64(i%7), fmt.Sprint("t", i%3)
	}
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd} {
		for version := 1; version <= 2; version++ {
			var b bytes.Buffer
			w := parquet.NewGenericWriter[row](&b, parquet.Compression(codec), parquet.DataPageVersion(version),
				parquet.PageBufferSize(500))
			_, err := w.Write(rows)
			require.NoError(t, err)
			require.NoError(t, w.Close())
			file := b.Bytes()
			size := int(binary.LittleEndian.Uint32(file[len(file)-8:]))
			var meta fileMetaData
			_, err = decodeThrift(file[len(file)-8-size:], &meta)
			require.NoError(t, err)
			meta.KeyValueMetadata = []keyValue{{Key: "no value"}, {Key: unitKey + "few", Value: "K"}}
			footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta) // without the sizes of the chunks
			require.NoError(t, err)
			file = append(file[:len(file)-8-size:len(file)-8-size], footer...)
			file = append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), parquetMagic...)
			got, err := Decode(file, "a.parquet", nil)
			require.NoError(t, err, "%v %d", codec, version)
			require.Equal(t, []string{"", "", "K", "", ""}, got.Units)
			for i := range rows {
				require.Equal(t, fmt.Sprint(rows[i].ID), got.Cell(i, 0))
				require.Equal(t, rows[i].Text, got.Text(i, 3))
				require.True(t, math.IsNaN(got.Values[i*5+1]) && math.IsNaN(got.Values[i*5+4]))
				if i >= 2000 {
					require.Equal(t, float64(i), got.Values[i*5+2])
				} else {
					require.True(t, math.IsNaN(got.Values[i*5+2]))
				}
			}
			_, n, err := got.Groups(0)
			require.NoError(t, err)
			require.Equal(t, 7, n)
		}
	}
}

// Times of day are seconds, in whatever unit a file counts them.
func TestParquetTimesOfDay(t *testing.T) {
	type clock struct {
		Milli int32 `parquet:"milli,time(millisecond)"`
		Micro int64 `parquet:"micro,time(microsecond)"`
		Nano  int64 `parquet:"nano,time(nanosecond)"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[clock](&b)
	_, err := w.Write([]clock{{43200500, 43200500000, 43200500000000}})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	table, err := Decode(b.Bytes(), "a.parquet", nil)
	require.NoError(t, err)
	require.Equal(t, []float64{43200.5, 43200.5, 43200.5}, table.Values)
	require.Equal(t, []string{"s", "s", "s"}, table.Units)
}

// A page whose bytes are others than those that its checksum was made of is an error: in a page that is not compressed
// nothing else shows it.
func TestParquetChecksums(t *testing.T) {
	for version := 1; version <= 2; version++ {
		var b bytes.Buffer
		type row struct {
			A float64 `parquet:"a"`
			B int64   `parquet:"b,dict"`
		}
		w := parquet.NewGenericWriter[row](&b, parquet.Compression(&parquet.Uncompressed), parquet.DataPageVersion(version))
		_, err := w.Write([]row{{1.5, 7}, {2.5, 8}, {3.5, 7}})
		require.NoError(t, err)
		require.NoError(t, w.Close())
		got, err := Decode(b.Bytes(), "a.parquet", nil)
		require.NoError(t, err)
		require.Equal(t, []float64{1.5, 7, 2.5, 8, 3.5, 7}, got.Values)
		for name, value := range map[string][]byte{
			"a": binary.LittleEndian.AppendUint64(nil, math.Float64bits(2.5)), "b": binary.LittleEndian.AppendUint64(nil, 8)} {
			damaged := bytes.Clone(b.Bytes())
			damaged[bytes.Index(damaged, value)+1] ^= 4
			_, err = Decode(damaged, "a.parquet", nil)
			require.ErrorContains(t, err, "checksum", "version %d, column %s", version, name)
			require.ErrorContains(t, err, fmt.Sprintf("column %q, row group 0", name))
		}
	}
}

// A decimal number is the float64 nearest to its digits, as in a CSV file, in whatever type it is written.
func TestParquetDecimals(t *testing.T) {
	type row struct {
		Long int64    `parquet:"long,decimal(15:18)"`
		Wide [16]byte `parquet:"wide,decimal(18:38)"`
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var rows []row
	var want []float64
	for i := range 2000 {
		n := rng.Int64N(1e18) - 5e17
		if i%3 == 0 {
			n /= 1e12
		}
		wide := new(big.Int).Mul(big.NewInt(n), big.NewInt(rng.Int64N(1e15)))
		for _, v := range []struct {
			n     *big.Int
			scale int
		}{{big.NewInt(n), 15}, {wide, 18}} {
			f, err := strconv.ParseFloat(fmt.Sprintf("%se-%d", v.n, v.scale), 64)
			require.NoError(t, err)
			want = append(want, f)
		}
		r := row{Long: n}
		new(big.Int).And(wide, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))).FillBytes(r.Wide[:])
		rows = append(rows, r)
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	_, err := w.Write(rows)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	got, err := Decode(b.Bytes(), "a.parquet", nil)
	require.NoError(t, err)
	require.Equal(t, want, got.Values)
}

// handmade is a file of one required column, whose page of three values holds these bytes.
func handmade(t *testing.T, e format.SchemaElement, page []byte) []byte {
	e.Name, e.RepetitionType = "v", thrift.New(format.Required)
	head, err := thrift.Marshal(new(thrift.CompactProtocol), &format.PageHeader{Type: format.DataPage,
		UncompressedPageSize: int32(len(page)), CompressedPageSize: int32(len(page)),
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: 3, Encoding: format.Plain,
			DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})})
	require.NoError(t, err)
	meta := format.FileMetaData{Version: 2, NumRows: 3,
		Schema: []format.SchemaElement{{Name: "schema", NumChildren: thrift.New(int32(1))}, e},
		RowGroups: []format.RowGroup{{NumRows: 3, Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{Type: e.Type.V,
			Encoding: []format.Encoding{format.Plain}, PathInSchema: []string{"v"}, NumValues: 3, DataPageOffset: 4}}}}}}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	require.NoError(t, err)
	b := slices.Concat([]byte(parquetMagic), head, page, footer)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), parquetMagic...)
}

// Numbers of 16 bits and decimal ones of any length are numbers, too.
func TestParquetRareNumbers(t *testing.T) {
	half := format.SchemaElement{Type: thrift.New(format.FixedLenByteArray), TypeLength: thrift.New(int32(2)),
		LogicalType: format.LogicalType{Value: &format.Float16Type{}}}
	got, err := Decode(handmade(t, half, []byte{0x00, 0x3e, 0xff, 0xfb, 0x01, 0x00}), "a.parquet", nil)
	require.NoError(t, err)
	require.Equal(t, []float64{1.5, -65504, 0x1p-24}, got.Values)

	decimal := format.SchemaElement{Type: thrift.New(format.ByteArray), ConvertedType: thrift.New(deprecated.Decimal),
		Scale: thrift.New(int32(2)), Precision: thrift.New(int32(38))}
	page := []byte{1, 0, 0, 0, 0xff, 2, 0, 0, 0, 0x30, 0x39, 9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1}
	got, err = Decode(handmade(t, decimal, page), "a.parquet", nil)
	require.NoError(t, err)
	require.Equal(t, []float64{-0.01, 123.45, 184467440737095516.17}, got.Values)

	for _, n := range []byte{0, 33} {
		page := append([]byte{n, 0, 0, 0}, make([]byte, 64)...)
		_, err = Decode(handmade(t, decimal, page), "a.parquet", nil)
		require.ErrorIs(t, err, ErrParquet)
		require.ErrorContains(t, err, fmt.Sprintf("a decimal number of %d bytes: column \"v\"", n))
	}
}

// A file all of whose columns are left out is not taken for an empty one.
func TestParquetWithoutNumbers(t *testing.T) {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[struct {
		Tags  []string `parquet:"tags,list"`
		Bytes [5]byte  `parquet:"bytes"`
	}](&b)
	require.NoError(t, w.Close())
	_, err := Decode(b.Bytes(), "a.parquet", nil)
	require.ErrorIs(t, err, tabular.ErrColumns)
	require.ErrorContains(t, err, "a.parquet: ")
	require.ErrorContains(t, err, "tags.list.element, bytes hold lists or other types")
}

// An encrypted column, in a file whose footer is not, is refused by what it is.
func TestParquetEncryptedColumn(t *testing.T) {
	var chunk columnChunk
	_, err := decodeThrift([]byte{0x8c, 0x1c, 0, 0, 0}, &chunk) // field 8, a union of which the first, empty, is there
	require.NoError(t, err)
	r := pageReader{}
	require.ErrorContains(t, r.chunk(&leaf{}, &chunk, 3, nil, 0, 0), "it is encrypted")
}
