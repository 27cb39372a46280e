package reproduce

import (
	"context"
	"fmt"
	"image/png"
	"io"
	"slices"
	"strconv"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/raster"
)

// DrawnTasks is the number of tasks that a picture shows.
const DrawnTasks = 4

// DrawTasks draws the first tasks of a source with their predictions.
func DrawTasks(ctx context.Context, w io.Writer, format, title string, model cnp.Model[float32], src task.Source[float32],
	opt eval.Options) error {
	var curves []picture.Curve
	sheet := picture.Sheet{Title: title}
	predict := eval.Model(model)
	err := eval.Tasks(ctx, src, opt, func(b *task.Tasks[float32], n int) error {
		p, err := predict(ctx, b)
		if err != nil {
			return err
		}
		for i := range n {
			var m eval.Meter
			if b.Curves != nil {
				curves = append(curves, drawnCurve(b, p, i)...)
				continue
			}
			im := b.Images
			per := im.C * im.H * im.W
			lo, hi := i*per, (i+1)*per
			known := b.Known
			if known != nil {
				known = known[lo:hi]
			}
			eval.AddTask(&m, p.Slice(lo, hi), b.Y[lo:hi], known)
			mask := im.Mask[i*im.H*im.W : (i+1)*im.H*im.W]
			sheet.Scale = max(1, 192/max(im.H, im.W))
			sheet.Rows = append(sheet.Rows, completionRow(im, b.Y[lo:hi], known, mask, p.Mean[lo:hi], p.Std[lo:hi],
				m.Report().LogLikelihood.Mean))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(sheet.Rows) > 0 {
		return png.Encode(w, sheet.Draw())
	}
	return picture.WriteCurves(w, format, title, curves)
}

// completionRow shows one completed image: context, mean, standard deviation, truth as far as it is known.
func completionRow(im *cnp.Images[float32], truth []float32, known, mask []bool, mean, std []float32, ll float64) []picture.Panel {
	label := fmt.Sprintf("%.1f %% observed", 100*Share(mask))
	highest := float64(0)
	for _, s := range std {
		highest = max(highest, float64(s))
	}
	panel := func(label string, pix []float32) picture.Panel {
		return picture.Panel{Label: label, C: im.C, H: im.H, W: im.W, Pix: pix}
	}
	context, spread := panel(label, truth), panel(fmt.Sprintf("std, up to %.3g", highest), std)
	context.Mask, spread.Spread, spread.MaxSpread = mask, true, highest
	whole := panel("truth", truth)
	if n := im.H * im.W; known != nil {
		whole.Mask = slices.Repeat([]bool{true}, n)
		for i, ok := range known {
			whole.Mask[i%n] = whole.Mask[i%n] && ok
		}
	}
	return []picture.Panel{context, panel(fmt.Sprintf("mean, log-likelihood %.3f", ll), mean), spread, whole}
}

// Share is that of the pixels which a mask observes.
func Share(mask []bool) float64 {
	return float64(raster.Count(mask)) / float64(len(mask))
}

// drawnCurve shows task i of a batch with one coordinate, one curve per output.
func drawnCurve(b *task.Tasks[float32], p *cnp.Prediction[float32], i int) []picture.Curve {
	c := b.Curves
	dy, counts := len(b.Y)/(c.B*c.Nt), b.Counts()
	out := make([]picture.Curve, dy)
	for d := range out {
		out[d] = picture.Curve{XLabel: "x", YLabel: "y"}
		if dy > 1 {
			out[d].YLabel += strconv.Itoa(d + 1)
		}
		for k := i * c.Nt; k < (i+1)*c.Nt; k++ {
			if counts == nil || counts[k*dy+d] {
				addValue(&out[d], c.XTarget[k], p, k*dy+d)
				out[d].Truth = append(out[d].Truth, float64(b.Y[k*dy+d]))
			}
		}
		for k := i * c.Nc; k < (i+1)*c.Nc; k++ {
			if y := c.YContext[k*dy+d]; (c.ContextMask == nil || c.ContextMask[k]) && y == y {
				out[d].ContextX, out[d].ContextY = append(out[d].ContextX, c.XContext[k]),
					append(out[d].ContextY, float64(c.YContext[k*dy+d]))
			}
		}
	}
	return out
}

// bandShare is the probability of what lies between the ends of a drawn band, of a distribution that is no normal: that
// of two standard deviations.
const bandShare = 0.9545

// addValue adds a predicted value to a drawn curve.
func addValue(c *picture.Curve, x float64, p *cnp.Prediction[float32], i int) {
	c.X, c.Mean, c.Std = append(c.X, x), append(c.Mean, float64(p.Mean[i])), append(c.Std, float64(p.Std[i]))
	if _, normal := p.Distribution().(cnp.Rescaler); !normal {
		c.Lower, c.Upper = append(c.Lower, p.QuantileAt(i, (1-bandShare)/2)), append(c.Upper, p.QuantileAt(i, (1+bandShare)/2))
	}
}
