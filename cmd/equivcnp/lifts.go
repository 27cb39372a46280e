package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/group"
)

// liftsFlag is a number of lifts, 4, or numbers of angles and scales, 4x3.
type liftsFlag struct{ count, scales int }

// register adds the flag.
func (f *liftsFlag) register(fl *pflag.FlagSet, usage string) {
	f.count = 1
	fl.Var(f, "lifts", usage)
}

// String implements pflag.Value.
func (f *liftsFlag) String() string {
	if f.scales > 0 {
		return fmt.Sprintf("%dx%d", f.count/f.scales, f.scales)
	}
	return strconv.Itoa(f.count)
}

// Type implements pflag.Value.
func (f *liftsFlag) Type() string { return "lifts" }

// mostLifts bounds either number.
const mostLifts = 1 << 10

// Set implements pflag.Value.
func (f *liftsFlag) Set(text string) error {
	angles, scales, both := strings.Cut(strings.ToLower(text), "x")
	n, err := strconv.Atoi(angles)
	s := 0
	if err == nil && both {
		if s, err = strconv.Atoi(scales); err == nil && s < 1 {
			err = strconv.ErrRange
		}
	}
	if err != nil || n < 0 || n > mostLifts || s > mostLifts {
		return fmt.Errorf("need a number of lifts, or angles and scales, as in 4x3")
	}
	f.count, f.scales = n*max(1, s), s
	return nil
}

// of is the group with the flag's scales.
func (f *liftsFlag) of(g group.Group) (group.Group, error) {
	if f.scales == 0 {
		return g, nil
	}
	if _, ok := g.(*group.Sim2); !ok {
		return nil, usagef("--lifts %v: angles and scales are for --group Sim2, %s takes a single number", f, g.Name())
	}
	g, err := group.Parse(fmt.Sprintf("Sim(2) at %d scales", f.scales), g.Alpha())
	if err != nil {
		return nil, usageError{fmt.Errorf("--lifts: %w", err)}
	}
	return g, nil
}
