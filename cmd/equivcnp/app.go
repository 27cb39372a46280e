package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/words"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// app is one run of the program: where it writes and what all commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	json, quiet    bool
	threads        int
	started        bool // a command's action began: errors are no longer about usage
}

// ofPackage matches the name of a package where an error begins, or what it says of a flag. Who types commands knows no packages.
var ofPackage = regexp.MustCompile(`^((?:--[a-z-]+[^:]*: )?)` +
	`(?:cnp|eval|group|layers|neighbor|recipe|selection|serve|shards|task|train|weights): `)

// run executes one command line and returns the exit status: 0, 1 for errors, 2 for errors of usage.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	args, all := cli.WantsAll(append([]string{}, args...)) // cobra would take nil for the program's own arguments
	root := a.root()
	cli.GroupFlags(root, all, flagGroups)
	if len(args) == 1 && args[0] == "-version" { // as Go's own programs have it
		args = []string{"--version"}
	}
	cli.Complete(root, args)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	path := strings.ReplaceAll(cmd.CommandPath(), " ", ": ")
	err = flagged(err)
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted, nothing was written")
	}
	if errors.Is(err, neighbor.ErrTooManyPairs) {
		err = fmt.Errorf("%w: smaller images or intervals, fewer lifts and smaller neighbourhoods have less", neighbor.ErrTooManyPairs)
	}
	fmt.Fprintf(stderr, "%s: %s\n", path, ofPackage.ReplaceAllString(err.Error(), "$1"))
	if usage := (cli.UsageError{}); !a.started || errors.As(err, &usage) {
		fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
		return 2
	}
	return 1
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "equivcnp",
		Short: "Predict images, tables, curves and maps from a few observations",
		Long:  helpText("equivcnp"),
		Example: `  equivcnp regress --csv zinc.csv --x east,north --y zinc --positive --targets grid.csv --out pred.csv --plot map.png
  equivcnp complete --model T2.pth --group "T(2)" --image digit.png --rate 0.25 --seed 7 --out out.png
  equivcnp regress --model rbf-levels --csv data.csv --from -4 --to 4 --points 400 --out pred.csv --plot fig.png`,
		Version:       cli.BuildVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no command given")
			}
			return unknownCommand(cmd, args[0])
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // never reached: Args refuses everything
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if name := cmd.Flags().Arg(0); cmd == root && name != "" { // its flags would be those of a command that there is not
			return unknownCommand(root, name)
		}
		return cli.FlagWords(cmd, err)
	})
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "no progress bar")
	root.PersistentFlags().IntVar(&a.threads, "threads", 0, "number of threads; 0 uses all cores")
	root.AddCommand(a.demoCommand(), a.completeCommand(), a.regressCommand(), a.sampleCommand(), a.predictCommand(),
		a.trainCommand(), a.selectCommand(), a.evalCommand(), a.mergeCommand(), a.rasterCommand(), a.stationsCommand(),
		a.calibrateCommand(), a.designCommand(),
		a.reproduceCommand(),
		a.serveCommand(), a.healthCommand(), a.convertCommand(), a.inspectCommand(), a.versionCommand())
	root.AddCommand(topics()...)
	return root
}

// unknownCommand is the error for a name that no command has.
func unknownCommand(root *cobra.Command, name string) error {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	if near := words.Closest(name, names); near != "" {
		return fmt.Errorf("unknown command %q, did you mean %q?", name, near)
	}
	return fmt.Errorf("unknown command %q", name)
}

// noArguments refuses arguments that belong to no flag. Most are parts of a list.
func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q: lists have commas and no spaces, as in --x east,north, and switches have no value",
			args[0])
	}
	return nil
}

// action wraps what a command does with what is common to all.
func (a *app) action(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.started = true
		if err := a.checkThreads(); err != nil {
			return err
		}
		if a.threads > 0 {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(a.threads))
		}
		if err := simd.LevelError(); err != nil {
			return err
		}
		return f(cmd, args)
	}
}

// result is what a command prints, with what predictions have to say.
type result struct{ cli.Result }

// number is a float64 that JSON can hold.
type number = words.Number

// print writes object as JSON under --json, else the lines and notes.
func (a *app) print(r *result, object any) error { return r.Print(a.stdout, a.stderr, a.json, object) }

// jsonFlag adds --json.
func (a *app) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print one JSON object")
}

// standardiseFlag adds --standardise for curves.
func standardiseFlag(fl *pflag.FlagSet, to *bool) {
	fl.BoolVar(to, "standardise", true, "curves: shift and scale each context to the range that the model was trained "+
		"on, and predictions back (\"equivcnp help models\")")
}

// add adds the notes of a prediction, whose fields are flags here.
func (r *result) add(n *predict.Notes) {
	r.Cautions, r.Notes = append(r.Cautions, texts(n.Cautions)...), append(r.Notes, texts(n.Notes)...)
}

// unscaled refuses --standardise=false where a model works in other units than its data.
func unscaled(c *cnp.Config, standardise bool) error {
	return flagged(predict.CheckUnits(c, standardise))
}

// noCheckFlag adds the flag that leaves out the self-check.
func noCheckFlag(fl *pflag.FlagSet, to *bool) {
	fl.BoolVar(to, "no-check", false, "skip the self-check, which predicts parts of the context from the rest to see whether the model "+
		"suits the data; without --model, standard deviations are then not corrected")
}

// texts are notes whose fields are flags.
func texts(notes []settings.Text) (out []string) {
	for _, text := range notes {
		out = append(out, text.Named(flagOf))
	}
	return out
}
