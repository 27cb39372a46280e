package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// reportParts are the parts of a report, in their order.
var reportParts = []string{"limits", "kernels", "blas", "linalg", "distances", "neighbor", "inference", "train", "server", "gopeers"}

// reportFlags are the flags of bench report.
type reportFlags struct {
	out, weights, peers, gopeers, filter, keep string
	parts                                      []string
	rounds                                     int
	busy                                       float64
	patience                                   time.Duration
	quick, resume, pageOnly                    bool
}

func reportCommand() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Measure this machine and its peers in turns and write one HTML page and report.json",
		Long: `Measure this machine: its limits, kernels, BLAS, small matrices, distances, searches, models (inference, training, a server)
and, beside each, what peers are there, in turns: in every round each program runs once, ours first in one round and last in the next.
Ratios are those of one round, so that what disturbs a round disturbs both sides.

A folder gets journal.jsonl, to which every step is added as it ends, report.json, which bench merge reads, and index.html, one page
without any external resource: a roofline with a roof for every cache level, ratios with their spread and a Mann-Whitney test, what
binds each line, and what was refused. --resume goes on with a run that was killed; it needs the --quick and --filter of that run.

A step during which other programs used more than --busy of the CPUs' time is refused: its numbers do not count. Before each step
the command waits for a quiet machine, --patience at most. Peers are compared only where their version is known.

PEER_SECONDS sets the time of one line; here 0.05 is the usual, as there are several rounds.`,
		Example: "  go run ./bench report --out /tmp/report\n" +
			"  go run ./bench report --out /tmp/parts --parts kernels,linalg --keep /tmp/report/report.json\n" +
			"  go run ./bench report --out /tmp/short --quick --parts kernels --filter gemm\n" +
			"  go run ./bench report --out /tmp/report --resume",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "", "folder for index.html, report.json and journal.jsonl (needed)")
	fl.StringVar(&f.weights, "weights", "../shared/weights", "folder with the authors' checkpoints")
	fl.StringVar(&f.peers, "peers", "../shared/peers", "folder with the peers' programs, built, in bin and convnet")
	fl.StringVar(&f.gopeers, "go-peers", "bin/peers", "the program of bench/peers, built")
	fl.StringSliceVar(&f.parts, "parts", reportParts, "what to measure, of "+strings.Join(reportParts, ", "))
	fl.StringVar(&f.keep, "keep", "", "a report.json of this machine, whose parts that --parts leaves out stay, with their date")
	fl.StringVar(&f.filter, "filter", "", "of kernels, linalg and blas: lines whose names match this regular expression, with the "+
		"peers' beside them")
	fl.IntVar(&f.rounds, "rounds", 5, "how often every program runs; below 5 the test finds hardly any difference")
	fl.Float64Var(&f.busy, "busy", mostOthers, "refuse a step if other programs used more than this share of the CPUs' time")
	fl.DurationVar(&f.patience, "patience", 20*time.Second, "how long to wait for a quiet machine before a step")
	fl.BoolVar(&f.quick, "quick", false, "a short run: two rounds, fewer models and sizes")
	fl.BoolVar(&f.resume, "resume", false, "go on with the run in the folder")
	fl.BoolVar(&f.pageOnly, "page", false, "measure nothing: write the page anew from the folder's report.json")
	must(cmd.MarkFlagRequired("out"))
	return cmd
}

// check looks at the flags before minutes of measuring.
func (f *reportFlags) check() error {
	if _, err := expression(f.filter); err != nil {
		return err
	}
	for _, p := range f.parts {
		if !slices.Contains(reportParts, p) {
			return fmt.Errorf("--parts %s: there are %s", p, strings.Join(reportParts, ", "))
		}
	}
	if !(f.busy > 0 && f.busy <= 1) {
		return fmt.Errorf("--busy %v: need a share above 0, 1 at most", f.busy)
	}
	if f.quick {
		f.rounds = min(f.rounds, 2)
	}
	if err := within("rounds", f.rounds, 1000); err != nil {
		return err
	}
	// Better now than after ten minutes of other parts.
	if _, err := os.Stat(conformanceVectors); err != nil && !f.pageOnly && slices.Contains(f.parts, "server") {
		return fmt.Errorf("--parts server: %w: run the report from the root of the repository, or leave this part out", err)
	}
	return os.MkdirAll(f.out, 0o777)
}

// reportBudget is how long a report measures a line where PEER_SECONDS does not say.
const reportBudget = "0.05"

func (f *reportFlags) run(cmd *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	path := filepath.Join(f.out, "report.json")
	if f.pageOnly {
		file, err := readReport(path)
		if err != nil {
			return err
		}
		return writePage(filepath.Join(f.out, "index.html"), file)
	}
	head, err := f.head()
	if err != nil {
		return err
	}
	var old *reportFile
	if f.keep != "" {
		if old, err = readReport(f.keep); err == nil {
			err = head.keeps(f.keep, &old.reportHead)
		}
		if err != nil {
			return err
		}
	}
	j, err := openJournal(filepath.Join(f.out, "journal.jsonl"), head, f.resume)
	if err != nil {
		return err
	}
	err = f.measure(cmd.Context(), j, cmd.ErrOrStderr())
	if err := errors.Join(err, j.close()); err != nil {
		return err
	}
	file := newReportFile(j)
	if len(file.Lines) == 0 {
		return fmt.Errorf("%s: every step was refused, the machine is busy: %s", f.out, j.steps[0].Refused)
	}
	if old != nil {
		file.keep(old, f.parts)
	}
	if err := errors.Join(file.write(path), writePage(filepath.Join(f.out, "index.html"), file)); err != nil {
		return err
	}
	for _, s := range file.refused() {
		fmt.Fprintf(cmd.ErrOrStderr(), "refused: %s, %s, round %d: %s\n", s.Part, s.Name, s.Round+1, s.Refused)
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), filepath.Join(f.out, "index.html"))
	return err
}

// head describes the run.
func (f *reportFlags) head() (reportHead, error) {
	if os.Getenv("PEER_SECONDS") == "" {
		if err := os.Setenv("PEER_SECONDS", reportBudget); err != nil {
			return reportHead{}, err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return reportHead{}, err
	}
	sum, err := fileDigest(self)
	if err != nil {
		return reportHead{}, err
	}
	h := reportHead{Machine: describe(), Started: time.Now().UTC().Format("2006-01-02 15:04 UTC"), Budget: budget().String(),
		Program: "bench " + sum, Options: f.options(), Peers: installedPeers(f.peers)}
	if goPeers, err := versionsOf(f.gopeers); err == nil {
		h.Peers = append(h.Peers, goPeers...)
	} else if slices.Contains(f.parts, "gopeers") {
		h.Notes = append(h.Notes, "Libraries in Go besides gonum were not measured: --go-peers names no program "+
			"(cd bench/peers && go build -o ../../bin/peers .).")
	}
	if _, err := os.Stat(filepath.Join(f.peers, "bin")); err != nil {
		h.Notes = append(h.Notes, "The peers' programs in C++ were not measured: --peers names no folder with bin.")
	}
	h.Notes = append(h.Notes, clockNote(f.peers)...)
	if _, err := os.Stat(f.weights); err != nil {
		h.Notes = append(h.Notes, "Models were not measured: --weights names no folder with the authors' checkpoints.")
	}
	return h, nil
}

// options names the options that say what a step measures.
func (f *reportFlags) options() string {
	var o []string
	if f.quick {
		o = append(o, "--quick")
	}
	if f.filter != "" {
		o = append(o, "--filter "+f.filter)
	}
	return strings.Join(o, " ")
}

// clockNote says that the peers in C++ reject fast samples as best once did. Their folder holds what they were built from.
func clockNote(peers string) []string {
	b, err := os.ReadFile(filepath.Join(peers, "peer.h"))
	if err != nil || !bytes.Contains(b, []byte("t0 = now(), c0 = cpu_now()")) {
		return nil
	}
	return []string{"The peers' programs in C++ read the clock of their thread within the time that they measure, and so choose slow " +
		"samples of short lines where that takes long: build them with bench/peers/clock/peer.patch."}
}

// measure runs all steps that the journal does not have.
func (f *reportFlags) measure(ctx context.Context, j *journal, progress io.Writer) error {
	programs := f.programs()
	if len(programs) == 0 {
		return fmt.Errorf("--parts %s: nothing to measure is there", strings.Join(f.parts, ","))
	}
	vain := map[string]bool{} // peers without a line that the filter asks for
	for round := range f.rounds {
		for _, part := range f.parts {
			turn := slices.DeleteFunc(slices.Clone(programs), func(p program) bool {
				return p.part != part || p.rounds <= round && p.rounds > 0
			})
			if round%2 == 1 {
				slices.Reverse(turn)
			}
			for _, p := range turn {
				step := reportStep{Part: p.part, Name: p.name, Round: round}
				if j.done[step.key()] || vain[p.name] {
					continue
				}
				fmt.Fprintf(progress, "round %d of %d: %s: %s\n", round+1, f.rounds, p.part, p.name)
				for range 2 { // a refused step has one more try
					step.Refused, step.Samples = "", nil
					if err := f.step(ctx, &p, &step); err != nil {
						return fmt.Errorf("%s: %s: %w", p.part, p.name, err)
					}
					if err := j.add(step); err != nil {
						return err
					}
					if step.Refused == "" {
						vain[p.name] = len(step.Samples) == 0
						break
					}
				}
			}
		}
	}
	return nil
}

// step runs a program once.
func (f *reportFlags) step(ctx context.Context, p *program, s *reportStep) error {
	if why := waitForQuiet(ctx, f.busy, f.patience); why != "" {
		s.Refused = why
		return ctx.Err()
	}
	busy, start := watchOthers(), time.Now()
	child := exec.CommandContext(ctx, p.args[0], p.args[1:]...)
	var says bytes.Buffer
	child.Dir, child.Stderr, child.Env = p.dir, &says, append(os.Environ(), p.env...)
	out, err := child.Output()
	s.Seconds = time.Since(start).Seconds()
	s.Others, s.Stolen = busy.shares()
	if err != nil {
		if p.ours || ctx.Err() != nil {
			return fmt.Errorf("%w: %s", err, lastLine(says.Bytes()))
		}
		s.Refused = fmt.Sprintf("the program failed: %v: %s", err, lastLine(says.Bytes()))
		return nil
	}
	lines, err := parseSamples(p.name, bytes.NewReader(out))
	if err != nil {
		return err
	}
	for i := range lines {
		lines[i].Name = strings.TrimSuffix(lines[i].Name, p.cut)
	}
	s.Samples = slices.DeleteFunc(lines, func(l sample) bool { return !p.keeps(l.Name) })
	if f.busy < 1 && (s.Others > f.busy || s.Stolen > f.busy) { // clocks of short steps are off by more than all
		s.Refused = sayShares(s.Others, s.Stolen)
	}
	return nil
}

// waitForQuiet waits until others use no more than that share of the CPUs' time, and says why not if they do not within patience.
func waitForQuiet(ctx context.Context, most float64, patience time.Duration) string {
	if most >= 1 {
		return ""
	}
	const look = 300 * time.Millisecond
	for start := time.Now(); ; {
		w := watchOthers()
		select {
		case <-ctx.Done():
			return ctx.Err().Error()
		case <-time.After(look):
		}
		other, stolen := w.shares()
		if other <= most && stolen <= most {
			return ""
		}
		if time.Since(start) >= patience {
			return fmt.Sprintf("the machine was not quiet for %v: %s", patience, sayShares(other, stolen))
		}
	}
}

func lastLine(b []byte) []byte {
	b = bytes.TrimSpace(b)
	return b[bytes.LastIndexByte(b, '\n')+1:]
}

// A program is one command that prints lines of results.
type program struct {
	part, name string
	args       []string
	dir        string
	env        []string
	ours       bool
	rounds     int            // at most so many, if not 0
	cut        string         // the end of its lines' names that is dropped: one of several forms of the same computation
	only       *regexp.Regexp // what its lines are named that stay, if it is not nil
}

// keeps reports whether the line of a peer stays: one whose name the filter matches with ours in the place of the peer.
func (p *program) keeps(name string) bool {
	if p.only == nil {
		return true
	}
	parts := strings.Split(name, "/")
	for i, who := range parts {
		parts[i] = "ours"
		if p.only.MatchString(strings.Join(parts, "/")) {
			return true
		}
		parts[i] = who
	}
	return false
}

// filterOf is the filter of a part's lines that its peers, which know none, are asked for in vain; nil where there is none.
func (f *reportFlags) filterOf(part string) *regexp.Regexp {
	if f.filter == "" || part != "kernels" && part != "linalg" {
		return nil
	}
	return regexp.MustCompile(f.filter) // which was checked
}

// programs are all that there is to run, ours first in every part.
func (f *reportFlags) programs() []program {
	var all []program
	self, err := os.Executable()
	must(err)
	add := func(part string, args ...string) {
		if slices.Contains(f.parts, part) {
			all = append(all, program{part: part, name: "ours " + strings.Join(args, " "), args: append([]string{self}, args...),
				ours: true})
		}
	}
	add("limits", "limits", "--json")
	filter := func(usual string) string {
		if f.filter != "" {
			return f.filter
		}
		return usual
	}
	add("kernels", "kernels", "--json", "--filter", filter("^([^p]|p[^a])")) // pairs are distances
	add("blas", "blas", "--json", "--match", f.filter)
	add("linalg", "linalg", "--json", "--filter", filter("^smallmat"))
	add("distances", "linalg", "--json", "--filter", "^pairs")
	clouds := []string{"d2/n4096", "d3/n4096", "d2/n65536", "d3/n65536"}
	if f.quick {
		clouds = clouds[:1]
	}
	for _, c := range clouds {
		add("neighbor", "neighbor", "--json", "--only", "kdtree/ours_tree/"+c)
		add("neighbor", "neighbor", "--json", "--only", "kdtree/ours_grid/"+c)
		add("neighbor", "neighbor", "--json", "--only", "kdtree/gonum/"+c)
	}
	if _, err := os.Stat(f.weights); err == nil {
		models := []string{"image/T2/default", "curve/rbf", "image/T2/bfloat16", "image/SE2/default", "image/RxSO2/default",
			"image/SO2/default", "curve/matern", "curve/periodic"}
		if f.quick {
			models = models[:2]
		}
		for _, m := range models {
			add("inference", "inference", "--json", "--only", m, "--weights", f.weights)
		}
	}
	seconds := "1"
	if f.quick {
		seconds = "0.5"
	}
	add("server", "scenario", "all", "--json", "--of", "server", "--seconds", seconds)
	add("server", "scenario", "all", "--json", "--of", "library", "--seconds", seconds)
	steps := []string{"curve/rbf", "image/T(2)", "plane/levels"}
	if f.quick {
		steps = steps[:1]
	}
	for _, m := range steps {
		add("train", "train", "--json", "--only", m)
	}
	for i := range all {
		part, name := all[i].part, all[i].name
		if part == "server" || part == "train" || part == "inference" && !strings.Contains(name, "image/T2") {
			all[i].rounds = 2 // long, and without a peer
		}
	}
	return append(all, f.peerPrograms()...)
}

// peerKernels is the environment that makes peers use the kernels of a level where they would choose others: at AVX2 they take AVX-512 if
// it is there, and libraries that are older than an Intel processor take it for a much older one (OpenBLAS 0.3.21 has kernels of SSE3 for
// an Emerald Rapids, BLIS 0.9 those of AVX2). What the user has set stays. BLIS 0.9 has numbers for its kernels: 0 is skx, 3 is haswell.
func peerKernels(l cpu.Level, amd bool, set func(string) (string, bool)) (env []string) {
	var choice []string
	switch {
	case l == cpu.AVX2:
		choice = []string{"OPENBLAS_CORETYPE=Haswell", "BLIS_ARCH_TYPE=3", "LIBXSMM_TARGET=hsw", "ONEDNN_MAX_CPU_ISA=AVX2"}
	case l == cpu.AVX512 && !amd:
		choice = []string{"OPENBLAS_CORETYPE=SkylakeX", "BLIS_ARCH_TYPE=0"}
	}
	for _, c := range choice {
		name, _, _ := strings.Cut(c, "=")
		if _, ok := set(name); !ok {
			env = append(env, c)
		}
	}
	return env
}

// peerSums is what the peers' program of reductions needs beyond peerKernels: cblas_ssum of OpenBLAS 0.3.21 for SkylakeX is off by 1.4e-2
// where that program allows 1e-4, and it then refuses to time anything. OpenBLAS's kernels for Haswell pass. What the user has set stays.
func peerSums(l cpu.Level, set func(string) (string, bool)) (env []string) {
	if _, ok := set("OPENBLAS_CORETYPE"); l == cpu.AVX512 && !ok {
		env = append(env, "OPENBLAS_CORETYPE=Haswell")
	}
	return env
}

// peerPrograms are the peers' programs that are there.
func (f *reportFlags) peerPrograms() []program {
	var all []program
	dir, err := filepath.Abs(f.peers)
	must(err)
	one := append([]string{"OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "BLIS_NUM_THREADS=1"},
		peerKernels(cpu.CurrentLevel(), cpu.AMD, os.LookupEnv)...)
	add := func(p program) {
		if _, err := exec.LookPath(p.args[0]); err == nil && slices.Contains(f.parts, p.part) {
			all = append(all, p)
		}
	}
	for _, p := range []struct {
		part  string
		names []string
	}{{"kernels", []string{"gemm", "depthwise", "weightnet", "elementwise", "special", "whole", "reduce"}},
		{"linalg", []string{"closedform_best", "smallmat"}},
		{"distances", []string{"pairs_best"}}, {"neighbor", []string{"kdtree", "builds"}}} {
		for _, name := range p.names {
			rounds := 0
			if name == "kdtree" {
				rounds = 3 // it also searches among a million points
			}
			env := one
			if name == "reduce" {
				env = append(slices.Clone(one), peerSums(cpu.CurrentLevel(), os.LookupEnv)...)
			}
			add(program{part: p.part, name: name, args: []string{filepath.Join(dir, "bin", name)}, dir: dir, env: env, rounds: rounds,
				only: f.filterOf(p.part)})
		}
	}
	net, threads := filepath.Join(dir, "convnet"), fmt.Sprint(runtime.NumCPU())
	there := func(name string) bool { _, err := os.Stat(filepath.Join(net, name)); return err == nil }
	for _, b := range []string{"1", "8"} {
		if there("bin/onednn") && there("onnx/net.f32") {
			for i, form := range [][]string{nil, {"full", "direct", "1"}} {
				add(program{part: "inference", name: []string{"onednn", "direct"}[i] + ", batch " + b, dir: net,
					env:  []string{"OMP_NUM_THREADS=" + threads},
					args: append([]string{filepath.Join(net, "bin", "onednn"), b, "15"}, form...)})
			}
		}
		for _, name := range []string{"onednn3", "xnnpack"} {
			if there("bin/"+name) && there("onnx/net.f32") {
				add(program{part: "inference", name: name + ", batch " + b, dir: net, env: []string{"OMP_NUM_THREADS=" + threads},
					args: []string{filepath.Join(net, "bin", name), b, "15"}})
			}
		}
		for i, form := range []string{"plain_batch", "padded"} { // the faster one counts
			cut := []string{"", "/padded"}[i]
			model := "onnx/full_" + form + "_" + b + ".onnx"
			if there("node_modules/onnxruntime-node") && there(model) {
				add(program{part: "inference", name: "ort " + form + ", batch " + b, dir: net, cut: cut,
					args: []string{"node", "ort.js", model, "--threads", threads, "--calls", "15"}})
			}
		}
	}
	if there("node_modules/onnxruntime-node") && f.filter == "" {
		script := filepath.Join("bench", "peers", "ort", "depthwise.js")
		if abs, err := filepath.Abs(script); err == nil {
			if _, err := os.Stat(abs); err == nil {
				add(program{part: "kernels", name: "ort, depthwise 7 x 7", args: []string{"node", abs}, dir: net,
					env: []string{"NODE_PATH=" + filepath.Join(net, "node_modules")}})
			}
		}
	}
	if f.filter == "" {
		if abs, err := filepath.Abs(f.gopeers); err == nil {
			add(program{part: "gopeers", name: "Go libraries", args: []string{abs, "--json"}})
		}
	}
	return all
}
