package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A reportFile is report.json: everything that the page and bench merge show.
type reportFile struct {
	reportHead
	Steps   []reportStep `json:"steps"` // without samples, which are in Lines
	Lines   []reportLine `json:"lines"`
	Version int          `json:"version"`
	Kept    []keptParts  `json:"kept,omitempty"`
}

// keptParts are parts of an older report of the machine.
type keptParts struct {
	Parts   []string `json:"parts"`
	Started string   `json:"started"`
	Program string   `json:"program"`
}

// String says when they were measured.
func (k keptParts) String() string {
	return fmt.Sprintf("%s: measured on %s, by program %s.", strings.Join(k.Parts, ", "), k.Started, k.Program)
}

// A reportLine is what was measured of one line, round by round, refused steps left out.
type reportLine struct {
	Part   string    `json:"part"`
	Name   string    `json:"name"`
	N      int       `json:"n"`
	Metric string    `json:"metric"`
	Rounds []int     `json:"rounds"`
	Values []float64 `json:"values"`
}

func (l *reportLine) key() key { return key{l.Name, l.N, l.Metric} }

// median returns the median of the line's values.
func (l *reportLine) median() float64 {
	v := slices.Sorted(slices.Values(l.Values))
	return middle(v)
}

// spread returns half the range of the middle half of the values over their median.
func (l *reportLine) spread() float64 { return spread(slices.Sorted(slices.Values(l.Values))) }

// newReportFile collects the lines of a journal.
func newReportFile(j *journal) *reportFile {
	f := &reportFile{reportHead: j.head, Version: 1}
	at := map[string]map[key]int{}
	for _, s := range j.steps {
		if at[s.Part] == nil {
			at[s.Part] = map[key]int{}
		}
		for _, x := range s.Samples {
			if s.Refused != "" || math.IsNaN(x.Value) || math.IsInf(x.Value, 0) {
				continue
			}
			k := key{x.Name, x.N, x.Metric}
			i, ok := at[s.Part][k]
			if !ok {
				i = len(f.Lines)
				at[s.Part][k] = i
				f.Lines = append(f.Lines, reportLine{Part: s.Part, Name: x.Name, N: x.N, Metric: x.Metric})
			}
			l := &f.Lines[i]
			v, _ := strconv.ParseFloat(strconv.FormatFloat(x.Value, 'g', 5, 64), 64)
			// Two programs print it: the better one counts. After --resume their steps of one round may be far apart.
			if n := slices.Index(l.Rounds, s.Round); n >= 0 {
				if k.larger() == (v > l.Values[n]) {
					l.Values[n] = v
				}
				continue
			}
			l.Rounds, l.Values = append(l.Rounds, s.Round), append(l.Values, v)
		}
		s.Samples = nil
		f.Steps = append(f.Steps, s)
	}
	return f
}

// keep adds those parts of an older report, which reportHead.keeps has looked at, that were not measured, and says of when they are.
func (f *reportFile) keep(old *reportFile, measured []string) {
	for _, p := range old.Peers {
		if p.among(f.Peers) < 0 {
			f.Peers = append(f.Peers, p)
		}
	}
	var kept []string
	for _, l := range old.Lines {
		if slices.Contains(measured, l.Part) {
			continue
		}
		if !slices.Contains(kept, l.Part) {
			kept = append(kept, l.Part)
		}
		f.Lines = append(f.Lines, l)
	}
	f.Kept = nil
	for _, k := range append(slices.Clone(old.Kept), keptParts{slices.Clone(kept), old.Started, old.Program}) {
		k.Parts = slices.DeleteFunc(slices.Clone(k.Parts), func(part string) bool { return !slices.Contains(kept, part) })
		kept = slices.DeleteFunc(kept, func(part string) bool { return slices.Contains(k.Parts, part) })
		if len(k.Parts) > 0 {
			f.Kept = append(f.Kept, k)
		}
	}
	for _, s := range old.Steps {
		if !slices.Contains(measured, s.Part) {
			f.Steps = append(f.Steps, s)
		}
	}
	order := func(part string) int { return slices.Index(reportParts, part) }
	slices.SortStableFunc(f.Lines, func(a, b reportLine) int { return order(a.Part) - order(b.Part) })
	slices.SortStableFunc(f.Steps, func(a, b reportStep) int { return order(a.Part) - order(b.Part) })
}

// among is where a peer stands in a list, -1: nowhere. Two versions of a library that stand side by side have names of their own.
func (p *peer) among(all []peer) int {
	return slices.IndexFunc(all, func(q peer) bool { return q.Title == p.Title && slices.Equal(q.Names, p.Names) })
}

// keeps refuses a report of another machine, or of another level, and one that names a peer in another version: its lines would have one
// of both.
func (h *reportHead) keeps(path string, old *reportHead) error {
	for _, p := range old.Peers {
		if i := p.among(h.Peers); i >= 0 && h.Peers[i].Version != p.Version {
			return fmt.Errorf("%s: %s was %s and is %s now: measure all parts", path, p.Title, p.Version, h.Peers[i].Version)
		}
	}
	a, b := h.Machine, old.Machine
	if a.CPU != b.CPU || a.Family != b.Family || a.Model != b.Model || a.Level != b.Level || a.Cores != b.Cores || h.Budget != old.Budget {
		run := func(d *description, budget string) string {
			return fmt.Sprintf("%s, family %d, model %d, %s, %d cores, lines for %s", d.CPU, d.Family, d.Model, d.Level, d.Cores, budget)
		}
		return fmt.Errorf("%s: measured on %s; this is %s", path, run(&b, old.Budget), run(&a, h.Budget))
	}
	return nil
}

// readReport reads report.json.
func readReport(path string) (*reportFile, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseReport(path, b)
}

// parseReport reads the bytes of the file at path.
func parseReport(path string, b []byte) (*reportFile, error) {
	f := &reportFile{}
	if err := json.Unmarshal(b, f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if f.Version != 1 || len(f.Lines) == 0 {
		return nil, fmt.Errorf("%s: version %d with %d lines: need a report.json of version 1", path, f.Version, len(f.Lines))
	}
	if f.Machine == (description{}) {
		return nil, fmt.Errorf("%s: names no machine", path)
	}
	for i, l := range f.Lines {
		if len(l.Values) == 0 || len(l.Values) != len(l.Rounds) {
			return nil, fmt.Errorf("%s: lines[%d] (%s): %d values and %d rounds: need as many, and one at least",
				path, i, l.Name, len(l.Values), len(l.Rounds))
		}
		for k, v := range l.Values { // a ratio with 0 would make the mean of all lines 0 or NaN
			if !(v > 0) && !unrated[l.Metric] {
				return nil, fmt.Errorf("%s: lines[%d] (%s): values[%d] = %v, need more than 0", path, i, l.Name, k, v)
			}
		}
	}
	return f, nil
}

// write writes report.json, a line of the file for each line of the report.
func (f *reportFile) write(path string) error {
	b, err := json.Marshal(f)
	if err != nil {
		return err
	}
	text := strings.NewReplacer(`},{"part"`, "},\n{\"part\"", `"lines":[`, "\"lines\":[\n", `"steps":[`, "\"steps\":[\n").Replace(string(b))
	return replaceFile(path, append([]byte(text), '\n'))
}

// A ratio sets one line of ours beside the same line of one peer.
type ratio struct {
	Ours, Peer      *reportLine
	Who             string  // who was measured, as the line's name says
	Median          float64 // how many times as fast ours is: the median over rounds in which both were measured
	Least, Most     float64 // of the same ratios
	P               float64 // of the Mann-Whitney U test between all values of both
	Rounds          int
	Different, Fair bool
}

// Line is the name of what was measured, without who did it.
func (r *ratio) Line() string {
	parts := strings.Split(r.Ours.Name, "/")
	i := whoseAt(parts)
	who := strings.TrimPrefix(parts[i], "ours")
	parts = slices.Delete(parts, i, i+1)
	return strings.Join(parts, "/") + strings.Replace(who, "_", " ", 1)
}

// whoseAt returns the index of the part of a name that says who is measured, -1 if none does.
func whoseAt(parts []string) int {
	return slices.IndexFunc(parts, func(p string) bool { return p == "ours" || strings.HasPrefix(p, "ours_") })
}

// speeds are the metrics that are compared. Others (latencies, memory) say the same in other words or are not speeds.
var speeds = map[string]bool{"gflops": true, "gbps": true, "ns_per_elem": true, "ns_per_query": true, "ns_per_neighbour": true, "ms": true,
	"s_per_image": true, "s_per_task": true, "ns_per_call": true}

// unrated are metrics that enter no ratio and may be 0, where no rate of arrivals holds its bound, or negative.
var unrated = map[string]bool{"tasks_per_s": true, logLikelihood: true}

// peerKinds says what the end of a peer's name promises: it knows or saves what only lines of ours with one of those ends do. A name
// with an end that has no line of ours is not compared, as it computes something else (sums in float32, a grid it was told of).
var peerKinds = map[string][]string{"rows": {"rows", "plan", "poses"}, "bf16": {"bf16"}, "f32": nil, "grid": nil, "naive": nil}

// fair reports whether a peer's figure may be set beside ours.
func fair(ours, peer string) bool {
	end := func(s string) string { return s[strings.LastIndexByte(s, '_')+1:] }
	kinds, special := peerKinds[end(peer)]
	return !special || slices.Contains(kinds, end(ours))
}

// ratios compares every line of ours with every peer that has the same one, in the file's order. Only peers whose version the file
// names are compared.
func (f *reportFile) ratios() []ratio {
	var all []ratio
	for i := range f.Lines {
		ours := &f.Lines[i]
		parts := strings.Split(ours.Name, "/")
		at := whoseAt(parts)
		if at < 0 || !speeds[ours.Metric] {
			continue
		}
		for k := range f.Lines {
			theirs := &f.Lines[k]
			q := strings.Split(theirs.Name, "/")
			if theirs.Part != ours.Part || theirs.N != ours.N || theirs.Metric != ours.Metric || len(q) != len(parts) ||
				strings.HasPrefix(q[at], "ours") ||
				!slices.Equal(slices.Concat(q[:at], q[at+1:]), slices.Concat(parts[:at], parts[at+1:])) {
				continue
			}
			if r, ok := newRatio(ours, theirs); ok && fair(parts[at], q[at]) && f.versionOf(q[at]) != "" {
				r.Who = q[at]
				all = append(all, r)
			}
		}
	}
	markDifferent(all)
	return all
}

// newRatio pairs the values of both lines round by round.
func newRatio(ours, theirs *reportLine) (ratio, bool) {
	r := ratio{Ours: ours, Peer: theirs, P: 1}
	var paired []float64
	for i, round := range ours.Rounds {
		k := slices.Index(theirs.Rounds, round)
		if k < 0 {
			continue
		}
		x := theirs.Values[k] / ours.Values[i]
		if ours.key().larger() {
			x = 1 / x
		}
		paired = append(paired, x)
	}
	if paired == nil {
		return r, false
	}
	slices.Sort(paired)
	r.Rounds, r.Median, r.Least, r.Most = len(paired), middle(paired), paired[0], paired[len(paired)-1]
	r.P = compareValues(ours.key(), theirs.Values, ours.Values).P
	return r, true
}

// expectedNoise is the largest expected share of noise among the lines called different.
const expectedNoise = 0.05

// markDifferent marks the ratios that are not noise (Benjamini and Hochberg).
func markDifferent(all []ratio) {
	lines := make([]difference, len(all))
	for i, r := range all {
		lines[i] = difference{P: r.P, Old: 1, New: r.Median}
	}
	tellApart(lines, expectedNoise)
	for i := range all {
		all[i].Different = lines[i].Different
	}
}

// bestPeers keeps of each line's ratios the smallest: the one to the fastest peer.
func bestPeers(all []ratio) []ratio {
	var best []ratio
	at := map[*reportLine]int{}
	for _, r := range all {
		i, ok := at[r.Ours]
		switch {
		case !ok:
			at[r.Ours] = len(best)
			best = append(best, r)
		case r.Median < best[i].Median:
			best[i] = r
		}
	}
	return best
}

// meanRatio returns the geometric mean of medians, and how many there are.
func meanRatio(all []ratio, part string) (mean float64, n int) {
	sum := 0.0
	for _, r := range all {
		if r.Ours.Part == part {
			sum += math.Log(r.Median)
			n++
		}
	}
	return math.Exp(sum / float64(n)), n
}

// refused are the steps whose samples do not count, by part and name.
func (f *reportFile) refused() []reportStep {
	var bad []reportStep
	done := map[string]bool{}
	for _, s := range f.Steps {
		done[s.key()] = done[s.key()] || s.Refused == ""
	}
	for _, s := range f.Steps {
		if s.Refused != "" && !done[s.key()] {
			bad = append(bad, s)
			done[s.key()] = true // said once
		}
	}
	slices.SortStableFunc(bad, func(a, b reportStep) int { return cmp.Compare(a.Part, b.Part) })
	return bad
}
