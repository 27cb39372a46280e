//go:build linux

package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestROM: the processor begins 16 bytes below 4 GB, and the jump there leads to the first instruction; a graphics card's ROM adds up to 0.
func TestROM(t *testing.T) {
	b := rom()
	if len(b) != romSize || b[0xfff0] != 0xe9 || (0xfff3+int(binary.LittleEndian.Uint16(b[0xfff1:])))%romSize != 0 {
		t.Fatalf("% x", b[0xfff0:])
	}
	sum := byte(0)
	for _, v := range vgaROM() {
		sum += v
	}
	if sum != 0 {
		t.Fatal(sum)
	}
}

// TestFiles reads the archive back: every folder stands before what is in it, links are followed, and only the
// variables EQUIVCNP_* come along.
func TestFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("EQUIVCNP_SIMD", "avx512")
	t.Setenv("GOCACHE", "/cache")
	for name, text := range map[string]string{"program": "abc", "testdata/deep/a": "hello"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("deep/a", "testdata/b"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	size, err := (&machine{}).files(dir, []string{"program", "-test.run", "A b"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "initrd"))
	if err != nil || int64(len(b)) != size {
		t.Fatal(len(b), size, err)
	}
	found, seen := map[string]string{}, map[string]bool{".": true}
	for len(b) > 0 {
		number := func(k int) (v int) {
			for _, c := range strings.ToLower(string(b[6+8*k:][:8])) {
				v = v<<4 + strings.IndexRune("0123456789abcdef", c)
			}
			return v
		}
		mode, size, name := number(1), number(6), number(11)
		next := (110 + name + 3) &^ 3
		path := string(b[110:][:name-1])
		if path == "TRAILER!!!" {
			b = nil
			break
		}
		if !seen[filepath.Dir(path)] {
			t.Errorf("%s comes before its folder", path)
		}
		seen[path] = mode&isDir != 0
		found[path] = string(b[next:][:size])
		b = b[(next+size+3)&^3:]
	}
	for path, want := range map[string]string{
		"work/program": "abc", "work/testdata/deep/a": "hello", "work/testdata/b": "hello", "run/dir": "/work\x00",
		"run/args": "/work/program\x00-test.run\x00A b\x00",
	} {
		if found[path] != want {
			t.Errorf("%s = %q, want %q", path, found[path], want)
		}
	}
	if env := found["run/env"]; !strings.Contains(env, "\x00EQUIVCNP_SIMD=avx512\x00") || strings.Contains(env, "GOCACHE") {
		t.Errorf("%q", env)
	}
	if _, err := (&machine{}).files(dir, []string{"missing"}); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Error(err)
	}
}

// TestRefuses: what cannot boot is named.
func TestRefuses(t *testing.T) {
	kernel := filepath.Join(t.TempDir(), "vmlinuz")
	if err := os.WriteFile(kernel, make([]byte, 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for want, m := range map[string]machine{
		"-memory 100: need 512 to 3072":    {memory: 100},
		kernel + " is no Linux kernel for": {kernel: kernel, memory: 1024},
		"no such file":                     {kernel: kernel + "0", memory: 1024},
	} {
		if _, err := m.run([]string{program}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
