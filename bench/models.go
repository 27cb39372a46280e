package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// modelCases are the models that the authors' code was timed on: images of 64 x 64 pixels, curves of 50 context points
// and 50 targets in batches of 16.
var modelCases = []string{
	"image/T2", "image/SE2", "image/SO2", "image/RxSO2", "curve/rbf", "curve/matern", "curve/periodic",
}

func modelsCommand() *cobra.Command {
	var (
		asJSON bool
		dir    string
		only   string
		size   int
		times  int
	)
	cmd := &cobra.Command{
		Use:     "models",
		Short:   "Time trained models: first call, later calls, peak memory",
		Example: "  go run ./bench models --weights ../shared/weights\n  go run ./bench models --only image/T2 --size 128",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := &report{w: cmd.OutOrStdout(), json: asJSON}
			if err := errors.Join(within("size", size, mostSize), within("times", times, mostTimes)); err != nil {
				return err
			}
			some, err := chosen(modelCases, only)
			if err != nil {
				return err
			}
			for _, c := range some {
				if err := r.child(c, "child", "--case", c, "--weights", dir,
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
	cmd.Flags().IntVar(&times, "times", 3, "later calls; the fastest counts")
	return cmd
}

// childCommand measures one case in a process of its own.
func childCommand() *cobra.Command {
	var (
		name, dir   string
		size, times int
	)
	cmd := &cobra.Command{
		Use: "child", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := &report{w: cmd.OutOrStdout(), json: true}
			kind, which, _ := strings.Cut(name, "/")
			if kind == "image" {
				return timeImage(r, dir, which, size, times)
			}
			return timeCurve(r, dir, which, times)
		},
	}
	cmd.Flags().StringVar(&name, "case", "", "")
	cmd.Flags().StringVar(&dir, "weights", "", "")
	cmd.Flags().IntVar(&size, "size", 64, "")
	cmd.Flags().IntVar(&times, "times", 3, "")
	return cmd
}

// measure times predict once from nothing and then the fastest of several, and reports the peak memory of both.
func measure(r *report, name string, n, times int, unit string, predict func() error) error {
	run := func() (float64, error) {
		start := time.Now()
		err := predict()
		return time.Since(start).Seconds(), err
	}
	cold, err := run()
	if err != nil {
		return err
	}
	if err := r.add(sample{name + "/cold", n, unit, cold}); err != nil {
		return err
	}
	if mem, ok := peakMemory(); ok {
		if err := r.add(sample{name + "/cold", n, "peak_bytes", mem}); err != nil {
			return err
		}
	}
	if times < 1 {
		return nil
	}
	best := 0.0
	for i := range times {
		s, err := run()
		if err != nil {
			return err
		}
		if i == 0 || s < best {
			best = s
		}
	}
	return r.add(sample{name + "/warm", n, unit, best})
}

func timeImage(r *report, dir, group string, size, times int) error {
	m, err := weights.Load[float32](filepath.Join(dir, "2d", group+".pth"), weights.Options{Group: group})
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, 1))
	im := &cnp.Images[float32]{B: 1, C: 1, H: size, W: size}
	for range size * size {
		im.Pixels = append(im.Pixels, rng.Float32())
		im.Mask = append(im.Mask, rng.Float64() < 0.25)
	}
	return measure(r, fmt.Sprintf("image/ours/%s/%dx%d", group, size, size), size*size, times, "s_per_image", func() error {
		_, err := m.(cnp.Completer[float32]).Complete(context.Background(), im)
		return err
	})
}

func timeCurve(r *report, dir, kernel string, times int) error {
	m, err := weights.Load[float32](filepath.Join(dir, "1d", kernel+"_equivcnp.pth"), weights.Options{})
	if err != nil {
		return err
	}
	const batch, nc, nt = 16, 50, 50
	rng := rand.New(rand.NewPCG(1, 1))
	b := &cnp.Batch[float32]{B: batch, Nc: nc, Nt: nt}
	for range batch * nc {
		b.XContext, b.YContext = append(b.XContext, 4*rng.Float64()-2), append(b.YContext, float32(rng.NormFloat64()))
	}
	for range batch * nt {
		b.XTarget = append(b.XTarget, 4*rng.Float64()-2)
	}
	return measure(r, fmt.Sprintf("curve/ours/%s/batch%d", kernel, batch), batch, times, "s_per_batch", func() error {
		_, err := m.(cnp.Regressor[float32]).Predict(context.Background(), b)
		return err
	})
}
