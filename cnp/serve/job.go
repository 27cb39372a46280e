package serve

import (
	"context"
	"fmt"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
)

// answer is a tensor of a response.
type answer struct {
	name   string
	shape  []int64
	values []float32
	binary bool
}

// job is a request on its way through a model.
type job struct {
	model  *model
	client string // who sent the request
	lane   lane
	// What predicts curves, its configuration, how its predictions are distributed, and what they can be asked for: the model's, unless the
	// request has parameters of interpolation, or columns of a drift.
	regressor  cnp.Regressor[float32]
	config     *cnp.Config
	likelihood cnp.Likelihood
	offered    []predict.Output
	merge      bool
	images     *cnp.Images[float32]
	curves     *cnp.Batch[float32]            // as the model sees them
	given      *cnp.Batch[float32]            // as the request has them
	alone      *alone                         // what it wants that is computed for it alone; may be nil
	undo       func(*cnp.Prediction[float32]) // brings a prediction back to the units of the request; may be nil
	plan       cnp.Plan[float32]
	// tasks or images, targets of a curve, values of mean and of std.
	tasks, targets, values int

	deadline time.Time      // zero: none
	cost     *time.Duration // of a task of its work in recent batches; 0: not known
	priority int            // 1 is first
	seq      uint64
	turn     time.Duration // when its client has computed what it has before this job, while a batch is chosen

	done       chan struct{} // closed when prediction or err is set
	prediction *cnp.Prediction[float32]
	answers    []answer // made of it
	checked    string   // JSON of a predict.Checked, empty where none was asked for
	err        error
	note       string // what the prediction leaves out
	// when it came, when it was taken from the queue, when it was done, and with how many tasks.
	came, began, ended time.Time
	batch              int
	running            *batch
}

// timing says in a header's words how long the job waited and was computed, and with how many tasks.
func (j *job) timing() string {
	return fmt.Sprintf("queue;dur=%.3f, compute;dur=%.3f, batch;desc=\"%d\"", ms(j.began.Sub(j.came)), ms(j.ended.Sub(j.began)), j.batch)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// batch is the jobs that go through a model together.
type batch struct {
	jobs   []*job
	tasks  int
	alive  int // jobs that somebody waits for
	cancel context.CancelFunc
	began  time.Time
	cost   time.Duration // what it was expected to take
	turns  *turns
	long   *time.Timer // fires when it has computed for so long that others need not wait for it
}
