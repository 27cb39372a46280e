package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/cpu"

	"github.com/equivcnp/equivcnp/simd"
)

// asProgram tells a process that it is not the tests but the program: a report runs itself again.
const asProgram = "EQUIVCNP_BENCH_AS_PROGRAM"

// quiet runs a command whose output nobody wants.
func quiet(t *testing.T, cmd *cobra.Command, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.Execute()
	return out.String(), err
}

// TestReport writes a report of two kernels in two rounds, is killed in the middle of a line, and resumes.
func TestReport(t *testing.T) {
	t.Setenv("PEER_SECONDS", "1e-9")
	t.Setenv(asProgram, "1")
	dir := filepath.Join(t.TempDir(), "new", "folder")
	args := []string{"--out", dir, "--parts", "limits,kernels", "--filter", "^gemm/ours/(16x16x50|50x16x25)|^exp/L2",
		"--busy", "1", "--rounds", "2", "--weights", "absent", "--peers", "absent"}
	_, err := quiet(t, reportCommand(), args...)
	require.NoError(t, err)
	f, err := readReport(filepath.Join(dir, "report.json"))
	require.NoError(t, err)
	require.Len(t, f.Steps, 4)
	require.Greater(t, len(f.Lines), 5)
	for _, l := range f.Lines {
		require.Equal(t, []int{0, 1}, l.Rounds, l.Name)
	}
	html, err := os.ReadFile(filepath.Join(dir, "index.html"))
	require.NoError(t, err)
	for _, want := range []string{"<h1>EquivCNP on ", "gemm/ours/16x16x50", "<circle", "operations per byte", "Multiply-adds, one core",
		"gonum v", "no line is called won or lost"} {
		require.Contains(t, string(html), want)
	}
	for _, never := range []string{"ZgotmplZ", "<no value>", "NaN", "+Inf", "http://", "https://"} {
		require.NotContains(t, string(html), never)
	}

	path := filepath.Join(dir, "journal.jsonl")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	killed := slices.Concat(slices.Concat(lines[:4]...), lines[4][:len(lines[4])/2])
	require.NoError(t, os.WriteFile(path, killed, 0o600))
	_, err = quiet(t, reportCommand(), append(args, "--resume")...)
	require.NoError(t, err)
	resumed, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(resumed, bytes.Join(lines[:4], nil)), "what was measured is kept")
	require.Equal(t, 5, bytes.Count(resumed, []byte("\n")))

	for want, more := range map[string][]string{
		"now --filter ^exp/L2":                          {"--filter", "^exp/L2"},
		"now neither --quick nor --filter":              {"--filter", ""},
		"begun with other options: --filter ^gemm/ours": {"--quick"},
	} {
		_, err = quiet(t, reportCommand(), slices.Concat(args, more, []string{"--resume"})...)
		require.ErrorContains(t, err, want)
	}
	t.Setenv("PEER_SECONDS", "1e-8")
	_, err = quiet(t, reportCommand(), append(args, "--resume")...)
	require.ErrorContains(t, err, "with another PEER_SECONDS")
	for want, args := range map[string][]string{
		"--parts everything": {"--out", dir, "--parts", "everything"},
		"--busy 0":           {"--out", dir, "--busy", "0"},
		"--rounds 0":         {"--out", dir, "--rounds", "0"},
	} {
		_, err = quiet(t, reportCommand(), args...)
		require.ErrorContains(t, err, want)
	}
}

// TestReportFilter: peers know no filter, so their lines are sorted out, and a program without one that is asked for runs once.
func TestReportFilter(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the peers here are scripts of a shell")
	}
	t.Setenv("PEER_SECONDS", "1e-9")
	t.Setenv(asProgram, "1")
	dir, peers := t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(peers, "bin"), 0o700))
	line := `{"name": "%s", "n": 40000, "metric": "gflops", "value": 1}` + "\n"
	for name, lines := range map[string][]string{
		"gemm":   {"gemm/openblas/16x16x50", "gemm/openblas/50x16x25"},
		"reduce": {"sum/L1/avx2"},
	} {
		script := "#!/bin/sh\ncat <<END\n"
		for _, l := range lines {
			script += fmt.Sprintf(line, l)
		}
		require.NoError(t, os.WriteFile(filepath.Join(peers, "bin", name), []byte(script+"END\n"), 0o700))
	}
	_, err := quiet(t, reportCommand(), "--out", dir, "--parts", "kernels", "--filter", "^gemm/ours/16x16x50$", "--busy", "1",
		"--rounds", "2", "--weights", "absent", "--peers", peers)
	require.NoError(t, err)
	f, err := readReport(filepath.Join(dir, "report.json"))
	require.NoError(t, err)
	var names []string
	for _, l := range f.Lines {
		names = append(names, l.Name)
	}
	require.Contains(t, names, "gemm/ours/16x16x50")
	require.Contains(t, names, "gemm/openblas/16x16x50")
	require.NotContains(t, names, "gemm/openblas/50x16x25")
	require.NotContains(t, names, "sum/L1/avx2")
	rounds := func(name string) (n int) {
		for _, s := range f.Steps {
			if s.Name == name {
				n++
			}
		}
		return n
	}
	require.Equal(t, 2, rounds("gemm"))
	require.Equal(t, 1, rounds("reduce"))
}

// reportOf is a report of one part.
func reportOf(peers []peer, lines ...reportLine) *reportFile {
	for i := range lines {
		lines[i].Part = cmp.Or(lines[i].Part, "kernels")
		if lines[i].Rounds == nil {
			for r := range lines[i].Values {
				lines[i].Rounds = append(lines[i].Rounds, r)
			}
		}
	}
	return &reportFile{reportHead: reportHead{Peers: peers}, Lines: lines, Version: 1}
}

// TestWonAndLost: five rounds tell two lines apart that are, and two rounds do not.
func TestWonAndLost(t *testing.T) {
	for rounds, want := range map[int][2]string{2: {"-", "-"}, 3: {"-", "-"}, 4: {"1", "1"}, 5: {"1", "1"}} {
		f := reportOf([]peer{{[]string{"blis"}, "BLIS", "0.9"}},
			reportLine{Name: "gemm/ours/1x1", N: 1, Metric: "gflops", Values: []float64{20, 21, 22, 23, 24}[:rounds]},
			reportLine{Name: "gemm/blis/1x1", N: 1, Metric: "gflops", Values: []float64{10, 11, 12, 13, 14}[:rounds]},
			reportLine{Name: "gemm/ours/2x2", N: 1, Metric: "gflops", Values: []float64{10, 11, 12, 13, 14}[:rounds]},
			reportLine{Name: "gemm/blis/2x2", N: 1, Metric: "gflops", Values: []float64{20, 21, 22, 23, 24}[:rounds]})
		means := pageMeans(f, f.ratios())
		require.Len(t, means, 2)
		for _, m := range means {
			require.Equal(t, want, [2]string{m.Won, m.Lost}, "%d rounds", rounds)
		}
	}
}

// TestRatios: rounds are paired, larger is better of speeds, and who has no version or computes something else is left out.
func TestRatios(t *testing.T) {
	line := func(name, metric string, values ...float64) reportLine {
		return reportLine{Name: name, N: 7, Metric: metric, Values: values}
	}
	f := reportOf([]peer{{[]string{"blis"}, "BLIS", "0.9"}, {[]string{"gcc"}, "gcc", "12"}},
		line("gemm/ours/1x1", "gflops", 20, 40, 60), line("gemm/blis/1x1", "gflops", 10, 20, 20),
		line("gemm/secret/1x1", "gflops", 1, 1, 1),
		line("gemm/blis/2x2", "gflops", 1, 1, 1), line("gemm/blis_f32/1x1", "gflops", 1, 1, 1),
		line("exp/ours/L2", "ns_per_elem", 1, 2, 4), line("exp/gcc/L2", "ns_per_elem", 2, 2, 2), line("exp/ours/L2", "peak_bytes", 1, 1, 1),
		line("exp/gcc/L2", "peak_bytes", 9, 9, 9))
	all := f.ratios()
	require.Len(t, all, 2)
	require.Equal(t, []float64{2, 3, 2}, []float64{all[0].Least, all[0].Most, all[0].Median})
	require.Equal(t, []float64{0.5, 2, 1}, []float64{all[1].Least, all[1].Most, all[1].Median})
	require.Equal(t, "gemm/1x1", all[0].Line())
	mean, n := meanRatio(all, "kernels")
	require.Equal(t, 2, n)
	require.InEpsilon(t, 1.4142135, mean, 1e-6)

	// A round that one side lacks counts for neither.
	f = reportOf(f.Peers, reportLine{Name: "exp/ours/L2", Metric: "ns_per_elem", Rounds: []int{0, 2}, Values: []float64{1, 1}},
		reportLine{Name: "exp/gcc/L2", Metric: "ns_per_elem", Rounds: []int{1, 2}, Values: []float64{50, 3}})
	all = f.ratios()
	require.Len(t, all, 1)
	require.Equal(t, 3.0, all[0].Median)
	require.Equal(t, 1, all[0].Rounds)
}

// TestLineNotes: a line says what its fastest peer does not promise, and how the peer does that promises the same; no ratio changes.
func TestLineNotes(t *testing.T) {
	line := func(who string, ns float64) reportLine {
		return reportLine{Name: "exp/L2/" + who, N: 1, Metric: "ns_per_elem", Values: []float64{ns}}
	}
	peers := []peer{{[]string{"avx2"}, "g++", "12"}, {[]string{"eigen"}, "Eigen", "3"}}
	f := reportOf(peers, line("ours", 1), line("avx2", 0.5), line("eigen", 4), line("avx2_whole", 1.25))
	l := pageParts(f, f.ratios(), nil)[0].Lines[0]
	require.Equal(t, "avx2", l.Peer)
	require.Equal(t, "0.50 (0.50 to 0.50)", l.Ratio)
	require.Contains(t, l.Note, "avx2 takes ordinary numbers")
	require.Contains(t, l.Note, "avx2_whole takes all of float32 as ours does: 1.25")

	f = reportOf(peers, line("ours", 1), line("avx2_whole", 1.25))
	l = pageParts(f, f.ratios(), nil)[0].Lines[0]
	require.Equal(t, "avx2_whole", l.Peer)
	require.Empty(t, l.Note)
}

// TestNetworkPrograms: what lies in the folder of the peers' networks is run with every batch and asked for its version; what does not is
// left out.
func TestNetworkPrograms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the peer is a shell script")
	}
	dir := t.TempDir()
	for _, sub := range []string{"bin", "onnx"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "convnet", sub), 0o777))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "convnet", "onnx", "net.f32"), nil, 0o600))
	f := reportFlags{peers: dir, gopeers: "absent", parts: []string{"inference"}}
	require.Empty(t, f.peerPrograms())
	path := filepath.Join(dir, "convnet", "bin", "xnnpack")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n[ \"$*\" = --version ] && echo 1.2-3\n"), 0o700))
	var names []string
	for _, p := range f.peerPrograms() {
		names = append(names, p.name)
		require.Equal(t, path, p.args[0])
	}
	require.Equal(t, []string{"xnnpack, batch 1", "xnnpack, batch 8"}, names)
	h := reportHead{Peers: installedPeers(dir)}
	require.Equal(t, "XNNPACK 1.2-3", h.versionOf("xnnpack"))
}

// TestClockNote: the page says where the peers were built from the header that reads its clocks in the wrong order.
func TestClockNote(t *testing.T) {
	dir := t.TempDir()
	require.Empty(t, clockNote(dir))
	for text, notes := range map[string]int{"double t0 = now(), c0 = cpu_now();": 1, "double c0 = cpu_now(), t0 = now();": 0} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "peer.h"), []byte(text), 0o600))
		require.Len(t, clockNote(dir), notes)
	}
}

// TestRefusedStepsDoNotCount: the numbers of a step during which the machine was busy are in no line.
func TestRefusedStepsDoNotCount(t *testing.T) {
	j := &journal{done: map[string]bool{}}
	s := func(round int, refused string, v float64) {
		j.keep(reportStep{Part: "kernels", Name: "a", Round: round, Refused: refused, Samples: []sample{{"exp/ours/L2", 1, "gbps", v}}})
	}
	s(0, "", 1)
	s(1, "other programs used 50 %", 9)
	f := newReportFile(j)
	require.Equal(t, []float64{1}, f.Lines[0].Values)
	require.Len(t, f.refused(), 1)
	require.Len(t, cautions(f), 1)
	s(1, "", 2) // as a resumed run measures it again
	f = newReportFile(j)
	require.Equal(t, []float64{1, 2}, f.Lines[0].Values)
	require.Empty(t, f.refused())
}

// TestResumedRound: where two programs print one line, the better value of a round counts, also when a refused step of an early round was
// measured again after the later ones.
func TestResumedRound(t *testing.T) {
	j := &journal{done: map[string]bool{}}
	s := func(name string, round int, refused string, v float64) {
		j.keep(reportStep{Part: "inference", Name: name, Round: round, Refused: refused, Samples: []sample{{"net/ort", 1, "ms", v}}})
	}
	s("plain", 0, "", 5)
	s("padded", 0, "other programs used 50 %", 9)
	s("padded", 1, "", 4)
	s("plain", 1, "", 5)
	s("padded", 0, "", 3)
	f := newReportFile(j)
	require.Len(t, f.Lines, 1)
	require.Equal(t, []int{0, 1}, f.Lines[0].Rounds)
	require.Equal(t, []float64{3, 4}, f.Lines[0].Values)
}

// TestResumeOtherPeers: the versions in a journal's head are those of the peers that were measured.
func TestResumeOtherPeers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	head := reportHead{Program: "p", Peers: []peer{{[]string{"blis"}, "BLIS", "0.9"}}}
	j, err := openJournal(path, head, false)
	require.NoError(t, err)
	require.NoError(t, j.close())
	j, err = openJournal(path, head, true)
	require.NoError(t, err)
	require.NoError(t, j.close())
	head.Peers = []peer{{[]string{"blis"}, "BLIS", "1.0"}}
	_, err = openJournal(path, head, true)
	require.ErrorContains(t, err, "begun with other peers, or other versions of them: [BLIS 0.9]; now [BLIS 1.0]")
}

// TestReportReadsWhatItWrites: a server that holds its bound at no rate, and a negative log-likelihood, are results; and figures without
// steps have a page.
func TestReportReadsWhatItWrites(t *testing.T) {
	dir := t.TempDir()
	f := reportOf(nil, reportLine{Name: "scenario/server/m/server", N: 1, Metric: "tasks_per_s", Values: []float64{0}},
		reportLine{Name: "scenario/server/m/accuracy", N: 4, Metric: "log_likelihood", Values: []float64{-0.5}})
	f.Machine.CPU = "first"
	require.NoError(t, f.write(filepath.Join(dir, "report.json")))
	_, err := quiet(t, reportCommand(), "--out", dir, "--page")
	require.NoError(t, err)
	html, err := os.ReadFile(filepath.Join(dir, "index.html"))
	require.NoError(t, err)
	require.NotContains(t, string(html), "NaN")
}

// TestKeep: parts that were not measured stay, with their own dates, also those that the older report had kept.
func TestKeep(t *testing.T) {
	line := func(part, name string) reportLine {
		return reportLine{Part: part, Name: name, N: 1, Metric: "ms", Values: []float64{1}}
	}
	old := reportOf(nil, line("kernels", "exp/ours"), line("inference", "a"), line("train", "b"))
	old.Started, old.Program, old.Peers = "then", "bench 1", []peer{{Title: "oneDNN", Version: "3"}}
	old.Kept = []keptParts{{[]string{"train", "blas"}, "long ago", "bench 0"}}
	f := reportOf(nil, line("kernels", "exp/ours"))
	f.Peers = []peer{{Title: "Eigen", Version: "3.4"}}
	f.keep(old, []string{"kernels", "limits"})
	require.Equal(t, []keptParts{{[]string{"train"}, "long ago", "bench 0"}, {[]string{"inference"}, "then", "bench 1"}}, f.Kept)
	require.Equal(t, "train: measured on long ago, by program bench 0.", f.Kept[0].String())
	require.Len(t, f.Lines, 3)
	require.Len(t, f.Peers, 2)
	require.Equal(t, []string{"train", "blas"}, old.Kept[0].Parts)

	now, then := reportHead{Machine: description{CPU: "a", Level: "avx512"}}, reportHead{Machine: description{CPU: "a", Level: "avx2"}}
	require.ErrorContains(t, now.keeps("r.json", &then), "r.json: measured on a, family 0, model 0, avx2")
	then.Machine.Level, then.Machine.Go = "avx512", "go1"
	require.NoError(t, now.keeps("r.json", &then))
	now.Peers, then.Peers = []peer{{Names: []string{"onednn"}, Title: "oneDNN", Version: "2"}}, old.Peers
	require.NoError(t, now.keeps("r.json", &then), "another one")
	then.Peers = []peer{{Names: []string{"onednn"}, Title: "oneDNN", Version: "3"}}
	require.ErrorContains(t, now.keeps("r.json", &then), "r.json: oneDNN was 3 and is 2 now")
}

// TestTables: the tables in README.md and docs/performance.md are those of the files in bench/results.
func TestTables(t *testing.T) {
	for _, file := range []string{"README.md", "docs/performance.md"} {
		was, now, err := tablesOf("..", file)
		require.NoError(t, err)
		require.Equal(t, now, was, "%s: go run ./bench merge --readme writes its tables", file)
	}
}

// ratioIn finds a ratio in prose: "4.1 times as fast", "3.8 to 4.1 times oneDNN's pace".
var ratioIn = regexp.MustCompile(`(?i)\d times (as fast as|the pace of|the speed of)? ?` +
	`(oneDNN|OpenBLAS|ONNX Runtime|PyTorch|Eigen|gonum|BLIS|XNNPACK)( v?\d)?`)

// TestNoRatioWithoutVersion: README's prose states no ratio to a peer whose version it does not name; its tables name them.
func TestNoRatioWithoutVersion(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	for _, found := range ratioIn.FindAllStringSubmatch(string(text), -1) {
		require.NotEmpty(t, found[3], "%q names no version", found[0])
	}
}

// TestMerge lays two machines side by side.
func TestMerge(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for i, cpu := range []string{"first", "second"} {
		f := reportOf([]peer{{[]string{"blis"}, "BLIS", "0.9"}},
			reportLine{Name: "gemm/ours/1x1", N: 1, Metric: "gflops", Values: []float64{20}},
			reportLine{Name: "gemm/blis/1x1", N: 1, Metric: "gflops", Values: []float64{10 / float64(i+1)}})
		f.Machine.CPU = cpu
		paths = append(paths, filepath.Join(dir, cpu+".json"))
		require.NoError(t, f.write(paths[i]))
	}
	out, err := quiet(t, mergeCommand(), paths...)
	require.NoError(t, err)
	require.Contains(t, out, "| kernels | BLIS 0.9 | 2.00 (1 lines) | 4.00 (1 lines) |")
	require.Contains(t, out, "| gemm/1x1 | 2.00 blis | 4.00 blis |")
	page := filepath.Join(dir, "all.html")
	_, err = quiet(t, mergeCommand(), append(paths, "--html", page)...)
	require.NoError(t, err)
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(html), "BLIS 0.9")
	require.NotContains(t, strings.ToLower(string(html)), "http")
	_, err = quiet(t, mergeCommand(), filepath.Join(dir, "absent.json"))
	require.ErrorContains(t, err, "absent.json")
}

// TestWindow: the sum over a window is the convolution that ONNX Runtime computes.
func TestWindow(t *testing.T) {
	const side, width, c = 9, 7, 3
	offsets, index, pose := windowNeighbours(side, width)
	rng := peerSeed
	f, w := rng.floats(side*side*c, 1), rng.floats(width*width*c, 1)
	out := make([]float32, side*side*c)
	simd.DepthwiseF32(out, f, w, offsets, index, pose, c, false)
	for i := range side {
		for j := range side {
			for ch := range c {
				want := 0.0
				for a := range width {
					for b := range width {
						if r, q := i+a-width/2, j+b-width/2; r >= 0 && r < side && q >= 0 && q < side {
							want += float64(w[(a*width+b)*c+ch]) * float64(f[(r*side+q)*c+ch])
						}
					}
				}
				require.InDelta(t, want, out[(i*side+j)*c+ch], 1e-5)
			}
		}
	}
}

// Peers use the kernels of our level, unless the user chose others.
func TestPeerKernels(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	require.Contains(t, peerKernels(cpu.AVX2, false, none), "OPENBLAS_CORETYPE=Haswell")
	require.Contains(t, peerKernels(cpu.AVX512, false, none), "OPENBLAS_CORETYPE=SkylakeX")
	require.Empty(t, peerKernels(cpu.AVX512, true, none))
	require.Empty(t, peerKernels(cpu.Generic, false, none))
	own := func(name string) (string, bool) { return "Zen", name == "OPENBLAS_CORETYPE" }
	require.Equal(t, []string{"OPENBLAS_CORETYPE=Haswell"}, peerSums(cpu.AVX512, none))
	require.Empty(t, peerSums(cpu.AVX2, none))
	require.Empty(t, peerSums(cpu.AVX512, own))
	require.Equal(t, []string{"BLIS_ARCH_TYPE=0"}, peerKernels(cpu.AVX512, false, own))
}

// TestReportElsewhere: what the server part needs lies in the repository, and is missed at once.
func TestReportElsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := quiet(t, reportCommand(), "--out", "report")
	require.ErrorContains(t, err, "--parts server: ")
	require.NoDirExists(t, "report")
}
