// Package shards splits a list of work between processes that know nothing of each other, and may be killed at any
// moment. A manifest names the items, one per line; a shard takes every n-th; what an item gives is a file that appears
// under its name when it is complete, and a record with its digest. A shard that is started again resumes after the
// last record, and Merge checks that all items of all shards are there.
package shards

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// ErrManifest is wrapped by the errors of lines.
var ErrManifest = errors.New("bad manifest")

// Item is one piece of work.
type Item struct {
	ID   int    // from 0, in the order of the manifest
	Line int    // of the manifest, from 1
	Name string // a path, or the words of the line
}

const (
	maxLine  = 1 << 16
	maxItems = 1 << 24
)

// Lines reads the lines of a manifest: text without the space around it. Empty lines, and those that begin with #, are left out.
func Lines(r io.Reader, name string) ([]Item, error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	var items []Item
	line := 0
	for in.Scan() {
		line++
		text := strings.TrimSpace(strings.TrimPrefix(in.Text(), "\ufeff"))
		switch {
		case text == "" || text[0] == '#':
			continue
		case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
			return nil, fmt.Errorf("%w: %s:%d: no text (UTF-8)", ErrManifest, name, line)
		case len(items) == maxItems:
			return nil, fmt.Errorf("%w: %s:%d: more than %d items", ErrManifest, name, line, maxItems)
		}
		items = append(items, Item{len(items), line, text})
	}
	if err := in.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("%w: %s:%d: longer than %d bytes", ErrManifest, name, line+1, maxLine)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("%w: %s: no line names anything", ErrManifest, name)
	}
	return items, nil
}

// Files makes files of lines: relative paths count from folder, and a line with *, ? or [ stands for all files that it
// matches, in alphabetical order, unless there is a file of that very name. A pattern that matches nothing is an error,
// and so is a file that is named twice; a path that is no file is not, since another machine may see it.
func Files(lines []Item, folder, name string) ([]Item, error) {
	var out []Item
	seen := map[string]int{}
	for _, l := range lines {
		path := filepath.FromSlash(l.Name)
		if !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		paths := []string{path}
		if _, err := os.Lstat(path); err != nil && strings.ContainsAny(l.Name, "*?[") {
			var err error
			if paths, err = filepath.Glob(path); err != nil {
				return nil, fmt.Errorf("%w: %s:%d: %s: %v", ErrManifest, name, l.Line, l.Name, err)
			}
			if len(paths) == 0 {
				return nil, fmt.Errorf("%w: %s:%d: no file matches %s", ErrManifest, name, l.Line, l.Name)
			}
		}
		for _, p := range paths {
			if first, twice := seen[p]; twice {
				return nil, fmt.Errorf("%w: %s:%d: %s is named in line %d already", ErrManifest, name, l.Line, p, first)
			}
			if len(out) == maxItems {
				return nil, fmt.Errorf("%w: %s:%d: more than %d files", ErrManifest, name, l.Line, maxItems)
			}
			seen[p] = l.Line
			out = append(out, Item{len(out), l.Line, p})
		}
	}
	return out, nil
}

// Words splits a line into words as a shell does: at spaces, but for those between quotes, which it takes away; a
// backslash outside of single quotes takes the next character as it is.
func Words(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, in, escaped := rune(0), false, false
	for _, c := range line {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, in = true, true
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteRune(c)
			}
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == ' ' || c == '\t':
			if in {
				words = append(words, word.String())
				word.Reset()
			}
			in = false
		default:
			word.WriteRune(c)
			in = true
		}
	}
	if quote != 0 || escaped {
		return nil, fmt.Errorf("a quote or backslash at the end has no partner")
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}
