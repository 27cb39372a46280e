package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck: what each family of checks finds is found, in tests and in packages that tests of others use too; what is used only in a test
// counts as used; and what staticcheck.conf turns off is not found.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/m\n\ngo 1.26\n")
	write("staticcheck.conf", "checks = [\"all\", \"-S1021\"]\n")
	write("a.go", `// Package m is an example.
package m

import "errors"

var errShort = errors.New("Short.")

func forTests() {}

func lost() {}

func first(b bool) int {
	if b == true {
		return len(errShort.Error())
	}
	var off int // and its value: S1021
	off = len("off")
	_ = off
	n := errShort.Error()
	n = n[:2]
	n = "2"
	return len(n)
}

// Second returns 2.
func Second() int { return first(true) * 2 }
`)
	write("a_test.go", `package m

import "testing"

func TestSecond(t *testing.T) { forTests() }

func notCalled() {}
`)
	write("b/b.go", "// Package b is used.\npackage b\n\nimport \"example.com/m\"\n\nvar _ = m.Second\n\nvar gone int\n")
	found, err := check(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a.go:6:16: error strings should not end with punctuation or newlines (ST1005)",
		"func lost is unused (U1000)", "omit comparison to bool constant", "this value of n is never used (SA4006)",
		"func notCalled is unused (U1000)", "var gone is unused (U1000)",
	}
	for _, w := range want {
		n := 0
		for _, f := range found {
			if strings.Contains(f, w) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%q: %d findings", w, n)
		}
	}
	if len(found) != len(want) {
		t.Errorf("%d findings instead of %d:\n%s", len(found), len(want), strings.Join(found, "\n"))
	}
}

// TestCheckErrors: a folder without packages and one that does not compile are errors, not folders without findings.
func TestCheckErrors(t *testing.T) {
	if found, err := check(t.TempDir()); err == nil {
		t.Error(found)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "a.go": "package m\n\nvar a int = true\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := check(dir); err == nil {
		t.Error(found)
	}
}
