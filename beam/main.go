// Command beam predicts the files of a manifest, or of a pattern, as an Apache Beam pipeline:
//
//	cd beam && go run . --model digits-T2 --glob '/data/*.npz' --out_dir /data/predictions
//
// Without --runner it runs in this process (Prism). The results are those of equivcnp predict --manifest, and equivcnp merge checks them.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/equivcnp/equivcnp/internal/shards"
)

func main() {
	var opt Options
	flag.StringVar(&opt.Model, "model", "", "model file, or the name of a shipped model")
	flag.StringVar(&opt.Manifest, "manifest", "", "list of files of tasks, as equivcnp predict takes it")
	flag.StringVar(&opt.Glob, "glob", "", "instead of a manifest, a pattern of files")
	flag.StringVar(&opt.Folder, "out_dir", "", "folder of the predictions, which all workers write to")
	flag.IntVar(&opt.Shards, "shards", 16, "number of files of records")
	flag.IntVar(&opt.Batch, "batch", 64, "images that are predicted together")
	flag.Int64Var(&opt.Memory, "plan_memory", 160<<20,
		"bytes for the convolution weights of one image size; others are computed for every batch")
	flag.Func("outputs", "what to write of each prediction, as in mean,std,covariance; without it what equivcnp predict writes",
		func(names string) error {
			opt.Outputs = strings.Split(names, ",")
			return nil
		})
	flag.Func("quantiles", "quantiles to write, as in 0.05,0.5,0.95", func(list string) error {
		for _, text := range strings.Split(list, ",") {
			q, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return err
			}
			opt.Quantiles = append(opt.Quantiles, q)
		}
		return nil
	})
	flag.Parse()
	beam.Init()
	if err := run(context.Background(), opt); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, opt Options) error {
	if err := opt.check(); err != nil {
		return err
	}
	p, s := beam.NewPipelineWithRoot()
	Predict(s, opt)
	if err := beamx.Run(ctx, p); err != nil {
		return err
	}
	m, err := shards.Merge(ctx, opt.Folder)
	if err != nil {
		return fmt.Errorf("the folder is not seen from here, or: %w", err)
	}
	bad, tasks := 0, 0
	for _, r := range m.Records {
		if r.Error != "" {
			bad++
			continue
		}
		tasks += resultOf(r).Tasks
	}
	fmt.Printf("%d files, %d tasks", len(m.Records), tasks)
	if bad > 0 {
		fmt.Printf(", %d bad files (see %s)", bad, filepath.Join(opt.Folder, badFile))
	}
	fmt.Println()
	return nil
}
