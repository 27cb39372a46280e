package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// TestSplitmix: the first numbers that the peers' documentation lists.
func TestSplitmix(t *testing.T) {
	rng := peerSeed
	require.Equal(t, []float32{0.48312973976135254, -0.68017923831939697, -0.44279778003692627, -0.31161868572235107}, rng.floats(4, 1))
}

func TestNearestOnGrid(t *testing.T) {
	const j = 273
	index := make([]int32, 64*64*j)
	nearestOnGrid(index, j)
	for _, i := range []int{0, 77, 4095} {
		require.Equal(t, int32(i), index[i*j], "the nearest is the point itself")
		seen := map[int32]bool{}
		for _, k := range index[i*j : (i+1)*j] {
			require.False(t, seen[k], "%d twice", k)
			seen[k] = true
		}
	}
	require.Equal(t, int32(63*64+63), index[0*j+5], "the sixth nearest of the first pixel is across both borders")
}

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" && len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		memoryBytes = 1 << 20
		main()
		return
	}
	memoryBytes = 1 << 20 // tests do not need a realistic speed of memory
	os.Exit(m.Run())
}

// TestKernels runs every case once and checks the lines that it prints, but not the times in them.
func TestKernels(t *testing.T) {
	t.Setenv("PEER_SECONDS", "1e-9")
	for _, filter := range []string{"^gemm/ours/16x16x50", "^swish/L2", "^atan2/L2", "weightnet", "^setconv.*256"} {
		cmd := kernelsCommand()
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetErr(io.Discard)
		cmd.SetArgs([]string{"--json", "--levels", "--filter", filter})
		require.NoError(t, cmd.Execute())
		lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
		require.NotEmpty(t, lines)
		for _, l := range lines {
			var s sample
			require.NoError(t, json.Unmarshal(l, &s))
			require.Regexp(t, "ours|gonum|^limits", s.Name)
			require.Positive(t, s.Value, s.Name)
			require.Positive(t, s.N, s.Name)
		}
	}
}

// TestKernelTable prints one case for people.
func TestKernelTable(t *testing.T) {
	t.Setenv("PEER_SECONDS", "1e-9")
	cmd := kernelsCommand()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	cmd.SetArgs([]string{"--filter", "^gemm/ours/16x16x50"})
	require.NoError(t, cmd.Execute())
	require.Contains(t, out.String(), "gemm/16x16x50")
	require.Contains(t, out.String(), "% of FMA")
	require.Contains(t, out.String(), "limits/read/")
}

// TestLeast: of two limits, the one that takes longer decides.
func TestLeast(t *testing.T) {
	m := &machine{peak: 100, reads: []readLimit{{"L1", 16 << 10, 400}, {"L2", 1 << 20, 200}, {"memory", 1 << 29, 10}}}
	for _, c := range []struct {
		work  work
		bound string
		ns    float64
	}{
		{work{flop: 1000}, "FMA", 10},
		{work{flop: 1000, bytes: 1 << 10, footprint: 1 << 10}, "FMA", 10},
		{work{bytes: 4000, footprint: 4000}, "L1", 10},
		{work{bytes: 4000, footprint: 1 << 20}, "L2", 20},
		{work{flop: 1000, bytes: 4000, footprint: 1 << 30}, "memory", 400},
	} {
		s, bound := m.least(c.work)
		require.Equal(t, c.bound, bound)
		require.InEpsilon(t, c.ns, s*1e9, 1e-9)
	}
	s, bound := m.least(work{})
	require.True(t, s != s)
	require.Empty(t, bound)
}

func TestBestIsPositive(t *testing.T) {
	t.Setenv("PEER_SECONDS", "1e-9")
	require.GreaterOrEqual(t, best(func() { time.Sleep(time.Millisecond) }), 0.0)
}

// TestLinalg runs every small matrix case once and checks the lines that it prints.
func TestLinalg(t *testing.T) {
	t.Setenv("PEER_SECONDS", "1e-9")
	cmd := linalgCommand()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"--json", "--levels", "--filter", "so2_exp|se2_log/ours/f64"})
	require.NoError(t, cmd.Execute())
	names := map[string]int{}
	for _, l := range bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n")) {
		var s sample
		require.NoError(t, json.Unmarshal(l, &s))
		require.Equal(t, "ns_per_elem", s.Metric)
		require.Positive(t, s.Value, s.Name)
		names[s.Name]++
	}
	for _, name := range []string{"smallmat/so2_exp/ours/f32", "smallmat/so2_exp/ours/f64", "smallmat/se2_log/ours/f64"} {
		require.Equal(t, 2, names[name], "%s at two sizes", name)
	}
}

// TestFlags: a filter that matches nothing and a number out of range are refused at once, by an error that names them.
func TestFlags(t *testing.T) {
	t.Setenv("PEER_SECONDS", "1e-9")
	for _, c := range []struct {
		make func() *cobra.Command
		args []string
		want string
	}{
		{kernelsCommand, []string{"--filter", "("}, "--filter (: error parsing regexp: missing closing ): `(`"},
		{kernelsCommand, []string{"--filter", "none"}, "--filter none: no kernel's name matches"},
		{linalgCommand, []string{"--filter", "none"}, "--filter none: no line's name matches"},
		{neighborCommand, []string{"--only", "none"}, "--only none: no line starts so"},
		{neighborCommand, []string{"--large", "-3"}, "--large -3: need 1 to 2147483647"},
		{modelsCommand, []string{"--only", "none"}, "--only none: no case starts so; there are " + strings.Join(modelCases, ", ")},
		{modelsCommand, []string{"--size", "0", "--times", "-1"}, "--size 0: need 1 to 4096\n--times -1: need 1 to 1000000"},
		{inferenceCommand, []string{"--size", "100000"}, "--size 100000: need 1 to 4096"},
		{blasCommand, []string{"--rounds", "0"}, "--rounds 0: need 1 to 1000000"},
		{blasCommand, []string{"--time", "-1s"}, "--time -1s: need more than 0"},
		{blasCommand, []string{"--match", "none"}, "--match none: no line's name matches"},
		{blasCommand, []string{"--match", "none", "--small"}, "--match none: no line's name matches"},
		{blasCommand, []string{"--match", "(", "--json"}, "--match (: error parsing regexp: missing closing ): `(`"},
		{trainCommand, []string{"--times", "0"}, "--times 0: need 1 to 1000000"},
		{serveCommand, []string{"--seconds", "0"}, "--seconds 0: need a number above 0, 3600 at most"},
		{serveCommand, []string{"--times", "0"}, "--times 0: need 1 to 1000000"},
		{dataCommand, []string{"--program", "none/there"},
			`--program none/there: exec: "none/there": stat none/there: no such file or directory`},
		{dataCommand, []string{"--program", "go", "--beam", "none/there"},
			`--beam none/there: exec: "none/there": stat none/there: no such file or directory`},
	} {
		cmd := c.make()
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		cmd.SilenceUsage = true
		cmd.SetArgs(c.args)
		require.EqualError(t, cmd.Execute(), c.want)
	}
	for _, bad := range []string{"x", "-1", "NaN", "1e9"} {
		t.Setenv("PEER_SECONDS", bad)
		_, err := budgetSet()
		require.EqualError(t, err, "PEER_SECONDS="+bad+": need a number of seconds above 0, 3600 at most")
	}
}

// TestExamples wants an example of every command, which names it, and none that the command's own flags refuse.
func TestExamples(t *testing.T) {
	for _, c := range rootCommand().Commands() {
		if c.Hidden || c.Name() == "completion" || c.Name() == "help" {
			continue
		}
		require.Contains(t, c.Example, "bench "+c.Name(), c.Name())
		for line := range strings.Lines(c.Example) {
			for flag := range strings.FieldsSeq(line) {
				if name, ok := strings.CutPrefix(flag, "--"); ok && name != "" && c.Name() != "compare" {
					require.NotNil(t, c.Flags().Lookup(name), "%s: --%s", c.Name(), name)
				}
			}
		}
	}
}

// TestUnknownLevel asks for a level that no machine has: bench measures nothing rather than another level. The variable is read when a
// program starts, hence a process of its own.
func TestUnknownLevel(t *testing.T) {
	if os.Getenv("EQUIVCNP_SIMD") == "abacus" {
		require.ErrorContains(t, checkEnvironment(), "abacus")
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^TestUnknownLevel$")
	child.Env = append(os.Environ(), "EQUIVCNP_SIMD=abacus")
	out, err := child.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Regexp(t, "(?m)^PASS$", string(out))
	require.NoError(t, checkEnvironment())
}

// TestNeighbor runs lines of each kind once.
func TestNeighbor(t *testing.T) {
	t.Setenv("PEER_SECONDS", "1e-9")
	for _, args := range [][]string{{"--only", "kdtree/ours_tree/d2/n4096/knn8"}, {"--only", "kdtree/ours_grid/d3/n4096/"},
		{"--large", "20000"}} {
		cmd := neighborCommand()
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetArgs(append(args, "--json"))
		require.NoError(t, cmd.Execute())
		for l := range bytes.Lines(bytes.TrimSpace(out.Bytes())) {
			var s sample
			require.NoError(t, json.Unmarshal(l, &s))
			require.Contains(t, s.Name, "kdtree/ours")
			require.Positive(t, s.Value, s.Name)
		}
	}
}

// TestData: tasks and rasters are written, read and predicted in every format.
func TestData(t *testing.T) {
	dir := t.TempDir()
	f := dataFlags{rows: 300, side: 40, wide: 64, times: 1}
	lines, err := f.tables(dir)
	require.NoError(t, err)
	rasters, err := f.rasters(dir)
	require.NoError(t, err)
	require.Len(t, append(lines, rasters...), 10)
	for _, l := range append(lines, rasters...) {
		var out bytes.Buffer
		require.NoError(t, readData(&report{w: &out, json: true}, filepath.Join(dir, "in."+l.format), 1))
		var s sample
		require.NoError(t, json.Unmarshal(out.Bytes(), &s))
		require.Equal(t, []any{"s", l.items}, []any{s.Metric, s.N}, l.format)
		require.Positive(t, s.Value)
		require.Positive(t, l.bytes)
	}
	for i := range lines {
		lines[i].read, lines[i].predict = [2]float64{1, 0.5}, [2]float64{2, 1}
	}
	page := string(f.page(lines, []string{"| 64 x 64 | 1 | 5 | 1.00 |"}, nil))
	require.Contains(t, page, "| csv | ")
	require.Contains(t, page, " | 600 | 150 | 300 |")
	cmd := dataCommand()
	cmd.SetArgs([]string{"--rows", "0"})
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	require.ErrorContains(t, cmd.Execute(), "--rows 0")
}
