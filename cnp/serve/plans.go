package serve

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/bits"
	"sync"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
)

// plans keeps the plans of images of recent sizes, of all models, within one budget of memory.
type plans struct {
	base      context.Context // ends with the server
	each      int64           // what one plan may take
	precision cnp.Precision
	slots     int
	log       *slog.Logger
	metrics   *metrics

	mu      sync.Mutex
	limit   int64
	used    int64 // by models and plans, those that are being made at what they may take
	models  int64 // of it by models
	entries map[lane]*planEntry
	clock   uint64
	making  chan struct{} // one plan is made at a time
	freed   chan struct{} // closed, and replaced, when memory is free that was in use, or may be
	// took is by model and size, as a power of two, how long plans took to make; pending what those take that are still to be made.
	took    map[planSize]time.Duration
	pending time.Duration
}

// planSize is what plans have in common that take about as long to make.
type planSize struct {
	model *model
	size  int
}

func sizeOf(l lane) planSize { return planSize{l.model, bits.Len(uint(l.h * l.w))} }

// bytesOf is what a plan keeps and what its calls need.
func bytesOf(p cnp.Plan[float32]) int64 {
	info := p.Info()
	return info.Bytes + int64(info.Concurrency)*info.CallBytes
}

// planEntry is a plan, or one that is being made.
type planEntry struct {
	ready   chan struct{} // closed when plan or err is set
	plan    cnp.Plan[float32]
	err     error
	bytes   int64
	users   int // requests that wait for it or use it
	last    uint64
	cancel  context.CancelFunc
	removed bool
	cost    time.Duration // that making it is expected to take
}

func newPlans(base context.Context, limit, each int64, precision cnp.Precision, slots int, log *slog.Logger, m *metrics) *plans {
	return &plans{base: base, limit: limit, each: each, precision: precision, slots: slots, log: log, metrics: m,
		entries: map[lane]*planEntry{},
		making:  make(chan struct{}, 1), freed: make(chan struct{}), took: map[planSize]time.Duration{}}
}

// get returns the plan of a lane, which it makes if there is none, and a function to be called when it is no longer used. nil where the
// model has no plans. A plan that nobody waits for any more is not made.
func (p *plans) get(ctx context.Context, l lane) (cnp.Plan[float32], func(), error) {
	if l.model.planned == nil {
		return nil, func() {}, nil
	}
	p.mu.Lock()
	e := p.entries[l]
	if e == nil {
		p.metrics.planMisses.Inc()
		err := p.inTime(ctx, l)
		if err == nil {
			e, err = p.begin(l)
		}
		if err != nil {
			p.mu.Unlock()
			return nil, nil, err
		}
	} else {
		p.metrics.planHits.Inc()
	}
	e.users++
	p.clock++
	e.last = p.clock
	p.mu.Unlock()
	release := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if e.users--; e.users > 0 {
			return
		}
		defer p.signal()
		select {
		case <-e.ready:
			if e.removed {
				p.free(e)
			} else if l.model.retired { // replaced between being found and being used
				p.drop(l)
			}
		default: // whoever comes now begins anew
			e.cancel()
			e.removed = true
			if p.entries[l] == e {
				delete(p.entries, l)
			}
		}
	}
	select {
	case <-e.ready:
	case <-ctx.Done():
		release()
		return nil, nil, ctx.Err()
	}
	if e.err != nil {
		release()
		return nil, nil, e.err
	}
	return e.plan, release, nil
}

// signal wakes those who wait for memory.
func (p *plans) signal() {
	close(p.freed)
	p.freed = make(chan struct{})
}

// inTime refuses a plan that would probably be made too late.
func (p *plans) inTime(ctx context.Context, l lane) error {
	deadline, has := ctx.Deadline()
	cost := p.took[sizeOf(l)]
	if wait := p.pending + cost; has && cost > 0 && time.Until(deadline) < wait {
		if p.pending == 0 { // so that what stalled once is tried again
			p.took[sizeOf(l)] -= cost / 8
		}
		return overloaded("deadline", p.pending, "preparing for images of %d x %d would take %v, and there are %v", l.h, l.w,
			wait.Round(time.Millisecond), time.Until(deadline).Round(time.Millisecond))
	}
	return nil
}

// begin starts to make a plan.
func (p *plans) begin(l lane) (*planEntry, error) {
	share := p.share()
	planned, err := cnp.Within(l.model.planned, workOf(l), share)
	if err != nil {
		return nil, err
	}
	need, err := cnp.EstimateModel(planned, workOf(l))
	if err != nil {
		return nil, err
	}
	if err := need.Check(share); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(p.base)
	e := &planEntry{ready: make(chan struct{}), cancel: cancel, cost: p.took[sizeOf(l)]}
	p.pending += e.cost
	p.entries[l] = e
	go p.make(ctx, l, e)
	return e, nil
}

// workOf is what a plan's model is asked to do, as far as it may be divided.
func workOf(l lane) cnp.Work { return cnp.Work{Batch: 1, H: l.h, W: l.w} }

// share is what a plan may take. A model whose images would need more completes them in more and coarser parts.
func (p *plans) share() int64 { return min(p.each, cnp.MemoryLimit()) }

// room drops the plans that were not used for longest until there is room for so many bytes, and reports whether there is.
func (p *plans) room(bytes int64) bool {
	for p.used+bytes > p.limit {
		var oldest lane
		for l, e := range p.entries {
			if e.users == 0 && isClosed(e.ready) && (oldest.model == nil || e.last < p.entries[oldest].last) {
				oldest = l
			}
		}
		if oldest.model == nil {
			return false
		}
		p.log.Info("plan dropped to make room", "model", oldest.model.name, "height", oldest.h, "width", oldest.w)
		p.drop(oldest)
	}
	return true
}

// drop removes an entry; its memory is free once nobody uses it.
func (p *plans) drop(l lane) {
	e := p.entries[l]
	delete(p.entries, l)
	e.removed = true
	if e.users == 0 && isClosed(e.ready) {
		p.free(e)
	}
}

func (p *plans) free(e *planEntry) {
	p.used -= e.bytes
	e.bytes, e.plan = 0, nil
	p.metrics.memory.Set(float64(p.used))
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// make makes a plan and ends the entry's waiting.
func (p *plans) make(ctx context.Context, l lane, e *planEntry) {
	defer e.cancel()
	var start time.Time
	var plan cnp.Plan[float32]
	var err error
	select {
	case p.making <- struct{}{}:
		defer func() { <-p.making }()
		if err = p.reserve(ctx, e); err == nil {
			start = time.Now()
			plan, err = p.compile(ctx, l)
		}
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	e.plan, e.err = plan, err
	p.used -= e.bytes
	p.pending -= e.cost
	e.bytes = 0
	defer p.signal()
	if err != nil {
		if p.entries[l] == e {
			delete(p.entries, l)
		}
		if ctx.Err() == nil {
			p.log.Warn("no plan", "model", l.model.name, "height", l.h, "width", l.w, "error", err.Error())
		}
	} else {
		e.bytes = bytesOf(plan)
		p.used += e.bytes
		p.metrics.planSeconds.Observe(time.Since(start).Seconds())
		p.learn(l, time.Since(start))
		info := plan.Info()
		p.log.Info("plan made", "model", l.model.name, "height", l.h, "width", l.w, "bytes", e.bytes, "seconds",
			time.Since(start).Seconds(),
			"file", info.File)
		if info.FileErr != nil {
			p.log.Warn("plan not kept", "model", l.model.name, "height", l.h, "width", l.w, "error", info.FileErr.Error())
		}
	}
	p.metrics.memory.Set(float64(p.used))
	close(e.ready)
	if e.removed && e.users == 0 {
		p.free(e)
	}
}

// learn keeps how long a plan took.
func (p *plans) learn(l lane, took time.Duration) {
	at := sizeOf(l)
	if before := p.took[at]; before > 0 {
		took = before + (took-before)/4
	}
	if len(p.took) >= maxWorks {
		clear(p.took)
	}
	if !l.model.retired {
		p.took[at] = took
	}
}

// reserve takes what a plan may need while it is made. While all that could make room is in use it waits.
func (p *plans) reserve(ctx context.Context, e *planEntry) error {
	for {
		p.mu.Lock()
		if p.room(p.each) {
			e.bytes = p.each
			p.used += e.bytes
			p.metrics.memory.Set(float64(p.used))
			p.mu.Unlock()
			return nil
		}
		freed, alone := p.freed, p.models+p.each > p.limit
		p.mu.Unlock()
		if alone {
			return overloaded("memory", time.Second, "models take %v of %v, which leaves too little for a plan",
				cnp.Bytes(p.models), cnp.Bytes(p.limit))
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (p *plans) compile(ctx context.Context, l lane) (plan cnp.Plan[float32], err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the plan failed: %v", r)
		}
	}()
	planned, err := cnp.Within(l.model.planned, workOf(l), p.share())
	if err != nil {
		return nil, err
	}
	return planned.Plan(ctx, cnp.Pixels(l.h, l.w), cnp.PlanOptions{Memory: p.share(), Precision: p.precision, Concurrency: p.slots})
}

// take counts a model's own memory; it reports whether there was room.
func (p *plans) take(m *model) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.room(m.bytes) {
		return false
	}
	p.used += m.bytes
	p.models += m.bytes
	p.metrics.memory.Set(float64(p.used))
	return true
}

// giveBack forgets a model and its plans; those in use live as long as their users.
func (p *plans) giveBack(m *model) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used -= m.bytes
	p.models -= m.bytes
	m.retired = true
	maps.DeleteFunc(p.took, func(s planSize, _ time.Duration) bool { return s.model == m })
	defer p.signal()
	for l := range p.entries {
		if l.model == m {
			p.drop(l)
		}
	}
	p.metrics.memory.Set(float64(p.used))
}
