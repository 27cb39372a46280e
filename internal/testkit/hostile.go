package testkit

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// Hostile calls a function again and again, each time with one of its arguments, or one field of an argument, replaced
// by what nobody should pass: nil, a slice that is too short, a number that is negative, huge or not a number. good are
// arguments that it takes. It may return anything, and it may panic with a text that begins with a package's name and a
// colon. The test fails if it panics otherwise, as by a nil pointer, allocates more than 64 MB or takes more than ten
// seconds.
func Hostile(t testing.TB, pkg, name string, f any, good ...any) {
	t.Helper()
	hostileCalls(t, pkg, false, name, f, good)
}

// HostileIndexed is Hostile for a function that takes its slices by contract, as an index expression does: it may panic
// with an index out of range, too.
func HostileIndexed(t testing.TB, pkg, name string, f any, good ...any) {
	t.Helper()
	hostileCalls(t, pkg, true, name, f, good)
}

func hostileCalls(t testing.TB, pkg string, indexed bool, name string, f any, good []any) {
	t.Helper()
	fn := reflect.ValueOf(f)
	args := make([]reflect.Value, len(good))
	for i, g := range good {
		if args[i] = reflect.ValueOf(g); g == nil {
			args[i] = reflect.Zero(fn.Type().In(i))
		}
	}
	try(t, pkg, indexed, name, fn, args)
	for i := range args {
		for _, bad := range hostile(args[i], fn.Type().In(i)) {
			changed := append([]reflect.Value(nil), args...)
			changed[i] = bad.value
			try(t, pkg, indexed, fmt.Sprintf("%s with argument %d = %s", name, i, bad.what), fn, changed)
		}
	}
}

const (
	mostHostileBytes = 64 << 20
	mostHostileTime  = 10 * time.Second
)

func try(t testing.TB, pkg string, indexed bool, what string, fn reflect.Value, args []reflect.Value) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	func() {
		defer func() {
			text := fmt.Sprint(recover())
			if index := indexed && (strings.Contains(text, "out of range") ||
				strings.Contains(text, "cannot convert slice with length")); text != "<nil>" && !index && !named(text, pkg) {
				t.Errorf("%s: panic: %s", what, text)
			}
		}()
		own := make([]reflect.Value, len(args)) // a call must not spoil the arguments of the next
		for i, a := range args {
			if own[i] = a; a.Kind() == reflect.Slice && !a.IsNil() {
				own[i] = reflect.AppendSlice(reflect.MakeSlice(a.Type(), 0, a.Len()), a)
			}
		}
		if fn.Type().IsVariadic() {
			fn.CallSlice(own)
		} else {
			fn.Call(own)
		}
	}()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > mostHostileBytes {
		t.Errorf("%s: allocates %d bytes", what, n)
	}
	if took > mostHostileTime {
		t.Errorf("%s: takes %v", what, took)
	}
}

// named reports whether a panic's text begins with the name of a package: the function's, or a room's that it hands its arguments to.
func named(text, pkg string) bool {
	name, _, ok := strings.Cut(text, ": ")
	return ok && (name == pkg || slices.Contains([]string{"simd", "linalg", "group", "neighbor", "layers"}, name))
}

type badValue struct {
	what  string
	value reflect.Value
}

var contextType = reflect.TypeFor[context.Context]()

// hostile lists what nobody should pass instead of v, for a parameter of type p. A nil context is not in it.
func hostile(v reflect.Value, p reflect.Type) (list []badValue) {
	add := func(what string, x reflect.Value) { list = append(list, badValue{what, x}) }
	switch p.Kind() {
	case reflect.Int, reflect.Int64, reflect.Int32:
		for _, x := range []int64{-1, 0, 1 << 31, 1 << 62, math.MinInt64} {
			if n := reflect.New(p).Elem(); !n.OverflowInt(x) {
				n.SetInt(x)
				add(fmt.Sprint(x), n)
			}
		}
	case reflect.Float64, reflect.Float32:
		for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e300} {
			add(fmt.Sprint(x), reflect.ValueOf(x).Convert(p))
		}
	case reflect.String:
		for _, x := range []string{"", "?", strings.Repeat("9", 1000)} {
			add(fmt.Sprintf("%.5q", x), reflect.ValueOf(x).Convert(p))
		}
	case reflect.Slice:
		add("nil", reflect.Zero(p))
		if n := v.Len(); n > 0 {
			add("one element less", v.Slice(0, n-1))
			for _, bad := range hostile(v.Index(n-1), p.Elem()) {
				changed := reflect.AppendSlice(reflect.MakeSlice(p, 0, n), v)
				changed.Index(n - 1).Set(bad.value)
				add("its last element = "+bad.what, changed)
			}
		}
	case reflect.Struct:
		for i := range p.NumField() {
			if field := p.Field(i); field.IsExported() {
				for _, bad := range hostile(v.Field(i), field.Type) {
					changed := reflect.New(p).Elem()
					changed.Set(v)
					changed.Field(i).Set(bad.value)
					add(field.Name+" = "+bad.what, changed)
				}
			}
		}
	case reflect.Pointer:
		add("nil", reflect.Zero(p))
		if !v.IsNil() && p.Elem().Kind() == reflect.Struct && copyable(p.Elem()) {
			for _, bad := range hostile(v.Elem(), p.Elem()) {
				changed := reflect.New(p.Elem())
				changed.Elem().Set(bad.value)
				add(bad.what, changed)
			}
		}
	case reflect.Interface, reflect.Func, reflect.Map, reflect.Chan:
		if p != contextType {
			add("nil", reflect.Zero(p))
		}
	}
	return list
}

// copyable reports whether a struct is all exported fields, so that a copy is one of its kind and no lock is copied.
func copyable(p reflect.Type) bool {
	for i := range p.NumField() {
		if !p.Field(i).IsExported() {
			return false
		}
	}
	return true
}
