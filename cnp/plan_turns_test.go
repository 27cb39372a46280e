package cnp

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPlanTurns: no more calls compute at a time than the plan allows, the others wait in order, and one that gives up waiting
// returns its context's error without having computed.
func TestPlanTurns(t *testing.T) {
	m, im := planModel[float32](t, "SO(2)", 1, "smooth"), planImages[float32](1, 2, 8, 8, 5)
	p, err := m.PlanGeometry(context.Background(), Grid(8, 8), PlanOptions{Concurrency: 2})
	require.NoError(t, err)
	assert.Equal(t, 2, p.Info().Concurrency)
	var mu sync.Mutex
	var order []int
	hold, busy := make(chan struct{}), make(chan struct{}, 10)
	var wg sync.WaitGroup
	call := func(ctx context.Context, k int) {
		defer wg.Done()
		first := true
		ctx = WithProgress(ctx, func(int, int) {
			if !first {
				return
			}
			first = false
			mu.Lock()
			order = append(order, k)
			mu.Unlock()
			busy <- struct{}{}
			<-hold
		})
		assert.NoError(t, p.Predict(ctx, newPrediction[float32](Normal, im.B*p.Values()), im))
	}
	for k := range 6 {
		wg.Add(1)
		go call(context.Background(), k)
		if k < 2 {
			<-busy
		} else {
			time.Sleep(30 * time.Millisecond) // until it waits
		}
	}
	mu.Lock()
	assert.Len(t, order, 2, "calls at a time")
	mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	assert.ErrorIs(t, p.Predict(ctx, newPrediction[float32](Normal, im.B*p.Values()), im), context.DeadlineExceeded)
	for range 6 {
		hold <- struct{}{}
		time.Sleep(30 * time.Millisecond)
	}
	wg.Wait()
	assert.Equal(t, []int{0, 1, 2, 3, 4, 5}, order)

	_, err = m.PlanGeometry(context.Background(), Grid(8, 8), PlanOptions{Concurrency: -1})
	assert.ErrorIs(t, err, ErrConfig)
}
