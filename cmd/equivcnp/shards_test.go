package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/tables"
)

// program is a process of the program.
func program(t testing.TB, env []string, args ...string) *exec.Cmd {
	t.Helper()
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("skipped: no processes on " + runtime.GOOS)
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), asProgram+"=1"), env...)
	return cmd
}

// waves writes so many files of tasks and a manifest that names them, some by a pattern.
func (b *bench) waves(n int) {
	b.t.Helper()
	text := "# the tasks\n\n"
	for i := range n {
		tensors := b.waveTensors()
		tensors[0] = f64s("x_context", []int{2, 3, 1}, 0, float64(i)/10, 0.5, 1, 1.5, 2)
		tensors = append(tensors, f64s("y_target", []int{2, 4, 1}, 0, 1, 0, 1, 0, 1, 0, float64(i)))
		name := fmt.Sprintf("in%02d.safetensors", i)
		b.tensors(name, tensors...)
		if i < n-10 {
			text += name + "\n"
		}
	}
	if n > 10 {
		for d := (n - 10) / 10; d < (n+9)/10; d++ {
			text += fmt.Sprintf("in%d?.safetensors\n", d)
		}
	}
	b.write("list", text)
}

// A manifest's predictions are those of the files one by one.
func TestPredictManifest(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	b.waves(5)
	b.write("list", "# five\nin0?.safetensors\n")
	for i := range 2 {
		out := decode[shardResult](t, b.ok("predict", "--model", "@m.safetensors", "--manifest", "@list", "--out-dir", "@out",
			"--shard", fmt.Sprintf("%d/2", i), "--json"))
		require.Equal(t, []int{3 - i, 3 - i, 0, 0}, []int{out.Items, out.Done, out.Kept, out.Bad})
		out = decode[shardResult](t, b.ok("predict", "--model", "@m.safetensors", "--manifest", "@list", "--out-dir", "@out",
			"--shard", fmt.Sprintf("%d/2", i), "--json"))
		require.Equal(t, []int{0, 3 - i}, []int{out.Done, out.Kept})
	}
	sum := 0.0
	var mean []float32
	for i := range 5 {
		one := decode[predictResult](t, b.ok("predict", "--model", "@m.safetensors", "--in",
			"@"+fmt.Sprintf("in%02d.safetensors", i), "--out", "@one.safetensors", "--json"))
		sum += float64(*one.LogLikelihood)
		want, err := os.ReadFile(b.path("one.safetensors"))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(b.dir, "out", fmt.Sprintf("%06d-in%02d.safetensors", i, i)))
		require.NoError(t, err)
		require.Equal(t, want, got)
		m, _ := b.prediction("one.safetensors", 2, 4, 1)
		mean = append(mean, m...)
	}
	m := decode[mergeResult](t, b.ok("merge", "@out", "--json", "--report", "@report.json", "--out", "@all.safetensors"))
	require.Equal(t, []int{5, 10, 2}, []int{m.Items, m.Tasks, m.Shards})
	require.InDelta(t, sum/5, float64(*m.LogLikelihood), 1e-9)
	all, _ := b.prediction("all.safetensors", 10, 4, 1)
	require.Equal(t, mean, all)
	report, err := os.ReadFile(b.path("report.json"))
	require.NoError(t, err)
	require.Len(t, decode[mergeResult](t, string(report)).Records, 5)

	// Another model or another flag is another job.
	b.fails(1, "another manifest, model or other flags", "predict", "--model", "@m.safetensors", "--manifest", "@list",
		"--out-dir", "@out", "--shard", "0/2", "--quantiles", "0.5")
	b.save("m2.safetensors", curveConfig())
	b.write("none", "")
	b.fails(1, "no line names anything", "predict", "--model", "@m.safetensors", "--manifest", "@none", "--out-dir", "@out2")
	b.fails(2, "INDEX/COUNT", "predict", "--model", "@m.safetensors", "--manifest", "@list", "--out-dir", "@out2", "--shard", "2/2")
	b.fails(2, "SLURM_ARRAY_TASK_ID", "predict", "--model", "@m.safetensors", "--manifest", "@list", "--out-dir", "@out2", "--shards", "2")
	b.fails(2, "[in manifest]", "predict", "--model", "@m.safetensors", "--manifest", "@list", "--out-dir", "@out2", "--in", "@list")
	b.fails(2, "manifest out-dir", "predict", "--model", "@m.safetensors", "--manifest", "@list")

	// Bad lines are named, and the others are done.
	b.write("broken.npz", "PK")
	b.write("list", "in00.safetensors\n# no file\nmissing.npz\nbroken.npz\nin01.safetensors\n")
	status, _, errs := b.run("predict", "--model", "@m.safetensors", "--manifest", "@list", "--out-dir", "@bad")
	require.Equal(t, 1, status)
	require.Contains(t, errs, "2 of shard 0/1")
	require.Contains(t, errs, "list:3: ")
	require.Contains(t, errs, "list:4: ")
	b.fails(1, "not complete", "merge", "@bad")
	skipped := decode[shardResult](t, b.ok("predict", "--model", "@m.safetensors", "--manifest", "@list", "--out-dir", "@bad",
		"--skip-bad", "--json"))
	require.Equal(t, []int{4, 2, 2, 2}, []int{skipped.Items, skipped.Done, skipped.Kept, skipped.Bad})
	require.Equal(t, 2, decode[mergeResult](t, b.ok("merge", "@bad", "--json")).Bad)
}

// Many processes, some of them killed at any moment and started again as a scheduler does, give what one gives.
func TestPredictShardsKilled(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	files, count := 90, 8
	if testing.Short() {
		files, count = 30, 4
	}
	b.waves(files)
	b.ok("predict", "--model", "@m.safetensors", "--manifest", "@list", "--out-dir", "@one")
	rng := rand.New(rand.NewPCG(1, 1))
	var lock sync.Mutex
	kills := 0
	var group sync.WaitGroup
	gate := make(chan struct{}, 3) // processes at a time
	for i := range count {
		delays := make([]time.Duration, 3)
		for k := range delays {
			delays[k] = time.Duration(rng.IntN(60)) * time.Millisecond
		}
		group.Go(func() {
			for attempt := 0; ; attempt++ {
				gate <- struct{}{}
				cmd := program(t, []string{fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i), "GOMAXPROCS=1"},
					"predict", "--model", b.path("m.safetensors"), "--manifest", b.path("list"), "--out-dir", b.path("many"),
					"--shards", fmt.Sprint(count))
				var errs bytes.Buffer
				cmd.Stderr = &errs
				if err := cmd.Start(); err != nil {
					t.Error(err)
					<-gate
					return
				}
				if attempt < len(delays) {
					waitForWork(b.path("many"), i, count, attempt)
					time.Sleep(delays[attempt])
					_ = cmd.Process.Kill()
				}
				err := cmd.Wait()
				<-gate
				if err == nil {
					return
				}
				if attempt >= len(delays) {
					t.Errorf("shard %d: %v: %s", i, err, errs.String())
					return
				}
				lock.Lock()
				kills++
				lock.Unlock()
			}
		})
	}
	group.Wait()
	t.Logf("%d processes were killed", kills)
	require.Positive(t, kills)
	var merged [2]mergeResult
	for i, dir := range []string{"one", "many"} {
		merged[i] = decode[mergeResult](t, b.ok("merge", "@"+dir, "--json"))
	}
	require.Equal(t, merged[0].Items, merged[1].Items)
	require.Equal(t, files, merged[1].Items)
	require.Equal(t, merged[0].LogLikelihood, merged[1].LogLikelihood)
	same, err := filepath.Glob(filepath.Join(b.dir, "one", "0*"))
	require.NoError(t, err)
	require.Len(t, same, files)
	for _, path := range same {
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(b.dir, "many", filepath.Base(path)))
		require.NoError(t, err)
		require.Equal(t, want, got, path)
	}
	left, err := filepath.Glob(filepath.Join(b.dir, "many", ".*"))
	require.NoError(t, err)
	require.Empty(t, left, "merge removes what killed processes left")
}

// waitForWork waits until a shard has finished more items than attempts before, or a while.
func waitForWork(dir string, i, count, attempt int) {
	for range 200 {
		stem := filepath.Join(dir, fmt.Sprintf("shard-%05d-of-%05d", i, count))
		journal, _ := os.ReadFile(stem + ".journal")
		if _, err := os.Stat(stem + ".json"); err == nil || bytes.Count(journal, []byte(`"sha256"`)) > attempt {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Slurm's script runs the program as it says.
func TestSlurmScript(t *testing.T) {
	script, err := filepath.Abs("../../deploy/batch/slurm.sbatch")
	require.NoError(t, err)
	if _, err := exec.LookPath("bash"); err != nil && runtime.GOOS != "linux" { // CI runs on Linux, where it has to be
		t.Skip("skipped: bash, which the script is written for, is not installed")
	}
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	b.waves(3)
	b.write("list", "in0?.safetensors\n")
	self, err := os.Executable()
	require.NoError(t, err)
	for i := range 2 {
		cmd := exec.Command("bash", script, b.path("m.safetensors"), b.path("list"), b.path("out"))
		cmd.Env = append(os.Environ(), asProgram+"=1", "EQUIVCNP="+self, "SHARDS=2", fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", i),
			"SLURM_CPUS_PER_TASK=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	require.Equal(t, 3, decode[mergeResult](t, b.ok("merge", "@out", "--json")).Items)
}

// Trainings of a manifest are those of the lines one by one, and go on after a kill.
func TestTrainManifest(t *testing.T) {
	b := newBench(t)
	const flags = " --points-per-unit 6 --targets 20 --max-context 10 --batch 4 --steps 60 --eval-every 20 --eval-tasks " +
		"4 --checkpoint-every 4 --seed "
	b.write("runs", "# two seeds\nregression --kernel rbf"+flags+"1\ntrain regression --kernel \"rbf\""+flags+"2\n")
	cmd := program(t, nil, "train", "--manifest", b.path("runs"), "--out-dir", b.path("out"), "--shard", "0/2")
	require.NoError(t, cmd.Start())
	for range 400 {
		if _, err := os.Stat(filepath.Join(b.dir, "out", "000000-regression.checkpoint")); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for i := range 2 {
		b.ok("train", "--manifest", "@runs", "--out-dir", "@out", "--shard", fmt.Sprintf("%d/2", i), "--json")
	}
	b.ok(append([]string{"train", "regression", "--kernel", "rbf", "--out", "@alone.safetensors"}, strings.Fields(flags+"1")...)...)
	want, err := os.ReadFile(b.path("alone.safetensors"))
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(b.dir, "out", "000000-regression.safetensors"))
	require.NoError(t, err)
	require.Equal(t, want, got)
	text := b.ok("merge", "@out")
	require.Contains(t, text, "line 2 ")
	require.Contains(t, text, "log-likelihood")
	require.Contains(t, text, "--seed 2")

	b.write("mine.yaml", "train: regression\nkernel: rbf\nsteps: 1\nout: "+b.path("mine.safetensors")+"\n")
	b.write("typo.yaml", "kernel: rbf\nstesp: 1\n")
	for line, words := range map[string]string{
		"regression --config " + b.path("mine.yaml"): "runs:1: --out is not for a line to say, nor for its --config",
		"regression --config " + b.path("typo.yaml"): "typo.yaml:2: unknown key \"stesp\"",
		"image --nonsense 3":                         "runs:1: unknown flag: --nonsense",
		"regression --out x.safetensors":             "runs:1: --out is not for a line to say",
		"predict --model x":                          "runs:1: need regression or image",
		"regression --kernel 'rbf":                   "runs:1: a quote",
		"regression --kernel rbf another":            "runs:1",
	} {
		b.write("runs", line+"\n")
		b.fails(1, words, "train", "--manifest", "@runs", "--out-dir", "@out2")
	}
}

// Several models predict as a mixture, as flags or as a file of their names.
func TestEnsembleFlags(t *testing.T) {
	b := newBench(t)
	b.save("a.safetensors", curveConfig())
	other := curveConfig()
	other.Channels = []int{4, 6, 4}
	b.save("b.safetensors", other)
	b.write("both.ensemble", "# two\na.safetensors\n\nb.safetensors\n")
	b.tensors("in.safetensors", b.waveTensors()...)
	var mean [2][]float32
	for i, name := range []string{"@a.safetensors", "@b.safetensors"} {
		b.ok("predict", "--model", name, "--in", "@in.safetensors", "--out", "@out.safetensors")
		mean[i], _ = b.prediction("out.safetensors", 2, 4, 1)
	}
	b.ok("predict", "--model", "@a.safetensors", "--model", "@b.safetensors", "--in", "@in.safetensors", "--out", "@flags.npz",
		"--quantiles", "0.1,0.9")
	b.ok("predict", "--model", "@both.ensemble", "--in", "@in.safetensors", "--out", "@file.npz", "--quantiles", "0.1,0.9")
	require.Equal(t, b.files()["flags.npz"], b.files()["file.npz"])
	b.ok("predict", "--model", "@both.ensemble", "--in", "@in.safetensors", "--out", "@e.safetensors", "--samples", "3")
	p := b.tensorsOf("e.safetensors")
	for i, v := range p["mean"] {
		require.InDelta(t, (mean[0][i]+mean[1][i])/2, v, 1e-6)
	}
	require.Len(t, p["samples"], 3*8)
	out := b.ok("eval", "--model", "@both.ensemble", "--kernel", "rbf", "--tasks", "4", "--equivariance-tasks", "0")
	require.Contains(t, out, "both.ensemble")
	b.write("none.ensemble", "# nothing\n")
	b.fails(1, "no line names a model", "predict", "--model", "@none.ensemble", "--in", "@in.safetensors", "--out", "@x.safetensors")
	b.fails(2, "need one model here, not 2", "convert", "--model", "@both.ensemble", "--out", "@c.safetensors")
	b.save("image.safetensors", imageConfig("T(2)", 1))
	b.fails(1, "does not fit the first one", "predict", "--model", "@a.safetensors", "--model", "@image.safetensors", "--in",
		"@in.safetensors", "--out", "@x.safetensors")
}

// tensorsOf reads the tensors of a file.
func (b *bench) tensorsOf(name string) map[string][]float32 {
	b.t.Helper()
	f, err := safetensors.Read(b.path(name))
	require.NoError(b.t, err)
	out := map[string][]float32{}
	for i := range f.Tensors {
		out[f.Tensors[i].Name], err = f.Tensors[i].Float32s()
		require.NoError(b.t, err)
	}
	return out
}

// A manifest's tables are predicted as predict does one by one, and merged into one table.
func TestPredictManifestTables(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", curveConfig())
	for i, ending := range []string{"csv", "parquet", "nc", "npz", "tsv"} {
		text := "station,x,y,w\n"
		for k := range 8 {
			y := fmt.Sprint(float64(i+k) / 4)
			if k%3 == 1 {
				y = ""
			}
			text += fmt.Sprintf("s%d,%g,%s,1\n", k%2, float64(k)/4-1, y)
		}
		b.write("in.csv", text)
		in, err := tables.ReadFile(b.path("in.csv"), nil)
		require.NoError(t, err)
		if ending == "npz" { // which has no place for text
			in = in.Only([]int{1, 2}, []string{"x", "y"})
		}
		var buf bytes.Buffer
		require.NoError(t, tables.Write(&buf, "."+ending, in, nil))
		b.write("t"+fmt.Sprint(i)+"."+ending, buf.String())
	}
	b.write("list", "t0.csv\nt1.parquet\nt2.nc\nt4.tsv\n")
	args := []string{"--model", "@m.safetensors", "--x", "x", "--y", "y", "--task", "station", "--quantiles", "0.5"}
	sum, n := 0.0, 0
	for i := range 2 {
		b.ok(append([]string{"predict", "--manifest", "@list", "--out-dir", "@out", "--shard", fmt.Sprintf("%d/2", i)}, args...)...)
	}
	var want []float64
	for i, name := range []string{"t0.csv", "t1.parquet", "t2.nc", "t4.tsv"} {
		ending := filepath.Ext(name)
		one := decode[predictResult](t, b.ok(append([]string{"predict", "--in", "@" + name, "--out", "@one" + ending, "--json"},
			args...)...))
		require.Equal(t, []string{"x"}, one.Inputs)
		require.Equal(t, []string{"station", "x", "y_mean", "y_std", "y_q0.5"}, one.Columns)
		if one.LogLikelihood != nil {
			sum += float64(*one.LogLikelihood) * float64(one.LogLikelihoodValues)
			n += one.LogLikelihoodValues
		}
		got, err := os.ReadFile(filepath.Join(b.dir, "out", fmt.Sprintf("%06d-%s", i, name)))
		require.NoError(t, err)
		require.Equal(t, b.files()["one"+ending], string(got), name)
		table, err := tables.ReadFile(b.path("one"+ending), nil)
		require.NoError(t, err)
		want = append(want, table.Take(1, 2, 3, 4)...)
	}
	for _, out := range []string{"all.csv", "all.parquet", "all.nc", "all.npz"} {
		m := decode[mergeResult](t, b.ok("merge", "@out", "--out", "@"+out, "--json"))
		require.Equal(t, []int{4, 8, 0}, []int{m.Items, m.Tasks, m.Bad})
		if n > 0 {
			require.InDelta(t, sum/float64(n), float64(*m.LogLikelihood), 1e-12)
		}
		all, err := tables.ReadFile(b.path(out), nil)
		require.NoError(t, err)
		require.Equal(t, []string{"file", "station", "x", "y_mean", "y_std", "y_q0.5"}, all.Header, out)
		require.Equal(t, "t0.csv s0 t4.tsv s1",
			strings.Join([]string{all.Cell(0, 0), all.Cell(0, 1), all.Cell(31, 0), all.Cell(31, 1)}, " "), out)
		require.Equal(t, want, all.Take(2, 3, 4, 5), out)
	}
	b.fails(2, "tables go into", "merge", "@out", "--out", "@all.safetensors")

	// Tables and files of tensors do not go into one file; an image model predicts no table.
	b.write("list", "t0.csv\nt3.npz\nmissing.csv\n")
	status, _, errs := b.run("predict", "--model", "@m.safetensors", "--manifest", "@list", "--out-dir", "@mixed")
	require.Equal(t, 1, status)
	require.Contains(t, errs, "list:3: ")
	b.save("image.safetensors", imageConfig("T(2)", 1))
	b.write("list", "t0.csv\n")
	b.fails(1, "completes images", "predict", "--model", "@image.safetensors", "--manifest", "@list", "--out-dir", "@images")
}
