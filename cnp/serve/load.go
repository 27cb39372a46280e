package serve

import (
	"context"
	"fmt"

	"github.com/equivcnp/equivcnp/cnp"
)

// load reads a model and serves it instead of what had its name. The caller holds scan, or is New.
func (s *Server) load(ctx context.Context, src Source) error {
	if err := checkName(src.Name); err != nil {
		return err
	}
	m, err := loadModel(ctx, src, s.opt.Plans)
	if err == nil {
		m.limit = min(m.limit, s.plans.limit/2)
	}
	if old := (*s.models.Load())[src.Name]; err == nil && old != nil && old.same(m) { // its plans stay
		s.metrics.loads.WithLabelValues("ok").Inc()
		return nil
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
	s.log.Info("model served", "model", m.name, "version", m.version, "path", m.path, "architecture", string(m.cfg.Architecture), "group",
		m.cfg.Group)
	if s.opt.Precision == cnp.BFloat16 && m.unsuited != "" {
		s.log.Warn("precision", "model", m.name, string(cnp.BFloat16), m.unsuited)
	}
	return nil
}

// same reports whether another model would answer the same, and say the same of itself.
func (m *model) same(other *model) bool {
	return m.digest == other.digest && m.version == other.version && m.note == other.note && m.path == other.path
}

// warmAll makes the plans of all models, after which the server is ready; one that stops before does not become so.
func (s *Server) warmAll(ctx context.Context) {
	for _, m := range s.list() {
		s.warm(ctx, m)
	}
	if ctx.Err() != nil {
		return
	}
	s.warming.Store(false)
	s.log.Info("ready")
}

// warm makes the plan of the images that a model was trained on, so that the first request does not wait for it, and completes one of
// which nothing is observed.
func (s *Server) warm(ctx context.Context, m *model) {
	h, w := m.cfg.ImageSize[0], m.cfg.ImageSize[1]
	if m.planned == nil || h == 0 || w == 0 || ctx.Err() != nil {
		return
	}
	j := &job{model: m, lane: lane{model: m, h: h, w: w}, tasks: 1, values: m.cfg.DimY * h * w, priority: maxPriority,
		done:   make(chan struct{}),
		images: &cnp.Images[float32]{B: 1, C: m.cfg.DimY, H: h, W: w, Pixels: make([]float32, m.cfg.DimY*h*w), Mask: make([]bool, h*w)}}
	plan, release, err := s.plans.get(ctx, j.lane)
	if err == nil {
		j.plan = plan
		err = s.queue.do(ctx, j) // which shows what an image costs
		release()
	}
	if err != nil && ctx.Err() == nil {
		s.log.Warn("no plan ahead of requests", "model", m.name, "error", err.Error())
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
