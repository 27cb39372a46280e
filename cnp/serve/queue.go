package serve

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// queue orders jobs, by priority and then by arrival, and lets so many batches compute at a time.
type queue struct {
	slots, maxBatch, maxTasks int
	log                       *slog.Logger
	metrics                   *metrics
	compute                   func(ctx context.Context, jobs []*job) error // sets the prediction of jobs of one lane

	mu      sync.Mutex
	waiting []*job // ordered
	tasks   int    // of them
	running []*batch
	seq     uint64
	costs   map[work]*time.Duration
}

func newQueue(slots, maxBatch, maxTasks int, log *slog.Logger, m *metrics) *queue {
	return &queue{slots: slots, maxBatch: maxBatch, maxTasks: maxTasks, log: log, metrics: m, compute: runJobs, costs: map[work]*time.Duration{}}
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
	q.know(j)
	if len(q.running) < q.slots {
		return q.newBatch([]*job{j}), nil
	}
	if q.tasks+j.tasks > q.maxTasks {
		return nil, q.tooMany(j)
	}
	if err := q.hopeless(j, j.expected(j.tasks)); err != nil {
		return nil, err
	}
	i, _ := slices.BinarySearchFunc(q.waiting, j, before)
	q.waiting = slices.Insert(q.waiting, i, j)
	q.tasks += j.tasks
	q.metrics.waiting.Set(float64(q.tasks))
	return nil, nil
}

// full refuses what would not be taken on whatever it is, so that it need not be read first.
func (q *queue) full() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.running) < q.slots || q.tasks < q.maxTasks {
		return nil
	}
	return q.tooMany(&job{priority: maxPriority})
}

// tooLate refuses what would have waited beyond its deadline if it took no time at all, so that its tensors need not be read first.
func (q *queue) tooLate(deadline time.Time, priority int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.running) < q.slots {
		return nil
	}
	return q.hopeless(&job{priority: priority, deadline: deadline}, 0)
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
	if time.Until(j.deadline) < prudent(running+cost)+waiting+waiting/2 {
		return late(running+waiting, running+waiting+cost, j)
	}
	return nil
}

// late refuses a job that would wait so long and take so long in total.
func late(wait, total time.Duration, j *job) *failure {
	return overloaded("deadline", wait, "this would take %v, and has %v", total.Round(time.Millisecond), time.Until(j.deadline).Round(time.Millisecond))
}

// prudent is the time that must be left for what is expected to take d: things may take a fifth longer than they did.
func prudent(d time.Duration) time.Duration { return d + d/5 }

// know looks up what tasks of the job's work cost.
func (q *queue) know(j *job) {
	w := j.work()
	if q.costs[w] == nil {
		if len(q.costs) >= maxWorks {
			clear(q.costs)
		}
		q.costs[w] = new(time.Duration)
	}
	j.cost = q.costs[w]
}

// forget drops what is known of a model, so that nothing keeps it from being collected.
func (q *queue) forget(m *model) {
	q.mu.Lock()
	defer q.mu.Unlock()
	maps.DeleteFunc(q.costs, func(w work, _ *time.Duration) bool { return w.model == m })
}

// maxWorks bounds the works whose cost is remembered.
const maxWorks = 1024

// before is the order of the queue.
func before(a, b *job) int {
	if a.priority != b.priority {
		return a.priority - b.priority
	}
	return cmp.Compare(a.seq, b.seq)
}

// ahead is about how long a job waits for those that are computed, and for those that wait before it.
func (q *queue) ahead(j *job) (running, waiting time.Duration) {
	now := time.Now()
	for _, b := range q.running {
		running += max(0, b.cost-now.Sub(b.began))
	}
	for _, other := range q.waiting {
		if other.priority <= j.priority {
			waiting += other.expected(other.tasks)
		}
	}
	return running / time.Duration(q.slots), waiting / time.Duration(q.slots)
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
	q.running = append(q.running, b)
	q.metrics.batch.Observe(float64(b.tasks))
	return b
}

// next ends a batch and takes the next jobs: the first of the queue, and those behind it that may go with it. A batch is no larger than
// lets each of its jobs be done in time, and jobs that can no longer be are refused instead of computed.
func (q *queue) next(done *batch) *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	q.learn(done, now.Sub(done.began))
	for _, j := range done.jobs {
		j.ended = now
		close(j.done)
	}
	q.running = slices.DeleteFunc(q.running, func(b *batch) bool { return b == done })
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
	if len(q.waiting) == 0 {
		return nil
	}
	first := q.waiting[0]
	take := []*job{first}
	room := padding{}
	room.add(first)
	if first.merge {
		deadline := first.deadline // the earliest of those taken
		for _, j := range q.waiting[1:] {
			if room.tasks >= q.maxBatch {
				break
			}
			if j.lane != first.lane || !j.merge || j.plan != first.plan || room.tasks+j.tasks > q.maxBatch || !room.with(j) {
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
	}
	q.waiting = slices.DeleteFunc(q.waiting, func(j *job) bool { return j.lane == first.lane && slices.Contains(take, j) })
	b := q.newBatch(take)
	q.tasks -= b.tasks
	return b
}

// learn keeps what a task of that work takes. One batch that stalled says little of the next one, so none counts for more than twice the usual.
func (q *queue) learn(b *batch, took time.Duration) {
	if b.alive == 0 || b.tasks == 0 { // it was stopped
		return
	}
	cost, each := b.jobs[0].cost, took/time.Duration(b.tasks)
	if *cost > 0 {
		each = *cost + (min(each, 2**cost)-*cost)/4
	}
	*cost = each
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
