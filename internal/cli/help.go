package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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
		often, seldom, _ := strings.Cut(g.Names, "|")
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
		write(g.Title, names)
	}
	hidden = len(left)
	if hidden > 0 {
		fmt.Fprintf(&out, "\n%d more flags are used rarely: --help-all shows them.\n", hidden)
	}
	return out.String()
}

// fewFlags is the number of flags that are shown together, all of them.
const fewFlags = 14

// WantsAll takes --help-all for --help, and reports whether it is among the arguments.
func WantsAll(args []string) ([]string, bool) {
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

// FlagGroup is a heading under which --help lists flags. The flags stand in Names, separated by spaces; one after the bar is
// rarely used: only --help-all shows it.
type FlagGroup struct{ Title, Names string }

// flagGroups are those of GroupFlags, as all commands of the process share one template.
var flagGroups []FlagGroup

// GroupFlags makes the usage of all commands list their flags in groups. Flags that stand in none come first.
func GroupFlags(root *cobra.Command, all bool, groups []FlagGroup) {
	flagGroups = groups
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
