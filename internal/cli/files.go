package cli

import (
	"fmt"
	"path/filepath"
	"strings"
)

// mostFiles bounds the files that patterns stand for.
const mostFiles = 1 << 16

// Files returns the files that the patterns of a flag stand for, in order and each once. A pattern without *, ? or [ is a name.
func Files(flag string, patterns []string) ([]string, error) {
	var all []string
	seen := map[string]bool{}
	for _, pattern := range patterns {
		found := []string{pattern}
		if strings.ContainsAny(pattern, "*?[") {
			var err error
			if found, err = filepath.Glob(pattern); err != nil {
				return nil, Usagef("--%s %s: %v", flag, pattern, err)
			}
			if len(found) == 0 {
				return nil, fmt.Errorf("--%s %s: no file of such a name", flag, pattern)
			}
		}
		for _, name := range found {
			if !seen[name] {
				seen[name], all = true, append(all, name)
			}
		}
	}
	if len(all) > mostFiles {
		return nil, Usagef("--%s: %d tables: need at most %d", flag, len(all), mostFiles)
	}
	return all, nil
}
