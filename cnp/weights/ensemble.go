package weights

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// EnsembleEnding is that of files which list the models of an ensemble.
const EnsembleEnding = ".ensemble"

const maxMembers = 1 << 10

// Members returns the models behind a name: those of a file that ends in .ensemble, one a line, or the name itself. A
// path counts from the file's folder where there is such a file; otherwise it may be the name of a shipped model. Empty
// lines, and those that begin with #, are left out.
func Members(path string) ([]string, error) {
	if !strings.EqualFold(filepath.Ext(path), EnsembleEnding) {
		return []string{path}, nil
	}
	b, err := safetensors.ReadUpTo(path, 1<<20) // a list of models has less
	if err != nil {
		return nil, err
	}
	var members []string
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		name := strings.TrimSpace(line)
		if name == "" || name[0] == '#' {
			continue
		}
		if strings.EqualFold(filepath.Ext(name), EnsembleEnding) || name == "-" {
			return nil, fmt.Errorf("%s:%d: %s is no model file", path, n, name)
		}
		if beside := filepath.Join(filepath.Dir(path), name); !filepath.IsAbs(name) {
			if _, err := os.Stat(beside); err == nil {
				name = beside
			}
		}
		if members = append(members, name); len(members) > maxMembers {
			return nil, fmt.Errorf("%s: more than %d models", path, maxMembers)
		}
	}
	if len(members) == 0 {
		return nil, fmt.Errorf("%s: no line names a model", path)
	}
	return members, nil
}
