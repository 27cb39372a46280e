package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/shards"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// interrupted keeps what a command leaves when it is stopped after some steps: .partial and .progress of its outputs.
func (b *bench) interrupted(steps int, out string, args ...string) map[string][]byte {
	b.t.Helper()
	shards.StopAfter(steps)
	defer shards.StopAfter(0)
	status, _, errs := b.run(args...)
	require.Equal(b.t, 1, status)
	require.Contains(b.t, errs, "stopped by a test")
	left := map[string][]byte{}
	for name, text := range b.files() {
		if strings.HasPrefix(name, out) || strings.HasPrefix(name, "std-"+out) {
			left[name] = []byte(text)
		}
	}
	require.Contains(b.t, left, out+".progress")
	require.Contains(b.t, left, out+".partial")
	return left
}

// mutated resumes from every mutant of every file that an interrupted command left: the result is the whole one, or there is none.
func (b *bench) mutated(left map[string][]byte, want map[string]string, n int, args ...string) {
	b.t.Helper()
	refused := 0
	for name := range left {
		for _, seed := range []uint64{3, 4} {
			mutants, what := testkit.Mutants(seed, left[name], n)
			for i, mutant := range append(mutants, []byte{}) {
				for other, text := range left {
					require.NoError(b.t, os.WriteFile(b.path(other), text, 0o600))
				}
				require.NoError(b.t, os.WriteFile(b.path(name), mutant, 0o600))
				status, _, _ := b.run(args...)
				files := b.files()
				for out, text := range want {
					if status != 0 {
						refused++
						break
					}
					about := name + ": empty"
					if i < len(what) {
						about = name + ": " + what[i]
					}
					require.True(b.t, text == files[out], about)
				}
				for out := range want {
					os.Remove(b.path(out))
				}
			}
		}
	}
	b.t.Logf("%d refused", refused)
}

func TestMutatedRaster(t *testing.T) {
	b := newBench(t)
	b.rasterModel("m.safetensors", 1)
	const h, w = 48, 64
	b.array("in.npy", []int{h, w}, gappyRaster(h*w))
	for _, out := range []string{"r.npy", "r.tif"} {
		args := []string{"raster", "--model", "@m.safetensors", "--in", "@in.npy", "--out", "@" + out, "--std-out", "@std-" + out,
			"--tile-height", "8"}
		b.ok(args...)
		files := b.files()
		want := map[string]string{out: files[out], "std-" + out: files["std-"+out]}
		os.Remove(b.path(out))
		os.Remove(b.path("std-" + out))
		b.mutated(b.interrupted(3, out, args...), want, 5, args...)
	}
}

func TestMutatedStations(t *testing.T) {
	b := newBench(t)
	c := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	c.PointsPerUnit, c.Channels, c.Hidden, c.Mid, c.Placement, c.Readout = 8, []int{4, 4, 4}, 4, 2, cnp.PlacementContext, cnp.ReadoutQueries
	b.save("m.safetensors", c)
	b.write("data.csv", "x,y\n0,1\n1,2\n2,1.5\n")
	b.write("t.csv", "x\n"+strings.Repeat("0.25\n1\n1.5\n", 40))
	args := []string{"stations", "--model", "@m.safetensors", "--csv", "@data.csv", "--targets", "@t.csv", "--out", "@s.csv",
		"--rows", "20"}
	b.ok(args...)
	want := map[string]string{"s.csv": b.files()["s.csv"]}
	os.Remove(b.path("s.csv"))
	b.mutated(b.interrupted(3, "s.csv", args...), want, 15, args...)

	// While another process writes it, an output is refused.
	busy, err := shards.OpenProgress(b.path("s.csv.progress"), "other", nil)
	require.NoError(t, err)
	defer busy.Close()
	b.fails(1, "another process is writing it", args...)
}
