package neon

import (
	"strings"
	"testing"
)

// TestPool finds a constant again by its name, and refuses to give the name another value.
func TestPool(t *testing.T) {
	file := NewFile("p", "arm64")
	p := file.Pool("consts")
	for i, c := range []struct {
		name   string
		word   uint64
		offset int
	}{{"one", 1, 0}, {"two", 2, 16}, {"one", 1, 0}, {"three", 3, 32}} {
		if got := p.Add(c.name, c.word, c.word); got != c.offset {
			t.Errorf("%d: %s is at %d, want %d", i, c.name, got, c.offset)
		}
	}
	mustPanic(t, "two values", func() { p.Add("one", 1, 2) })
	if text := string(file.Assembly()); !strings.Contains(text, "GLOBL consts<>(SB), RODATA|NOPTR, $48\n") {
		t.Errorf("the table is not 48 bytes long:\n%s", text)
	}
}

// TestSlots gives a function a frame, which ends its being NOSPLIT, with the slots above the link register.
func TestSlots(t *testing.T) {
	file := NewFile("p", "arm64")
	f := file.Func("f", "(n int)", "f is a test.")
	f.Slots(2)
	f.StoreSlot(3, 1)
	text := string(file.Assembly())
	for _, want := range []string{"TEXT ·f(SB), 0, $40-8\n", "\tFMOVQ F3, 32(RSP)\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func TestUnknownInstruction(t *testing.T) {
	f := NewFile("p", "arm64").Func("f", "(n int)", "f is a test.")
	x := f.V(3)
	mustPanic(t, "no instruction fnope", func() { f.Three("fnope", D2, x[:1], x[1:2], x[2:]) })
}

// TestSnapshot goes back to the registers that were taken before.
func TestSnapshot(t *testing.T) {
	f := NewFile("p", "arm64").Func("f", "(n int)", "f is a test.")
	v, r := f.V(1), f.R()
	back := f.Snapshot()
	f.V(5)
	f.R()
	back()
	if w, s := f.V(1), f.R(); w[0] != v[0]+1 || s != r+1 {
		t.Errorf("got V%d and %v after V%d and %v", w[0], s, v[0], r)
	}
}
