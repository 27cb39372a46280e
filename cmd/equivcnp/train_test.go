package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/train"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

var long = flag.Bool("long", false, "kill training 20 times instead of a few")

// asProgram makes the test binary the program, so that a test can kill it.
const asProgram = "EQUIVCNP_TEST_AS_PROGRAM"

// peakFile names the file that such a program writes its memory to.
const peakFile = "EQUIVCNP_TEST_PEAK"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		if name := os.Getenv(peakFile); name != "" {
			status := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
			b, err := os.ReadFile("/proc/self/status") // the operating system's own figure includes the parent's memory
			if err == nil {
				err = os.WriteFile(name, b, 0o600)
			}
			if err != nil {
				panic(err)
			}
			os.Exit(status)
		}
		main()
	}
	os.Exit(m.Run())
}

// smallRun is a run of a second: EquivCNP on a coarse lattice.
var smallRun = []string{"train", "regression", "--kernel", "matern", "--points-per-unit", "6", "--targets", "20", "--max-context", "10",
	"--batch", "4", "--steps", "60", "--eval-every", "20", "--eval-tasks", "4", "--log-every", "1", "--checkpoint-every", "4"}

// TestTrainLikeThePaper: what the paper leaves to its user trains, resumes and evaluates by flags: powers of values,
// sampled neighbourhoods of each kind of layer, subsampled queries, random numbers of targets, turned MNIST.
func TestTrainLikeThePaper(t *testing.T) {
	b := newBench(t)
	head := []byte{0, 0, 8, 3, 0, 0, 0, 6, 0, 0, 0, 9, 0, 0, 0, 9}
	b.write("train-images-idx3-ubyte", string(append(head, bytes.Repeat([]byte{0, 200, 90}, 6*27)...)))
	for name, run := range map[string]struct{ train, eval []string }{
		"regression": {[]string{"--kernel", "matern", "--points-per-unit", "6", "--multiplicity", "2", "--neighbors", "25",
			"--sampling-fraction", "0.5", "--targets", "20", "--min-targets", "5", "--max-context", "10"}, []string{"--kernel", "matern"}},
		"image": {[]string{"--mnist", "@train-images-idx3-ubyte", "--max-angle", "180", "--group", "SO2", "--width", "4", "--blocks", "1",
			"--neighbors", "12", "--block-neighbors", "8"}, []string{"--mnist", "@train-images-idx3-ubyte", "--max-angle", "180"}},
	} {
		out := "@" + name + ".safetensors"
		args := append([]string{"train", name, "--steps", "4", "--batch", "2", "--eval-tasks", "2", "--checkpoint-every", "2",
			"--out", out}, run.train...)
		b.ok(args...)
		b.ok(append(args, "--resume")...)
		b.fails(1, "its run had", append(args, "--resume", "--neighbors", "5")...)
		r := decode[evalResult](t, b.ok(append([]string{"eval", "--model", out, "--tasks", "3", "--equivariance-tasks", "0", "--json"},
			run.eval...)...))
		require.Positive(t, r.Report.Values, name)
		m, err := weights.Load[float32](b.path(name+".safetensors"), weights.Options{})
		require.NoError(t, err)
		if c := m.Config(); name == "image" {
			require.Equal(t, []int{12, 8}, []int{c.MaxNeighbors, c.BlockNeighbors})
		} else {
			require.Equal(t, []any{25, 0.5, 2}, []any{c.MaxNeighbors, c.SamplingFraction, c.Multiplicity})
		}
	}
}

// TestKilled: a run that is killed at random moments, and continued each time, ends with the bits of one that was not.
func TestKilled(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("skipped: no processes to kill on " + runtime.GOOS)
	}
	b := newBench(t)
	b.ok(append(smallRun, "--out", "@whole.safetensors")...)
	want, err := os.ReadFile(b.path("whole.safetensors"))
	require.NoError(t, err)

	const seed = 7
	rng, kills := rand.New(rand.NewPCG(seed, 1)), 4
	if *long {
		kills = 20
	}
	lines := func() int {
		text, err := os.ReadFile(b.path("killed.jsonl"))
		if err != nil {
			return 0
		}
		return bytes.Count(text, []byte("\n"))
	}
	program := func(threads int) *exec.Cmd {
		args := append(smallRun, "--out", b.path("killed.safetensors"), "--resume", "--threads", fmt.Sprint(threads))
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		return cmd
	}
	for k := range kills {
		cmd := program(1 + k%3)
		require.NoError(t, cmd.Start())
		exited := make(chan struct{})
		go func() {
			defer close(exited)
			_ = cmd.Wait() // it was killed, or it was fast
		}()
		for until := lines() + 1 + rng.IntN(2*60/kills); lines() < until; {
			select {
			case <-exited:
				until = 0
			case <-time.After(time.Millisecond):
			}
		}
		time.Sleep(time.Duration(rng.IntN(4000)) * time.Microsecond)
		_ = cmd.Process.Kill()
		<-exited
	}
	out, err := program(2).CombinedOutput()
	require.NoError(t, err, "%s", out)
	got, err := os.ReadFile(b.path("killed.safetensors"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got), "seed %d: other bits after %d kills", seed, kills)
	require.Equal(t, 60, lines())
}

// TestInterrupted: the first signal ends the run after its step, with its state saved.
func TestInterrupted(t *testing.T) {
	b := newBench(t)
	b.ok(append(smallRun, "--out", "@whole.safetensors")...)
	want, err := os.ReadFile(b.path("whole.safetensors"))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	args := append(smallRun, "--out", "@run.safetensors")
	status, _, errs := b.runContext(ctx, args...)
	require.Equal(t, 1, status)
	require.Contains(t, errs, "interrupted after step 0 of 60")
	require.Contains(t, errs, "--resume continues")
	require.NoFileExists(t, b.path("run.safetensors"))
	b.fails(1, "is the checkpoint of an earlier run", args...)
	b.ok(append(args, "--resume")...)
	got, err := os.ReadFile(b.path("run.safetensors"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got))
	b.ok("inspect", "@run.safetensors")
}

// TestFloor: a trained model is never surer than the noise that it was trained with; a CNP, or one trained without, is as it was.
func TestFloor(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string]struct {
		args []string
		want float64
	}{
		"noise":    {[]string{"--last-noise", "0.05"}, 0.05 * 0.05},
		"no noise": {[]string{"--noise", "0"}, 1e-8},
		"cnp":      {[]string{"--last-noise", "0.5", "--noise", "0.5", "--model", "cnp"}, 0.1},
	} {
		args := append([]string{"train", "regression", "--steps", "2", "--batch", "2", "--eval-every", "0", "--out",
			"@m.safetensors", "--overwrite"}, c.args...)
		if name != "cnp" {
			args = append(args, "--points-per-unit", "6")
		}
		b.ok(args...)
		m, err := weights.Load[float32](b.path("m.safetensors"), weights.Options{})
		require.NoError(t, err)
		require.InEpsilon(t, c.want, m.Config().Floor, 1e-12, name)
	}
}

func TestTrainRefuses(t *testing.T) {
	b := newBench(t)
	b.ok(append(smallRun, "--steps", "2", "--out", "@run.safetensors")...)
	write := func(name, text string) { require.NoError(t, os.WriteFile(b.path(name), []byte(text), 0o644)) }
	require.NoError(t, os.Mkdir(b.path("empty"), 0o755))
	write("garbage.checkpoint", "nonsense")
	write("typo.yaml", "task: regression\nkernel: rbf\n\nstesp: 3\nout: x.safetensors\n")
	write("value.yaml", "task: regression\nsteps: many\n")
	write("twice.yaml", "task: regression\nsteps: 1\nsteps: 2\n")
	write("list.yaml", "- a\n- b\n")
	write("nested.yaml", "task: regression\nsteps:\n  a: 1\n")
	write("broken.yaml", "task: [\n")
	write("huge.yaml", "task: image\ndigits: true\ngroup: SE2\nlifts: 1000\nblocks: 1000\nwidth: 60000\nout: x.safetensors\n")
	write("curves.csv", "x,y\n1,2\n2,3\n")
	write("kind.yaml", "task: video\n")
	write("nokind.yaml", "steps: 1\n")
	write("image.yaml", "task: image\n")
	write("idx", "not an IDX file")
	regression := []string{"train", "regression", "--steps", "1", "--out", "@new.safetensors"}
	img := []string{"train", "image", "--steps", "1", "--out", "@new.safetensors"}
	for _, k := range []struct {
		status int
		words  string
		args   []string
	}{
		{2, "say what to train on", []string{"train"}},
		{2, `unknown kind of training "video"`, []string{"train", "video"}},
		{2, `"out" not set`, []string{"train", "regression"}},
		{2, `"linear" is not one of`, append(regression, "--kernel", "linear")},
		{2, `--model "gp"`, append(regression, "--model", "gp")},
		{2, "are for --model equivcnp", append(regression, "--model", "cnp", "--fill", "0.1")},
		{2, "are for --model equivcnp", append(regression, "--model", "convcnp", "--readout", "rbf")},
		{2, `--readout "crystal" is not one of`, append(regression, "--readout", "crystal")},
		{2, "a cnp has no lattice", append(regression, "--model", "cnp", "--points-per-unit", "3")},
		{2, "--fill 2: need 0 to 1", append(regression, "--fill", "2")},
		{2, "--approximate 1.5: need a probability, 0 to 1", append(regression, "--approximate", "1.5")},
		{2, "--approximate NaN: need a probability, 0 to 1", append(regression, "--approximate", "NaN")},
		{2, "--min-context and --max-context 3 to 200 of 100 targets: need", append(regression, "--max-context", "200")},
		{2, "is empty", append(regression, "--from", "3")},
		{2, "--batch 0: need 1", append(regression, "--batch", "0")},
		{1, "too much memory: this needs about", append(regression, "--batch", "100000")},
		{1, "--memory allows more", append(regression, "--passes", "1000000000")},
		{1, "the limit is 10.5 MB", append(regression, "--memory", "10M")},
		{2, `--memory "much"`, append(regression, "--memory", "much")},
		{2, "--targets 20000: the covariance of so many needs 9.6 GB; need at most 4096", append(regression, "--targets", "20000")},
		{2, "--threads 100000: need 0 to 1024", append(regression, "--threads", "100000")},
		{1, "of parameters", append(img, "--digits", "--group", "T2", "--width", "60000")},
		{1, "of neighbourhoods", append(img, "--digits", "--group", "T2", "--size", "4000")},
		{1, "too much memory", []string{"train", "--config", "@huge.yaml"}},
		{2, "--rate -1 is out of range", append(regression, "--rate", "-1")},
		{2, "--noise -1: need a standard deviation", append(regression, "--noise", "-1")},
		{2, "--last-noise 0: need more than 0, or no --noise", append(regression, "--last-noise", "0")},
		{2, "--stair -1: need at least 1", append(regression, "--schedule", "step", "--stair", "-1")},
		{2, "--window-points is for --window", append(regression, "--csv", "@curves.csv", "--window-points", "5")},
		{2, "--stair is for --schedule step", append(regression, "--stair", "10")},
		{2, "--factor is not for --schedule constant", append(regression, "--schedule", "constant", "--factor", "0.5")},
		{2, "--patience 2: without scores, as --eval-every is 0", append(regression, "--eval-every", "0", "--patience", "2")},
		{2, "--schedule", append(regression, "--schedule", "linear")},
		{2, "--threads -1", append(regression, "--threads", "-1")},
		{1, "--out: ", []string{"train", "regression", "--out", "@no/such.safetensors"}},
		{2, "must end in .safetensors", []string{"train", "regression", "--out", "@a.checkpoint"}},
		{1, "is the checkpoint of an earlier run", append(smallRun, "--out", "@run.safetensors")},
		{1, "for --model, this one has cnp", append(smallRun[:3:3], "rbf", "--model", "cnp", "--out", "@run.safetensors", "--resume")},
		{1, "for --points-per-unit, this one has 9", append(smallRun[:4:4], "--points-per-unit", "9", "--targets", "20",
			"--max-context", "10", "--batch", "4", "--out", "@run.safetensors", "--resume")},
		{1, "it was trained on matern", append([]string{"train", "regression", "--kernel", "periodic"},
			append(smallRun[4:], "--out", "@run.safetensors", "--resume")...)},
		{1, "garbage.checkpoint", append(smallRun, "--out", "@garbage.safetensors", "--resume")},
		{1, "typo.yaml:4: unknown key \"stesp\", did you mean \"steps\"?", []string{"train", "--config", "@typo.yaml"}},
		{1, "typo.yaml:4: unknown key", []string{"train", "regression", "--config", "@typo.yaml"}},
		{1, "value.yaml:2: ", []string{"train", "--config", "@value.yaml"}},
		{1, "twice.yaml:3: steps was already given in line 2", []string{"train", "--config", "@twice.yaml"}},
		{1, "list.yaml:1: ", []string{"train", "--config", "@list.yaml"}},
		{1, "nested.yaml:3: steps: need a single value, or a list of them", []string{"train", "--config", "@nested.yaml"}},
		{1, "broken.yaml: ", []string{"train", "--config", "@broken.yaml"}},
		{1, "kind.yaml:1: ", []string{"train", "--config", "@kind.yaml"}},
		{1, "the key train is missing", []string{"train", "--config", "@nokind.yaml"}},
		{1, "image.yaml:1: task: image, the command trains regression", append(regression, "--config", "@image.yaml")},
		{1, "missing.yaml", []string{"train", "--config", "@missing.yaml"}},
		{2, "--digits, --images, --mnist or --in", append(img, "--group", "T2")},
		{2, "--resize without --size", append(img, "--images", "photos", "--resize")},
		{2, "--resize is for --images", append(img, "--digits", "--resize", "--size", "32")},
		{2, "unknown group", append(img, "--digits", "--group", "SU5")},
		{2, "acts on 3 coordinates", append(img, "--digits", "--group", "SO3")},
		{2, "--lifts 3, group T(2) takes 1 to 1", append(img, "--digits", "--group", "T2", "--lifts", "3")},
		{2, "are for --model equivcnp", append(img, "--digits", "--group", "T2", "--model", "cnp")},
		{2, "--min-rate and --max-rate 0.01 to 2: need 0 <= min <= max <= 1", append(img, "--digits", "--group", "T2", "--max-rate", "2")},
		{2, "--holdout is for your own images", append(img, "--digits", "--group", "T2", "--holdout", "0.2")},
		{2, "--holdout is for your own curves", append(regression, "--holdout", "0.2")},
		{2, "--holdout 1: need 0 to less than 1", append(regression, "--csv", "@curves.csv", "--holdout", "1")},
		{1, "of which none can be held out", append(regression, "--csv", "@curves.csv", "--holdout", "0.5")},
		{2, `--benchmark: benchmark "rbf" is not one of eq, matern,`, append(regression, "--benchmark", "rbf")},
		{2, "--benchmark: a benchmark with 0 coordinates, need 1 to 8", append(regression, "--benchmark", "eq", "--dx", "0")},
		{2, "--dx, --chain and --slow are for --benchmark", append(regression, "--dx", "2")},
		{2, "--dx, --chain and --slow are for --benchmark", append(regression, "--chain")},
		{2, "--dx, --chain and --slow are for --benchmark", append(regression, "--slow", "5")},
		{2, "--benchmark: slow for 5 steps of eq: need 0 or, for sawtooth, more", append(regression, "--benchmark", "eq", "--slow", "5")},
		{2, "--max-context is not for --benchmark", append(regression, "--benchmark", "eq", "--max-context", "5")},
		{2, "--targets is for --kernel", append(regression, "--benchmark", "eq", "--targets", "5")},
		{2, "--expected is for Gaussian processes, not for sawtooth", append(regression, "--benchmark", "sawtooth", "--expected")},
		{2, "--expected is for Gaussian processes, not for mixture", append(regression, "--benchmark", "mixture", "--expected")},
		{2, "--expected is for Gaussian processes, not for rbf,sawtooth", append(regression, "--kernel", "rbf,sawtooth", "--expected")},
		{2, "--expected is for Gaussian processes, not for electric fields", append(regression, "--field", "charges", "--expected")},
		{2, "--expected is for processes, and for --likelihood normal", append(regression, "--benchmark", "eq", "--expected",
			"--likelihood", "lowrank:4")},
		{2, "--expected is for processes, and for --likelihood normal", append(regression, "--csv", "@curves.csv", "--expected")},
		{2, "are for --model equivcnp", append(regression, "--model", "cnp", "--lifts", "2")},
		{2, "acts on 2 coordinates", append(regression, "--benchmark", "eq", "--group", "SE2")},
		{2, "--targets is for --kernel", append(regression, "--csv", "@curves.csv", "--targets", "5")},
		{2, "[csv kernel]", append(regression, "--csv", "@curves.csv", "--kernel", "rbf")},
		{1, "curves.csv:1:1: the columns do not fit", append(regression, "--csv", "@curves.csv", "--x", "time")},
		{2, `at letter 3: "linear" is no kernel`, append(regression, "--kernel", "gp:2*linear")},
		{2, "length = 0", append(regression, "--length", "0")},
		{2, "--colour is for", append(img, "--digits", "--colour")},
		{1, "no PNG, JPEG or TIFF image", append(img, "--images", "@empty", "--group", "T2")},
		{1, "idx", append(img, "--mnist", "@idx", "--group", "T2")},
	} {
		b.fails(k.status, k.words, k.args...)
	}
}

// TestTrainBenchmark: on the tasks that neural processes are compared by, with one coordinate and with two.
func TestTrainBenchmark(t *testing.T) {
	b := newBench(t)
	run := []string{"train", "regression", "--benchmark", "mixture", "--steps", "2", "--batch", "2", "--eval-every", "0", "--out",
		"@m.safetensors", "--json"}
	r := decode[trainResult](t, b.ok(run...))
	require.Equal(t, "mixture of the neuralprocesses benchmark, dx = 1, int", r.Tasks)
	e := decode[evalResult](t, b.ok("eval", "--model", "@m.safetensors", "--benchmark", "sawtooth", "--region", "ext", "--tasks",
		"3", "--json"))
	require.Equal(t, 300, e.Report.Values)
	require.Equal(t, "sawtooth of the neuralprocesses benchmark, dx = 1, ext", e.Source)
	b.fails(2, `region "far"`, "eval", "--model", "@m.safetensors", "--benchmark", "eq", "--region", "far")

	r = decode[trainResult](t, b.ok(append(run, "--overwrite", "--benchmark", "eq", "--dx", "2", "--group", "SE2", "--lifts", "2",
		"--points-per-unit", "2")...))
	require.Equal(t, "SE(2)", r.Group)
	e = decode[evalResult](t, b.ok("eval", "--model", "@m.safetensors", "--benchmark", "eq", "--tasks", "1",
		"--equivariance-tasks", "0", "--json"))
	require.Equal(t, 100, e.Report.Values)

	// Targets as the process expects them: trained on, but not scored on.
	r = decode[trainResult](t, b.ok(append(run, "--overwrite", "--benchmark", "eq", "--expected", "--eval-every", "2",
		"--eval-tasks", "2")...))
	require.Equal(t, "eq of the neuralprocesses benchmark, dx = 1, int, targets as expected", r.Tasks)
	require.Equal(t, "eq of the neuralprocesses benchmark, dx = 1, int", r.Test)
	r = decode[trainResult](t, b.ok("train", "regression", "--field", "rbf", "--expected", "--channels", "4", "--targets", "3",
		"--steps", "2", "--batch", "2", "--out", "@f.safetensors", "--json"))
	require.Contains(t, r.Tasks, "3 targets, targets as expected")
	r = decode[trainResult](t, b.ok("train", "regression", "--kernel", "rbf", "--expected", "--targets", "10", "--max-context",
		"8", "--steps", "2", "--batch", "2", "--out", "@k.safetensors", "--json"))
	require.Contains(t, r.Tasks, "targets as expected")
}

// TestTrainCSV: a user's own curves, of any units and dimensions; a tenth of them is held out, and the model works on others.
func TestTrainCSV(t *testing.T) {
	b := newBench(t)
	rng := rand.New(rand.NewPCG(3, 1))
	var line, plane strings.Builder
	line.WriteString("station;temp;day;wind\n")
	plane.WriteString("y,x2,x1,task\n")
	for task := range 20 {
		phase := 6 * rng.Float64()
		for range 30 {
			x, z := 365*rng.Float64(), 4*rng.Float64()
			fmt.Fprintf(&line, "%d;%.4f;%.2f;%.4f\n", task, 20+3*math.Sin(0.03*x+phase), x, math.Cos(0.03*x+phase))
			fmt.Fprintf(&plane, "%.4f,%.3f,%.3f,%d\n", math.Sin(x+z+phase), x/100, z, task)
		}
	}
	b.write("line.csv", strings.Replace(line.String(), "station", "task", 1))
	b.write("plane.csv", plane.String())
	args := []string{"train", "regression", "--steps", "20", "--batch", "8", "--eval-every", "10", "--eval-tasks", "8", "--json"}
	run := append(args, "--csv", "@line.csv", "--x", "day", "--y", "temp,wind", "--out", "@line.safetensors")
	res := decode[trainResult](t, b.ok(append(run, "--points-per-unit", "0.2")...))
	require.Contains(t, res.Tasks, "18 tasks from the others than 2 of 20 drawn with seed 1")
	require.Contains(t, res.Test, "2 tasks, in order from the held out 2 of 20 drawn with seed 1")
	require.Contains(t, strings.Join(res.Notes, "\n"), "units of x are 4")
	require.Contains(t, b.files()["line.jsonl"], `"source":"2 tasks, in order from the held out`)
	im, err := png.Decode(strings.NewReader(b.files()["line.loss.png"]))
	require.NoError(t, err)
	require.Greater(t, im.Bounds().Dy(), im.Bounds().Dx())
	m, err := weights.Load[float32](b.path("line.safetensors"), weights.Options{})
	require.NoError(t, err)
	c := m.Config()
	require.Equal(t, []int{1, 2}, []int{c.DimX, c.DimY})
	for _, p := range m.State() {
		if strings.HasSuffix(p.Name, ".r") {
			require.InDelta(t, 0.2*12/64*4/2, p.Data[0], 0.02,
				"in the model's units, in which distances under T(1) are a fifth of the difference")
		}
	}
	require.InDelta(t, 0.2*365/4, c.PointsPerUnit, 2)
	// The file says what the data were, and how they come into the model's units.
	require.InDelta(t, 20, c.Trained.Y[0].Mean, 1.5)
	require.InDelta(t, 3/math.Sqrt2, c.Trained.Y[0].Std, 0.5)
	require.InDelta(t, 365, c.Trained.X[0].Max, 5)
	require.InDelta(t, 1/c.Trained.Y[1].Std, c.Trained.Units.Y[1].Factor, 1e-9)
	require.InDelta(t, 300, c.Trained.Span, 60)
	// What was held out scores the same again, in the data's units, by the program that predicts.
	set, err := task.ReadCSV(b.path("line.csv"), task.CSVOptions{X: []string{"day"}, Y: []string{"temp", "wind"}})
	require.NoError(t, err)
	_, apart, err := set.Holdout(0.1, 1)
	require.NoError(t, err)
	var held strings.Builder
	held.WriteString("task,day,temp,wind\n")
	for i, c := range apart.Curves {
		for k, x := range c.X {
			fmt.Fprintf(&held, "%d,%.17g,%.17g,%.17g\n", i, x, c.Y[2*k], c.Y[2*k+1])
		}
	}
	b.write("held.csv", held.String())
	again := []string{"eval", "--model", "@line.safetensors", "--csv", "@held.csv", "--x", "day", "--y", "temp,wind", "--tasks",
		"8", "--seed", fmt.Sprint(0x7e57), "--json"}
	e := decode[evalResult](t, b.ok(again...))
	require.NotZero(t, res.Last.LogLikelihood)
	require.InDelta(t, res.Last.LogLikelihood, e.Report.LogLikelihood.Mean, 1e-12)
	require.InDelta(t, res.Last.RMSE, e.Report.RMSE, 1e-12)
	require.Empty(t, e.Notes, "the held out curves are of the scale of the others")
	b.fails(2, "needs them", append(again, "--standardise=false")...)
	b.write("one.csv", "day,temp,wind\n10,20,0.5\n20,21,0.25\n")
	b.ok("regress", "--model", "@line.safetensors", "--csv", "@one.csv", "--x", "day", "--y", "temp,wind", "--from", "0", "--to", "365",
		"--points", "9", "--out", "@pred.csv")

	res = decode[trainResult](t, b.ok(append(args, "--csv", "@plane.csv", "--holdout", "0", "--out", "@plane.safetensors")...))
	require.Empty(t, res.Test)
	require.Contains(t, strings.Join(res.Notes, "\n"), "nothing is held out")
	require.Equal(t, "T(2)", res.Group)
	require.Contains(t, b.ok("eval", "--model", "@plane.safetensors", "--csv", "@plane.csv"), "20 tasks")
	b.fails(1, "it was trained on", append(args, "--csv", "@plane.csv", "--resume", "--out", "@plane.safetensors")...)

	res = decode[trainResult](t, b.ok(append(args, "--kernel", "gp:rbf+0.1*periodic(1,0.5)", "--length", "0.5", "--model", "cnp",
		"--out", "@gp.safetensors")...))
	require.Contains(t, res.Tasks, "gp:rbf+0.1*periodic(1,0.5) of length 0.5 curves")
	b.tensors("in.safetensors", safetensors.FromFloat64s("x_context", []int{3, 1, 1}, []float64{0, 1, 2}),
		safetensors.FromFloat64s("y_context", []int{3, 1, 2}, make([]float64, 6)),
		safetensors.FromFloat64s("x_target", []int{3, 1, 1}, []float64{1, 2, 3}),
		safetensors.FromFloat64s("y_target", []int{3, 1, 2}, []float64{1, 2, 3, 4, 5, 6}))
	res = decode[trainResult](t, b.ok(append(args, "--in", "@in.safetensors", "--model", "cnp", "--out", "@in-cnp.safetensors")...))
	require.Contains(t, res.Test, "the held out 1 of 3")
}

// TestTrainImages: a folder of images, some of no use, from a configuration file; flags of the command line win.
func TestTrainImages(t *testing.T) {
	b := newBench(t)
	require.NoError(t, os.Mkdir(b.path("photos"), 0o755))
	rng := rand.New(rand.NewPCG(1, 1))
	for i, side := range []int{6, 6, 9, 6} {
		im := image.NewGray(image.Rect(0, 0, side, side))
		for k := range im.Pix {
			im.Pix[k] = uint8(rng.IntN(256))
		}
		var buf bytes.Buffer
		require.NoError(t, png.Encode(&buf, im))
		require.NoError(t, os.WriteFile(filepath.Join(b.dir, "photos", fmt.Sprintf("%d.png", i)), buf.Bytes(), 0o644))
	}
	require.NoError(t, os.WriteFile(b.path("photos/broken.png"), []byte("no"), 0o644))
	text := fmt.Sprintf("# a small run\ntask: image\nimages: %q\ngroup: SE(2)\nlifts: 2\nwidth: 4\nblocks: 1\nsteps: "+
		"50\nbatch: 2\neval-every: 1\neval-tasks: 2\nout: %q\n",
		filepath.ToSlash(b.path("photos")), filepath.ToSlash(b.path("photos.safetensors")))
	require.NoError(t, os.WriteFile(b.path("run.yaml"), []byte(text), 0o644))
	status, out, said := b.run("train", "image", "--config", "@run.yaml", "--steps", "2", "--json")
	require.Equal(t, 0, status, said)
	require.Equal(t, 1, strings.Count(said, "note: 2 images skipped\n"), "once, as training begins: %s", said)
	var res trainResult
	require.NoError(t, json.Unmarshal([]byte(out), &res))
	require.Equal(t, 2, res.Steps)
	require.Equal(t, "SE(2)", res.Group)
	require.Len(t, res.Notes, 4)
	require.Contains(t, strings.Join(res.Notes, "\n"), "2 images skipped")
	require.Contains(t, res.Notes[3], "it has learned little in 2 steps")
	require.NotNil(t, res.Last)
	log, err := os.ReadFile(b.path("photos.jsonl"))
	require.NoError(t, err)
	var rec train.Record
	require.NoError(t, json.Unmarshal(bytes.SplitN(log, []byte("\n"), 2)[0], &rec))
	require.InDelta(t, 0.3, rec.Noise, 1e-12, "the default for images")
	b.ok("complete", "--model", "@photos.safetensors", "--image", "@photos/0.png", "--rate", "0.5", "--seed", "1", "--out", "@out.png")

	b.ok("train", "--config", "@run.yaml", "--help")
	require.NoError(t, os.Remove(b.path("photos.checkpoint")))
	require.NoError(t, os.WriteFile(b.path("run.yaml"), []byte(strings.Replace(text, "steps: 50", "steps: 1\nresume: true", 1)), 0o644))
	require.Contains(t, b.ok("train", "--config", "@run.yaml"), "there was no checkpoint")
}

// TestResumeMore: a run goes on beyond its steps under its own schedule, and says what that means; flags that differ are named.
func TestResumeMore(t *testing.T) {
	b := newBench(t)
	small := func(out string, more ...string) []string {
		return append([]string{"train", "regression", "--model", "cnp", "--batch", "2", "--eval-every", "0", "--out", out}, more...)
	}
	flat := []string{"--schedule", "constant", "--warmup", "4", "--noise", "0"}
	b.ok(small("@whole.safetensors", append(flat, "--steps", "30")...)...)
	b.ok(small("@more.safetensors", append(flat, "--steps", "20")...)...)
	res := decode[trainResult](t, b.ok(small("@more.safetensors", append(flat, "--steps", "30", "--resume", "--json")...)...))
	require.Equal(t, []int{30, 20}, []int{res.Steps, res.Resumed})
	require.Contains(t, strings.Join(res.Notes, "\n"),
		"30 steps, the checkpoint's run had 20: its schedule continues, with a rate of 0.003 at the end")
	weightsOf := func(name string) []float32 {
		m, err := weights.Load[float32](b.path(name), weights.Options{})
		require.NoError(t, err)
		return m.State()[0].Data
	}
	require.Equal(t, weightsOf("whole.safetensors"), weightsOf("more.safetensors"), "the same bits as at once")

	b.ok(small("@cosine.safetensors", "--steps", "20")...)
	res = decode[trainResult](t, b.ok(small("@cosine.safetensors", "--steps", "30", "--resume", "--json")...))
	require.Equal(t, []int{30, 20}, []int{res.Steps, res.Resumed})
	require.Contains(t, strings.Join(res.Notes, "\n"), "with a rate of 3e-05 and a noise of 0.003 at the end")
	b.ok(small("@cosine.safetensors", "--steps", "30", "--resume")...) // a run that was continued, continued again, as after a crash
	for range 2 {
		res = decode[trainResult](t, b.ok(small("@cosine.safetensors", "--steps", "10", "--resume", "--json")...))
		require.Equal(t, 30, res.Steps)
	}
	res = decode[trainResult](t, b.ok(small("@cosine.safetensors", "--steps", "11", "--resume", "--json")...))
	require.Contains(t, strings.Join(res.Notes, "\n"), "30 steps are done already")
	b.ok(small("@zero.safetensors", "--steps", "20", "--factor", "0")...)
	b.fails(1, "ends after 20 steps with a rate of 0, and more steps change nothing", small("@zero.safetensors", "--steps", "30",
		"--factor", "0", "--resume")...)
	for flag, c := range map[string]struct{ value, want string }{
		"rate": {"0.1", "its run had 0.003 for --rate, this one has 0.1"}, "warmup": {"7", "for --warmup"}, "beta": {"0.1", "for --beta"},
		"schedule": {"constant", "for --schedule"}, "noise": {"0.2", "for --noise"}, "seed": {"5", "for --seed"},
		"batch": {"3", "for --batch"}, "weight-decay": {"0.1", "its run had nothing for --weight-decay, this one has 0.1"},
	} {
		b.fails(1, c.want, small("@cosine.safetensors", "--steps", "30", "--resume", "--"+flag, c.value)...)
	}
	levels := []string{"train", "regression", "--levels", "1", "--batch", "1", "--eval-every", "0", "--steps", "1",
		"--out", "@l.safetensors"}
	b.ok(append(levels, "--channels", "4")...)
	b.fails(1, "its run had [4] for --channels (of images --width), this one has [5]", append(levels, "--channels", "5", "--resume")...)
	b.fails(1, "for --kernel-width, this one has 5", append(levels, "--channels", "4", "--kernel-width", "5", "--resume")...)
}
