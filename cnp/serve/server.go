package serve

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
)

// Options say what a Server serves, and with how much. Zero values have sensible meanings.
type Options struct {
	// Models are served from the start to the end; New fails if one cannot be read.
	Models []Source
	// Folders are looked at every Poll (2 s): each model file in them is served under its name without extension. A file that cannot be read
	// is reported, and what was served under its name before goes on.
	Folders []string
	Poll    time.Duration

	// Memory bounds models, plans, requests and answers; 0 is two thirds of cnp.MemoryLimit. An eighth of it, at most 1 GB, is for requests
	// and answers under way. PlanMemory bounds one plan; 0 is 1.5 GB or half of what is left.
	Memory, PlanMemory int64
	Precision          cnp.Precision // of weights that plans keep
	// Plans is a folder in which plans are kept and found, by this server and others (cnp.ImageEquivCNP.KeepPlans); empty for none.
	Plans string
	// Batch is how many tasks or images go together at most (16), Slots how many batches compute at a time (1; each uses all threads).
	Batch, Slots int
	// Waiting bounds the tasks and images that wait (1024). Timeout is the time that a request has that does not say it (30 s).
	Waiting int
	Timeout time.Duration
	// Body bounds a request, in bytes (64 MB).
	Body int64
	// Token, if not empty, is the bearer token that every request but those for health must bring.
	Token string

	Version string       // of the program, for the server's metadata
	Log     *slog.Logger // nil: none
	// Warm makes the plans of the images that models were trained on before the server, or a model from a folder, says that it is ready.
	// Without, the first request waits for its plan.
	Warm bool
	// Page answers what no other path does, nil: a line that says what this is. / and what is below /page/ need no token.
	Page http.Handler
}

// Server serves models. Its methods may be called at any time from any goroutine.
type Server struct {
	opt     Options
	log     *slog.Logger
	metrics *metrics
	queue   *queue
	plans   *plans
	bytes   *bytesGauge
	handler http.Handler

	models   atomic.Pointer[map[string]*model] // by name; replaced, never changed
	draining atomic.Bool
	warming  atomic.Bool

	scan     sync.Mutex // held by Rescan and what else changes models
	files    map[string]fileState
	failures atomic.Pointer[map[string]string] // name → why its file is not what is served

	stop context.CancelFunc
	gone sync.WaitGroup
}

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
	s := &Server{opt: opt, log: opt.Log, metrics: newMetrics(), files: map[string]fileState{}}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.queue = newQueue(opt.Slots, opt.Batch, opt.Waiting, s.log, s.metrics)
	s.plans = newPlans(ctx, opt.Memory-requests, opt.PlanMemory, opt.Precision, opt.Slots, s.log, s.metrics)
	s.bytes = &bytesGauge{limit: requests, metrics: s.metrics}
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
		s.gone.Go(func() { s.watch(ctx) })
	}
	if opt.Warm {
		s.warming.Store(true)
		s.gone.Go(func() {
			for _, m := range s.list() {
				s.warm(ctx, m)
			}
			s.warming.Store(false)
			s.log.Info("ready")
		})
	}
	return s, nil
}

// maxSlots bounds batches that compute at a time.
const maxSlots = 1 << 10

// check refuses what nothing can be served with, by the option's name.
func (o *Options) check() error {
	for _, v := range []struct {
		name              string
		value, from, upTo int64
	}{
		{"Memory", o.Memory, 1 << 20, math.MaxInt64}, {"PlanMemory", o.PlanMemory, 0, math.MaxInt64}, {"Batch", int64(o.Batch), 1, math.MaxInt32},
		{"Slots", int64(o.Slots), 1, maxSlots}, {"Waiting", int64(o.Waiting), 0, math.MaxInt32}, {"Timeout", int64(o.Timeout), 0, math.MaxInt64},
		{"Poll", int64(o.Poll), 0, math.MaxInt64}, {"Body", o.Body, 0, math.MaxInt64},
	} {
		if v.value < v.from || v.value > v.upTo {
			return fmt.Errorf("serve: %s is %d, need %d to %d", v.name, v.value, v.from, v.upTo)
		}
	}
	switch o.Precision {
	case "", cnp.Float32, cnp.BFloat16:
		return nil
	}
	return fmt.Errorf("serve: Precision is %q, need %q or %q", o.Precision, cnp.Float32, cnp.BFloat16)
}

// Close ends what the server does beside answering requests. It does not wait for requests: http.Server's Shutdown does, and
// ListenAndServe.
func (s *Server) Close() {
	s.stop()
	s.gone.Wait()
}

// checkName refuses names that could not be a part of a path.
func checkName(name string) error {
	if name == "" || len(name) > 128 || strings.ContainsAny(name, "/\\ \t\r\n%?#") {
		return fmt.Errorf("%.130q is no name for a model: need 1 to 128 characters without spaces, slashes and %%?#", name)
	}
	return nil
}

// load reads a model and serves it instead of what had its name. The caller holds scan, or is New.
func (s *Server) load(ctx context.Context, src Source) error {
	if err := checkName(src.Name); err != nil {
		return err
	}
	m, err := loadModel(ctx, src)
	if err == nil {
		for _, planned := range m.planned {
			planned.KeepPlans(s.opt.Plans)
		}
	}
	if err == nil && !s.plans.take(m) {
		err = fmt.Errorf("%w: no room for its parameters", cnp.ErrMemory)
	}
	if err != nil {
		s.metrics.loads.WithLabelValues("failed").Inc()
		return err
	}
	s.metrics.loads.WithLabelValues("ok").Inc()
	if s.opt.Warm && (*s.models.Load())[src.Name] != nil { // the old one answers until the new one is ready
		s.warm(ctx, m)
	}
	s.replace(src.Name, m)
	s.log.Info("model served", "model", m.name, "version", m.version, "path", m.path, "architecture", string(m.cfg.Architecture), "group", m.cfg.Group)
	if s.opt.Precision == cnp.BFloat16 && m.unsuited != "" {
		s.log.Warn("precision", "model", m.name, string(cnp.BFloat16), m.unsuited)
	}
	return nil
}

// warm makes the plan of the images that a model was trained on, so that the first request does not wait for it.
func (s *Server) warm(ctx context.Context, m *model) {
	h, w := m.cfg.ImageSize[0], m.cfg.ImageSize[1]
	if len(m.planned) == 0 || h == 0 || w == 0 || ctx.Err() != nil {
		return
	}
	if _, release, err := s.plans.get(ctx, lane{m, h, w}); err != nil {
		s.log.Warn("no plan ahead of requests", "model", m.name, "error", err.Error())
	} else {
		release()
	}
}

// replace sets the model of a name, nil for none.
func (s *Server) replace(name string, m *model) {
	models := map[string]*model{}
	for k, v := range *s.models.Load() {
		models[k] = v
	}
	old := models[name]
	if models[name] = m; m == nil {
		delete(models, name)
	}
	s.models.Store(&models)
	s.metrics.models.Set(float64(len(models)))
	if old != nil {
		s.plans.giveBack(old)
		s.queue.forget(old)
	}
}

// find returns the model of a name and version, an empty version being that which there is.
func (s *Server) find(name, version string) (*model, error) {
	m := (*s.models.Load())[name]
	if m == nil {
		return nil, notFound("no model %.130q", name)
	}
	if version != "" && version != m.version {
		return nil, notFound("no version %.40q of model %q, there is %q", version, name, m.version)
	}
	return m, nil
}

// list is all models by name.
func (s *Server) list() []*model {
	var out []*model
	for _, m := range *s.models.Load() {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b *model) int { return cmp.Compare(a.name, b.name) })
	return out
}

// ready reports whether the server takes requests.
func (s *Server) ready() bool { return !s.draining.Load() && !s.warming.Load() }

// infer answers a request: it finds the model, makes a job, and waits its turn. reserved is what the request's bytes took of the gauge;
// what the answer takes is added. The caller gives it back when the answer has been written.
func (s *Server) infer(ctx context.Context, r *request, reserved *int64) (*job, error) {
	m, err := s.find(r.model, r.version)
	if err != nil {
		return nil, err
	}
	ctx, cancel, priority, err := s.patience(ctx, r.params)
	if err != nil {
		return nil, err
	}
	defer cancel()
	j, err := m.prepare(r)
	if err != nil {
		return nil, err
	}
	j.priority = priority
	answer := j.answerBytes(r)
	if err := s.bytes.take(answer); err != nil {
		return nil, err
	}
	*reserved += answer
	plan, release, err := s.plans.get(ctx, j.lane)
	if err != nil {
		return nil, err
	}
	defer release()
	j.plan = plan
	if err := s.queue.do(ctx, j); err != nil {
		return nil, err
	}
	return j, nil
}

// patience returns a context that ends with a request's time, and the request's priority.
func (s *Server) patience(ctx context.Context, p params) (context.Context, context.CancelFunc, int, error) {
	timeout, err := p.timeout()
	if err != nil {
		return nil, nil, 0, err
	}
	if _, has := ctx.Deadline(); timeout == 0 && !has {
		timeout = s.opt.Timeout
	}
	if timeout == 0 || timeout > longest {
		timeout = longest // or the deadline that ctx has
	}
	priority, _, err := p.whole("priority", 0, maxPriority)
	if err != nil {
		return nil, nil, 0, err
	}
	if priority == 0 {
		priority = usualPriority
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	return ctx, cancel, priority, nil
}

// tooLate refuses a request that has been read as far as its parameters, if it would wait beyond its time.
func (s *Server) tooLate(ctx context.Context, p params) error {
	ctx, cancel, priority, err := s.patience(ctx, p)
	if err != nil {
		return err
	}
	defer cancel()
	deadline, _ := ctx.Deadline()
	return s.queue.tooLate(deadline, priority)
}

// longest is the time of a request at most, whatever it says.
const longest = 10 * time.Minute

// Priorities are those of Triton: 1 is served first, 0 is the usual one.
const (
	usualPriority = 100
	maxPriority   = 1000
)
