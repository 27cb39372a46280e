package main

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
)

// TestDriftNEON renders the arm64 files again in memory and compares with those in the tree.
func TestDriftNEON(t *testing.T) {
	want := []output{matrixDispatch()[1], treeDispatch()[1], renderMaps()[1], renderNEONCounts()}
	for _, g := range neonRegistry {
		want = append(want, renderNEON(g)...)
	}
	checkDrift(t, want, "z*_arm64.*")
}

// neonWords returns every WORD of the arm64 files, each once.
func neonWords(t *testing.T) []neon.Word {
	var words []neon.Word
	seen := map[neon.Word]bool{}
	for _, g := range neonRegistry {
		all, err := neon.Words(renderNEON(g)[0].text)
		if err != nil {
			t.Fatalf("%s: %v", g.file, err)
		}
		for _, w := range all {
			if !seen[w] {
				seen[w] = true
				words = append(words, w)
			}
		}
	}
	return words
}

var spaces = regexp.MustCompile(`\s+`)

// normal removes what disassemblers write differently: spaces, and the zero that a comparison is with.
func normal(mnemonic string) string {
	return strings.TrimSuffix(strings.TrimSpace(spaces.ReplaceAllString(mnemonic, " ")), ".0")
}

// TestWordsDecode reads every WORD back and wants the mnemonic that stands beside it.
func TestWordsDecode(t *testing.T) {
	words := neonWords(t)
	t.Logf("%d different words", len(words))
	for _, w := range words {
		inst, err := arm64asm.Decode(binary.LittleEndian.AppendUint32(nil, w.Bits))
		if err != nil {
			t.Errorf("%#08x: %v, want %s", w.Bits, err, w.Mnemonic)
		} else if got := normal(arm64asm.GNUSyntax(inst)); got != normal(w.Mnemonic) {
			t.Errorf("%#08x is %s, want %s", w.Bits, got, w.Mnemonic)
		}
	}
}

// TestWordsObjdump does the same with the GNU disassembler, an opinion independent of Go's.
func TestWordsObjdump(t *testing.T) {
	tool, err := exec.LookPath("aarch64-linux-gnu-objdump")
	if err != nil {
		t.Skipf("skipped: no GNU disassembler for arm64 (Debian: binutils-aarch64-linux-gnu): %v", err)
	}
	words := neonWords(t)
	var code []byte
	for _, w := range words {
		code = binary.LittleEndian.AppendUint32(code, w.Bits)
	}
	file := filepath.Join(t.TempDir(), "words.bin")
	if err := os.WriteFile(file, code, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(tool, "-D", "-b", "binary", "-m", "aarch64", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	// A line reads "   0:	4e23f4c6 	fmax	v6.4s, v6.4s, v3.4s".
	lines := regexp.MustCompile(`(?m)^\s*[0-9a-f]+:\s+[0-9a-f]{8}\s+(.*)$`).FindAllStringSubmatch(string(out), -1)
	if len(lines) != len(words) {
		t.Fatalf("%d lines for %d words", len(lines), len(words))
	}
	for i, w := range words {
		if got := normal(lines[i][1]); got != normal(w.Mnemonic) {
			t.Errorf("%#08x is %s, want %s", w.Bits, got, w.Mnemonic)
		}
	}
}
