package npy

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// Arrays of texts and of times are tensors of types that are no numbers, and that nobody takes for some: "text U12",
// "text S5", "time M8[ns]".
const textType, timeType = "text ", "time "

// maxText bounds the bytes of a text of an array.
const maxText = 1 << 24

// typed reads the type of the elements.
func (a *array) typed(text string) error {
	part := descr.FindStringSubmatch(text)
	if part == nil {
		return fmt.Errorf("%w: elements of type %.40s: need numbers, texts or times", ErrFormat, text)
	}
	a.big = part[1] == ">"
	kind, digits := part[2][:1], part[2][1:]
	n, _ := strconv.Atoi(digits)
	switch known, ok := dtypes[part[2]]; {
	case ok && part[3] == "":
		a.dtype, a.each = known, known.Size()
		a.unit = a.each
	case kind == "U" && n >= 0 && n <= maxText/4 && digits != "":
		a.dtype, a.each, a.unit = safetensors.DType(textType+part[2]), 4*n, 4
	case kind == "S" && n >= 0 && n <= maxText && digits != "":
		a.dtype, a.each, a.unit = safetensors.DType(textType+part[2]), n, 1
	case kind == "M" && n == 8 && isTimeUnit(strings.Trim(part[3], "[]")):
		a.dtype, a.each, a.unit = safetensors.DType(timeType+part[2]+part[3]), 8, 8
	default:
		return fmt.Errorf("%w: elements of type %.40s: need numbers, texts or times", ErrFormat, text)
	}
	return nil
}

// Texts are those of an array of texts, without the zeros at their ends; false: it is another.
func Texts(t *safetensors.Tensor) ([]string, bool) {
	kind, ok := strings.CutPrefix(string(t.DType), textType)
	if !ok {
		return nil, false
	}
	width, _ := strconv.Atoi(kind[1:])
	if each := map[byte]int{'U': 4, 'S': 1}[kind[0]]; len(t.Data) != each*width*t.Len() {
		return nil, false
	}
	out := make([]string, t.Len())
	for i := range out {
		if kind[0] == 'S' {
			out[i] = strings.TrimRight(string(t.Data[i*width:(i+1)*width]), "\x00")
			continue
		}
		var letters []rune
		for k := range width {
			letters = append(letters, rune(binary.LittleEndian.Uint32(t.Data[4*(i*width+k):])))
		}
		out[i] = strings.TrimRight(string(letters), "\x00")
	}
	return out, true
}

// FromTexts makes an array of texts, which Encode and EncodeArray write.
func FromTexts(name string, texts []string) safetensors.Tensor {
	width := 1
	for _, s := range texts {
		width = max(width, utf8.RuneCountInString(s))
	}
	t := safetensors.Tensor{Name: name, DType: safetensors.DType(fmt.Sprintf("%sU%d", textType, width)), Shape: []int{len(texts)}}
	for _, s := range texts {
		n := 0
		for _, letter := range s {
			t.Data = binary.LittleEndian.AppendUint32(t.Data, uint32(letter))
			n++
		}
		t.Data = append(t.Data, make([]byte, 4*(width-n))...)
	}
	return t
}

// timeSeconds are the units of times that have a length.
var timeSeconds = map[string]float64{"W": 604800, "D": 86400, "h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}

// timeMonths are the months of the other units: their times are first days of months.
var timeMonths = map[string]int64{"Y": 12, "M": 1}

// maxMonths bounds months before and after 1970.
const maxMonths = 12 * 1_000_000

func isTimeUnit(unit string) bool { return timeSeconds[unit] > 0 || timeMonths[unit] > 0 }

// firstDay is the first day of a month, counted from the beginning of 1970 as the month is.
func firstDay(month int64) float64 {
	year, month := 1970+month/12, month%12
	return float64(time.Date(int(year), time.Month(month+1), 1, 0, 0, 0, 0, time.UTC).Unix()) / 86400
}

// Days are the times of an array as days since the beginning of 1970, NaN where there is none; false: it holds others.
func Days(t *safetensors.Tensor) ([]float64, bool) {
	unit, ok := strings.CutPrefix(string(t.DType), timeType+"M8[")
	if !ok {
		return nil, false
	}
	unit = strings.TrimSuffix(unit, "]")
	perDay, months := 86400/timeSeconds[unit], timeMonths[unit]
	out := make([]float64, t.Len())
	for i := range out {
		v := int64(binary.LittleEndian.Uint64(t.Data[8*i:]))
		switch {
		case v == math.MinInt64: // NaT
			out[i] = math.NaN()
		case months > 0 && (v > maxMonths/months || v < -maxMonths/months): // beyond what a calendar has
			out[i] = math.NaN()
		case months > 0:
			out[i] = firstDay(v * months)
		default:
			out[i] = float64(v) / perDay
		}
	}
	return out, true
}
