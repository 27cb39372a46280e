package predict

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/internal/words"
)

// Notes collects what the reader of a prediction should know.
type Notes struct {
	// Cautions are notes that nobody should miss: the data are not what the model knows.
	Cautions []settings.Text
	Notes    []settings.Text
}

// Note adds a note.
func (n *Notes) Note(format string, args ...any) {
	n.Notes = append(n.Notes, settings.Textf(format, args...))
}

// Caution adds cautions.
func (n *Notes) Caution(texts ...string) {
	for _, text := range texts {
		n.Cautions = append(n.Cautions, settings.Text(text))
	}
}

// Check predicts parts of the contexts from the rest ([Check]). A warning that the model does not suit the data becomes
// the first caution. It returns nil where nothing was held out.
func (n *Notes) Check(ctx context.Context, m cnp.Regressor[float32], batches ...*cnp.Batch[float32]) (*Checked, error) {
	return n.Judge(ctx, func(ctx context.Context) (*Checked, error) { return Check(ctx, m, batches...) })
}

// Judge is Check by a function that checks.
func (n *Notes) Judge(ctx context.Context, check func(ctx context.Context) (*Checked, error)) (*Checked, error) {
	c, err := check(cnp.WithProgress(ctx, func(int, int) {}))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil || c.Values == 0: // the prediction says what is wrong with the data
		return nil, nil
	case c.Warning != "":
		n.Cautions = slices.Insert(n.Cautions, 0, settings.Text(c.Warning))
	}
	return c, nil
}

// Answered turns the error that some targets lie outside what a model can look at into a caution, if the others have a
// prediction. A task has nt targets of dy values each. Answered returns which values have a prediction, nil for all. It
// passes on other errors, and this one if there is no prediction at all.
func (n *Notes) Answered(p *cnp.Prediction[float32], err error, nt, dy int) ([]bool, error) {
	var outside *cnp.OutsideError
	if p == nil || !errors.As(err, &outside) {
		return nil, err
	}
	counts := slices.Repeat([]bool{true}, len(p.Mean))
	for _, point := range outside.Points {
		lo, hi := point.Task*nt, (point.Task+1)*nt // a point of the context stands for all targets of its task
		if point.Tensor == "x_target" {
			lo += point.Point
			hi = lo + 1
		}
		clear(counts[lo*dy : hi*dy])
	}
	if !slices.Contains(counts, true) {
		return nil, err
	}
	n.Caution(fmt.Sprintf("%v: no prediction there (NaN)", err))
	return counts, nil
}

// Reached turns the error that some targets lie out of the model's reach into a caution, if the others have a prediction,
// as those of Prepared.Run have.
func (n *Notes) Reached(res *Result, err error) error {
	var outside *cnp.OutsideError
	if res == nil || !errors.As(err, &outside) {
		return err
	}
	n.Caution(fmt.Sprintf("%v: no prediction there (NaN)", err))
	return nil
}

// Doubts cautions where an interpolation says less of a batch, which must suit it, than it seems to. Trained models have no such doubts.
func (n *Notes) Doubts(m cnp.Model[float32], b *cnp.Batch[float32]) {
	r, ok := asModel(m).Model.(*krige.Regressor)
	if !ok {
		return
	}
	d := r.Doubts()
	d.Add(b)
	n.Caution(d.Texts()...)
}

// Standardised says how many of the tasks were brought into the model's range.
func (n *Notes) Standardised(scaled, tasks int) {
	if scaled > 0 {
		n.Note("standardised: %d of %s brought into the model's range and back ({Standardise}=false: as it is)", scaled,
			words.Plural(tasks, "task"))
	}
}

// Divided says why images are completed as so many coarser ones.
func (n *Notes) Divided(parts int, memory int64) {
	n.Note("each image is completed as %d coarser ones: fewer would need more than %v of memory ({Memory})", parts, cnp.Bytes(memory))
}

// Thinned says that a context was denser than those of the model's training, which saw so many of its points.
func (n *Notes) Thinned(points, seen int) {
	if seen < points {
		n.Note("the context is denser than those of the model's training: its %s were averaged over cells, %d at most "+
			"({Standardise}=false: as they are)", words.Plural(points, "point"), seen)
	}
}

// Sifting returns a function that notes how many values a model leaves out as outliers until it is called.
func (n *Notes) Sifting(m cnp.Model[float32]) (done func()) {
	r, ok := unwrapped(m).(interface{ LeftOut() (values, tasks int) })
	if !ok {
		return func() {}
	}
	r.LeftOut() // while the model was checked, say
	return func() {
		if values, tasks := r.LeftOut(); values > 0 {
			n.Note("{Robust}: %s in %s left out", words.Plural(values, "outlier"), words.Plural(tasks, "task"))
		}
	}
}

// Incomplete says how many rows of a table could not be observations.
func (n *Notes) Incomplete(rows int, table string) {
	if rows > 0 {
		n.Note("%s of %s without all values of y: no part of the context", words.Plural(rows, "row"), table)
	}
}

// CheckUnits refuses data as they are, where a model works in other units than its data.
func CheckUnits(c *cnp.Config, standardise bool) error {
	if !standardise && c.HasUnits() {
		return settings.Errorf("{Standardise}=false: the model was trained on data in units of their own, which its " +
			"file holds, and needs them")
	}
	return nil
}
