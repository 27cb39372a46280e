package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// walkSteps are as many steps as the test trains, fewer than the page says.
const walkSteps = "15"

// fewerTasks are arguments by which its models are scored on fewer tasks.
var fewerTasks = map[string][]string{"train": {"--eval-tasks", "4"}, "eval": {"--tasks", "4"}}

// TestStationsWalk runs every command of docs/stations.md, on fewer times and with less training.
func TestStationsWalk(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "stations.md"))
	require.NoError(t, err)
	dir := t.TempDir()
	stations := filepath.Join(dir, "make")
	out, err := exec.Command("go", "build", "-o", stations, "../stations").CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Chdir(dir)
	commands, scores := 0, ""
	for _, block := range strings.Split(string(text), "\n```")[1:] {
		code, ok := strings.CutPrefix(block, "sh\n")
		if python, is := strings.CutPrefix(block, "python\n"); is {
			cmd := exec.Command(testkit.Python(t, "xarray", "netCDF4"), "-c", python)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "'lat': 41")
			require.Contains(t, string(out), "'lon': 41")
			require.NotContains(t, string(out), "nan")
			commands++
			continue
		}
		if !ok {
			continue
		}
		for line := range strings.Lines(strings.ReplaceAll(code, "\\\n", " ")) {
			r := csv.NewReader(strings.NewReader(strings.Join(strings.Fields(line), " ")))
			r.Comma, r.LazyQuotes = ' ', true
			args, err := r.Read()
			require.NoError(t, err)
			commands++
			if args[0] == "go" {
				require.Equal(t, "./cmd/stations", args[2])
				out, err := exec.Command(stations, append(args[3:], "-times", "20")...).CombinedOutput()
				require.NoError(t, err, "%s", out)
				continue
			}
			require.Equal(t, "equivcnp", args[0])
			if k := slices.Index(args, "--steps"); k > 0 {
				args[k+1] = walkSteps
			}
			args = append(args, fewerTasks[args[1]]...)
			var said, errs bytes.Buffer
			require.Equal(t, 0, run(context.Background(), args[1:], strings.NewReader(""), &said, &errs), "%s: %s", line, &errs)
			if args[1] == "eval" {
				scores = said.String()
			}
			if args[1] == "train" {
				require.Contains(t, said.String(), "40 of the 200 values of station")
			}
		}
	}
	require.Equal(t, 9, commands)
	require.Contains(t, scores, "kriging:4*matern32(2)+noise(0.09)")
	f, err := os.Open("map.png")
	require.NoError(t, err)
	defer f.Close()
	_, err = png.Decode(f)
	require.NoError(t, err)
	level, err := tables.ReadFile("level.parquet", nil)
	require.NoError(t, err)
	require.Equal(t, 21*21, level.Rows())
	require.Equal(t, []string{"time", "lon", "lat", "elevation", "hour", "t2m_mean", "rain_mean", "t2m_std", "rain_std",
		"t2m_sample1", "rain_sample1", "t2m_sample2", "rain_sample2"}, level.Header)
	for _, v := range level.Take(5, 6, 7, 8, 9, 12) {
		require.False(t, v != v)
	}
}

// Tasks are windows of one large table; a model trained on them predicts others of its windows. The drawing of the log
// is there before the end.
func TestTrainWindows(t *testing.T) {
	b := newBench(t)
	defer func(every time.Duration) { drawEvery = every }(drawEvery)
	drawEvery = 0
	var text strings.Builder
	text.WriteString("day,y\n")
	for i := range 400 {
		x := float64(i) / 4
		fmt.Fprintf(&text, "%g,%.4f\n", x, math.Sin(x))
	}
	b.write("long.csv", text.String())
	out := b.ok("train", "regression", "--csv", "@long.csv", "--x", "day", "--y", "y", "--window", "day=8", "--window-points",
		"20", "--holdout-by", "day=80:100",
		"--steps", "6", "--batch", "2", "--eval-every", "3", "--eval-tasks", "4", "--points-per-unit", "2", "--out", "@m.safetensors")
	require.Contains(t, out, "windows of [8], of at most 20 points, in 1 tasks from the rows but day from 80 to 100")
	require.Contains(t, out, "a curve's 8 units of x are 4")
	require.FileExists(t, b.path("m.loss.png"))
	early := &trainFlags{out: b.path("early.safetensors")}
	early.drawing(b.path("m.jsonl"))()
	require.FileExists(t, b.path("early.loss.png"))
	out = b.ok("eval", "--model", "@m.safetensors", "--csv", "@long.csv", "--x", "day", "--y", "y", "--window", "day=8",
		"--holdout-by", "day=80:100", "--tasks", "20",
		"--compare", b.path("m.safetensors")+",idw", "--equivariance-tasks", "0")
	require.Contains(t, out, "that is +0.0000 ± 0.0000 likelier")
	b.wholeTable()
	b.fails(2, "need an input of day and a length", "train", "regression", "--csv", "@long.csv", "--x", "day", "--y", "y",
		"--window", "hour=8", "--out", "@n.safetensors")
}

// wholeTable predicts the whole of long.csv by a model that was trained on windows: as it does with the rows of one
// window alone.
func (b *bench) wholeTable() {
	t := b.t
	b.write("at.csv", "day\n50.1\n50.2\n")
	var part strings.Builder
	part.WriteString("day,y\n")
	for i := range 400 {
		if x := float64(i) / 4; x >= 47 && x <= 55 { // the window around the cell from 50 to 52, since the rows begin at 0
			fmt.Fprintf(&part, "%g,%.4f\n", x, math.Sin(x))
		}
	}
	b.write("part.csv", part.String())
	flags := []string{"--model", "@m.safetensors", "--x", "day", "--y", "y", "--targets", "@at.csv", "--no-check", "--out"}
	status, _, errs := b.run(append([]string{"regress", "--csv", "@long.csv"}, append(flags, "@whole.csv")...)...)
	require.Equal(t, 0, status, errs)
	require.Contains(t, errs, "predicted window by window")
	b.ok(append([]string{"regress", "--csv", "@part.csv"}, append(flags, "@part-out.csv")...)...)
	want, err := os.ReadFile(b.path("part-out.csv"))
	require.NoError(t, err)
	got, err := os.ReadFile(b.path("whole.csv"))
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
	out := b.ok("eval", "--model", "@m.safetensors", "--csv", "@long.csv", "--x", "day", "--y", "y", "--tasks", "1",
		"--equivariance-tasks", "0")
	require.NotContains(t, out, "NaN")
	b.fails(1, "windows", "sample", "--model", "@m.safetensors", "--csv", "@long.csv", "--x", "day", "--y", "y", "--targets", "@at.csv",
		"--samples", "2", "--out", "@drawn.csv")
}
