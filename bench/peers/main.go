// Command peers measures this library beside what a Go programmer would otherwise import: gonum, vek, kyroy/kdtree and coder/hnsw, on
// the same numbers, in turns, on one core. It is a module of its own, so that nobody else downloads them.
//
//	cd bench/peers && go run .            # a table of ratios, as Markdown
//	go build -o ../../bin/peers .         # for bench report
//
// With --json it prints one object a line, as bench does; --versions prints what it was built with.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/equivcnp/equivcnp/bench/peers/internal/timing"
)

// sample is one measured number, as bench prints it.
type sample struct {
	Name   string  `json:"name"`
	N      int     `json:"n"`
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
}

// peer is a library, with the beginnings of what lines call it.
type peer struct {
	Names   []string `json:"names"`
	Title   string   `json:"title"`
	Version string   `json:"version"`
}

// modules are the libraries, by the names that lines have for them.
var modules = []struct{ who, path string }{
	{"gonum", "gonum.org/v1/gonum"}, {"vek", "github.com/viterin/vek"},
	{"kyroy", "github.com/kyroy/kdtree"}, {"hnsw", "github.com/coder/hnsw"},
}

// versions reads from this program what it was built with.
func versions() ([]peer, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil, errors.New("this program does not say what it was built with")
	}
	var all []peer
	for _, m := range modules {
		for _, d := range info.Deps {
			if d.Path == m.path {
				all = append(all, peer{[]string{m.who}, strings.TrimPrefix(m.path, "github.com/"), d.Version})
			}
		}
	}
	return all, nil
}

// A line is one operation: what everybody does, by who does it.
type line struct {
	name string
	n    int // of the line
	per  int // divides a call's time: queries
	by   map[string]func()
}

// budget is how long each is timed, PEER_SECONDS as for bench.
func budget() time.Duration {
	if v, err := strconv.ParseFloat(os.Getenv("PEER_SECONDS"), 64); err == nil && v > 0 {
		return time.Duration(v * float64(time.Second))
	}
	return 50 * time.Millisecond
}

// measure times everybody's way of a line, in an order that turns round with the round.
func (l *line) measure(round int) map[string]float64 {
	who := slices.Sorted(func(yield func(string) bool) {
		for k := range l.by {
			if !yield(k) {
				return
			}
		}
	})
	if round%2 == 1 {
		slices.Reverse(who)
	}
	took := map[string]float64{}
	for _, w := range who {
		took[w] = 1e9 * timing.Best(l.by[w], budget()) / float64(l.per)
		runtime.GC()
	}
	return took
}

func run(w io.Writer, asJSON bool, rounds int) error {
	runtime.GOMAXPROCS(1)
	lines, err := allLines()
	if err != nil {
		return err
	}
	if asJSON {
		e := json.NewEncoder(w)
		for _, l := range lines {
			for who, t := range l.measure(0) {
				if err := e.Encode(sample{fmt.Sprintf(l.name, who), l.n, "ns_per_call", t}); err != nil {
					return err
				}
			}
		}
		return nil
	}
	peers, err := versions()
	if err != nil {
		return err
	}
	fmt.Fprint(w, "How many times as long others take, median of the rounds (least to most); one core. In brackets: sums in float32, "+
		"where ours are in float64.\n\n| line | n | ours, ns |")
	for _, p := range peers {
		fmt.Fprintf(w, " %s %s |", p.Title, p.Version)
	}
	fmt.Fprintf(w, "\n|---|---:|---:|%s\n", strings.Repeat("---:|", len(peers)))
	for _, l := range lines {
		var ours []float64
		ratios := map[string][]float64{}
		for r := range rounds {
			took := l.measure(r)
			ours = append(ours, took["ours"])
			for who, t := range took {
				ratios[who] = append(ratios[who], t/took["ours"])
			}
		}
		slices.Sort(ours)
		fmt.Fprintf(w, "| %s | %d | %.4g |", strings.TrimSuffix(l.name, "/%s"), l.n, ours[len(ours)/2])
		for _, p := range peers {
			x, format := ratios[p.Names[0]], " %.2f (%.2f to %.2f) |"
			if x == nil {
				x, format = ratios[p.Names[0]+"_f32"], " [%.2f (%.2f to %.2f)] |"
			}
			if x == nil {
				fmt.Fprint(w, " |")
				continue
			}
			slices.Sort(x)
			fmt.Fprintf(w, format, x[len(x)/2], x[0], x[len(x)-1])
		}
		fmt.Fprintln(w)
	}
	return nil
}

func main() {
	asJSON := flag.Bool("json", false, "print one object a line, of one round")
	say := flag.Bool("versions", false, "print what this program was built with, as JSON")
	rounds := flag.Int("rounds", 5, "rounds of the table")
	flag.Parse()
	err := func() error {
		if *say {
			all, err := versions()
			if err != nil {
				return err
			}
			return json.NewEncoder(os.Stdout).Encode(all)
		}
		if *rounds < 1 {
			return fmt.Errorf("--rounds %d: need 1 at least", *rounds)
		}
		return run(os.Stdout, *asJSON, *rounds)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}
