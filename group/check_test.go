package group

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Types of a user's own that contradict themselves, as each embeds a group and overrides half of what belongs together.
type (
	otherPose struct{ *SO2 }
	narrow    struct{ *T }
	cornered  struct{ *SE3 }
	pinching  struct{ *T }
	drifting  struct{ Group }
	undefined struct{ Group }
)

func (g pinching) Act(dst, a, x []float64) {
	g.T.Act(dst, a, x)
	dst[0] *= 2
}

// RelativePose depends on where the points are.
func (g drifting) RelativePose(pose, ai, qi, aj, qj []float64) {
	g.Group.RelativePose(pose, ai, qi, aj, qj)
	pose[0] *= 1 + ai[0]
}

func (undefined) Distance([]float64) float64 { return math.NaN() }

func (g otherPose) RelativePose(pose, ai, qi, aj, qj []float64) {
	g.SO2.RelativePose(pose, ai, qi, aj, qj)
	pose[1] *= 2
}

func (g narrow) BoundBox(half []float64, r float64) {
	g.T.BoundBox(half, r)
	half[0] /= 3
}

func (cornered) BoundPeriods() []float64 { return nil }

func TestCheck(t *testing.T) {
	for _, g := range allGroups() {
		require.NoError(t, Check(g), g.Name())
	}
	require.NoError(t, Check(renamed{NewSE2(0)}))
	require.NoError(t, Check(measured{NewRxSO2(0)}))
	for want, g := range map[string]Group{
		"group: SO(2): Distances differs from Distance":         steep{NewSO2(0)},
		"group: SO(2): RelativePoses differs from RelativePose": otherPose{NewSO2(0)},
		"group: SE(2): BoundCoordsOf differs from BoundCoords":  shifted{NewSE2(0)},
		"group: T(2): Metric differs from Distance":             claiming{NewT(2, 0)},
		"off in bounding coordinate 0, and BoundBox says":       narrow{NewT(2, 0)},
		"group: SE(3): 0 periods for":                           cornered{NewSE3(0)},
		"group: T(2): Act by Inverse(a) and then by a moves":    pinching{NewT(2, 0)},
		"group: T(2): the relative pose":                        drifting{NewT(2, 0)},
		"group: R>0xSO(2): the relative pose":                   drifting{NewRxSO2(0)},
		"group: SO(2): Distance(":                               undefined{NewSO2(0)},
	} {
		require.ErrorContains(t, Check(g), want)
	}
}
