package x86

import (
	"slices"
	"testing"
)

// codes lists a block's operations.
func codes(b *Block) (c []opcode) {
	for _, o := range b.ops {
		c = append(c, o.code)
	}
	return c
}

// TestSimplify: what is computed twice is computed once, also what hangs on it, unless too much lies between; what
// nobody reads goes, and all else stays.
func TestSimplify(t *testing.T) {
	b := NewBlock(AVX2, F32)
	x, two := b.Load(1, 0), b.Const("two", 2)
	y := b.Mul(x, two)
	again := b.Mul(b.Load(1, 0), b.Const("two", 2))
	b.Sqrt(again)                               // is not read
	other := b.Mul(x, b.Const("three", 3))      // another constant
	less := b.Cmp(LT, y, other)                 // a mask
	more := b.Cmp(GT, y, other)                 // another predicate
	b.Hard(b.OrMask(b.Cmp(LT, y, other), less)) // of the same mask twice
	z := b.Select(more, y, again)
	b.SetLocal(0, b.Add(again, z))
	b.Output(b.Add(y, z))
	b.simplify()
	want := []opcode{opLoad, opMul, opMul, opCmp, opCmp, opOrMask, opSelect, opAdd}
	if got := codes(b); !slices.Equal(got, want) {
		t.Fatalf("operations %v, want %v", got, want)
	}
	if o := b.ops[5]; o.m != less || o.m2 != less || b.hard.id != o.dst {
		t.Errorf("the hard lanes are %+v", o)
	}
	if !b.outputs[0].Is(b.sets[0].v) {
		t.Error("the same sum, and two results")
	}

	b = NewBlock(AVX2, F32)
	x = b.Load(1, 0)
	sum := b.Sqrt(x)
	for range simplifyReach {
		sum = b.Add(sum, x)
	}
	b.Output(b.Mul(sum, b.Sqrt(x)))
	b.simplify()
	if got := codes(b); len(got) != simplifyReach+4 {
		t.Errorf("%d operations, want %d: a root is kept for too long", len(got), simplifyReach+4)
	}
}
