package serve

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/equivcnp/equivcnp/internal/words"
)

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
	token    atomic.Pointer[token]             // nil: none is needed
	denied   denied
	draining atomic.Bool
	warming  atomic.Bool
	watches  atomic.Int64 // streams of Watch

	scan     sync.Mutex // held by Rescan and what else changes models
	secret   secretState
	files    map[string]fileState
	hidden   map[string]string                 // paths of files → the name that another model has
	failures atomic.Pointer[map[string]string] // name → why its file is not what is served

	stop context.CancelFunc
	gone sync.WaitGroup
}

// Close ends what the server does beside answering requests: readiness says no from then on, streams that watch it end, and folders
// are no longer looked at. Requests are still answered, and not waited for: http.Server's Shutdown does that, and Serve. A program with an
// http.Server of its own calls Close before its Shutdown, which streams would hold up.
func (s *Server) Close() {
	s.draining.Store(true)
	s.stop()
	s.gone.Wait()
}

// checkName refuses names that could not be a part of a path, or a string of gRPC or a label of metrics, which are UTF-8.
func checkName(name string) error {
	if name == "" || name == "." || name == ".." || len(name) > 128 || !utf8.ValidString(name) ||
		strings.ContainsAny(name, "/\\ \t\r\n%?#") {
		return fmt.Errorf("%.130q is not a valid model name: need 1 to 128 characters of UTF-8, other than . and .. alone, "+
			"without spaces, slashes and %%?#", name)
	}
	return nil
}

// find returns the model of a name and version, an empty version being that which there is.
func (s *Server) find(name, version string) (*model, error) {
	m := (*s.models.Load())[name]
	if m == nil {
		if near := words.Closest(name, slices.Sorted(maps.Keys(*s.models.Load()))); near != "" {
			return nil, notFound("no model %.130q, did you mean %q?", name, near)
		}
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

// infer answers a request: it finds the model, makes a job, and waits its turn. What the answer takes is added to the request's
// reservation.
func (s *Server) infer(ctx context.Context, r *request, res *reservation) (*job, error) {
	conn := connOf(ctx)
	conn.add(0, 1)
	defer conn.add(0, -1)
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
	j.priority, j.client = priority, clientIn(ctx)
	answer, err := j.answerBytes(r)
	if err != nil {
		return nil, err
	}
	if err := res.take(answer); err != nil {
		return nil, err
	}
	if err := s.queue.affordable(ctx, j); err != nil { // before a plan is made in vain
		return nil, err
	}
	plan, release, err := s.plans.get(ctx, j.lane)
	if err != nil {
		return nil, err
	}
	defer release()
	j.plan = plan
	if err := s.queue.do(ctx, j); err != nil {
		return nil, err
	}
	if err := j.fill(r); err != nil {
		return nil, err
	}
	return j, nil
}

// patience returns a context that ends with a request's time, which is at most Options.Timeout, and the request's priority.
func (s *Server) patience(ctx context.Context, p params) (context.Context, context.CancelFunc, int, error) {
	timeout, err := p.timeout()
	if err != nil {
		return nil, nil, 0, err
	}
	if timeout == 0 || timeout > s.opt.Timeout {
		timeout = s.opt.Timeout
	}
	priority, _, err := p.whole("priority", 0, maxPriority)
	if err != nil {
		return nil, nil, 0, err
	}
	if priority == 0 {
		priority = usualPriority
	}
	ctx, cancel := context.WithTimeout(ctx, timeout) // or an earlier deadline that ctx has
	return ctx, cancel, priority, nil
}

// tooLate refuses a request that has been read as far as its parameters, if it would wait beyond its time. The model may be nil.
func (s *Server) tooLate(ctx context.Context, m *model, p params) error {
	ctx, cancel, priority, err := s.patience(ctx, p)
	if err != nil {
		return err
	}
	defer cancel()
	deadline, _ := ctx.Deadline()
	return s.queue.tooLate(m, clientIn(ctx), deadline, priority)
}
