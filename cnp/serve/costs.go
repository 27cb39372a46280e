package serve

import (
	"maps"
	"math/bits"
	"time"
)

// work is what tasks of about one cost have in common: a model, the size of an image, or that of a curve rounded up to a power of two,
// and what is computed beside the prediction.
type work struct {
	lane
	points  int
	alone   bool
	samples int
}

// workOfJob returns the work of a job's tasks.
func workOfJob(j *job) work {
	w := work{lane: j.lane, alone: j.alone != nil}
	if w.alone && j.alone.draw != nil {
		w.samples = j.alone.draw.Samples
	}
	if j.curves != nil {
		w.points = bits.Len(uint(j.load()))
	}
	return w
}

// load is about how much there is to compute of one task: the pixels of an image, the points of a curve and a part of its pairs.
func (j *job) load() int {
	if j.curves == nil {
		return j.lane.h * j.lane.w
	}
	nc, nt := j.curves.Nc+j.curves.Ns, j.curves.Nt
	n := nc + nt + nc*nt/pairsPerPoint
	return n + n*j.lane.columns/columnsPerPoint
}

// pairsPerPoint is about how many pairs of a context and a target point cost as much as a point does otherwise.
const pairsPerPoint = 64

// columnsPerPoint is about how many columns of a drift cost as much as a point does otherwise.
const columnsPerPoint = 8

// costs are what tasks took in recent batches.
type costs struct {
	of map[work]*time.Duration // of a task; 0: not known
	// rates are by model the least time for a unit of load. Small tasks take more for each, so for larger ones they are upper bounds.
	rates map[*model]rate
}

type rate struct {
	nanoseconds float64
	load        int // at which it was measured
}

// maxWorks bounds the works whose cost is remembered.
const maxWorks = 1024

// know looks up what tasks of the job's work cost. Where none was computed yet, images of another size tell; curves do if they were at
// least a sixteenth as large, since what a curve takes hardly depends on its points while there are few.
func (c *costs) know(j *job) {
	w := workOfJob(j)
	if c.of[w] == nil {
		if len(c.of) >= maxWorks {
			clear(c.of)
		}
		c.of[w] = new(time.Duration)
		if r := c.rates[j.model]; r.load > 0 && j.alone == nil && (j.curves == nil || j.load() <= 16*r.load) && j.load() > r.load {
			*c.of[w] = time.Duration(r.nanoseconds * float64(j.load()))
		}
	}
	j.cost = c.of[w]
}

// expected is how long so many tasks of the job's work are expected to take.
func (j *job) expected(tasks int) time.Duration { return *j.cost * time.Duration(tasks) }

// learn keeps what a task of that work takes. One batch that stalled says little of the next one, so none counts for more than twice the
// usual.
func (c *costs) learn(b *batch, took time.Duration) {
	if b.alive == 0 || b.tasks == 0 { // it was stopped
		return
	}
	j := b.jobs[0]
	each := took / time.Duration(b.tasks)
	if load := j.load(); j.alone == nil && load > 0 && (j.images != nil || j.curves != nil) {
		now := rate{float64(each) / float64(load), load}
		if old := c.rates[j.model]; old.load == 0 || now.nanoseconds < old.nanoseconds || load >= old.load {
			c.rates[j.model] = now
		}
	}
	if cost := *j.cost; cost > 0 {
		each = cost + (min(each, 2*cost)-cost)/4
	}
	*j.cost = each
}

// doubt lowers what is believed of a job's work that was refused while nothing was computed, so that a wrong belief does not last.
func (c *costs) doubt(j *job) { *j.cost -= *j.cost / 8 }

// forget drops what is known of a model, so that nothing keeps it from being collected.
func (c *costs) forget(m *model) {
	maps.DeleteFunc(c.of, func(w work, _ *time.Duration) bool { return w.model == m })
	delete(c.rates, m)
}
