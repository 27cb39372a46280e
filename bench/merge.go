package main

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// mergeFlags are the flags of bench merge.
type mergeFlags struct {
	html   string
	readme bool
	root   string
}

func mergeCommand() *cobra.Command {
	var f mergeFlags
	cmd := &cobra.Command{
		Use:   "merge [REPORT.json ...]",
		Short: "Lay the reports of several machines side by side, and write the tables of README.md",
		Long: `Lay reports (report.json of bench report) of several machines side by side: how many times as fast as each peer, with the
peers' versions, as Markdown, or with --html as a page. Without files it takes all of bench/results.

--readme writes the tables between the marks in README.md and docs/performance.md anew, from the files in bench/results alone. A test
compares them.`,
		Example: "  go run ./bench merge zen5.json xeon.json\n  go run ./bench merge --readme",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.readme {
				if len(args) > 0 {
					return errors.New("--readme takes the files of bench/results: name none")
				}
				return writeTables(f.root)
			}
			if len(args) == 0 {
				var err error
				if args, err = resultFiles(f.root); err != nil {
					return err
				}
			}
			var all []*reportFile
			for _, path := range args {
				r, err := readReport(path)
				if err != nil {
					return err
				}
				all = append(all, r)
			}
			if f.html != "" {
				return mergedPage(f.html, all)
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), markdown(mergedMeans(all)), "\n", markdown(mergedLines(all)))
			return err
		},
	}
	cmd.Flags().StringVar(&f.html, "html", "", "write a page to this file instead of printing Markdown")
	cmd.Flags().BoolVar(&f.readme, "readme", false, "write the tables in README.md and docs/performance.md anew")
	cmd.Flags().StringVar(&f.root, "root", ".", "the repository's folder")
	return cmd
}

// resultFiles lists the reports in bench/results: those of bench report, and convnet.json, figures that were measured before it was.
func resultFiles(root string) (paths []string, err error) {
	for _, name := range []string{"report.json", "convnet.json"} {
		some, err := filepath.Glob(filepath.Join(root, "bench", "results", "*", name))
		if err != nil {
			return nil, err
		}
		paths = append(paths, some...)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: no report.json or convnet.json: --root names the repository's folder",
			filepath.Join(root, "bench", "results"))
	}
	slices.Sort(paths)
	return paths, nil
}

// grid is a table of texts, its head first.
type grid [][]string

// markdown writes a table.
func markdown(g grid) string {
	var b strings.Builder
	for i, row := range g {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
		}
	}
	return b.String()
}

// span writes the least and the largest of some ratios, in two digits, once if both read alike.
func span(least, most float64) string {
	a, b := fmt.Sprintf("%.2g", least), fmt.Sprintf("%.2g", most)
	if least >= 10 {
		a, b = fmt.Sprintf("%.0f", least), fmt.Sprintf("%.0f", most)
	}
	if a == b {
		return a
	}
	return a + " to " + b
}

// mergedMeans has a row for every part and peer and a column for every machine: geometric means and the number of lines.
func mergedMeans(all []*reportFile) grid {
	g := grid{{"part", "peer"}}
	rows := map[[2]string]int{}
	for i, f := range all {
		g[0] = append(g[0], f.Machine.name())
		for _, m := range pageMeans(f, f.ratios()) {
			k := [2]string{m.Part, m.Peer}
			if rows[k] == 0 {
				rows[k] = len(g)
				g = append(g, []string{m.Part, m.Peer})
			}
			row := &g[rows[k]]
			*row = pad(*row, 2+i)
			*row = append(*row, fmt.Sprintf("%.2f (%d lines)", m.Mean, m.Lines))
		}
	}
	for i := range g {
		g[i] = pad(g[i], len(g[0]))
	}
	return g
}

func pad(row []string, n int) []string {
	for len(row) < n {
		row = append(row, "")
	}
	return row
}

// mergedLines has a row for every line and a column for every machine: the ratio to the fastest peer there.
func mergedLines(all []*reportFile) grid {
	g := grid{{"line"}}
	rows := map[string]int{}
	for i, f := range all {
		g[0] = append(g[0], f.Machine.name())
		for _, r := range bestPeers(f.ratios()) {
			name := r.Line()
			if rows[name] == 0 {
				rows[name] = len(g)
				g = append(g, []string{name})
			}
			row := &g[rows[name]]
			*row = pad(*row, 1+i)
			if len(*row) == 1+i { // the first size of a name
				*row = append(*row, fmt.Sprintf("%.2f %s", r.Median, r.Who))
			}
		}
	}
	for i := range g {
		g[i] = pad(g[i], len(g[0]))
	}
	return g
}

// name is short enough for the head of a column.
func (d *description) name() string {
	return fmt.Sprintf("%s, family %d model %d, %s, %d cores", d.CPU, d.Family, d.Model, d.Level, d.Cores)
}

var mergedTemplate = template.Must(template.New("merged").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>EquivCNP on several machines</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; color-scheme: light dark; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .7rem; text-align: left; border-bottom: 1px solid #8888; }
</style>
<h1>EquivCNP on several machines</h1>
<p>How many times as fast as its peers: geometric means of a part's lines, then the fastest peer of every line. The peer's time over
ours.</p>
{{range .Grids}}<table>
{{range .}}<tr>{{range .}}<td>{{.}}{{end}}
{{end}}</table><br>
{{end}}<h2>Peers</h2>
{{range .Files}}<p>{{.Machine.CPU}}, measured {{.Started}}:
{{range $i, $p := .Peers}}{{if $i}}; {{end}}{{$p.Title}} {{$p.Version}}{{end}}.</p>
{{end}}</html>
`))

// mergedPage writes both tables as a page without any external resource.
func mergedPage(path string, all []*reportFile) error {
	var b bytes.Buffer
	if err := mergedTemplate.Execute(&b, map[string]any{"Grids": []grid{mergedMeans(all), mergedLines(all)}, "Files": all}); err != nil {
		return err
	}
	return replaceFile(path, b.Bytes())
}

// networkTable is README's table: the T(2) network of 64 x 64 pixels beside each peer, on each machine.
func networkTable(root, link string) (string, error) {
	paths, err := resultFiles(root)
	if err != nil {
		return "", err
	}
	g := grid{{"machine", "peer", "one image", "a batch of 8", "source"}}
	for _, path := range paths {
		f, err := readReport(path)
		if err != nil {
			return "", err
		}
		by := map[string][2]string{}
		var order []string
		for _, r := range f.ratios() {
			for i, name := range []string{"image/ours/T2/64x64/batch1", "image/ours/T2/64x64/batch8"} {
				if r.Ours.Name != name || r.Ours.Metric != "s_per_image" {
					continue
				}
				title := f.versionOf(r.Who)
				cells, ok := by[title]
				if !ok {
					order = append(order, title)
				}
				cells[i] = span(r.Least, r.Most)
				by[title] = cells
			}
		}
		dir := filepath.Base(filepath.Dir(path))
		for _, title := range order {
			g = append(g, []string{dir + ", " + f.Machine.Level, title, by[title][0], by[title][1],
				fmt.Sprintf("[%s](%s/%s/%s)", strings.TrimSuffix(filepath.Base(path), ".json"), link, dir, filepath.Base(path))})
		}
	}
	return markdown(g), nil
}

// meansTable is the table of docs/performance.md: every part of every report beside the fastest peer of each line.
func meansTable(root, link string) (string, error) {
	paths, err := resultFiles(root)
	if err != nil {
		return "", err
	}
	g := grid{{"machine", "part", "peer", "times as fast", "lines"}}
	for _, path := range paths {
		if filepath.Base(path) != "report.json" {
			continue
		}
		f, err := readReport(path)
		if err != nil {
			return "", err
		}
		dir := filepath.Base(filepath.Dir(path))
		for _, m := range pageMeans(f, f.ratios()) {
			g = append(g, []string{fmt.Sprintf("[%s](%s/%s/report.json)", dir, link, dir), m.Part, m.Peer, fmt.Sprintf("%.2f", m.Mean),
				fmt.Sprint(m.Lines)})
		}
	}
	if len(g) == 1 {
		return "No report.json is in bench/results yet.\n", nil
	}
	return markdown(g), nil
}

// tableMarks are the files with tables from bench/results, and what makes each. A table stands between "<!-- bench merge: NAME -->" and
// "<!-- end -->".
var tableMarks = []struct {
	file, name, link string
	make             func(root, link string) (string, error)
}{
	{"README.md", "network", "bench/results", networkTable},
	{"docs/performance.md", "network", "../bench/results", networkTable},
	{"docs/performance.md", "parts", "../bench/results", meansTable},
}

// tablesOf returns a file's text with its tables as bench/results has them.
func tablesOf(root, file string) (was, now string, err error) {
	b, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return "", "", err
	}
	was, now = string(b), string(b)
	for _, m := range tableMarks {
		if m.file != file {
			continue
		}
		table, err := m.make(root, m.link)
		if err != nil {
			return "", "", err
		}
		begin := fmt.Sprintf("<!-- bench merge: %s -->\n", m.name)
		before, rest, ok := strings.Cut(now, begin)
		_, after, ended := strings.Cut(rest, "<!-- end -->")
		if !ok || !ended {
			return "", "", fmt.Errorf("%s: need a line %s and after it <!-- end -->", file, strings.TrimSpace(begin))
		}
		now = before + begin + "\n" + table + "\n<!-- end -->" + after
	}
	return was, now, nil
}

// writeTables writes the tables of all files anew.
func writeTables(root string) error {
	for _, file := range []string{"README.md", "docs/performance.md"} {
		was, now, err := tablesOf(root, file)
		if err != nil {
			return err
		}
		if was != now {
			if err := replaceFile(filepath.Join(root, file), []byte(now)); err != nil {
				return err
			}
		}
	}
	return nil
}
