package main

import (
	"io"
	"path/filepath"
	"time"

	"github.com/equivcnp/equivcnp/cnp/plot"
	"github.com/equivcnp/equivcnp/internal/cli"
)

// drawEvery is the least time between two drawings of a run's log.
var drawEvery = 30 * time.Second

// drawing draws a run's log beside its model, while it trains. What fails there is tried again, and at the end for all to see.
func (f *trainFlags) drawing(log string) func() {
	last := time.Now()
	return func() {
		if time.Since(last) < drawEvery {
			return
		}
		last = time.Now()
		outs, err := cli.NewOutputs(nil, cli.Out("loss", f.beside(".loss.png"), pictureFiles))
		if err != nil {
			return
		}
		defer outs.Discard()
		if outs.Write("loss", func(w io.Writer) error { return plot.TrainingLog(w, log, filepath.Base(f.out)) }) == nil {
			_ = outs.Commit()
		}
	}
}
