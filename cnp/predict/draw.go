package predict

import (
	"context"
	"errors"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
)

// DrawOptions say how samples are drawn.
type DrawOptions struct {
	Sample cnp.SampleOptions
	// Standardise brings the data into the model's range, and the samples back.
	Standardise bool
	// NoCheck leaves out the prediction of parts of the contexts from the rest.
	NoCheck bool
	// Mean predicts the targets, too.
	Mean bool
	// Refuse is asked whether the work may need that much memory, or passes on the error of its estimate; nil is
	// cnp.MemoryLimit.
	Refuse func(need cnp.Need, err error) error
}

// Drawn is samples of a batch of curves.
type Drawn struct {
	Notes
	Samples []float32                // [S, B, Nt, dy], nil if there are no targets
	Mean    *cnp.Prediction[float32] // nil unless asked for
	// Context and Targets are how many points of them count.
	Context, Targets int
	// Check says whether the model suits the data, nil if nothing was held out.
	Check *Checked
	Time  time.Duration
}

// Draw draws samples of a batch of curves by the chain rule.
func Draw(ctx context.Context, m cnp.Regressor[float32], b *cnp.Batch[float32], opt DrawOptions) (*Drawn, error) {
	if m == nil {
		return nil, errNoModel
	}
	cfg, plain := m.Config(), m
	if err := b.Check(&cfg); err != nil {
		return nil, err
	}
	d := &Drawn{Context: counted(b.ContextMask, b.B*b.Nc), Targets: counted(b.TargetMask, b.B*b.Nt)}
	d.Caution(differences(&cfg, b)...)
	d.Doubts(m, b)
	if err := CheckUnits(&cfg, opt.Standardise); err != nil {
		return nil, err
	}
	seen := b
	if opt.Standardise {
		scaled, _, err := cnp.Standardise(&cfg, b)
		if err != nil {
			return nil, err
		}
		if cnp.OtherScale(&cfg, b) > 0 {
			d.Note("standardised: contexts of another scale brought into the model's range and samples back " +
				"({Standardise}=false: as they are)")
		}
		seen, m = scaled, cnp.Standardised(m)
	} else if err := cnp.CheckDensity(&cfg, b, false); err != nil {
		return nil, err
	}
	need, err := cnp.EstimateModel[float32](plain, seen.Work(cfg.DimX))
	need.Features += SamplesNeed(opt.Sample.Samples, b.B, b.Nc, b.Nt, cfg.DimY)
	if opt.Refuse != nil {
		err = opt.Refuse(need, err)
	} else if err == nil {
		err = need.Check(cnp.MemoryLimit())
	}
	if err != nil {
		return nil, err
	}
	d.Thinned(b.Nc, seen.Nc)
	if !opt.NoCheck {
		if d.Check, err = d.Notes.Check(ctx, m, b); err != nil {
			return nil, err
		}
	}
	defer d.Sifting(plain)()
	start := time.Now()
	if d.Samples, err = cnp.SampleCurves(ctx, m, b, opt.Sample); d.Samples == nil {
		return d, err
	}
	first := &cnp.Prediction[float32]{Likelihood: cnp.Normal, Mean: d.Samples[:b.B*b.Nt*cfg.DimY]}
	if _, err := d.Answered(first, err, b.Nt, cfg.DimY); err != nil {
		return nil, err
	}
	if opt.Mean {
		var out *cnp.OutsideError
		if d.Mean, err = m.Predict(ctx, b); err != nil && !errors.As(err, &out) {
			return nil, err
		}
	}
	d.Time = time.Since(start)
	return d, nil
}
