package serve

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
)

// New reads the models and returns a server for them.
func New(opt Options) (*Server, error) {
	opt.Memory = cmp.Or(opt.Memory, cnp.MemoryLimit()/3*2)
	opt.Batch, opt.Slots, opt.Waiting = cmp.Or(opt.Batch, 16), cmp.Or(opt.Slots, 1), cmp.Or(opt.Waiting, 1024)
	opt.Timeout, opt.Poll = cmp.Or(opt.Timeout, 30*time.Second), cmp.Or(opt.Poll, 2*time.Second)
	requests := min(opt.Memory/8, 1<<30)
	opt.PlanMemory = cmp.Or(opt.PlanMemory, min(3<<29, (opt.Memory-requests)/2))
	opt.Body = min(cmp.Or(opt.Body, 64<<20), requests)
	if err := opt.check(); err != nil {
		return nil, err
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{opt: opt, log: opt.Log, metrics: newMetrics(opt), files: map[string]fileState{}}
	s.secret.file = lookAt(opt.TokenFile)
	if err := s.readToken(); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.queue = newQueue(opt.Slots, opt.Batch, opt.Waiting, s.log, s.metrics)
	s.queue.most = opt.Compute
	s.plans = newPlans(ctx, opt.Memory-requests, opt.PlanMemory, opt.Precision, opt.Slots, s.log, s.metrics)
	s.bytes = &bytesGauge{limit: requests, clients: map[string]*share{}, metrics: s.metrics}
	s.models.Store(&map[string]*model{})
	s.failures.Store(&map[string]string{})
	s.handler = s.routes()
	s.log.Info("memory", "all", opt.Memory, "requests", requests, "models_and_plans", opt.Memory-requests, "one_plan", opt.PlanMemory)
	for _, src := range opt.Models {
		if _, twice := (*s.models.Load())[src.Name]; twice {
			stop()
			return nil, fmt.Errorf("serve: two models are called %q", src.Name)
		}
		if err := s.load(ctx, src); err != nil {
			stop()
			return nil, fmt.Errorf("serve: model %q: %w", src.Name, err)
		}
	}
	if len(opt.Folders) > 0 {
		if err := s.Rescan(); err != nil {
			stop()
			return nil, err
		}
	}
	if len(opt.Folders) > 0 || opt.TokenFile != "" {
		s.gone.Go(func() { s.watch(ctx) })
	}
	if opt.Warm {
		s.warming.Store(true)
		s.gone.Go(func() { s.warmAll(ctx) })
	}
	return s, nil
}
