package x86

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mmcloughlin/avo/reg"
)

// TestEncodedInstructions: what is written as numbers is what the mnemonics beside it say, as GNU's disassembler reads it.
func TestEncodedInstructions(t *testing.T) {
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip("no objdump: package binutils")
	}
	file := NewFile(NewConstants())
	f := file.Func(AMX, F32, "all", "func()", "has every instruction that is written as numbers.")
	f.TileConfig(reg.RAX)
	f.TileConfig(reg.RBX)
	for _, r := range []reg.GPPhysical{reg.RAX, reg.RDX, reg.RDI, reg.R8, reg.R10, reg.R13} {
		for _, s := range []reg.GPPhysical{reg.RAX, reg.RCX, reg.R9, reg.R15} {
			for tile := range Tile(8) {
				f.TileLoad(tile, r, s, int(tile)*0x410)
				f.TileStore(tile, r, s, int(tile)*0x410)
			}
		}
	}
	for sum := range Tile(8) {
		f.TileZero(sum)
		f.TileMultiply(sum, (sum+1)%8, (sum+2)%8)
	}
	f.RoundBF16(reg.Z2, reg.Z0, reg.Z1)
	f.RoundBF16(reg.Z7, reg.Z3, reg.Z5)
	for _, x := range []reg.VecPhysical{reg.Z0, reg.Z9, reg.Z17, reg.Z30} {
		for _, y := range []reg.VecPhysical{reg.Z3, reg.Z12, reg.Z21, reg.Z31} {
			f.RoundBF16(reg.Z5, x, y)
			f.RoundBF16(x, reg.Z26, y)
			f.DotBF16(x, y, reg.Z6)
			f.DotBF16(reg.Z24, x, y)
		}
	}
	f.TileRelease()
	result, err := file.Result()
	if err != nil {
		t.Fatal(err)
	}
	var code []byte
	var want []string
	for _, i := range result.Functions()[0].Instructions() {
		words, mnemonic, found := strings.Cut(i.Opcode, " // ")
		if !found {
			t.Fatalf("%s has no mnemonic beside it", i.Opcode)
		}
		for _, m := range regexp.MustCompile(`(LONG|WORD|BYTE) \$0x([0-9a-f]+)`).FindAllStringSubmatch(words, -1) {
			v, err := strconv.ParseUint(m[2], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			size := map[string]int{"LONG": 4, "WORD": 2, "BYTE": 1}[m[1]]
			code = append(code, binary.LittleEndian.AppendUint32(nil, uint32(v))[:size]...)
		}
		want = append(want, normalised(mnemonic))
	}
	path := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(path, code, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(objdump, "-D", "-b", "binary", "-m", "i386:x86-64", "-M", "att", "--no-show-raw-insn", path).CombinedOutput()
	if err != nil {
		t.Skipf("this objdump does not read amd64: %v", err)
	}
	var have []string
	for _, m := range regexp.MustCompile(`(?m)^\s*[0-9a-f]+:\s*(.*)$`).FindAllStringSubmatch(string(out), -1) {
		have = append(have, normalised(m[1]))
	}
	if fmt.Sprint(have) != fmt.Sprint(want) {
		t.Errorf("objdump reads\n%s\nwant\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
}

// normalised brings a mnemonic as AT&T writes it, and as this package does, into one form: lower case, registers by
// their short names, no scale 1.
func normalised(s string) string {
	s = strings.NewReplacer("%", "", "\t", " ", "(,", "(", "*1)", ")", ",1)", ")").Replace(strings.ToLower(s))
	s = strings.ReplaceAll(s, "zmm", "z")
	s = regexp.MustCompile(`\br([abcd]x|[sd]i)\b`).ReplaceAllString(s, "$1")
	s = strings.ReplaceAll(s, ")(", ",")
	s = regexp.MustCompile(`\b0x0\(`).ReplaceAllString(s, "(")
	return strings.Join(strings.Fields(strings.ReplaceAll(s, ", ", ",")), " ")
}
