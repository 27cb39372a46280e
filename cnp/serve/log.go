package serve

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"connectrpc.com/connect"
)

// logged counts a request and writes it to the log.
func (s *Server) logged(ctx context.Context, protocol, name string, start time.Time, j *job, f *failure) {
	m := (*s.models.Load())[name]
	if m == nil {
		name = ""
	} else {
		m.stats.answered(time.Since(start), j, f)
	}
	s.metrics.answered(name, protocol, start, f)
	if a, ok := ctx.Value(accessKey{}).(*access); ok {
		a.model = name
		if j != nil {
			a.tasks = j.tasks
		}
		if protocol == "grpc" {
			if a.code = "ok"; f != nil {
				a.code = connect.Code(f.code).String()
			}
		}
	}
	switch {
	case f != nil && f.status >= 500 && f.reason == "" && f.status != http.StatusServiceUnavailable:
		s.log.Error("request failed", "protocol", protocol, "model", name, "status", f.status, "error", f.text, "seconds",
			time.Since(start).Seconds())
	case s.log.Enabled(ctx, slog.LevelDebug):
		attrs := []any{"protocol", protocol, "model", name, "seconds", time.Since(start).Seconds()}
		if f != nil {
			attrs = append(attrs, "status", f.status, "error", f.text)
		}
		if j != nil {
			attrs = append(attrs, "tasks", j.tasks, "batch", j.batch, "queue_seconds", j.began.Sub(j.came).Seconds(), "compute_seconds",
				j.ended.Sub(j.began).Seconds())
		}
		s.log.DebugContext(ctx, "request", attrs...)
	}
}
