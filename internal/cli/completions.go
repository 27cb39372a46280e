package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// offered is the annotation of a flag that lists the values that shells offer.
const offered = "equivcnp_offered"

// Completions notes values of flags for Complete. It panics if a flag does not exist.
func Completions(cmd *cobra.Command, choices map[string][]string) {
	for name, words := range choices {
		if err := cmd.Flags().SetAnnotation(name, offered, words); err != nil {
			panic(err)
		}
	}
}

// Complete registers the noted values of a command and all below it with cobra if the arguments are a shell's request for completions.
// Cobra keeps what is registered, and with it the commands, as long as the process runs: tests, which run thousands of command lines in
// one process, would fill the memory.
func Complete(root *cobra.Command, args []string) {
	if len(args) == 0 || args[0] != cobra.ShellCompRequestCmd && args[0] != cobra.ShellCompNoDescRequestCmd {
		return
	}
	offer(root)
}

func offer(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if words := f.Annotations[offered]; words != nil {
			offers := cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
			if err := cmd.RegisterFlagCompletionFunc(f.Name, offers); err != nil {
				panic(err)
			}
		}
	})
	for _, c := range cmd.Commands() {
		offer(c)
	}
}
