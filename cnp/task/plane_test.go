package task

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
)

// TestPlaneSymmetry: covariances and landscapes stay as they are when both places move by the kind's own group, and
// change under the others.
func TestPlaneSymmetry(t *testing.T) {
	moves := map[string][]float64{"T(2)": {0.3, -0.7}, "SE(2)": {0.9, 0.2, 0.4}, "SO(2)": {0.7}, "R>0xSO(2)": {0.4, -0.5}}
	for kind, own := range map[string][]string{"stationary": {"T(2)"}, "isotropic": {"T(2)", "SE(2)", "SO(2)"},
		"radial": {"SO(2)"}, "scale-free": {"SO(2)", "R>0xSO(2)"}, "none": nil} {
		s := PlaneSource[float64]{Kind: kind}
		require.NoError(t, s.Validate())
		b, err := s.Batch(1, 3, 1)
		require.NoError(t, err)
		x := b.Curves.XTarget
		for name, a := range moves {
			g, err := group.Parse(name, 0)
			require.NoError(t, err)
			moved, change := make([]float64, len(x)), 0.0
			for i := 0; i < len(x); i += 2 {
				g.Act(moved[i:i+2], a, x[i:i+2])
			}
			for i := 0; i < len(x); i += 2 {
				change = max(change, math.Abs(s.mean(moved[i:i+2])-s.mean(x[i:i+2])))
				for j := 0; j < len(x); j += 2 {
					change = max(change, math.Abs(s.covariance(moved[i:i+2], moved[j:j+2])-s.covariance(x[i:i+2], x[j:j+2])))
				}
			}
			symmetric := false
			for _, o := range own {
				symmetric = symmetric || o == name
			}
			require.Equal(t, symmetric, change < 1e-9, "%s moved by %s: covariances change by up to %g", kind, name, change)
			if !symmetric {
				require.Greater(t, change, 0.1, "%s moved by %s", kind, name)
			}
		}
	}
}

// TestPlaneExact: values are as likely as the process says; its densities are the product of those of targets one by one.
func TestPlaneExact(t *testing.T) {
	for _, kind := range append([]string{"stationary+0.5", "isotropic+2"}, PlaneKinds...) {
		s := PlaneSource[float64]{Kind: kind}
		sum, values := 0.0, 0
		for step := range 8 {
			b, err := s.Batch(8, 5, step)
			require.NoError(t, err)
			joint, alone, err := s.Exact(b)
			require.NoError(t, err)
			require.Greater(t, joint[0]+1e-9, alone[0]-3, kind)
			c := b.Curves
			whole := c.Nc + c.Nt
			for i := range c.B { // whitened, values are standard normal
				x := append(append([]float64{}, c.XContext[2*i*c.Nc:2*(i+1)*c.Nc]...), c.XTarget[2*i*c.Nt:2*(i+1)*c.Nt]...)
				l, err := s.factor(x)
				require.NoError(t, err)
				y := append(append([]float64{}, c.YContext[i*c.Nc:(i+1)*c.Nc]...), b.Y[i*c.Nt:(i+1)*c.Nt]...)
				for k := range y {
					y[k] -= s.mean(x[2*k : 2*k+2])
				}
				densityOf(l, y)
				for _, z := range y {
					sum += z * z
				}
				values += whole
			}
		}
		require.InDelta(t, 1, sum/float64(values), 5*math.Sqrt(2/float64(values)), kind)
	}
	_, err := PlaneSource[float32]{Kind: "cubic"}.Batch(1, 1, 1)
	require.ErrorContains(t, err, `process "cubic" in the plane is not one of stationary, isotropic`)
}

// TestPlaneBroken: an amount of the landscape is added to the values, and breaks the symmetry of their mean alone.
func TestPlaneBroken(t *testing.T) {
	whole, broken := PlaneSource[float64]{Kind: "stationary"}, PlaneSource[float64]{Kind: "stationary+0.25"}
	require.NoError(t, broken.Validate())
	a, err := whole.Batch(2, 3, 1)
	require.NoError(t, err)
	b, err := broken.Batch(2, 3, 1)
	require.NoError(t, err)
	for i, y := range a.Y {
		require.InDelta(t, y+0.25*landscape(b.Curves.XTarget[2*i:2*i+2]), b.Y[i], 1e-12)
	}
	x := a.Curves.XTarget
	require.Equal(t, whole.covariance(x[:2], x[2:4]), broken.covariance(x[:2], x[2:4]))
	for _, kind := range []string{"stationary+", "stationary+x", "stationary+-1", "stationary+NaN", "stationary+1e9", "+1", "other+1"} {
		require.Error(t, PlaneSource[float64]{Kind: kind}.Validate(), kind)
	}
}
