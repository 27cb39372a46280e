package main

import "testing"

// TestNEONCounts reads a text with a loop that states its work, one that does not, and none.
func TestNEONCounts(t *testing.T) {
	text := "#include\n\n// func a()\nTEXT ·a(SB), NOSPLIT, $0-8\n\tMOVD x+0(FP), R0\n\nloop:\n\t// 6 instructions for " +
		"8 elements, 0.75 each\n" +
		"\tADD R0, R0\n\tBGE loop\n\nrest:\n\t// 4 instructions for 4 elements, 1 each\n\tB rest\n" +
		"\n// func b()\nTEXT ·b(SB), NOSPLIT, $0-8\n\nouter:\n\tSUB R1, R1\n\ninner:\n\tWORD $0x4e20d400 // fadd\n\t// a remark\n" +
		"\tCBNZ R0, inner\n\tADD R0, R0\n\tBNE outer\n\tRET\n" +
		"\n// func c()\nTEXT ·c(SB), NOSPLIT, $0-8\n\tMOVD ZR, R0\n\tRET\n"
	want := []neonCount{{"a", 6, 8, "elements", 4}, {"b", 2, 0, "", 6}, {"c", 0, 0, "", 2}}
	got := neonCounts([]byte(text))
	if len(got) != len(want) {
		t.Fatalf("%d functions, want %d", len(got), len(want))
	}
	for i, w := range want {
		if got[i] != w {
			t.Errorf("%+v, want %+v", got[i], w)
		}
	}
}

// TestNEONCountsComplete wants a number for every function of the registry.
func TestNEONCountsComplete(t *testing.T) {
	for _, g := range neonRegistry {
		counts := neonCounts(renderNEON(g)[0].text)
		if len(counts) == 0 {
			t.Errorf("%s: no function", g.file)
		}
		for _, c := range counts {
			if c.instructions == 0 {
				t.Errorf("%s: %s: no instruction", g.file, c.name)
			}
		}
	}
}
