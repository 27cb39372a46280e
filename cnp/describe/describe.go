// Package describe says in words what a model file holds, for people: equivcnp inspect prints it.
package describe

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/words"
)

// lines are names with texts, in order.
type lines [][2]string

func (l *lines) add(name, format string, args ...any) {
	*l = append(*l, [2]string{name, fmt.Sprintf(format, args...)})
}

// Config returns what a configuration fixes, as names with texts. groups are those of which a file leaves the choice.
func Config(c *cnp.Config, groups []string) [][2]string {
	var r lines
	config(&r, c, groups)
	return r
}

// File returns what a model file holds, as names with texts, and notes.
func File(d *weights.Description) (text [][2]string, notes []string) {
	var r lines
	r.add("file", "%s (%s)", d.Path, d.Format)
	if d.Config == nil {
		r.add("model", "none: %s", d.Problem)
	} else {
		from := "its own metadata"
		if d.ConfigFrom != "metadata" {
			from = "the tensors' names and shapes"
		}
		r.add("architecture", "%s, known from %s", d.Config.Architecture, from)
		config(&r, d.Config, d.Groups)
	}
	r.add("parameters", "%d, with buffers %d", d.Parameters, d.Elements)
	for i := range d.Tensors {
		if t := &d.Tensors[i]; (t.Name == "r" || strings.HasSuffix(t.Name, ".r")) && t.Mean != nil {
			r.add("radius", "%.6g  %s", *t.Mean, t.Name)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(d.Metadata)) {
		switch {
		case strings.HasPrefix(k, "equivcnp."): // shown above
		case k == pretrained.KeyCommand:
			for i, line := range commands(d.Path, d.Metadata[k]) {
				r.add([...]string{k, ""}[min(i, 1)], "%s", line)
			}
		default:
			r.add(strings.ReplaceAll(oneLine(k), "_", " "), "%s", oneLine(d.Metadata[k]))
		}
	}
	if d.NonFinite > 0 {
		notes = append(notes, words.Plural(d.NonFinite, "value")+" not finite")
	}
	if smooth, ok := strings.CutSuffix(d.Path, "-equivcnp"); ok && slices.Contains(pretrained.Names(), d.Path) {
		notes = append(notes, fmt.Sprintf("kept for the paper's tables: its predictions have small jumps between targets; "+
			"%s-levels is smooth, and more accurate", smooth))
	}
	return r, notes
}

// Tensors writes a table of the tensors with their ranges.
func Tensors(to io.Writer, d *weights.Description) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\ntensor\ttype\tshape\tmin\tmean\tmax\n")
	for i := range d.Tensors {
		t := &d.Tensors[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", t.Name, t.DType, shapeText(t.Shape), short(t.Min), short(t.Mean), short(t.Max))
	}
	return w.Flush()
}

// oneLine shows a text from a file on one line, without its end where it is long, quoted where it would not print as it is.
func oneLine(s string) string {
	const most = 240
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return printable(s)
}

// printable quotes a text that would not print as it is.
func printable(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// shapeText writes a shape as [64, 3].
func shapeText(shape []int) string {
	s := make([]string, len(shape))
	for i, n := range shape {
		s[i] = strconv.Itoa(n)
	}
	return "[" + strings.Join(s, ", ") + "]"
}

// short writes a number with four digits, "-" for none.
func short(v *float64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(*v, 'g', 4, 64)
}
