package cli

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// Parsed is the value of a flag that Parse reads and Show prints.
type Parsed[V any] struct {
	To    *V
	Parse func(string) (V, error)
	Show  func(V) string
	Kind  string // of values, for --help
}

// Set implements pflag.Value.
func (p *Parsed[V]) Set(text string) error {
	v, err := p.Parse(text)
	if err == nil {
		*p.To = v
	}
	return err
}

// String implements pflag.Value.
func (p *Parsed[V]) String() string {
	if p.To == nil {
		return ""
	}
	return p.Show(*p.To)
}

// Type implements pflag.Value.
func (p *Parsed[V]) Type() string { return p.Kind }

// OptionalVar adds the flag of a number that has a default of its own where nobody gives it: nil.
func OptionalVar[N int | uint64 | float64](fl *pflag.FlagSet, to **N, name, usage string) {
	kind := reflect.TypeFor[N]().String()
	fl.Var(&Parsed[*N]{To: to, Kind: kind, Parse: func(text string) (*N, error) {
		var v N
		var err error
		switch p := any(&v).(type) {
		case *int:
			var n int64
			n, err = strconv.ParseInt(text, 0, strconv.IntSize)
			*p = int(n)
		case *uint64:
			*p, err = strconv.ParseUint(text, 0, 64)
		case *float64:
			*p, err = strconv.ParseFloat(text, 64)
		}
		return &v, err
	}, Show: func(v *N) string {
		if v == nil {
			return ""
		}
		return fmt.Sprint(*v)
	}}, name, usage)
}

// ParseBytes reads "512", "64K", "1.5G", and with a unit of bytes "1.5GB" or "1.5GiB", all by powers of 1024.
func ParseBytes(s string) (int64, bool) {
	shift := 0
	if n := len(s) - 1; n > 0 && (s[n] == 'B' || s[n] == 'b') {
		s = strings.TrimSuffix(s[:n], "i")
	}
	if s != "" {
		if i := strings.IndexByte("KMGT", s[len(s)-1]&^0x20); i >= 0 {
			s, shift = s[:len(s)-1], 10*(i+1)
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	if v *= math.Ldexp(1, shift); err != nil || !(v >= 0 && v < math.MaxInt64) {
		return 0, false
	}
	return int64(v), true
}

// ParseSize reads the value of --size: 256x128, or 256 for a square.
func ParseSize(size string) (w, h int, err error) {
	text := size
	if !strings.Contains(text, "x") {
		text += "x" + text
	}
	if n, err := fmt.Sscanf(text+" ", "%dx%d ", &w, &h); n != 2 || err != nil || w < 1 || h < 1 || w > 1<<20 || h > 1<<20 {
		return 0, 0, errors.New("need a side or width x height, 64 or 256x128 for example")
	}
	return w, h, nil
}

// ShowSize writes a size as ParseSize reads it, "" for none.
func ShowSize(size [2]int) string {
	if size == [2]int{} {
		return ""
	}
	return fmt.Sprintf("%dx%d", size[0], size[1])
}

// CheckQuantiles refuses quantiles that are none, and one that is named twice.
func CheckQuantiles(quantiles []float64) error {
	for i, q := range quantiles {
		if !(q > 0 && q < 1) {
			return Usagef("--quantiles %g: need numbers between 0 and 1", q)
		}
		if slices.Contains(quantiles[:i], q) {
			return Usagef("--quantiles %g: named twice", q)
		}
	}
	return nil
}
