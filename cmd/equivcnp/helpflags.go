package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroups are the headings under which --help lists the flags of every command, and the flags under each, which mean
// the same in all commands. A flag after the bar is rarely used: only --help-all shows it. Flags that stand nowhere
// here come first.
var flagGroups = []struct{ title, names string }{
	{"Data", `in csv x y task targets from to points grid sphere kernel benchmark field plane digits images mnist image mask manifest
		| decimal aux static static-fields place length region dx chain slow window window-points min-context max-context min-rate max-rate array size colour
		max-angle min-scale max-scale max-shift holdout holdout-by holdout-seed holdout-last score-context rate angle digit knots outputs inputs expected tasks`},
	{"Model", `model group lifts likelihood precision groups models
		| alpha points-per-unit lift-samples levels channels blocks width hidden mid fill kernel-width encoder-length density-cap readout
		coordinate-feature views waves keep-observed function`},
	{"Prediction", `samples quantiles standardise
		| order block growth joint joint-tasks compare equivariance-tasks scale zoom normals mixtures covariance`},
	{"Training", `steps batch resume budget
		| config start overwrite passes schedule rate warmup stair factor clip weight-decay noise last-noise beta eval-every eval-tasks patience
		checkpoint-every log-every starts errors`},
	{"Output", `out plot out-dir json mean-out std-out report picture
		| shard shards skip-bad`},
	{"Computation", `seed memory
		| plans tile-width tile-height rows`},
}

// usageFlags lists the flags of a command, in groups; of rare ones it says how many there are, unless all are asked for.
func usageFlags(cmd *cobra.Command) string {
	all := cmd.Root().PersistentFlags().Lookup(helpAll).Value.String() == "true"
	left := map[string]*pflag.Flag{}
	var order []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && (!cmd.HasParent() || f.Name != "help") {
			left[f.Name], order = f, append(order, f.Name)
		}
	})
	var out strings.Builder
	write := func(title string, names []string) {
		set := pflag.NewFlagSet(title, pflag.ContinueOnError)
		set.SortFlags = false
		for _, name := range names {
			if f := left[name]; f != nil {
				set.AddFlag(f)
				delete(left, name)
			}
		}
		if set.HasFlags() {
			fmt.Fprintf(&out, "\n%s:\n%s", title, set.FlagUsagesWrapped(100))
		}
	}
	few := len(order) <= fewFlags // they need no groups
	var groups, rare [][]string
	for _, g := range flagGroups {
		often, seldom, _ := strings.Cut(g.names, "|")
		groups, rare = append(groups, strings.Fields(often)), append(rare, strings.Fields(seldom))
	}
	known := slices.Concat(slices.Concat(groups...), slices.Concat(rare...))
	if few {
		write("Flags", order)
	} else {
		write("Flags", slices.DeleteFunc(slices.Clone(order), func(name string) bool { return slices.Contains(known, name) }))
	}
	hidden := 0
	for i, g := range flagGroups {
		names := groups[i]
		if all {
			names = append(names, rare[i]...)
		}
		write(g.title, names)
	}
	hidden = len(left)
	if hidden > 0 {
		fmt.Fprintf(&out, "\n%d more flags are used rarely: --help-all shows them.\n", hidden)
	}
	return out.String()
}

// fewFlags is the number of flags that are shown together, all of them.
const fewFlags = 14

// wantsAll takes --help-all for --help, and reports whether it is among the arguments.
func wantsAll(args []string) ([]string, bool) {
	end := slices.Index(args, "--")
	if end < 0 {
		end = len(args)
	}
	at := slices.Index(args[:end], "--"+helpAll)
	if at < 0 {
		return args, false
	}
	args = slices.Clone(args)
	args[at] = "--help"
	return args, true
}

// init gives the template its function once: cobra keeps these for all commands of the process.
func init() { cobra.AddTemplateFunc("usageFlags", usageFlags) }

// groupFlags makes the usage of all commands list their flags in groups.
func groupFlags(root *cobra.Command, all bool) {
	const old = `{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}`
	t := root.UsageTemplate()
	if !strings.Contains(t, old) {
		panic("cobra's template of usages is another one")
	}
	t = strings.Replace(t, old, "\n{{usageFlags . | trimTrailingWhitespaces}}", 1)
	root.SetUsageTemplate(strings.ReplaceAll(t, ".FlagUsages |", ".FlagUsagesWrapped 100 |"))
	root.PersistentFlags().Bool(helpAll, all, "show all flags, rarely used ones, too")
}

// helpAll is the flag for help with all flags.
const helpAll = "help-all"
