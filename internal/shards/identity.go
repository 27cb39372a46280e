package shards

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
)

// Identity tells a file from others, and from what it was before it was written again, without reading it.
func Identity(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %d %d", abs, info.Size(), info.ModTime().UnixNano()), nil
}

// Work returns the digest of settings and of the identities of files, for journals. Empty paths are left out.
func Work(settings []any, files ...string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, settings...)
	for _, path := range files {
		if path == "" {
			continue
		}
		file, err := Identity(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, file)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
