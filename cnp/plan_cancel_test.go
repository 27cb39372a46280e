package cnp

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// lateContext is a context that is cancelled when it has been asked a number of times.
type lateContext struct {
	context.Context
	left atomic.Int64
}

func (c *lateContext) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestPlanCancelledAnywhere: wherever a plan is when its context ends, it returns the context's error and nothing else happens.
func TestPlanCancelledAnywhere(t *testing.T) {
	for group, lifts := range map[string]int{"T(2)": 1, "SO(2)": 1, "R>0xSO(2)": 1, "SE(2)": 2} {
		m := planModel[float32](t, group, lifts, "smooth")
		whole, asked := false, int64(0)
		for n := int64(0); !whole; n += 1 + n/16 {
			ctx := &lateContext{Context: context.Background()}
			ctx.left.Store(n)
			p, err := m.PlanGeometry(ctx, Grid(14, 14), PlanOptions{})
			if whole = err == nil; whole {
				require.NotNil(t, p)
				asked = n
				continue
			}
			require.ErrorIs(t, err, context.Canceled)
			require.Nil(t, p)
		}
		require.Greater(t, asked, int64(30), "%s: how often a plan asks", group)
	}
}
