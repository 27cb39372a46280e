package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/cnp/serve"
	"github.com/equivcnp/equivcnp/cnp/serve/client"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// serveCases are what a server is asked for, by the case of bench inference that does the same without a server: 64 x 64 images one by
// one, and curves by 16.
var serveCases = []serveCase{
	{"image/T2", "image/T2/default", "image/ours/T2/64x64/batch8", "images_per_s", 1, 32},
	{"curve/rbf", "curve/rbf", "curve/ours/rbf/batch16", "tasks_per_s", 16, 8},
}

type serveCase struct {
	name, inference, reference, metric string
	tasks, clients                     int // of a request, and of a server at saturation
}

// serveFlags are the flags of bench serve.
type serveFlags struct {
	json                 bool
	dir, only, role, url string
	profile              string
	seconds              float64
	times                int
	load                 loadFlags
}

func serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Load a server, in a process of its own: throughput, latency, overload, idle connections",
		Long: `Start a server and load it from another process, with requests that others wait for (closed loop) and with
requests that come when they come (open loop), over REST with binary tensors and over gRPC. What the server reaches is
compared with what bench inference reaches, which is measured before and after it in the same run. It takes about four
minutes.`,
		Example: "  go run ./bench serve --weights ../shared/weights\n  go run ./bench serve --only image --seconds 20 --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := &report{w: cmd.OutOrStdout(), json: f.json}
			switch f.role {
			case "server":
				return profiled(f.profile, func() error { return benchServer(cmd.Context(), f.dir, cmd.InOrStdin(), cmd.OutOrStdout()) })
			case "load":
				runtime.GOMAXPROCS(1) // it computes next to nothing, and threads that look for work would take the server's processor
				return profiled(f.profile, func() error { return f.load.run(r, f.url, f.seconds) })
			}
			return benchServe(r, &f)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.json, "json", false, "print one object a line")
	fl.StringVar(&f.dir, "weights", "../shared/weights", "folder with the authors' checkpoints")
	fl.StringVar(&f.only, "only", "", "cases that start with this")
	fl.Float64Var(&f.seconds, "seconds", 8, "of each load")
	fl.IntVar(&f.times, "times", 20, "calls of bench inference")
	fl.StringVar(&f.role, "role", "", "be the server, or the load")
	fl.StringVar(&f.url, "url", "", "of the server")
	fl.StringVar(&f.profile, "profile", "", "write the CPU profile of the role to this file")
	f.load.register(fl)
	fl.VisitAll(func(flag *pflag.Flag) {
		switch flag.Name {
		case "json", "weights", "only", "seconds", "times":
		default:
			must(fl.MarkHidden(flag.Name))
		}
	})
	return cmd
}

// profiled calls f and writes the CPU profile of it, if a file is named.
func profiled(file string, f func() error) error {
	if file == "" {
		return f()
	}
	w, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(w); err != nil {
		return err
	}
	err = f()
	pprof.StopCPUProfile()
	return errors.Join(err, w.Close())
}

// benchServer serves the models of all cases on a free port, whose address it prints, until in ends.
func benchServer(ctx context.Context, dir string, in io.Reader, out io.Writer) error {
	threads := runtime.GOMAXPROCS(0)
	defer serve.SpareThreads(threads)()
	s, err := serve.New(serve.Options{Warm: true, Models: []serve.Source{
		{Name: "image-T2", Path: filepath.Join(dir, "2d", "T2.pth"), Options: weights.Options{Group: "T2"}},
		{Name: "curve-rbf", Path: filepath.Join(dir, "1d", "rbf_equivcnp.pth")}}})
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "http://"+l.Addr().String())
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	go untilEOF(in, stop)
	return s.Serve(ctx, l, serve.Limits{})
}

// untilEOF calls stop when in ends: a server ends with the process that started it.
func untilEOF(in io.Reader, stop func()) {
	io.Copy(io.Discard, in)
	stop()
}

// isBusy reports whether a server refused a request because it had too many.
func isBusy(err error) bool {
	var e *client.Error
	busy := []int{http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusGatewayTimeout}
	return errors.As(err, &e) && slices.Contains(busy, e.Status)
}

// serverChild is a server in a process of its own.
type serverChild struct {
	url  string
	cmd  *exec.Cmd
	stop func() error
}

func startServer(dir string) (*serverChild, error) {
	return startChild("serve", "--role", "server", "--weights", dir)
}

// startChild runs this program with arguments that make it a server, which prints its address.
func startChild(args ...string) (*serverChild, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &serverChild{cmd: cmd, stop: func() error { return errors.Join(in.Close(), cmd.Wait()) }}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the server did not start: %w", err), c.stop())
	}
	c.url = strings.TrimSpace(line)
	return c, nil
}

// memory reads a size of the server's from /proc: VmRSS or VmHWM.
func (c *serverChild) memory(name string) (float64, bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			return kb * 1024, err == nil
		}
	}
	return 0, false
}

// cpu reads the seconds that the server's threads have computed.
func (c *serverChild) cpu() (float64, bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	if err != nil {
		return 0, false
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // from the third on, of proc(5)
	if len(f) < 13 {
		return 0, false
	}
	user, err1 := strconv.ParseFloat(f[11], 64)
	system, err2 := strconv.ParseFloat(f[12], 64)
	return (user + system) / 100, err1 == nil && err2 == nil
}

// collect runs this program again and returns what it measured, by name and metric. Samples are reported, too.
func collect(r *report, args ...string) (map[string]float64, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	child := exec.Command(self, args...)
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	got := map[string]float64{}
	for line := range strings.Lines(string(out)) {
		var s sample
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		got[s.Name+" "+s.Metric] = s.Value
		if err := r.add(s); err != nil {
			return nil, err
		}
	}
	return got, nil
}

// benchServe measures all cases.
func benchServe(r *report, f *serveFlags) error {
	var names []string
	for _, c := range serveCases {
		names = append(names, c.name)
	}
	if !(f.seconds > 0 && f.seconds <= 3600) {
		return fmt.Errorf("--seconds %g: need a number above 0, 3600 at most", f.seconds)
	}
	if err := within("times", f.times, mostTimes); err != nil {
		return err
	}
	some, err := chosen(names, f.only)
	if err != nil {
		return err
	}
	for _, c := range serveCases {
		if slices.Contains(some, c.name) {
			if err := benchCase(r, f, &c); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return benchIdle(r, f)
}

// measure is what bench inference reaches.
func (c *serveCase) measure(r *report, f *serveFlags) (float64, error) {
	got, err := collect(&report{w: io.Discard}, "inference", "--one", "--json", "--only", c.inference, "--weights", f.dir,
		"--times", fmt.Sprint(f.times))
	if err != nil {
		return 0, err
	}
	v := got[c.reference+" "+c.metric]
	if !(v > 0) {
		return 0, fmt.Errorf("bench inference has no %s of %s", c.metric, c.reference)
	}
	return v, r.add(sample{"serve/" + c.name + "/inference", c.tasks, c.metric, v})
}

// benchCase measures one case.
func benchCase(r *report, f *serveFlags, c *serveCase) error {
	before, err := c.measure(r, f)
	if err != nil {
		return err
	}
	s, err := startServer(f.dir)
	if err != nil {
		return err
	}
	defer s.stop()
	load := func(name, protocol string, args ...string) (map[string]float64, string, error) {
		full := fmt.Sprintf("serve/%s/%s/%s", c.name, protocol, name)
		cpu, _ := s.cpu()
		got, err := collect(r, append([]string{"serve", "--role", "load", "--json", "--url", s.url, "--model",
			strings.ReplaceAll(c.name, "/", "-"),
			"--protocol", protocol, "--name", full, "--seconds", fmt.Sprint(f.seconds), "--tasks", fmt.Sprint(c.tasks)}, args...)...)
		if cpu2, ok := s.cpu(); ok && err == nil {
			err = r.add(sample{full, c.tasks, "server_cpu_s", (cpu2 - cpu) / got[full+" requests"]})
		}
		return got, full, err
	}
	capacity := map[string]float64{} // requests a second
	for _, protocol := range []string{"rest", "grpc"} {
		if _, _, err := load("one", protocol, "--clients", "1"); err != nil {
			return err
		}
		got, name, err := load("saturation", protocol, "--clients", fmt.Sprint(c.clients))
		if err != nil {
			return err
		}
		capacity[protocol] = got[name+" requests_per_s"]
	}
	if c.tasks == 1 { // copies of large tensors
		for _, protocol := range []string{"rest", "grpc"} {
			if _, _, err := load("large", protocol, "--clients", "1", "--tasks", "128", "--timeout", "5m"); err != nil {
				return err
			}
		}
	}
	after, err := c.measure(r, f)
	if err != nil {
		return err
	}
	for _, protocol := range []string{"rest", "grpc"} {
		ratio := capacity[protocol] * float64(c.tasks) / ((before + after) / 2)
		if err := r.add(sample{fmt.Sprintf("serve/%s/%s/saturation", c.name, protocol), c.tasks, "of_inference", ratio}); err != nil {
			return err
		}
	}
	for _, protocol := range []string{"rest", "grpc"} {
		for name, extra := range map[string][]string{"at80": nil, "at80-random": {"--random", "--capacity",
			fmt.Sprint(capacity[protocol])}} {
			got, full, err := load(name, protocol, append(extra, "--rate", fmt.Sprint(0.8*capacity[protocol]))...)
			if err != nil {
				return err
			}
			if err := r.add(sample{full, c.tasks, "p99_of_p50", got[full+" p99_s"] / got[full+" p50_s"]}); err != nil {
				return err
			}
		}
		got, full, err := load("twice", protocol, "--rate", fmt.Sprint(2*capacity[protocol]), "--timeout", "1s")
		if err != nil {
			return err
		}
		if err := r.add(sample{full, c.tasks, "of_capacity", got[full+" requests_per_s"] / capacity[protocol]}); err != nil {
			return err
		}
	}
	if peak, ok := s.memory("VmHWM"); ok {
		return r.add(sample{"serve/" + c.name, c.tasks, "peak_bytes", peak})
	}
	return nil
}

// idleConnections is how many connections do nothing, in benchIdle.
const idleConnections = 2000

// benchIdle measures what connections cost that wait for their next request, of HTTP/1.1 and of HTTP/2.
func benchIdle(r *report, f *serveFlags) error {
	for _, protocol := range []string{"rest", "grpc"} {
		s, err := startServer(f.dir)
		if err != nil {
			return err
		}
		err = func() error {
			defer s.stop()
			time.Sleep(2 * time.Second)
			before, ok := s.memory("VmRSS")
			if !ok {
				return nil
			}
			close, err := openIdle(s.url, protocol, idleConnections)
			if err != nil {
				return err
			}
			defer close()
			time.Sleep(time.Second)
			after, _ := s.memory("VmRSS")
			return r.add(sample{"serve/idle/" + protocol, idleConnections, "bytes", after - before})
		}()
		if err != nil {
			return err
		}
	}
	return nil
}
