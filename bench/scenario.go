package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp/serve"
)

// scenarios are the kinds of load that MLPerf inference defines, and accuracy.
var scenarios = []string{"single-stream", "multi-stream", "offline", "server", "accuracy"}

// scenarioSystems are what answers.
var scenarioSystems = []string{"library", "program", "server"}

type scenarioFlags struct {
	of, model, vectors, program, role string
	seconds                           float64
	latency                           time.Duration
	batch                             int
	json                              bool
}

func scenarioCommand() *cobra.Command {
	f := scenarioFlags{}
	cmd := &cobra.Command{
		Use:   "scenario single-stream|multi-stream|offline|server|accuracy|all",
		Short: "Load the library, the program or a server as MLPerf inference does",
		Long: `Measure one of MLPerf inference's scenarios (Reddi and others, "MLPerf Inference Benchmark", ISCA 2020) on the fixed tasks of
a shipped model's conformance vectors. This is no MLPerf result: models and tasks are ours, and runs are shorter than its rules ask for.

  single-stream  a task, and the next when it is answered: the 90th percentile of latency
  multi-stream   8 tasks, and the next 8 when they are answered: the 99th percentile of latency
  offline        all tasks at once, in batches: tasks a second
  server         tasks come at random times (Poisson): the most tasks a second of which 99 % are answered within --latency, searched for
  accuracy       no times: the same calls score their answers, by mean log-likelihood and squared error of a value

--of says who answers: the library within this process, the program (a process for each query: its start counts), or a server in a
process of its own, over REST. A library has no queue of its own; here tasks that wait go together, 8 at most. A program is no server,
so that scenario leaves it out.`,
		Example: "  go run ./bench scenario single-stream\n" +
			"  go run ./bench scenario all --of server --model rbf-levels --latency 20ms --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%d scenarios: need one of single-stream, multi-stream, offline, server, accuracy and all", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.of, "of", "library", "who answers: "+strings.Join(scenarioSystems, ", "))
	fl.StringVar(&f.model, "model", "digits-T2", "a shipped model")
	fl.StringVar(&f.vectors, "vectors", conformanceVectors, "folder with the conformance vectors")
	fl.StringVar(&f.program, "program", "bin/equivcnp", "the program")
	fl.StringVar(&f.role, "role", "", "be the server")
	fl.Float64Var(&f.seconds, "seconds", 5, "of a measurement; the search of scenario server makes about ten")
	fl.DurationVar(&f.latency, "latency", 50*time.Millisecond, "bound of scenario server")
	fl.IntVar(&f.batch, "batch", 32, "tasks of a call of scenario offline")
	fl.BoolVar(&f.json, "json", false, "print one object a line")
	must(fl.MarkHidden("role"))
	return cmd
}

func (f *scenarioFlags) run(cmd *cobra.Command, which string) error {
	if f.role == "server" {
		return f.serve(cmd)
	}
	if which != "all" && !slices.Contains(scenarios, which) {
		return fmt.Errorf("%s: there are %s and all", which, strings.Join(scenarios, ", "))
	}
	if !(f.seconds > 0 && f.seconds <= 3600) || f.latency <= 0 {
		return fmt.Errorf("--seconds %v, --latency %v: need both above 0, and 3600 seconds at most", f.seconds, f.latency)
	}
	if err := within("batch", f.batch, 4096); err != nil {
		return err
	}
	tasks, err := readScenarioTasks(f.vectors, f.model)
	if err != nil {
		return err
	}
	s, err := f.system(tasks)
	if err != nil {
		return err
	}
	b := &scenarioBench{tasks: tasks, system: s, seconds: f.seconds, latency: f.latency.Seconds(), batch: f.batch,
		r: &report{w: cmd.OutOrStdout(), json: f.json}, name: "scenario/" + f.of + "/" + f.model}
	names := []string{which}
	if which == "all" {
		names = scenarios
	}
	for _, name := range names {
		if name == "server" && f.of == "program" {
			if which != "all" {
				err = errors.New("a program is no server: --of library or --of server")
			}
			continue
		}
		if err = errors.Join(err, b.run(cmd.Context(), name)); err != nil {
			break
		}
	}
	return errors.Join(err, s.close())
}

// system makes what answers.
func (f *scenarioFlags) system(tasks *scenarioTasks) (scenarioSystem, error) {
	switch f.of {
	case "library":
		return newLibrarySystem(tasks)
	case "server", "program":
		if tasks.config.HasUnits() { // the vectors are in the model's units, which only a Go program can give to a model
			return nil, fmt.Errorf("--model %s --of %s: its vectors are in units of its own, which only --of library takes", f.model, f.of)
		}
		if f.of == "server" {
			return newServerSystem(tasks)
		}
		return newProgramSystem(tasks, f.program)
	}
	return nil, fmt.Errorf("--of %s: there are %s", f.of, strings.Join(scenarioSystems, ", "))
}

// serve serves the model on a free port, whose address it prints, until its input ends.
func (f *scenarioFlags) serve(cmd *cobra.Command) error {
	defer serve.SpareThreads(runtime.GOMAXPROCS(0))()
	s, err := serve.New(serve.Options{Warm: true, Models: []serve.Source{{Name: f.model, Path: f.model}}})
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), "http://"+l.Addr().String())
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go untilEOF(cmd.InOrStdin(), stop)
	return s.Serve(ctx, l, serve.Limits{})
}

// scenarioBench measures a system.
type scenarioBench struct {
	tasks            *scenarioTasks
	system           scenarioSystem
	seconds, latency float64
	batch            int
	r                *report
	name             string
}

func (b *scenarioBench) run(ctx context.Context, scenario string) error {
	if scenario == "accuracy" {
		return b.accuracy(ctx)
	}
	for range 2 { // plans, connections
		if _, err := b.system.predict(ctx, b.tasks.query(0, 1)); err != nil {
			return err
		}
	}
	switch scenario {
	case "single-stream":
		return b.stream(ctx, scenario, 1, 90)
	case "multi-stream":
		return b.stream(ctx, scenario, 8, 99)
	case "offline":
		rate, err := b.offline(ctx)
		if err != nil {
			return err
		}
		return b.r.add(sample{b.name + "/offline", b.batch, "tasks_per_s", rate})
	}
	return b.server(ctx)
}

// stream asks for n tasks again and again.
func (b *scenarioBench) stream(ctx context.Context, scenario string, n, percent int) error {
	var took []float64
	for start := time.Now(); time.Since(start).Seconds() < b.seconds || len(took) < 5; {
		q := b.tasks.query(len(took)*n, n)
		from := time.Now()
		if _, err := b.system.predict(ctx, q); err != nil {
			return err
		}
		took = append(took, time.Since(from).Seconds())
	}
	slices.Sort(took)
	return errors.Join(b.r.add(sample{b.name + "/" + scenario, n, fmt.Sprintf("p%d_s", percent), percentile(took, percent)}),
		b.r.add(sample{b.name + "/" + scenario, n, "p50_s", percentile(took, 50)}),
		b.r.add(sample{b.name + "/" + scenario, n, "queries", float64(len(took))}))
}

// offline returns how many tasks a second are answered in batches, one after the other.
func (b *scenarioBench) offline(ctx context.Context) (float64, error) {
	q, done, start := b.tasks.query(0, b.batch), 0, time.Now()
	for done == 0 || time.Since(start).Seconds() < b.seconds {
		if _, err := b.system.predict(ctx, q); err != nil {
			return 0, err
		}
		done += b.batch
	}
	return float64(done) / time.Since(start).Seconds(), nil
}

// mostHalvings is how often the rate of batches is halved, at most: then one task of 64 has to wait, and of fewer still 20 would take
// minutes to come.
const mostHalvings = 6

// server searches for the largest rate of arrivals at which 99 % of tasks are answered within the latency bound: from the rate of
// batches down or up by factors of 2, then by halves of the ratio, to 5 %. It ends where no rate can be low enough: the fastest answer of
// all took longer than the bound.
func (b *scenarioBench) server(ctx context.Context) error {
	rate, err := b.offline(ctx)
	if err != nil {
		return err
	}
	good, bad := 0.0, math.Inf(1)
	var best []float64
	for tries := 0; tries < 12 && !(bad/good < 1.05); tries++ {
		took, err := b.arrive(ctx, rate)
		if err != nil {
			return err
		}
		if percentile(took, 99) <= b.latency {
			good, best = rate, took
		} else {
			bad = rate
		}
		if good == 0 && (took[0] > b.latency || tries == mostHalvings) {
			break
		}
		switch {
		case good == 0:
			rate = bad / 2
		case math.IsInf(bad, 1):
			rate = 2 * good
		default:
			rate = math.Sqrt(good * bad)
		}
	}
	name := b.name + "/server"
	if best == nil {
		return b.r.add(sample{name, 1, "tasks_per_s", 0})
	}
	return errors.Join(b.r.add(sample{name, 1, "tasks_per_s", good}), b.r.add(sample{name, 1, "bound_s", b.latency}),
		b.r.add(sample{name, 1, "p99_s", percentile(best, 99)}), b.r.add(sample{name, 1, "p50_s", percentile(best, 50)}))
}

// arrive lets tasks come at random times at that rate and returns how long each took, sorted. The seed is fixed, so that every rate sees
// the same arrivals, closer together.
func (b *scenarioBench) arrive(ctx context.Context, rate float64) ([]float64, error) {
	n := max(20, int(rate*b.seconds))
	rng, arrivals, at := rand.New(rand.NewPCG(1, 1)), make([]time.Duration, n), 0.0
	for i := range arrivals {
		at += rng.ExpFloat64() / rate
		arrivals[i] = time.Duration(at * float64(time.Second))
	}
	if _, queued := b.system.(*librarySystem); queued {
		return b.arriveQueued(ctx, arrivals)
	}
	var (
		mu     sync.Mutex
		took   []float64
		failed error
		flight sync.WaitGroup
	)
	start := time.Now()
	for i, due := range arrivals {
		time.Sleep(time.Until(start.Add(due)))
		flight.Go(func() {
			_, err := b.system.predict(ctx, b.tasks.query(i, 1))
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(start.Add(due)).Seconds())
			failed = errors.Join(failed, refusedIsLate(err, &took[len(took)-1]))
		})
	}
	flight.Wait()
	slices.Sort(took)
	return took, failed
}

// refusedIsLate counts a task that a busy server refused as one that was never answered.
func refusedIsLate(err error, took *float64) error {
	if err != nil && isBusy(err) {
		*took = math.Inf(1)
		return nil
	}
	return err
}

// arriveQueued answers tasks in their order of arrival, those that wait together, 8 at most.
func (b *scenarioBench) arriveQueued(ctx context.Context, arrivals []time.Duration) ([]float64, error) {
	const most = 8
	var took []float64
	start := time.Now()
	for i := 0; i < len(arrivals); {
		time.Sleep(time.Until(start.Add(arrivals[i])))
		n := 1
		for n < most && i+n < len(arrivals) && time.Since(start) >= arrivals[i+n] {
			n++
		}
		if _, err := b.system.predict(ctx, b.tasks.query(i, n)); err != nil {
			return nil, err
		}
		for _, due := range arrivals[i : i+n] {
			took = append(took, (time.Since(start) - due).Seconds())
		}
		i += n
	}
	slices.Sort(took)
	return took, nil
}

// accuracy scores the answers to every task once, asked for as the other scenarios do.
func (b *scenarioBench) accuracy(ctx context.Context) error {
	var loglik, square, n float64
	for i := range b.tasks.b {
		p, err := b.system.predict(ctx, b.tasks.query(i, 1))
		if err != nil {
			return err
		}
		l, sq, values, err := b.tasks.score(p, i)
		if err != nil {
			return err
		}
		loglik, square, n = loglik+l, square+sq, n+float64(values)
	}
	name := b.name + "/accuracy"
	err := errors.Join(b.r.add(sample{name, b.tasks.b, logLikelihood, loglik / n}),
		b.r.add(sample{name, b.tasks.b, "squared_error", square / n}))
	if e := b.tasks.expected; !math.IsNaN(e) && !(math.Abs(loglik/n-e) <= 0.01*(1+math.Abs(e))) {
		err = errors.Join(err, fmt.Errorf("%s: log-likelihood %.6g, the conformance vectors state %.6g", name, loglik/n, e))
	}
	return err
}
