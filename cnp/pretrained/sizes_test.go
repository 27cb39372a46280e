package pretrained

import (
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
)

var long = flag.Bool("long", false, "images of all sizes, under all groups")

// TestOtherSizes: the models predict images of other sizes than they were trained on as well as those, within 0.2 of the log-likelihood per
// pixel on the same digits drawn finer, or a note says that they do not.
func TestOtherSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short; this takes ten seconds and more (make test runs it)")
	}
	models, sizes, digits := []string{"digits-SO2", "digits-RxSO2"}, [][2]int{{48, 80}}, 3
	if *long {
		models, sizes, digits = []string{"digits-SO2", "digits-RxSO2", "digits-SE2x4"}, [][2]int{{48, 80}, {128, 128}, {256, 256}}, 8
	}
	for _, name := range models {
		t.Run(name, func(t *testing.T) { otherSizes(t, name, sizes, digits) })
	}
}

func otherSizes(t *testing.T, name string, sizes [][2]int, digits int) {
	const memory = 4 << 30 // whatever the machine has
	m, err := Load(name)
	require.NoError(t, err)
	score := func(h, w int) float64 {
		src := task.ImageSource[float32]{Pictures: task.TestDigits().Resized(h, w), Rates: task.PaperRates}
		view, err := cnp.Within(m, cnp.Work{Batch: 1, H: h, W: w}, min(memory, cnp.MemoryLimit()))
		require.NoError(t, err)
		rep, err := eval.Run(t.Context(), eval.Model[float32](view), src, eval.Options{Tasks: digits, Batch: 1, Seed: 5})
		require.NoError(t, err)
		t.Logf("%s, %d x %d pixels, in %d parts: %.3f per pixel", name, h, w, cnp.Parts(view, h, w), rep.LogLikelihood.Mean)
		return rep.LogLikelihood.Mean
	}
	trained := score(64, 64)
	for _, s := range sizes {
		if lost := trained - score(s[0], s[1]); !(lost < 0.2) {
			cfg, n := m.Config(), s[0]*s[1]
			notes := cnp.ImageNotes(&cfg, &cnp.Images[float32]{B: 1, C: 1, H: s[0], W: s[1], Pixels: make([]float32, n),
				Mask: make([]bool, n)})
			require.Contains(t, fmt.Sprint(notes), "predict worse", "%s, %d x %d pixels: %.3f lost", name, s[0], s[1], lost)
		}
	}
}
