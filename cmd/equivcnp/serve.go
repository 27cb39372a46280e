package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/serve"
	"github.com/equivcnp/equivcnp/cnp/serve/page"
	"github.com/equivcnp/equivcnp/internal/cli"
)

// serveFlags are the flags of equivcnp serve.
type serveFlags struct {
	models, proxies                    []string
	listen, metrics, pprof, config     string
	memory, planMemory, body           string
	precision, plans, logLevel         string
	batch, slots, waiting, connections int
	timeout, compute                   time.Duration
	poll, linger, drain                time.Duration
	cert, key, clientCA, tokenFile     string
	access                             bool
}

func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve [--model NAME=FILE | --model FOLDER].. [--listen :8080]",
		Short: "Serve models over REST and gRPC",
		Long:  helpText("serve"),
		Example: `  equivcnp serve --model digits=digits-T2 --model rbf=rbf-levels --model models/ --listen :8080
  curl -s localhost:8080/v2/models/rbf/infer -d '{"inputs": [
    {"name": "x_context", "shape": [1, 2, 1], "datatype": "FP64", "data": [-1, 0.5]},
    {"name": "y_context", "shape": [1, 2, 1], "datatype": "FP32", "data": [0.2, -0.7]},
    {"name": "x_target", "shape": [1, 3, 1], "datatype": "FP64", "data": [-0.5, 0, 1]}]}'`,
		Args: noArguments,
		RunE: a.action(func(cmd *cobra.Command, _ []string) error {
			if err := serverSettings(cmd, f.config); err != nil {
				return err
			}
			if err := a.checkThreads(); err != nil { // which the environment or a file may have set
				return err
			}
			if a.threads > 0 {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(a.threads))
			}
			return a.serve(cmd.Context(), &f)
		}),
	}
	f.register(cmd)
	return cmd
}

// register adds the flags.
func (f *serveFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.config, "config", "", "YAML file of these flags, one per line; flags on the command line and in the environment win")
	fl.StringSliceVarP(&f.models, "model", "m", nil,
		"NAME=FILE, FILE, a shipped model, a folder of models, \"shipped\" for all shipped models, or \"universal\" "+
			"for all interpolations; may be repeated (default: shipped and universal)")
	fl.StringVar(&f.listen, "listen", ":8080", "address of REST, gRPC and the page")
	fl.StringVar(&f.metrics, "metrics", "", "separate address for metrics, without a token, for example :9090 (default: none)")
	fl.StringVar(&f.pprof, "pprof", "", "address for Go's profiles, for example localhost:6060 (default: none)")
	fl.StringVar(&f.memory, "memory", "", "memory for models, plans and requests, for example 8G (default: half of the machine's)")
	fl.StringVar(&f.planMemory, "plan-memory", "",
		"memory for the plan of one model and image size (default: 1.5G, or what --memory allows)")
	precisionFlag(cmd, &f.precision)
	plansFlag(cmd, &f.plans)
	fl.IntVar(&f.batch, "batch", 16, "largest number of tasks or images to compute together")
	fl.IntVar(&f.slots, "slots", 1, "number of batches computed at a time; each uses all threads")
	fl.IntVar(&f.waiting, "queue", 1024, "largest number of tasks and images that wait")
	fl.DurationVar(&f.timeout, "timeout", 30*time.Second, "time limit of a request, which may ask for less")
	fl.DurationVar(&f.compute, "max-compute", 0,
		"refuse requests whose computation would probably take longer (default: --timeout)")
	fl.StringVar(&f.body, "max-body", "64M", "largest body of a request")
	fl.IntVar(&f.connections, "max-connections", 10000, "largest number of connections")
	fl.DurationVar(&f.poll, "poll", 2*time.Second, "how often to look for changes in folders of models")
	fl.DurationVar(&f.linger, "linger", 0, "how long to accept requests after readiness has ended")
	fl.DurationVar(&f.drain, "drain", 30*time.Second, "how long to wait then for accepted requests")
	fl.StringVar(&f.cert, "tls-cert", "", "PEM file of the certificate, to use TLS")
	fl.StringVar(&f.key, "tls-key", "", "PEM file of its key")
	fl.StringVar(&f.clientCA, "tls-client-ca", "", "PEM file of authorities, one of which must have signed the certificate of a client")
	fl.StringVar(&f.tokenFile, "token-file", "", "file with the bearer token that requests need")
	fl.StringSliceVar(&f.proxies, "proxies", nil, "networks of proxies whose X-Forwarded-For names the client, for example 10.0.0.0/8")
	fl.StringVar(&f.logLevel, "log", "info", "level of the log: debug (each inference), info, warn or error")
	fl.BoolVar(&f.access, "access-log", false, "log each request: id, client, status, traceparent")
}

// options checks the flags.
func (f *serveFlags) options() (opt serve.Options, limits serve.Limits, err error) {
	for _, b := range []struct {
		flag, text string
		to         *int64
	}{{"memory", f.memory, &opt.Memory}, {"plan-memory", f.planMemory, &opt.PlanMemory}, {"max-body", f.body, &opt.Body}} {
		if b.text == "" {
			continue
		}
		n, ok := cli.ParseBytes(b.text)
		if !ok || n < 1<<10 {
			return opt, limits, cli.Usagef("--%s %q: need a number of bytes, at least 1K, with K, M, G or T for powers of 1024",
				b.flag, b.text)
		}
		*b.to = n
	}
	for _, n := range []struct {
		flag  string
		value int
	}{{"batch", f.batch}, {"slots", f.slots}, {"queue", f.waiting}, {"max-connections", f.connections}} {
		if n.value < 1 {
			return opt, limits, cli.Usagef("--%s %d: need 1 or more", n.flag, n.value)
		}
	}
	for _, d := range []struct {
		flag  string
		value time.Duration
		least time.Duration
	}{{"timeout", f.timeout, 1}, {"max-compute", f.compute, 0}, {"poll", f.poll, time.Millisecond}, {"linger", f.linger, 0}, {"drain",
		f.drain, 1}} {
		if d.value < d.least {
			return opt, limits, cli.Usagef("--%s %v: too short", d.flag, d.value)
		}
	}
	if err := checkPrecision(f.precision); err != nil {
		return opt, limits, err
	}
	opt.Precision, opt.Batch, opt.Slots, opt.Waiting, opt.Timeout, opt.Poll = cnp.Precision(f.precision), f.batch, f.slots, f.waiting,
		f.timeout, f.poll
	limits.Connections, limits.Linger, limits.Drain = f.connections, f.linger, f.drain
	opt.Compute, opt.Access = f.compute, f.access
	opt.Token, opt.TokenFile = os.Getenv("EQUIVCNP_TOKEN"), f.tokenFile
	switch { // cobra would not see what the environment says
	case f.cert != "" && f.key == "":
		return opt, limits, cli.Usagef("--tls-cert needs --tls-key")
	case f.key != "" && f.cert == "":
		return opt, limits, cli.Usagef("--tls-key needs --tls-cert")
	case f.clientCA != "" && f.cert == "":
		return opt, limits, cli.Usagef("--tls-client-ca needs --tls-cert and --tls-key")
	}
	if opt.Proxies, err = serve.ParseProxies(f.proxies); err != nil {
		return opt, limits, flagged(err)
	}
	if opt.Models, opt.Folders, err = serve.Sources(f.models); err != nil {
		return opt, limits, flagged(err)
	}
	opt.Warm = len(f.models) > 0
	return opt, limits, nil
}

// serverSettings sets the flags that the environment or a file names, and the command line does not.
func serverSettings(cmd *cobra.Command, config string) error {
	var err error
	cmd.Flags().VisitAll(func(f *pflag.Flag) { // --threads, which all commands have, among them
		name := "EQUIVCNP_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if text, set := os.LookupEnv(name); set && !f.Changed && err == nil && f.Name != "help" && f.Name != "config" {
			if err = cmd.Flags().Set(f.Name, text); err != nil {
				err = cli.Usagef("%s: %w", name, cli.FlagWords(cmd, err))
			}
		}
	})
	if config == "" {
		config = os.Getenv("EQUIVCNP_CONFIG")
	}
	if err != nil {
		return err
	}
	return cli.ApplyConfig(cmd, config)
}

func (a *app) serve(ctx context.Context, f *serveFlags) error {
	opt, limits, err := f.options()
	if err != nil {
		return err
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return cli.Usagef("--log %q: need debug, info, warn or error", f.logLevel)
	}
	opt.Log = slog.New(slog.NewJSONHandler(a.stderr, &slog.HandlerOptions{Level: level}))
	opt.Version, opt.Page, opt.Plans = cli.BuildVersion(), page.Handler(), f.plans
	hangups := make(chan os.Signal, 1) // from now on, or one while models are read would end the program
	signal.Notify(hangups, cli.ReloadSignals...)
	defer signal.Stop(hangups)
	defer cli.SurviveBrokenPipes()() // who reads the log may go
	if err := makePlans(f.plans); err != nil {
		return err
	}
	if f.cert != "" {
		if limits.TLS, err = serve.Certificates(f.cert, f.key, f.clientCA, opt.Log); err != nil {
			return err
		}
	}
	if _, _, err := net.SplitHostPort(f.listen); err != nil {
		return cli.Usagef("--listen %s: need an address such as :8080 or 127.0.0.1:8080", f.listen)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen) // before models are read: a port in use is told at once
	if err != nil {
		return fmt.Errorf("--listen %s: %w", f.listen, err)
	}
	defer l.Close()
	defer serve.LimitMemory(opt.Memory)()
	defer serve.SpareThreads(runtime.GOMAXPROCS(0))()
	s, err := serve.New(opt)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, extra := range []struct {
		what, address string
		handler       http.Handler
	}{{"profiles", f.pprof, serve.Profiles()}, {"metrics", f.metrics, s.MetricsHandler()}} {
		if extra.address == "" {
			continue
		}
		stop, err := serve.Beside(ctx, extra.what, extra.address, extra.handler, opt.Log)
		if err != nil {
			return err
		}
		defer stop()
	}
	go func() {
		for {
			select {
			case <-hangups:
				_ = s.Reload() // which writes to the log what it could not read
			case <-ctx.Done():
				return
			}
		}
	}()
	return s.Serve(ctx, l, limits)
}
