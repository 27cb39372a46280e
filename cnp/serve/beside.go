package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime/debug"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
)

// LimitMemory lets Go's collector work harder before the program takes more than memory (Options.Memory, 0 its default), unless
// GOMEMLIMIT says what it should do, and returns what undoes it. A tenth is for what is no part of requests, plans and models.
func LimitMemory(memory int64) (undo func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	if memory == 0 {
		memory = cnp.MemoryLimit() / 3 * 2
	}
	before := debug.SetMemoryLimit(memory + memory/10)
	return func() { debug.SetMemoryLimit(before) }
}

// Profiles are Go's.
func Profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// Beside serves something on an address of its own, until stop is called.
func Beside(ctx context.Context, what, address string, h http.Handler, log *slog.Logger) (stop func(), err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve: address of %s: %w", what, err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error(what+" are no longer served", "error", err.Error())
		}
	}()
	log.Info(what, "address", l.Addr().String())
	return func() {
		server.Close()
		<-done
	}, nil
}
