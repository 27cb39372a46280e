package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
)

// made reads what a reproduction wrote: the report, its CSV files by name, and how many drawings there are, all of which
// must be whole and shown.
func made(t *testing.T, r reproduceResult) (report string, tables map[string][][]string, drawings int) {
	t.Helper()
	tables = map[string][][]string{}
	var shown []string
	for _, path := range r.Files {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		switch filepath.Ext(path) {
		case ".md":
			report = string(b)
		case ".csv":
			rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll() // all rows have as many cells
			require.NoError(t, err)
			tables[filepath.Base(path)] = rows
		case ".png":
			_, err := png.Decode(bytes.NewReader(b))
			require.NoError(t, err)
			drawings++
			shown = append(shown, "("+filepath.Base(path)+")")
		}
	}
	for _, s := range shown {
		require.Contains(t, report, s)
	}
	return report, tables, drawings
}

func TestReproduceTable1(t *testing.T) {
	b := newBench(t)
	b.save("rbf_cnp.safetensors", cnp.Default(cnp.CNPCurve, "", 1))
	b.save("matern_cnp.safetensors", cnp.Default(cnp.CNPCurve, "", 1))
	b.save("rbf_conv.safetensors", cnp.Default(cnp.ConvCNPCurve, "", 1))
	b.save("nameless.safetensors", cnp.Default(cnp.CNPCurve, "", 1))
	b.save("T2.safetensors", smallImage("T(2)", 1))
	r := decode[reproduceResult](t, b.ok("reproduce", "table1", "--models", b.dir, "--out", "@new", "--tasks", "2", "--json"))
	require.Len(t, r.Files, 3)
	require.Len(t, r.Notes, 1)
	require.Contains(t, r.Notes[0], "the name of nameless has none of rbf, matern, periodic")
	report, tables, drawings := made(t, r)
	require.Equal(t, 1, drawings)
	require.Contains(t, report, "| paper: EquivCNP | equivcnp | 1.2930 ± 1.0113 | 0.6616 ± 0.6728 | -0.4037 ± 0.4968 |")
	require.Contains(t, report, "- left out: the name of nameless")
	require.Contains(t, report, "equivcnp reproduce table1 --tasks 2 --seed 1000 --models "+filepath.Base(b.dir))
	require.NotContains(t, report, b.dir)
	rows := tables["table1.csv"]
	require.Len(t, rows, 1+2*(3+3)) // a header; on two intervals, the process for three kernels and three models
	require.Equal(t, "the process itself", rows[1][0])
	require.Equal(t, "conv", rows[4][0])
	require.Equal(t, "2", rows[4][5])
	require.NotEmpty(t, rows[4][15], "equivariance is measured on the first interval")
	require.True(t, strings.HasPrefix(rows[4][14], "-"), "nothing beats the process")

	again := decode[reproduceResult](t, b.ok("reproduce", "table1", "--models", b.dir, "--out", "@new", "--tasks", "2", "--json"))
	second, _, _ := made(t, again)
	require.Equal(t, report, second, "equal seeds, equal reports")

	small := newBench(t)
	small.save("rbf_cnp.safetensors", cnp.Default(cnp.CNPCurve, "", 1))
	chained, tables, _ := made(t, decode[reproduceResult](t, small.ok("reproduce", "table1", "--models", small.dir, "--out",
		"@new", "--tasks", "2", "--chain", "1", "--json")))
	require.Contains(t, chained, "## By the chain rule")
	chains := tables["table1-chain.csv"]
	require.Len(t, chains, 1+2*(3+1))
	require.Equal(t, []string{"the process itself", "the best possible prediction", "rbf", "-4", "4", "1"}, chains[1][:6])
	report, _, _ = made(t, decode[reproduceResult](t, b.ok("reproduce", "table1", "--out", "@shipped", "--tasks", "1", "--json")))
	require.Contains(t, report, "- digits-T2-small: `OMP_NUM_THREADS=1 python3 testdata/demo/make_demo.py`, seed 1 for")
	b.fails(2, "--chain 3: need 0 to 2", "reproduce", "table1", "--out", "@new", "--tasks", "2", "--chain", "3")
}

// TestReproduceTable2: of models of a folder; with -long, without a folder, of the shipped ones, too, as TestReproduceTable1 is anyway.
func TestReproduceTable2(t *testing.T) {
	b := newBench(t)
	for _, g := range []string{"SE(2)", "T(2)"} {
		b.save(g[:2]+".safetensors", smallImage(g, 1))
	}
	r := decode[reproduceResult](t, b.ok("reproduce", "table2", "--models", b.dir, "--out", "@out", "--tasks", "2", "--json"))
	report, tables, drawings := made(t, r)
	require.Equal(t, 2, drawings)
	require.Contains(t, report, "| T(2) | T( |")
	require.Contains(t, report, "| 1.0998 ± 0.4115 |")
	rows := tables["table2.csv"]
	require.Len(t, rows, 3)
	require.Equal(t, []string{"T(", "T(2)", "1", "2"}, rows[1][:4], "in the order of the paper")
	require.Equal(t, "SE(2)", rows[2][1])

	if !*long {
		return
	}
	r = decode[reproduceResult](t, b.ok("reproduce", "table2", "--out", "@shipped", "--tasks", "1", "--json"))
	report, _, _ = made(t, r)
	require.Contains(t, report, "- digits-T2-small: `OMP_NUM_THREADS=1 python3 testdata/demo/make_demo.py`, seed 1 for")
}

func TestReproduceAnywhere(t *testing.T) {
	b := newBench(t)
	b.save("a.safetensors", smallImage("SO(2)", 1))
	report, tables, drawings := made(t, decode[reproduceResult](t, b.ok("reproduce", "anywhere", "--models", b.dir, "--out",
		"@out", "--tasks", "2", "--json")))
	require.Equal(t, 2, drawings)
	require.Contains(t, report, "scaled by 0.3 to 1, shifted by up to 16 pixels")
	require.Contains(t, report, "| SO(2) | a | unknown |")
	require.Equal(t, []string{"a", "SO(2)", "1", "2"}, tables["anywhere.csv"][1][:4])
}

func TestReproducePrecision(t *testing.T) {
	b := newBench(t)
	b.save("T2.safetensors", smallImage("T(2)", 1))
	b.save("SO2.safetensors", smallImage("SO(2)", 1))
	b.save("cnp.safetensors", cnp.Default(cnp.CNPImage, "", 1))
	r := decode[reproduceResult](t, b.ok("reproduce", "precision", "--models", b.dir, "--out", "@out", "--tasks", "2", "--json"))
	report, tables, _ := made(t, r)
	require.Contains(t, report, "| SO(2) | SO2 | stored weights |", "too few channels for pairs")
	require.Contains(t, fmt.Sprint(r.Notes), "cnp computes in float32 alone")
	rows := tables["precision.csv"]
	require.Len(t, rows, 5)
	require.Equal(t, []string{"T2", "T(2)", "1", "float32", "float32", "2"}, rows[1][:6])
	require.Equal(t, "bfloat16", rows[2][3])
	change := func(row int) float64 {
		before, err := strconv.ParseFloat(rows[row][6], 64)
		require.NoError(t, err)
		after, err := strconv.ParseFloat(rows[row+1][6], 64)
		require.NoError(t, err)
		return after - before
	}
	for _, row := range []int{1, 3} {
		require.InDelta(t, 0, change(row), pretrained.BFloat16Loss)
	}
}

func TestReproduceFigures(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short; many drawings (make test runs it)")
	}
	b := newBench(t)
	b.save("rbf_cnp.safetensors", cnp.Default(cnp.CNPCurve, "", 1))
	b.save("T2.safetensors", smallImage("T(2)", 1))
	idx := binary.BigEndian.AppendUint32(nil, 0x803)
	for _, v := range []uint32{2, 8, 8} {
		idx = binary.BigEndian.AppendUint32(idx, v)
	}
	b.write("images", string(append(idx, make([]byte, 128)...)))
	r := decode[reproduceResult](t, b.ok("reproduce", "figures", "--models", b.dir, "--out", "@out", "--tasks", "1", "--mnist",
		"@images", "--json"))
	report, tables, drawings := made(t, r)
	require.Equal(t, 2+6+1, drawings)
	require.Contains(t, report, "## Turned MNIST")
	require.Len(t, tables["curves.csv"], 1+2*3*601)
	require.Len(t, tables["digits.csv"], 1+6+6)
	require.Len(t, tables["mnist.csv"], 2)
	require.Empty(t, r.Notes)
	observed := 0
	for _, row := range tables["curves.csv"][1:] {
		if row[7] == "1" {
			observed++
		}
	}
	require.Equal(t, 2*3*12, observed)
}

func TestReproduceErrors(t *testing.T) {
	b := newBench(t)
	b.fails(2, "say what to make", "reproduce")
	b.fails(2, `unknown part of the paper "table3"`, "reproduce", "table3")
	b.fails(2, `unknown part of the paper "table3"`, "reproduce", "table3", "--out", "@out", "--tasks", "3")
	b.fails(2, `required flag(s) "out"`, "reproduce", "table1")
	b.fails(2, "--tasks 0", "reproduce", "table1", "--out", "@out", "--tasks", "0")
	b.fails(1, "no such file", "reproduce", "table2", "--out", "@out", "--models", "@missing")
	b.fails(1, "no model in it", "reproduce", "table2", "--out", "@out", "--models", b.dir)
	b.save("one.safetensors", cnp.Default(cnp.CNPImage, "", 1))
	b.fails(1, "no curve model among", "reproduce", "table1", "--out", "@out", "--models", b.dir)
	b.save("one.safetensors", cnp.Default(cnp.CNPCurve, "", 1))
	b.fails(1, "no model of grey images", "reproduce", "table2", "--out", "@out", "--models", b.dir)
	b.fails(1, "no model of curves or grey images", "reproduce", "figures", "--out", "@out", "--models", b.dir)
	b.write("file", "")
	b.fails(1, "file", "reproduce", "table1", "--out", "@file")
	b.fails(2, "unknown flag: --models", "reproduce", "approximate", "--out", "@out", "--models", b.dir) // it trains its own
}

// TestReproduceInterrupted: the parts that keep their numbers or models say that they resume, and the others that nothing was written.
func TestReproduceInterrupted(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for part, want := range map[string]string{"gridded": "interrupted, nothing was written\n",
		"rcnp":        "keeps what was finished, the same command resumes\n",
		"approximate": "keeps what was finished, the same command resumes\n", "table2": "interrupted, nothing was written\n"} {
		status, _, errs := b.runContext(ctx, "reproduce", part, "--tasks", "2", "--out", "@"+part)
		require.Equal(t, 1, status, part)
		require.Contains(t, errs, want, part)
	}
}

// TestReproduceBenchmark: models are known by what their files say they were trained on; every number is computed once.
func TestReproduceBenchmark(t *testing.T) {
	b := newBench(t)
	for _, process := range []string{"eq", "sawtooth"} {
		b.ok("train", "regression", "--benchmark", process, "--model", "cnp", "--steps", "1", "--batch", "2", "--eval-every", "0",
			"--out", "@"+process+".safetensors")
	}
	b.ok("train", "regression", "--benchmark", "matern", "--model", "cnp", "--likelihood", "lowrank:2", "--steps", "1", "--batch",
		"2", "--eval-every", "0",
		"--out", "@lowrank.safetensors")
	b.save("other.safetensors", cnp.Default(cnp.CNPCurve, "", 1))
	out := b.path("out")
	args := []string{"reproduce", "benchmark", "--models", b.dir, "--out", out, "--tasks", "2", "--json"}
	report, tables, _ := made(t, decode[reproduceResult](t, b.ok(args...)))
	require.Contains(t, report, "| published: ConvCNP | 0.41 / 0.41 / 0.95 | 0.40 / 0.40 / 0.84 |")
	require.Contains(t, report, "| here: cnp, independent | ")
	require.Contains(t, report, "| here: cnp, autoregressive | ")
	require.Contains(t, report, "| here: cnp, low rank | not trained yet | ")
	require.Contains(t, report, "| here: cnp, low rank, autoregressive | not trained yet | ")
	require.Equal(t, 2*3+2*4+5, strings.Count(report, "not trained yet"))
	rows := tables["benchmark.csv"]
	require.Len(t, rows, 1+3*2*3)
	require.NotEmpty(t, rows[1][7], "a Gaussian process has a KL")
	require.Empty(t, rows[4][7], "a sawtooth has none")

	cells, err := os.ReadFile(filepath.Join(out, "benchmark.jsonl"))
	require.NoError(t, err)
	lines := bytes.SplitAfter(cells, []byte("\n"))
	require.Len(t, lines, 19)
	// An earlier command was interrupted while it wrote its third number.
	broken := append(bytes.Join(lines[:2], nil), lines[2][:10]...)
	require.NoError(t, os.WriteFile(filepath.Join(out, "benchmark.jsonl"), broken, 0o644))
	again, _, _ := made(t, decode[reproduceResult](t, b.ok(args...)))
	require.Equal(t, report, again)
	after, err := os.ReadFile(filepath.Join(out, "benchmark.jsonl"))
	require.NoError(t, err)
	require.Equal(t, 18, bytes.Count(after, []byte("\n")))
	require.True(t, bytes.HasPrefix(after, bytes.Join(lines[:2], nil)), "what was known is kept")

	// More tasks for all numbers but those by the chain rule: these are known.
	more, tables, _ := made(t, decode[reproduceResult](t, b.ok("reproduce", "benchmark", "--models", b.dir, "--out", out,
		"--tasks", "3", "--chain", "1", "--json")))
	require.Equal(t, 3, strings.Count(more, " (2 tasks) |"))
	require.Contains(t, more, "reproduce benchmark --tasks 3 --seed 1000 --chain 1 --models")
	byChain := 0
	for _, row := range tables["benchmark.csv"][1:] {
		want := "3"
		if strings.HasSuffix(row[5], "autoregressive") {
			want, byChain = "2", byChain+1
		}
		require.Equal(t, want, row[6])
	}
	require.Equal(t, 9, byChain)
	after, err = os.ReadFile(filepath.Join(out, "benchmark.jsonl"))
	require.NoError(t, err)
	require.Equal(t, 18+9, bytes.Count(after, []byte("\n")))

	require.NoError(t, os.WriteFile(filepath.Join(out, "benchmark.jsonl"), []byte("nonsense\n"), 0o644))
	b.fails(1, "benchmark.jsonl", args...)
}
