package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
)

// Rows in chunks are the rows of regress, byte for byte, with and without a header, also after a kill.
func TestStations(t *testing.T) {
	b := newBench(t)
	c := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	c.PointsPerUnit, c.Channels, c.Hidden, c.Mid, c.Placement, c.Readout = 8, []int{4, 4, 4}, 4, 2, cnp.PlacementContext, cnp.ReadoutQueries
	b.save("m.safetensors", c)
	b.write("data.csv", "x,y\n0,1\n1,2\n2,1.5\n")
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 3000
	var text strings.Builder
	for range n {
		fmt.Fprintf(&text, "%.4f\n", 6*rng.Float64()-2)
	}
	for _, header := range []string{"", "x\n", "# places\n\nx\n"} {
		b.write("t.csv", header+text.String())
		b.ok("regress", "--model", "@m.safetensors", "--csv", "@data.csv", "--targets", "@t.csv", "--out", "@whole.csv",
			"--quantiles", "0.1")
		for _, rows := range []string{"1", "700", "3000", "5000"} {
			if rows == "1" && header != "" {
				continue
			}
			if rows == "1" {
				rows = "97"
			}
			got := decode[stationsResult](t, b.ok("stations", "--model", "@m.safetensors", "--csv", "@data.csv", "--targets",
				"@t.csv", "--out", "@rows.csv", "--quantiles", "0.1",
				"--rows", rows, "--json"))
			require.Equal(t, []int{n, 0, 3}, []int{got.Targets, got.Kept, got.ContextPoints})
			files := b.files()
			require.Equal(t, files["whole.csv"], files["rows.csv"], "%q, %s rows", header, rows)
			require.NotContains(t, files, "rows.csv.progress")
			require.NotContains(t, files, "rows.csv.partial")
		}
	}

	args := []string{"stations", "--model", b.path("m.safetensors"), "--csv", b.path("data.csv"), "--targets", b.path("t.csv"),
		"--out", b.path("killed.csv"), "--quantiles", "0.1",
		"--rows", "20", "--json"}
	steps := func() int {
		progress, _ := os.ReadFile(b.path("killed.csv.progress"))
		return bytes.Count(progress, []byte(`"rows"`))
	}
	for k := range 3 {
		cmd := program(t, nil, args...)
		require.NoError(t, cmd.Start())
		for until, waited := steps()+5+10*k, 0; steps() < until && waited < 5000; waited++ {
			time.Sleep(time.Millisecond)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	got := decode[stationsResult](t, b.ok(args...))
	require.Positive(t, got.Kept)
	require.Equal(t, n, got.Targets)
	require.Equal(t, b.files()["whole.csv"], b.files()["killed.csv"])

	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := io.WriteString(z, text.String())
	require.NoError(t, err)
	require.NoError(t, z.Close())
	b.write("t.csv.gz", packed.String())
	packed.Reset()
	archive := zip.NewWriter(&packed)
	w, err := archive.Create("t.csv")
	require.NoError(t, err)
	_, err = io.WriteString(w, "x\n"+text.String())
	require.NoError(t, err)
	require.NoError(t, archive.Close())
	b.write("t.zip", packed.String())
	for _, name := range []string{"t.csv.gz", "t.zip"} {
		b.ok("stations", "--model", "@m.safetensors", "--csv", "@data.csv", "--targets", "@"+name, "--out", "@unpacked.csv",
			"--quantiles", "0.1", "--rows", "700")
		require.Equal(t, b.files()["whole.csv"], b.files()["unpacked.csv"], name)
	}

	b.write("bad.csv", "x\n1\nfar\n")
	b.fails(1, "bad.csv", "stations", "--model", "@m.safetensors", "--csv", "@data.csv", "--targets", "@bad.csv", "--out", "@x.csv")
}
