package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/internal/words"
)

// runJobs sets the prediction of jobs of one lane.
func runJobs(ctx context.Context, jobs []*job) error {
	switch {
	case jobs[0].alone != nil:
		return jobs[0].alone.compute(ctx, jobs[0])
	case jobs[0].images != nil:
		return predictImages(ctx, jobs)
	}
	return predictCurves(ctx, jobs)
}

// predictImages completes the images of all jobs in one call.
func predictImages(ctx context.Context, jobs []*job) error {
	im := jobs[0].images
	if len(jobs) > 1 {
		all := &cnp.Images[float32]{C: im.C, H: im.H, W: im.W}
		for _, j := range jobs {
			all.B += j.images.B
		}
		n := all.B * im.H * im.W
		all.Pixels, all.Mask = make([]float32, 0, n*im.C), make([]bool, 0, n)
		for _, j := range jobs {
			all.Pixels, all.Mask = append(all.Pixels, j.images.Pixels...), append(all.Mask, j.images.Mask...)
		}
		im = all
	}
	var p *cnp.Prediction[float32]
	var err error
	if im.B == 0 {
		p = &cnp.Prediction[float32]{Likelihood: cnp.Normal}
	} else {
		p, err = jobs[0].completer().Complete(ctx, im)
	}
	if err == nil {
		err = p.Check(nil)
	}
	if err != nil {
		return err
	}
	at := 0
	for _, j := range jobs {
		j.prediction = p.Slice(at, at+j.values)
		at += j.values
	}
	return nil
}

// planCompleter completes images with a plan that was made within the server's memory, where the model would make one of its own.
type planCompleter struct {
	cnp.Completer[float32]
	plan cnp.Plan[float32]
}

// Complete is that of the model.
func (c planCompleter) Complete(ctx context.Context, im *cnp.Images[float32]) (*cnp.Prediction[float32], error) {
	p := c.plan.NewPrediction(im)
	err := c.plan.Predict(ctx, p, im)
	if err == nil {
		err = p.Check(nil) // and its parameters
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// completer returns what completes the images of a job.
func (j *job) completer() cnp.Completer[float32] {
	if j.plan == nil {
		return j.model.completer
	}
	return planCompleter{j.model.completer, j.plan}
}

// sampler returns what samples of a job's images are drawn by: for an ensemble its members, each with its own part of the plan.
func (j *job) sampler() (cnp.Completer[float32], error) {
	plan, several := j.plan.(interface{ Members() []cnp.Plan[float32] })
	if !several {
		return j.completer(), nil
	}
	members := cnp.Members[float32](j.model.completer)
	for i, p := range plan.Members() {
		members[i] = planCompleter{members[i].(cnp.Completer[float32]), p}
	}
	e, err := cnp.Ensemble(members...)
	if err != nil {
		return nil, err
	}
	return e.(cnp.Completer[float32]), nil
}

// predictCurves regresses the tasks of all jobs in one call: masks exclude what brings them to one shape, at no cost. Tasks of which
// points lie outside what the model can look at get their prediction without those, and a note.
func predictCurves(ctx context.Context, jobs []*job) error {
	m, b := jobs[0].model, jobs[0].curves
	if len(jobs) > 1 {
		b = joinCurves(jobs, jobs[0].config)
	}
	dy := m.cfg.DimY
	p := &cnp.Prediction[float32]{Likelihood: cnp.Normal}
	var err error
	switch {
	case b.B*b.Nt == 0:
	case m.curve != nil:
		n := b.B * b.Nt * dy
		p.Mean, p.Std = make([]float32, n), make([]float32, n)
		err = m.curve.Predict(ctx, p, b)
	default:
		p, err = jobs[0].regressor.Predict(ctx, b)
	}
	var outside *cnp.OutsideError
	if err != nil && !(p != nil && errors.As(err, &outside)) {
		return err
	}
	task := 0
	for _, j := range jobs {
		j.prediction = &cnp.Prediction[float32]{Likelihood: p.Likelihood}
		first := task
		if j.curves.Nt == b.Nt {
			lo, hi := task*b.Nt*dy, (task+j.tasks)*b.Nt*dy
			j.prediction.Mean, j.prediction.Std = p.Mean[lo:hi:hi], p.Std[lo:hi:hi]
			task += j.tasks
		} else {
			for range j.tasks {
				lo, hi := task*b.Nt*dy, (task*b.Nt+j.curves.Nt)*dy
				j.prediction.Mean, j.prediction.Std = append(j.prediction.Mean, p.Mean[lo:hi]...), append(j.prediction.Std, p.Std[lo:hi]...)
				task++
			}
		}
		if outside != nil {
			if mine := j.outside(outside, first); len(mine.Points) > 0 {
				j.note = mine.Error()
			}
		}
		if j.undo != nil {
			j.undo(j.prediction)
		}
	}
	return nil
}

// outside is what an error of a batch says of a job whose tasks begin at first, in the units of its request.
func (j *job) outside(e *cnp.OutsideError, first int) *cnp.OutsideError {
	dx, mine := j.model.cfg.DimX, &cnp.OutsideError{Where: e.Where}
	if j.curves != j.given {
		mine.Where += " in the model's units"
	}
	for _, p := range e.Points {
		if p.Task -= first; p.Task < 0 || p.Task >= j.tasks {
			continue
		}
		x, n := j.given.XTarget, j.given.Nt
		switch p.Tensor {
		case "x_context":
			x, n = j.given.XContext, j.given.Nc
		case "x_static":
			x, n = j.given.XStatic, j.given.Ns
		}
		p.X = x[(p.Task*n+p.Point)*dx:][:dx]
		mine.Points = append(mine.Points, p)
	}
	return mine
}

// joinCurves makes one batch of several.
func joinCurves(jobs []*job, c *cnp.Config) *cnp.Batch[float32] {
	all, dx, dy, da, ds := &cnp.Batch[float32]{}, c.DimX, c.DimY, len(c.Auxiliary), len(c.Static)
	for _, j := range jobs {
		all.B += j.curves.B
		all.Nc, all.Nt, all.Ns = max(all.Nc, j.curves.Nc), max(all.Nt, j.curves.Nt), max(all.Ns, j.curves.Ns)
	}
	all.XContext, all.YContext = make([]float64, all.B*all.Nc*dx), make([]float32, all.B*all.Nc*dy)
	all.XTarget = make([]float64, all.B*all.Nt*dx)
	all.AuxContext, all.AuxTarget = make([]float32, all.B*all.Nc*da), make([]float32, all.B*all.Nt*da)
	all.XStatic, all.YStatic = make([]float64, all.B*all.Ns*dx), slices.Repeat([]float32{float32(math.NaN())},
		all.B*all.Ns*ds) // without a value: padding
	all.ContextMask, all.TargetMask = make([]bool, all.B*all.Nc), make([]bool, all.B*all.Nt)
	task := 0
	for _, j := range jobs {
		c := j.curves
		for t := range c.B {
			copy(all.XContext[task*all.Nc*dx:], c.XContext[t*c.Nc*dx:(t+1)*c.Nc*dx])
			copy(all.YContext[task*all.Nc*dy:], c.YContext[t*c.Nc*dy:(t+1)*c.Nc*dy])
			copy(all.XTarget[task*all.Nt*dx:], c.XTarget[t*c.Nt*dx:(t+1)*c.Nt*dx])
			copy(all.AuxContext[task*all.Nc*da:], c.AuxContext[t*c.Nc*da:(t+1)*c.Nc*da])
			copy(all.AuxTarget[task*all.Nt*da:], c.AuxTarget[t*c.Nt*da:(t+1)*c.Nt*da])
			copy(all.XStatic[task*all.Ns*dx:], c.XStatic[t*c.Ns*dx:(t+1)*c.Ns*dx])
			copy(all.YStatic[task*all.Ns*ds:], c.YStatic[t*c.Ns*ds:(t+1)*c.Ns*ds])
			joinMask(all.ContextMask[task*all.Nc:][:c.Nc], c.ContextMask, t)
			joinMask(all.TargetMask[task*all.Nt:][:c.Nt], c.TargetMask, t)
			task++
		}
	}
	return all
}

// joinMask copies a task's part of a mask, where nil is all true.
func joinMask(dst, mask []bool, task int) {
	if mask != nil {
		copy(dst, mask[task*len(dst):])
		return
	}
	for i := range dst {
		dst[i] = true
	}
}

// compute predicts the one job, and draws its samples.
func (a *alone) compute(ctx context.Context, j *job) error {
	m := j.model
	var p *cnp.Prediction[float32]
	var err error
	switch {
	case j.values == 0:
		p = &cnp.Prediction[float32]{Likelihood: cnp.Normal}
	case j.images != nil:
		p, err = j.completer().Complete(ctx, j.images)
	default:
		p, err = j.regressor.Predict(ctx, j.curves)
	}
	var outside *cnp.OutsideError
	if err != nil && !(p != nil && errors.As(err, &outside)) {
		return err
	}
	if outside != nil {
		j.note = j.outside(outside, 0).Error()
	}
	if j.undo != nil {
		j.undo(p)
	}
	j.prediction = p
	if r, ok := j.regressor.(*krige.Regressor); ok {
		if values, tasks := r.LeftOut(); values > 0 {
			j.add(fmt.Sprintf("%s in %s left out", words.Plural(values, "outlier"), words.Plural(tasks, "task")))
		}
	}
	if a.check {
		if err := j.selfCheck(ctx); err != nil {
			return err
		}
	}
	if a.draw == nil {
		return nil
	}
	if _, joint := p.Likelihood.(cnp.JointLikelihood); joint {
		a.samples = make([]float32, a.draw.Samples*j.values)
		per := j.values / max(1, j.tasks)
		for t := range j.tasks {
			task := p.Task(t, j.tasks)
			var mask []bool
			if j.curves != nil && j.curves.TargetMask != nil {
				for i := range per {
					mask = append(mask, j.curves.TargetMask[t*j.targets+i/m.cfg.DimY])
				}
			}
			rng := rand.New(rand.NewPCG(a.draw.Seed, 0))
			for s := range a.draw.Samples {
				dst := a.samples[s*j.values+t*per:][:per]
				if !a.draw.Function || !task.SampleFunction(dst, rng, mask) {
					task.Sample(dst, rng, mask)
				}
			}
		}
		return nil
	}
	if j.images != nil {
		var of cnp.Completer[float32]
		if of, err = j.sampler(); err != nil {
			return err
		}
		a.samples, err = cnp.SampleImages(ctx, of, j.images, *a.draw)
	} else {
		var of cnp.CurvePredictor[float32] = j.regressor
		if j.undo != nil {
			of = cnp.Standardised(j.regressor)
		}
		a.samples, err = cnp.SampleCurves(ctx, of, j.given, *a.draw)
	}
	if before := outside; errors.As(err, &outside) {
		err = nil
		if before == nil { // a sample has to reach from one target to another, too
			j.add("samples: " + outside.Error())
		}
	}
	return err
}

// add adds a note to the answer.
func (j *job) add(note string) { j.note = strings.TrimPrefix(j.note+"; "+note, "; ") }

// selfCheck predicts parts of the contexts from the rest, and notes first of all if the model does not suit them. Images have no check.
func (j *job) selfCheck(ctx context.Context) error {
	if j.curves == nil {
		return nil
	}
	m := j.regressor
	if j.undo != nil {
		m = cnp.Standardised(m)
	}
	checked, err := predict.Check(ctx, m, j.given)
	if err != nil {
		return err
	}
	if checked.Warning != "" && j.note != "" {
		j.note = checked.Warning + "; " + j.note
	} else if checked.Warning != "" {
		j.note = checked.Warning
	}
	text, err := json.Marshal(checked)
	j.checked = string(text)
	return err
}
