package pretrained

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
)

// TestModels: every shipped model loads, predicts, and says where it is from.
func TestModels(t *testing.T) {
	require.NotEmpty(t, Names())
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			i, err := About(name)
			require.NoError(t, err)
			for key, v := range map[string]string{KeyCommand: i.Command, KeySeed: i.Seed, KeySteps: i.Steps, KeyTasks: i.Tasks,
				KeyTest: i.Test, KeyLogLikelihood: i.LogLikelihood} {
				require.NotEmpty(t, v, "metadata %q", key)
			}
			m, err := Load(name)
			require.NoError(t, err)
			require.Equal(t, i.Config, m.Config())
			var p *cnp.Prediction[float32]
			switch m := m.(type) {
			case cnp.Regressor[float32]:
				n := m.Config().DimX
				p, err = m.Predict(context.Background(), &cnp.Batch[float32]{B: 1, Nt: 2, XTarget: make([]float64, 2*n)})
			case cnp.Completer[float32]:
				n := 16 * 16
				p, err = m.Complete(context.Background(), &cnp.Images[float32]{B: 1, C: m.Config().DimY, H: 16, W: 16,
					Pixels: make([]float32, n*m.Config().DimY), Mask: make([]bool, n)})
			default:
				t.Fatalf("a %T predicts nothing", m)
			}
			require.NoError(t, err)
			for _, s := range p.Std {
				require.True(t, s > 0 && s < 1e3)
			}
		})
	}
}

func TestUnknown(t *testing.T) {
	for _, name := range []string{"", "nobody", "../models/" + Names()[0], strings.Repeat("x", 1000)} {
		_, err := Load(name)
		require.ErrorIs(t, err, ErrName)
		require.ErrorContains(t, err, Names()[0])
		require.Less(t, len(err.Error()), 400+100*len(Names()))
		_, err = About(name)
		require.ErrorIs(t, err, ErrName)
	}
}
