package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck: an error is found on the platforms that have it, and in tests, and what is no module or platform is said.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module example.com/m\n\ngo 1.26\n",
		"a.go":        "package m\n\nimport \"strings\"\n\nvar Name = strings.ToUpper(system)\n",
		"a_linux.go":  "package m\n\nconst system = \"linux\"\n",
		"a_darwin.go": "package m\n\nconst system = 3\n",
		"a_test.go":   "package m\n\nvar wide int = 1 << 40\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for platform, want := range map[string]bool{"linux/amd64": false, "linux/386": true, "darwin/arm64": true, "windows/amd64": true} {
		n, err := check(dir, platform)
		if err != nil || (n > 0) != want {
			t.Errorf("%s: %d errors, %v", platform, n, err)
		}
	}
	for platform, words := range map[string]string{"linux": "no system/machine", "plan9/zz": "unsupported GOOS/GOARCH"} {
		if _, err := check(dir, platform); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", platform, err)
		}
	}
	if n, err := check(t.TempDir(), "linux/amd64"); n == 0 && err == nil {
		t.Error("an empty folder is no module")
	}
}
