package selection

import (
	"io"
	"path/filepath"

	"github.com/equivcnp/equivcnp/internal/shards"
)

// Write writes the report into a folder: report.md with its picture report.png, and report.json.
func (rep *Report) Write(dir string) error {
	for name, write := range map[string]func(w io.Writer) error{
		"report.png":  rep.Draw,
		"report.md":   func(w io.Writer) error { _, err := io.WriteString(w, rep.Page()); return err },
		"report.json": func(w io.Writer) error { return EncodeJSON(w, rep) },
	} {
		if err := shards.Create(filepath.Join(dir, name), write); err != nil {
			return err
		}
	}
	return nil
}
