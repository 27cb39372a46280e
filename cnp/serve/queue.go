package serve

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// queue orders jobs, by priority, then so that models get equal time, and clients of each model, then by arrival, and lets so many batches
// compute at a time.
//
// A batch that computes for long holds up its own lane, and no other: while it lasts, so many more batches of other lanes may compute
// beside it. Of curves, which have one lane whatever their size, it holds up those that take long themselves.
type queue struct {
	slots, maxBatch, maxTasks int
	long                      time.Duration // a batch that takes longer lets others compute beside it
	most                      time.Duration // that a request may compute; 0: as long as it has
	log                       *slog.Logger
	metrics                   *metrics
	compute                   func(ctx context.Context, jobs []*job) error // sets the prediction of jobs of one lane

	mu      sync.Mutex
	waiting []*job // by priority and arrival
	tasks   int    // of them
	running []*batch
	seq     uint64
	costs   costs
	// served is the time that models have computed, or would have if they had never been without requests; clock is the one of the model
	// that was chosen last.
	served map[*model]time.Duration
	clock  time.Duration
	turns  map[class]*turns // of clients
}

// longBatch is the queue's long, if not tests say otherwise.
const longBatch = 200 * time.Millisecond

func newQueue(slots, maxBatch, maxTasks int, log *slog.Logger, m *metrics) *queue {
	return &queue{slots: slots, maxBatch: maxBatch, maxTasks: maxTasks, long: longBatch, log: log, metrics: m, compute: runJobs,
		costs:  costs{of: map[work]*time.Duration{}, rates: map[*model]rate{}},
		served: map[*model]time.Duration{}, turns: map[class]*turns{}}
}

// do runs a job and returns when it is done, or when ctx is: the job then leaves the queue, and a batch that nobody waits for stops. What
// could not be done within ctx's deadline, as far as recent batches tell, is refused at once. A job that finds a free slot is computed by
// the goroutine that brings it.
func (q *queue) do(ctx context.Context, j *job) error {
	j.came = time.Now()
	j.deadline, _ = ctx.Deadline()
	b, err := q.submit(ctx, j)
	if err != nil {
		return err
	}
	if b != nil {
		q.run(ctx, b)
		if ctx.Err() != nil {
			q.mu.Lock()
			b.alive = 0
			q.mu.Unlock()
		}
		if b = q.next(b); b != nil {
			go q.goOn(b)
		}
		return j.err
	}
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-j.done: // both happened
		return j.err
	default:
	}
	if i := slices.Index(q.waiting, j); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		q.tasks -= j.tasks
		q.metrics.waiting.Set(float64(q.tasks))
	} else if b := j.running; b != nil {
		if b.alive--; b.alive == 0 {
			b.cancel()
		}
	}
	return ctx.Err()
}

// submit puts a job into the queue, or into a free slot, as the batch that it returns.
func (q *queue) submit(ctx context.Context, j *job) (*batch, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q.seq++
	j.seq = q.seq
	q.costs.know(j)
	if err := q.tooLong(j); err != nil {
		return nil, err
	}
	if q.waitingOf(j.model) == 0 && len(q.served) < maxWorks { // it does not save up time that it has not asked for
		q.served[j.model] = max(q.served[j.model], q.clock)
	}
	if q.free(j) && !slices.ContainsFunc(q.waiting, func(w *job) bool { return w.lane == j.lane && q.free(w) }) {
		q.enter(j)
		return q.newBatch([]*job{j}), nil
	}
	give, ok := q.victims(j)
	if !ok {
		return nil, q.tooMany(j)
	}
	if err := q.hopeless(j, j.expected(j.tasks)); err != nil {
		return nil, err
	}
	q.enter(j)
	q.evict(give)
	i, _ := slices.BinarySearchFunc(q.waiting, j, before)
	q.waiting = slices.Insert(q.waiting, i, j)
	q.tasks += j.tasks
	q.metrics.waiting.Set(float64(q.tasks))
	return nil, nil
}

// free reports whether a batch of the job may begin: there is a slot, or those that compute in it take long and are of other lanes.
func (q *queue) free(j *job) bool {
	if len(q.running) < q.slots {
		return true
	}
	if len(q.running) >= 2*q.slots || j.expected(j.tasks) > q.long {
		return false
	}
	short, now := 0, time.Now()
	for _, b := range q.running {
		// A batch that was not known to be long holds up what is like it.
		unknown := j.curves != nil && now.Sub(b.began) >= q.long && (len(b.jobs) == 1 || b.cost == 0) && j.cost != b.jobs[0].cost
		if b.jobs[0].lane == j.lane && !q.passes(j, b.jobs[0]) && !unknown {
			return false
		}
		if b.cost <= q.long && now.Sub(b.began) < q.long {
			short++
		}
	}
	return short < q.slots
}

// isLong reports whether a job takes long by itself, as far as is known.
func (q *queue) isLong(j *job) bool { return j.expected(j.tasks) > q.long }

// passes reports whether a job need not wait for another one that takes long: it is computed beside it. What is not known of a job, other
// than its model, is taken for the best.
func (q *queue) passes(j, other *job) bool {
	if q.isLong(j) || !q.isLong(other) {
		return false
	}
	return other.curves != nil || j.lane != other.lane && (j.images != nil || j.curves != nil)
}

// tooLong refuses a job that cannot be done in its time if it is computed at once, or that would compute for longer than any may.
func (q *queue) tooLong(j *job) error {
	cost := j.expected(j.tasks)
	if q.most > 0 && cost > q.most {
		if len(q.running) == 0 {
			q.costs.doubt(j)
		}
		return tooLarge("this would be computed for %v, at most %v are allowed", cost.Round(time.Millisecond), q.most)
	}
	if cost > 0 && !j.deadline.IsZero() && time.Until(j.deadline) < cost {
		if len(q.running) == 0 {
			q.costs.doubt(j)
		}
		return late(0, cost, j)
	}
	return nil
}

// affordable refuses what submit would refuse for its cost alone.
func (q *queue) affordable(ctx context.Context, j *job) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	j.deadline, _ = ctx.Deadline()
	q.costs.know(j)
	return q.tooLong(j)
}

// full refuses what would not be taken on whatever it is, so that it need not be read first. The model may be nil.
func (q *queue) full(m *model, client string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.running) < q.slots {
		return nil
	}
	j := &job{model: m, client: client, tasks: 1, priority: maxPriority, cost: new(time.Duration)}
	if _, ok := q.victims(j); ok {
		return nil
	}
	return q.tooMany(j)
}

// tooLate refuses what would have waited beyond its deadline if it took no time at all, so that its tensors need not be read first. The
// model may be nil.
func (q *queue) tooLate(m *model, client string, deadline time.Time, priority int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.running) < q.slots {
		return nil
	}
	return q.hopeless(&job{model: m, client: client, priority: priority, deadline: deadline, cost: new(time.Duration)}, 0)
}

func (q *queue) tooMany(j *job) *failure {
	running, waiting := q.ahead(j)
	return overloaded("queue", running+waiting, "%d tasks are waiting, at most %d may", q.tasks, q.maxTasks)
}

// hopeless refuses a job of that cost which would probably not be done in time. What is admitted and given up later has cost others their
// place, and its client the time; what is refused costs nothing while others wait. So the more waits, the more must be left.
func (q *queue) hopeless(j *job, cost time.Duration) error {
	if j.deadline.IsZero() {
		return nil
	}
	running, waiting := q.ahead(j)
	if most := prudent(running+cost) + waiting + waiting/2; time.Until(j.deadline) < most {
		return late(running+waiting, most, j)
	}
	return nil
}

// late refuses a job that would wait so long and may take so long in total.
func late(wait, total time.Duration, j *job) *failure {
	return overloaded("deadline", wait, "this may take %v, and has %v", total.Round(time.Millisecond),
		time.Until(j.deadline).Round(time.Millisecond))
}

// prudent is the time that must be left for what is expected to take d: things may take a fifth longer than they did.
func prudent(d time.Duration) time.Duration { return d + d/5 }

// forget drops what is known of a model, so that nothing keeps it from being collected.
func (q *queue) forget(m *model) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.costs.forget(m)
	delete(q.served, m)
	delete(q.turns, class{m, false})
	delete(q.turns, class{m, true})
}

// before is the order of the queue.
func before(a, b *job) int {
	if a.priority != b.priority {
		return a.priority - b.priority
	}
	return cmp.Compare(a.seq, b.seq)
}

// goOn runs a batch in its slot, and then the next ones, until none wait.
func (q *queue) goOn(b *batch) {
	for b != nil {
		ctx, cancel := context.WithCancel(context.Background())
		q.mu.Lock()
		b.cancel = cancel
		if b.alive == 0 {
			cancel()
		}
		q.mu.Unlock()
		q.run(ctx, b)
		cancel()
		b = q.next(b)
	}
}

// newBatch takes jobs on.
func (q *queue) newBatch(jobs []*job) *batch {
	b := &batch{jobs: jobs, alive: len(jobs), began: time.Now(), cancel: func() {}}
	for _, j := range jobs {
		b.tasks += j.tasks
		j.began, j.running = b.began, b
		q.metrics.waited.Observe(j.began.Sub(j.came).Seconds())
	}
	for _, j := range jobs {
		j.batch = b.tasks
	}
	b.cost = jobs[0].expected(b.tasks)
	q.clock = max(q.clock, q.served[jobs[0].model])
	q.account(jobs[0].model, b.cost)
	b.turns = q.turnsOf(jobs[0])
	b.turns.clock = max(b.turns.clock, b.turns.at(jobs[0].client))
	b.turns.charge(b, b.cost)
	q.running = append(q.running, b)
	if b.long = time.AfterFunc(q.long, q.beside); b.cost > q.long && len(q.waiting) > 0 {
		b.long.Reset(0)
	}
	q.metrics.batch.Observe(float64(b.tasks))
	return b
}

// account adds to the time that a model has computed.
func (q *queue) account(m *model, d time.Duration) {
	if at, known := q.served[m]; known {
		q.served[m] = at + d
	}
}

// next ends a batch and takes the next jobs, nil if there are none.
func (q *queue) next(done *batch) *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	done.long.Stop()
	now := time.Now()
	took := now.Sub(done.began)
	q.costs.learn(done, took)
	if m := done.jobs[0].model; m.stats != nil && done.alive > 0 {
		m.stats.executed(done.tasks, took)
	}
	q.account(done.jobs[0].model, took-done.cost)
	done.turns.charge(done, took-done.cost)
	for _, j := range done.jobs {
		j.ended = now
		close(j.done)
	}
	q.running = slices.DeleteFunc(q.running, func(b *batch) bool { return b == done })
	q.rest(done.jobs[0].model)
	return q.pick(now)
}

// beside begins a batch beside those that take long, if one waits that may.
func (q *queue) beside() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if b := q.pick(time.Now()); b != nil {
		go q.goOn(b)
	}
}

// pick takes the first job that may begin, and those behind it that may go with it. A batch is no larger than lets each of its jobs be
// done in time, and jobs that can no longer be are refused instead of computed.
func (q *queue) pick(now time.Time) *batch {
	q.waiting = slices.DeleteFunc(q.waiting, func(j *job) bool {
		cost := j.expected(j.tasks)
		if j.deadline.IsZero() || j.deadline.Sub(now) >= cost {
			return false
		}
		q.tasks -= j.tasks
		j.err = late(0, cost, j)
		close(j.done)
		return true
	})
	defer func() { q.metrics.waiting.Set(float64(q.tasks)) }()
	first := q.first()
	if first == nil {
		return nil
	}
	take := q.together(first, now)
	q.waiting = slices.DeleteFunc(q.waiting, func(j *job) bool { return j.lane == first.lane && slices.Contains(take, j) })
	b := q.newBatch(take)
	q.tasks -= b.tasks
	return b
}

// together returns the jobs that go with the first one, which is among them.
func (q *queue) together(first *job, now time.Time) []*job {
	take := []*job{first}
	if !first.merge {
		return take
	}
	room := padding{}
	room.add(first)
	deadline := first.deadline // the earliest of those taken
	for _, j := range q.fairly(first) {
		if room.tasks >= q.maxBatch {
			break
		}
		if room.tasks+j.tasks > q.maxBatch || !room.with(j) {
			continue
		}
		earliest := deadline
		if earliest.IsZero() || !j.deadline.IsZero() && j.deadline.Before(earliest) {
			earliest = j.deadline
		}
		if !earliest.IsZero() && earliest.Sub(now) < prudent(first.expected(room.tasks+j.tasks)) {
			continue
		}
		deadline = earliest
		room.add(j)
		take = append(take, j)
	}
	return take
}

// padding is the size of tasks that were brought to one shape.
type padding struct{ tasks, context, targets, points int }

func (p *padding) add(j *job) {
	p.tasks += j.tasks
	if j.curves != nil {
		p.context, p.targets = max(p.context, j.curves.Nc), max(p.targets, j.curves.Nt)
		p.points += j.curves.B * (j.curves.Nc + j.curves.Nt)
	}
}

// mostPadding is the number of points of padding that is nothing.
const mostPadding = 1 << 16

// with reports whether another job brings no more padding than points.
func (p padding) with(j *job) bool {
	p.add(j)
	all := p.tasks * (p.context + p.targets)
	return all-p.points <= max(p.points, mostPadding)
}

// run predicts a batch. What goes wrong with several jobs is tried with each alone, so that no request pays for another's.
func (q *queue) run(ctx context.Context, b *batch) {
	err := q.guarded(ctx, b.jobs)
	if err == nil {
		return
	}
	for _, j := range b.jobs {
		if len(b.jobs) > 1 && ctx.Err() == nil {
			j.err = q.guarded(ctx, []*job{j})
		} else {
			j.err = err
		}
	}
}

// guarded computes jobs. A panic becomes an error.
func (q *queue) guarded(ctx context.Context, jobs []*job) (err error) {
	defer func() {
		if p := recover(); p != nil {
			q.log.Error("panic while predicting", "model", jobs[0].model.name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = fmt.Errorf("the model failed: %v", p)
		}
	}()
	return q.compute(ctx, jobs)
}
