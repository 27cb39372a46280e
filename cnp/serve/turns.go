package serve

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// class is what clients take turns among: the jobs of a model that take long, or those that do not, which are computed beside them.
type class struct {
	model *model
	long  bool
}

// turns are the times that the clients of a class have computed, while its model has anything to do.
type turns struct {
	served map[string]time.Duration // by client; or what it would have computed if it had never been without requests
	clock  time.Duration            // of the client that was chosen last
	many   int                      // from so many clients on those that do not wait are forgotten
}

// at returns the time of a client, for a new one the time of the client that was chosen last.
func (t *turns) at(client string) time.Duration {
	if at, known := t.served[client]; known {
		return at
	}
	return t.clock
}

// charge divides the time of a batch among the clients of its jobs, by the sizes of the jobs.
func (t *turns) charge(b *batch, d time.Duration) {
	all := 0.0
	for _, j := range b.jobs {
		all += j.weight()
	}
	for _, j := range b.jobs {
		t.served[j.client] = t.at(j.client) + time.Duration(float64(d)*(j.weight()/all))
	}
}

// weight is about how much of a batch is a job's.
func (j *job) weight() float64 { return 1 + float64(j.tasks)*float64(j.load()) }

// turnsOf returns the turns of a job's class.
func (q *queue) turnsOf(j *job) *turns {
	at := class{j.model, q.isLong(j)}
	t := q.turns[at]
	if t == nil {
		t = &turns{served: map[string]time.Duration{}, many: maxWorks}
		q.turns[at] = t
	}
	return t
}

// enter prepares the turns for a job that waits or begins. A client that has nothing waiting starts at the time of the client that was
// chosen last, so that it has not saved up time.
func (q *queue) enter(j *job) {
	t := q.turnsOf(j)
	if !slices.ContainsFunc(q.waiting, func(w *job) bool { return w.model == j.model && w.client == j.client }) {
		t.served[j.client] = max(t.at(j.client), t.clock)
	}
	if len(t.served) < t.many {
		return
	}
	wait := map[string]bool{j.client: true}
	for _, w := range q.waiting {
		wait[w.client] = true
	}
	maps.DeleteFunc(t.served, func(client string, _ time.Duration) bool { return !wait[client] }) // they owe a batch at most
	t.many = max(maxWorks, 2*len(t.served))
}

// rest forgets the times of the clients of a model that has nothing to do.
func (q *queue) rest(m *model) {
	if slices.ContainsFunc(q.running, func(b *batch) bool { return b.jobs[0].model == m }) || q.waitingOf(m) > 0 {
		return
	}
	delete(q.turns, class{m, false})
	delete(q.turns, class{m, true})
}

// fairly returns the waiting jobs that can be computed together with the first one, ordered by priority, then so that clients get equal
// time, then by arrival.
func (q *queue) fairly(first *job) (jobs []*job) {
	t, long := q.turnsOf(first), q.isLong(first)
	begins := map[string]time.Duration{first.client: t.at(first.client) + max(1, first.expected(first.tasks))}
	for _, j := range q.waiting {
		if j == first || j.lane != first.lane || !j.merge || j.plan != first.plan || q.isLong(j) != long { // short ones go beside long ones
			continue
		}
		var known bool
		if j.turn, known = begins[j.client]; !known {
			j.turn = t.at(j.client)
		}
		begins[j.client] = j.turn + max(1, j.expected(j.tasks))
		jobs = append(jobs, j)
	}
	slices.SortStableFunc(jobs, func(a, b *job) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(a.turn, b.turn))
	})
	return jobs
}

// first returns the job whose turn it is: of the best priority, of the model that has computed least, of the client of that model that
// has computed least, and of these the job that came first. The oldest job of the model decides whether it is one of those that take long.
func (q *queue) first() (first *job) {
	for _, j := range q.waiting {
		if first != nil && (j.priority > first.priority || q.served[j.model] >= q.served[first.model]) {
			continue
		}
		if q.free(j) {
			first = j
		}
	}
	if first == nil {
		return nil
	}
	t, oldest := q.turnsOf(first), first
	for _, j := range q.waiting {
		if j.model == oldest.model && j.priority == oldest.priority && j.client != first.client && t.at(j.client) < t.at(first.client) &&
			q.isLong(j) == q.isLong(oldest) && q.free(j) {
			first = j
		}
	}
	return first
}

// victims returns the jobs that must leave the queue to make room for j, and reports whether j can then be taken. They are the last jobs
// of the client that has most tasks in the queue. That client keeps at least as many as the client of j then has.
func (q *queue) victims(j *job) (out []*job, ok bool) {
	over, of := q.tasks+j.tasks-q.maxTasks, (*model)(nil)
	if own := q.waitingOf(j.model); own > 0 && own+j.tasks > q.room() {
		over, of = max(over, own+j.tasks-q.room()), j.model
	}
	if over <= 0 {
		return nil, true
	}
	counts := func(w *job) bool { return of == nil || w.model == of }
	all, own := 0, j.tasks
	for _, w := range q.waiting {
		if counts(w) {
			all += w.tasks
			if w.client == j.client {
				own += w.tasks
			}
		}
	}
	if 2*own > all { // nobody else has as much
		return nil, false
	}
	held, most := map[string]int{}, j.client
	for _, w := range q.waiting {
		if counts(w) {
			if held[w.client] += w.tasks; held[w.client] > held[most] {
				most = w.client
			}
		}
	}
	keeps := held[most]
	for _, w := range slices.Backward(q.waiting) {
		if over <= 0 {
			break
		}
		if counts(w) && w.client == most && w.tasks > 0 {
			out, over, keeps = append(out, w), over-w.tasks, keeps-w.tasks
		}
	}
	return out, over <= 0 && most != j.client && keeps >= own
}

// evict takes jobs out of the queue for those of a client that has less in it.
func (q *queue) evict(jobs []*job) {
	for _, j := range jobs {
		j.err = q.tooMany(j)
	}
	q.waiting = slices.DeleteFunc(q.waiting, func(j *job) bool {
		if !slices.Contains(jobs, j) {
			return false
		}
		q.tasks -= j.tasks
		close(j.done)
		return true
	})
}

// waitingOf counts the tasks of a model that wait.
func (q *queue) waitingOf(m *model) (tasks int) {
	for _, j := range q.waiting {
		if j.model == m {
			tasks += j.tasks
		}
	}
	return tasks
}

// room is how many tasks of one model may wait. Where there are others, a quarter of the queue is for them.
func (q *queue) room() int {
	if len(q.served) < 2 {
		return q.maxTasks
	}
	return q.maxTasks - q.maxTasks/4
}

// ahead is about how long a job waits for those that are computed, and for those that wait before it. Of other models, and of other
// clients, as much is before it as of its own, since they take turns.
func (q *queue) ahead(j *job) (running, waiting time.Duration) {
	now := time.Now()
	for _, b := range q.running {
		if !q.passes(j, b.jobs[0]) {
			running += max(0, b.cost-now.Sub(b.began))
		}
	}
	type share struct {
		client string
		turns  *turns
	}
	models, clients, own := map[*model]time.Duration{}, map[share]time.Duration{}, time.Duration(0)
	for _, other := range q.waiting {
		switch cost := other.expected(other.tasks); {
		case q.passes(j, other):
		case other.priority < j.priority || j.model == nil && other.priority == j.priority:
			waiting += cost
		case other.priority > j.priority:
		case other.model != j.model:
			models[other.model] += cost
		case other.client != j.client && (q.isLong(other) == q.isLong(j) || *j.cost == 0):
			clients[share{other.client, q.turnsOf(other)}] += cost
		default:
			own += cost
		}
	}
	once := max(j.expected(j.tasks), q.long)
	mine := own
	for s, cost := range clients {
		own += min(cost, mine+once+max(0, s.turns.at(j.client)-s.turns.at(s.client)))
	}
	waiting += own
	for _, cost := range models {
		waiting += min(cost, own+once)
	}
	return running / time.Duration(q.slots), waiting / time.Duration(q.slots)
}
