package serve

import (
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"reflect"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/settings"
)

// Options say what a Server serves, and with how much. Zero values have sensible meanings.
type Options struct {
	// Models are served from the start to the end; New fails if one cannot be read.
	Models []Source
	// Folders, and the token's file, are looked at every Poll (2 s): each model file in them is served under its name without extension. A
	// file that cannot be read is reported, and what was served under its name before goes on.
	Folders []string
	Poll    time.Duration

	// Memory bounds models, plans, requests and answers; 0 is two thirds of cnp.MemoryLimit. An eighth of it, at most 1 GB, is for requests
	// and answers under way. PlanMemory bounds one plan; 0 is 1.5 GB or half of what is left.
	Memory, PlanMemory int64
	Precision          cnp.Precision // of weights that plans keep
	// Plans is a folder in which plans are kept and found, by this server and others (cnp.Options.Plans); empty for none.
	Plans string
	// Batch is the largest number of tasks or images that go together (16), Slots the number of batches that compute at a
	// time (1; each uses all threads).
	Batch, Slots int
	// Waiting bounds the tasks and images that wait (1024). Timeout is the time that a request has (30 s); a shorter one it may ask for.
	Waiting int
	Timeout time.Duration
	// Compute, if positive, refuses a request that would probably be computed for longer, whatever time it has.
	Compute time.Duration
	// Body bounds a request, in bytes (64 MB).
	Body int64
	// Token, if not empty, is the bearer token that every request but those for health must bring. TokenFile names a file that holds it
	// instead, which is read again when it changes, and by Reload.
	Token, TokenFile string
	// Proxies are the networks of proxies whose header X-Forwarded-For is believed: it tells the clients apart, which otherwise are one
	// that sends all that comes through a proxy. ParseProxies reads them.
	Proxies []netip.Prefix
	// Access writes a line of the log, at level info, for every request.
	Access bool

	Version string       // of the program, for the server's metadata
	Log     *slog.Logger // nil: none
	// Warm makes the plans of the images that models were trained on before the server, or a model from a folder, says that it is ready.
	// Without, the first request waits for its plan.
	Warm bool
	// Page answers what no other path does, nil: a line that says what this is. / and what is below /page/ need no token.
	Page http.Handler
}

// maxSlots bounds batches that compute at a time.
const maxSlots = 1 << 10

// check refuses what nothing can be served with, by the option's name.
func (o *Options) check() error {
	if err := checkBounds("serve", []bounds{
		{"Memory", o.Memory, 1 << 20, math.MaxInt64}, {"PlanMemory", o.PlanMemory, 0, math.MaxInt64},
		{"Batch", o.Batch, 1, math.MaxInt32}, {"Slots", o.Slots, 1, maxSlots}, {"Waiting", o.Waiting, 0, math.MaxInt32},
		{"Timeout", o.Timeout, 0, math.MaxInt64}, {"Compute", o.Compute, 0, math.MaxInt64}, {"Poll", o.Poll, 0, math.MaxInt64},
		{"Body", o.Body, 0, math.MaxInt64},
	}); err != nil {
		return err
	}
	switch o.Precision {
	case "", cnp.Float32, cnp.BFloat16:
		return nil
	}
	return settings.Errorf("serve: {Precision} is %q, need %q or %q", o.Precision, cnp.Float32, cnp.BFloat16)
}

// bounds are those of an option, which is an int, an int64 or a time.Duration.
type bounds struct {
	name       string
	value      any
	from, upTo int64 // math.MaxInt64 is none
}

// checkBounds refuses the first option that is out of its bounds, by its name.
func checkBounds(of string, all []bounds) error {
	for _, b := range all {
		v := reflect.ValueOf(b.value)
		if v.Int() >= b.from && v.Int() <= b.upTo {
			continue
		}
		like := func(n int64) any { return reflect.ValueOf(n).Convert(v.Type()).Interface() } // durations have units
		if b.upTo == math.MaxInt64 {
			return settings.Errorf("%s: {%s} is %v, need at least %v", of, b.name, b.value, like(b.from))
		}
		return settings.Errorf("%s: {%s} is %v, need %v to %v", of, b.name, b.value, like(b.from), like(b.upTo))
	}
	return nil
}

// Priorities are those of Triton: 1 is served first, 0 is the usual one.
const (
	usualPriority = 100
	maxPriority   = 1000
)
