package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// inferenceCases are the image models, by group and by how weights are kept, and the curve models. "cold" is the first Complete of one
// image in a new process; "kept" that of one whose plan is read from a file, and how long making and reading it takes.
var inferenceCases = []string{
	"image/T2/cold", "image/T2/kept", "image/T2/default", "image/T2/direct", "image/T2/transforms", "image/T2/bfloat16",
	"image/SE2/cold", "image/SE2/default",
	"image/RxSO2/cold", "image/RxSO2/kept", "image/RxSO2/default", "image/RxSO2/stored", "image/RxSO2/bfloat16", "image/RxSO2/evaluated",
	"image/SO2/cold", "image/SO2/default", "image/SO2/stored", "image/SO2/bfloat16", "image/SO2/evaluated",
	"curve/rbf", "curve/matern", "curve/periodic",
}

// planOptions are the ways to keep weights, as many as a plan keeps by default, all of them, or none, and to compute
// convolutions on a grid.
var planOptions = map[string]cnp.PlanOptions{
	"default":   {},
	"stored":    {Memory: 4 << 30},
	"bfloat16":  {Memory: 4 << 30, Precision: cnp.BFloat16},
	"evaluated": {Memory: -1},

	"direct":     {Algorithm: layers.Direct},
	"transforms": {Algorithm: layers.Transforms},
}

func inferenceCommand() *cobra.Command {
	var (
		asJSON, one bool
		dir, only   string
		size, times int
	)
	cmd := &cobra.Command{
		Use:   "inference",
		Short: "Time plans: latency, throughput, memory, share of the FMA limit",
		Long: `Time trained models through plans, by group, way of keeping convolution weights and, on a grid, algorithm: the best,
median and 99th percentile of calls, images or tasks a second, peak memory of a process that does nothing else, and
the share of the machine's float32 FMA limit that the model's multiply-adds amount to, on as many cores as threads.`,
		Example: "  go run ./bench inference --weights ../shared/weights\n  go run ./bench inference --only image/T2 --size 256 --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := &report{w: cmd.OutOrStdout(), json: asJSON}
			if one {
				return timeInference(r, dir, only, size, times)
			}
			if err := errors.Join(within("size", size, mostSize), within("times", times, mostTimes)); err != nil {
				return err
			}
			some, err := chosen(inferenceCases, only)
			if err != nil {
				return err
			}
			for _, c := range some {
				if err := r.child(c, "inference", "--one", "--json", "--only", c, "--weights", dir,
					"--size", fmt.Sprint(size), "--times", fmt.Sprint(times)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one object a line")
	cmd.Flags().StringVar(&dir, "weights", "../shared/weights", "folder with the authors' checkpoints")
	cmd.Flags().StringVar(&only, "only", "", "cases that start with this")
	cmd.Flags().IntVar(&size, "size", 64, "side of the images")
	cmd.Flags().IntVar(&times, "times", 7, "calls of each kind after the first, at least; they also go on for ten times PEER_SECONDS")
	cmd.Flags().BoolVar(&one, "one", false, "measure in this process")
	must(cmd.Flags().MarkHidden("one"))
	return cmd
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func timeInference(r *report, dir, name string, size, times int) error {
	kind, which, _ := strings.Cut(name, "/")
	if kind == "curve" {
		return timeCurvePlan(r, dir, which, times)
	}
	group, storage, _ := strings.Cut(which, "/")
	return timeImagePlan(r, dir, group, storage, size, times)
}

// callsBudget is for how many budgets of a line calls go on at least. Linux may leave both threads of a call on one of two processors for
// tenths of a second, above all on virtual machines: seven calls of 10 ms could then all take twice their time.
const callsBudget = 10

// calls runs f once untimed, then times it that many times at least; it returns the seconds of each call in ascending order.
func calls(times int, f func() error) ([]float64, error) {
	if err := f(); err != nil {
		return nil, err
	}
	var s []float64
	for begin := time.Now(); len(s) < max(times, 1) || time.Since(begin) < callsBudget*budget(); {
		start := time.Now()
		if err := f(); err != nil {
			return nil, err
		}
		s = append(s, time.Since(start).Seconds())
	}
	slices.Sort(s)
	return s, nil
}

// percentile returns the smallest value that at least p percent of the values do not exceed.
func percentile(sorted []float64, p int) float64 { return sorted[(len(sorted)*p+99)/100-1] }

// latencies reports the times s of calls that do n things each.
func latencies(r *report, name string, n int, unit, rate string, s []float64) error {
	for _, x := range []sample{
		{name, n, "s_per_" + unit, s[0] / float64(n)},
		{name, n, "p50_s", percentile(s, 50)},
		{name, n, "p99_s", percentile(s, 99)},
		{name, n, rate, float64(n) / percentile(s, 50)},
	} {
		if err := r.add(x); err != nil {
			return err
		}
	}
	return nil
}

func (r *report) memory(name string, n int) error {
	mem, ok := peakMemory()
	if !ok {
		return nil
	}
	return r.add(sample{name, n, "peak_bytes", mem})
}

func timeImagePlan(r *report, dir, group, storage string, size, times int) error {
	m, err := weights.Load[float32](filepath.Join(dir, "2d", group+".pth"), weights.Options{Group: group})
	if err != nil {
		return err
	}
	model, ok := m.(cnp.Completer[float32])
	if !ok {
		return errors.New("no image model")
	}
	ctx, base := context.Background(), fmt.Sprintf("image/ours/%s/%dx%d", group, size, size)
	if storage == "cold" {
		im := benchImages(1, size)
		start := time.Now()
		if _, err := model.Complete(ctx, im); err != nil {
			return err
		}
		if err := r.add(sample{base + "/cold", 1, "s_per_image", time.Since(start).Seconds()}); err != nil {
			return err
		}
		return r.memory(base+"/cold", 1)
	}
	if storage == "kept" {
		return timeKeptPlan(r, model, base, size)
	}
	start := time.Now()
	plan, err := model.Plan(ctx, cnp.Pixels(size, size), planOptions[storage])
	if err != nil {
		return err
	}
	info := plan.Info()
	suffix := "/" + storage
	if storage == "default" {
		suffix = ""
	}
	for _, s := range []sample{
		{base + "/plan" + suffix, size * size, "s_per_plan", time.Since(start).Seconds()},
		{base + "/plan" + suffix, size * size, "kept_bytes", float64(info.Bytes)},
	} {
		if err := r.add(s); err != nil {
			return err
		}
	}
	shares := map[string]float64{} // operations a second
	many := 8
	if !info.Flat {
		many = 16
	}
	for _, b := range []int{1, many} {
		im := benchImages(b, size)
		dst := plan.NewPrediction(im)
		s, err := calls(times, func() error { return plan.Predict(ctx, dst, im) })
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%s/batch%d%s", base, b, suffix)
		if err := latencies(r, name, b, "image", "images_per_s", s); err != nil {
			return err
		}
		shares[name] = 2 * (info.CallOps + float64(b)*info.ImageOps) / s[0]
		if err := r.memory(name, b); err != nil {
			return err
		}
	}
	// The machine's limit is measured last, because measuring it takes memory, which peak_bytes would include.
	peak := limitsOf(simd.CurrentLevel()).peak * 1e9 * float64(runtime.GOMAXPROCS(0))
	for _, b := range []int{1, many} {
		name := fmt.Sprintf("%s/batch%d%s", base, b, suffix)
		if err := r.add(sample{name, b, "fma_percent", 100 * shares[name] / peak}); err != nil {
			return err
		}
	}
	return nil
}

// timeKeptPlan times how long a plan is made and read, and the first image of a model that finds its plan in a folder.
// The file is then in the system's cache, as it is where a service starts again.
func timeKeptPlan(r *report, model cnp.Completer[float32], base string, size int) error {
	dir, err := os.MkdirTemp("", "equivcnp-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, shape := context.Background(), cnp.Pixels(size, size)
	made, err := calls(5, func() error { _, err := model.Plan(ctx, shape, cnp.PlanOptions{}); return err })
	if err != nil {
		return err
	}
	kept, err := model.Plan(ctx, shape, cnp.PlanOptions{Plans: dir})
	if err == nil {
		err = kept.Info().FileErr
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(kept.Info().File)
	if err != nil {
		return err
	}
	loaded, err := calls(20, func() error { _, err := model.Plan(ctx, shape, cnp.PlanOptions{Plans: dir}); return err })
	if err != nil {
		return err
	}
	im := benchImages(1, size)
	first := math.Inf(1)
	for i := range 6 { // the first one writes the plan that Complete takes
		m, err := cnp.New[float32](model.Config(), 0)
		if err != nil {
			return err
		}
		for i, p := range m.State() {
			copy(p.Data, model.State()[i].Data)
		}
		if m, err = cnp.With(m, cnp.Options{Plans: dir}); err != nil {
			return err
		}
		start := time.Now()
		if _, err := m.(cnp.Completer[float32]).Complete(ctx, im); err != nil {
			return err
		}
		if i > 0 {
			first = min(first, time.Since(start).Seconds())
		}
	}
	for _, s := range []sample{
		{base + "/kept", size * size, "s_per_plan", made[0]},
		{base + "/kept", size * size, "s_per_load", loaded[0]},
		{base + "/kept", size * size, "file_bytes", float64(info.Size())},
		{base + "/kept", 1, "s_per_image", first},
	} {
		if err := r.add(s); err != nil {
			return err
		}
	}
	return nil
}

// benchImages are noise of which a quarter is observed.
func benchImages(b, size int) *cnp.Images[float32] {
	rng := rand.New(rand.NewPCG(1, 1))
	im := &cnp.Images[float32]{B: b, C: 1, H: size, W: size}
	for range b * size * size {
		im.Pixels = append(im.Pixels, rng.Float32())
		im.Mask = append(im.Mask, rng.Float64() < 0.25)
	}
	return im
}

// timeCurvePlan times batches of 16 tasks and single tasks. Every call has new points, as calls of users do.
func timeCurvePlan(r *report, dir, kernel string, times int) error {
	m, err := weights.Load[float32](filepath.Join(dir, "1d", kernel+"_equivcnp.pth"), weights.Options{})
	if err != nil {
		return err
	}
	model, ok := m.(cnp.Regressor[float32])
	if !ok {
		return errors.New("no curve model")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	run := func(tasks int) func() error {
		return func() error {
			_, err := model.Predict(context.Background(), benchTasks(tasks, rng))
			return err
		}
	}
	s, err := calls(10*times, run(16))
	if err != nil {
		return err
	}
	base := "curve/ours/" + kernel
	if err := latencies(r, base+"/batch16", 16, "task", "tasks_per_s", s); err != nil {
		return err
	}
	if err := r.memory(base+"/batch16", 16); err != nil {
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if s, err = calls(10*times, run(1)); err != nil {
		return err
	}
	return latencies(r, base+"/batch1/onecore", 1, "task", "tasks_per_s", s)
}

// benchTasks draws tasks of 50 context points and 50 targets on [-2, 2].
func benchTasks(tasks int, rng *rand.Rand) *cnp.Batch[float32] {
	const n = 50
	b := &cnp.Batch[float32]{B: tasks, Nc: n, Nt: n}
	for range tasks * n {
		b.XContext, b.YContext = append(b.XContext, 4*rng.Float64()-2), append(b.YContext, float32(rng.NormFloat64()))
		b.XTarget = append(b.XTarget, 4*rng.Float64()-2)
	}
	return b
}
