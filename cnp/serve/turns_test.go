package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/serve/inference"
)

// of is a job with the client that sent it.
func (j *job) of(client string) *job {
	j.client = client
	return j
}

// TestClientTurns: a client that has few requests waits for one batch of one that has many, of whatever kind they are, and goes with others
// of that one's.
func TestClientTurns(t *testing.T) {
	for name, make := range map[string]func(m *model) *job{
		"short": func(m *model) *job { return curveJob(m, 5e3) }, // 5 ms
		"long":  func(m *model) *job { return curveJob(m, 1e6) }, // a second
		"alone": func(m *model) *job {
			j := curveJob(m, 5e4)
			j.merge = false
			return j
		},
		"image": func(m *model) *job { return imageJob(m, 100) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, m := pixelQueue(), &model{name: "m"}
				q.maxBatch = 4
				require.NoError(t, q.do(t.Context(), make(m)))
				each, batches, most := make(m).load(), 1, 1 // microseconds
				if make(m).merge {
					batches, most = 4, 4
				}
				var wait sync.WaitGroup
				for range 100 {
					wait.Go(func() { require.NoError(t, q.do(context.Background(), make(m).of("many"))) })
					synctest.Wait()
				}
				for range 5 {
					time.Sleep(time.Duration(each) / 3 * time.Microsecond)
					start, j := time.Now(), make(m).of("few")
					require.NoError(t, q.do(t.Context(), j))
					require.LessOrEqual(t, j.began.Sub(start), time.Duration(batches*each)*time.Microsecond)
					require.Equal(t, most, j.batch, "it goes with those of the other client")
				}
				wait.Wait()
				synctest.Wait()
				q.queue.mu.Lock()
				defer q.queue.mu.Unlock()
				require.Empty(t, q.turns, "who has nothing to do has no debts")
			})
		})
	}
}

// TestClientShares: clients that always have requests get equal time, whatever the size and the number of their requests, and whether or
// not they go together.
func TestClientShares(t *testing.T) {
	for _, batch := range []int{1, 2, 16} {
		t.Run(fmt.Sprint(batch), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, m := pixelQueue(), &model{name: "m"}
				q.maxBatch = batch
				for _, targets := range []int{1000, 4000} {
					require.NoError(t, q.do(t.Context(), curveJob(m, targets)))
				}
				ctx, cancel := context.WithCancel(context.Background())
				var wait sync.WaitGroup
				var mu sync.Mutex
				got := map[string]int{}
				flood := func(client string, targets, n int) {
					for range n {
						wait.Go(func() {
							for ctx.Err() == nil {
								if j := curveJob(m, targets).of(client); q.do(ctx, j) == nil {
									mu.Lock()
									got[client] += targets
									mu.Unlock()
								}
							}
						})
						synctest.Wait()
					}
				}
				flood("many", 1000, 200)
				flood("few", 1000, 20)
				flood("large", 4000, 20)
				mu.Lock()
				clear(got)
				mu.Unlock()
				time.Sleep(5 * time.Second)
				cancel()
				wait.Wait()
				for _, client := range []string{"few", "large"} {
					ratio := float64(got[client]) / float64(got["many"])
					require.Greater(t, ratio, 0.8, "%v", got)
					require.Less(t, ratio, 1.25, "%v", got)
				}
			})
		})
	}
}

// TestClientQueue: one client may fill the queue; when it is full, others take the places of the client that has most, up to as many as
// that keeps. What leaves is told to come back.
func TestClientQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, m := newFakeQueue(1, 1, 100), &model{name: "m"}
		var wait sync.WaitGroup
		var mu sync.Mutex
		refused := map[string]int{}
		ctx, cancel := context.WithCancel(context.Background())
		send := func(client string, n int) {
			for range n {
				wait.Go(func() {
					var f *failure
					if err := q.do(ctx, fakeJob(m, 0, 5).of(client)); errors.As(err, &f) {
						require.Equal(t, "queue", f.reason)
						require.Positive(t, f.retry)
						mu.Lock()
						refused[client]++
						mu.Unlock()
					}
				})
				synctest.Wait()
			}
		}
		send("a", 111)
		require.Equal(t, map[string]int{"a": 10}, refused, "one is computed, 100 wait")
		require.Error(t, q.full(m, "a"))
		require.NoError(t, q.full(m, "b"))
		require.NoError(t, q.full(nil, "b"))
		send("b", 60)
		require.Equal(t, map[string]int{"a": 60, "b": 10}, refused)
		require.Error(t, q.full(m, "b"))
		send("c", 40)
		require.Error(t, q.full(nil, "c"), "it is full")
		require.Equal(t, 7, refused["c"], "each has a third: %v", refused)
		cancel()
		wait.Wait()
		q.queue.mu.Lock()
		defer q.queue.mu.Unlock()
		require.Zero(t, q.tasks)
	})
}

// TestClientDeadline: what one client has waiting does not refuse another's request whose turn comes in time.
func TestClientDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, m := newFakeQueue(1, 1, 1000), &model{name: "m"}
		require.NoError(t, q.do(t.Context(), fakeJob(m, 0, 5))) // a second
		ctx, cancel := context.WithCancel(context.Background())
		var wait sync.WaitGroup
		for range 100 {
			wait.Go(func() { _ = q.do(ctx, fakeJob(m, 0, 5).of("many")) })
			synctest.Wait()
		}
		soon, stop := context.WithTimeout(t.Context(), 5*time.Second)
		defer stop()
		deadline, _ := soon.Deadline()
		require.Error(t, q.tooLate(m, "many", deadline, 5))
		require.NoError(t, q.tooLate(m, "few", deadline, 5))
		require.Error(t, q.do(soon, fakeJob(m, 0, 5).of("many")))
		require.NoError(t, q.do(soon, fakeJob(m, 0, 5).of("few")))
		cancel()
		wait.Wait()
	})
}

// TestClientTimes: however many clients come, few are remembered.
func TestClientTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, m := pixelQueue(), &model{name: "m"}
		q.maxBatch = 1
		var wait sync.WaitGroup
		for i := range 5 * maxWorks {
			wait.Go(func() { require.NoError(t, q.do(context.Background(), imageJob(m, 10).of(fmt.Sprint(i)))) })
			if i >= 100 {
				time.Sleep(100 * time.Microsecond) // as long as one takes
			}
			synctest.Wait()
			q.queue.mu.Lock()
			require.LessOrEqual(t, len(q.turns[class{m, false}].served), 2*maxWorks)
			q.queue.mu.Unlock()
		}
		wait.Wait()
	})
}

// TestClientOfRequests: jobs know who sent them, over both protocols.
func TestClientOfRequests(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "universal-1", Path: "universal-1"}} })
	seen := make(chan string, 2)
	compute := s.queue.compute
	s.queue.compute = func(ctx context.Context, jobs []*job) error {
		seen <- jobs[0].client
		return compute(ctx, jobs)
	}
	b := curves(rngOf(1), 1, 3, 2)
	w := do(s, "POST", "/v2/models/universal-1/infer", nil, curvesJSON(t, b))
	require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
	require.Equal(t, "192.0.2.1", <-seen, "httptest's")
	url, _ := listen(t, s, Limits{})
	input := func(name, datatype string, n int, c *inference.InferTensorContents) *inference.ModelInferRequest_InferInputTensor {
		return &inference.ModelInferRequest_InferInputTensor{Name: name, Datatype: datatype, Shape: []int64{1, int64(n), 1}, Contents: c}
	}
	infer := grpcClient[inference.ModelInferRequest, inference.ModelInferResponse](url, "ModelInfer")
	_, err := infer.CallUnary(t.Context(), connect.NewRequest(&inference.ModelInferRequest{ModelName: "universal-1",
		Inputs: []*inference.ModelInferRequest_InferInputTensor{
			input("x_context", "FP64", 3, &inference.InferTensorContents{Fp64Contents: b.XContext}),
			input("y_context", "FP32", 3, &inference.InferTensorContents{Fp32Contents: b.YContext}),
			input("x_target", "FP64", 2, &inference.InferTensorContents{Fp64Contents: b.XTarget})}}))
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1", <-seen)
}
