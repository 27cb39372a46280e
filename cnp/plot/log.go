package plot

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"os"

	"github.com/equivcnp/equivcnp/cnp/train"
	"github.com/equivcnp/equivcnp/internal/picture"
)

// TrainingLog draws the loss of a training's log file, and the log-likelihoods of its tasks and of its scores, as a PNG.
func TrainingLog(w io.Writer, path, title string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	loss := picture.Series{Name: "loss"}
	seen, scored := picture.Series{Name: "training tasks"}, picture.Series{Name: "scores", Err: []float64{}}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r train.Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return err
		}
		step := float64(r.Step)
		loss.X, loss.Y = append(loss.X, step), append(loss.Y, r.Loss)
		seen.X, seen.Y = append(seen.X, step), append(seen.Y, r.LogLikelihood)
		if s := r.Score; s != nil {
			scored.X, scored.Y = append(scored.X, step), append(scored.Y, s.LogLikelihood)
			scored.Err = append(scored.Err, s.Std/math.Sqrt(float64(max(1, s.Tasks))))
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return picture.WriteCharts(w, "png",
		&picture.Chart{Title: title, XLabel: "step", YLabel: "loss", Series: []picture.Series{thinned(loss)}},
		&picture.Chart{XLabel: "step", YLabel: "log-likelihood per value", Series: []picture.Series{thinned(seen), scored}})
}

// thinned is a series of at most 200 points, the last among them. Its first twentieth, often far from the rest, is left out.
func thinned(s picture.Series) picture.Series {
	stride := (len(s.X) + 199) / 200
	out := picture.Series{Name: s.Name}
	for i := len(s.X) / 20; i < len(s.X); i++ {
		if (len(s.X)-1-i)%max(1, stride) == 0 {
			out.X, out.Y = append(out.X, s.X[i]), append(out.Y, s.Y[i])
		}
	}
	return out
}
