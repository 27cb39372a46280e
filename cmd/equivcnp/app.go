package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
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

// usageError is an error of the command line that only an action can find, such as a rate above 1.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// ofPackage matches the name of a package where an error begins, or what it says of a flag. Who types commands knows no packages.
var ofPackage = regexp.MustCompile(`^((?:--[a-z-]+[^:]*: )?)(?:cnp|eval|group|layers|neighbor|recipe|selection|serve|shards|task|train|weights): `)

// run executes one command line and returns the exit status: 0, 1 for errors, 2 for errors of usage.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	args, all := wantsAll(append([]string{}, args...)) // cobra would take nil for the program's own arguments
	root := a.root()
	groupFlags(root, all)
	if len(args) == 1 && args[0] == "-version" { // as Go's own programs have it
		args = []string{"--version"}
	}
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
	if usage := (usageError{}); !a.started || errors.As(err, &usage) {
		fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
		return 2
	}
	return 1
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "equivcnp",
		Short: "Complete images and regress curves with group equivariant conditional neural processes",
		Long: `Complete images and regress curves with group equivariant conditional neural processes
(Kawano, Kumagai, Sannai, Iwasawa, Matsuo; ICLR 2021), on the CPU.

A model is the name of a shipped one, such as digits-T2 (a wrong name lists them all); a .safetensors
file written by "equivcnp train" or "equivcnp convert"; or one of the paper's PyTorch checkpoints
(.pth) as it is.`,
		Example: `  equivcnp complete --model T2.pth --group "T(2)" --image digit.png --rate 0.25 --seed 7 --out out.png
  equivcnp regress --model rbf-levels --csv data.csv --from -4 --to 4 --points 400 --out pred.csv --plot fig.png`,
		Version:       buildVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no command given")
			}
			return fmt.Errorf("unknown command %q", args[0])
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // never reached: Args refuses everything
	}
	root.SetFlagErrorFunc(flagWords)
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "no progress bar")
	root.PersistentFlags().IntVar(&a.threads, "threads", 0, "number of threads; 0 uses all cores")
	root.AddCommand(a.demoCommand(), a.completeCommand(), a.regressCommand(), a.sampleCommand(), a.predictCommand(),
		a.trainCommand(), a.selectCommand(), a.evalCommand(), a.mergeCommand(), a.rasterCommand(), a.stationsCommand(),
		a.calibrateCommand(), a.designCommand(),
		a.reproduceCommand(),
		a.serveCommand(), a.healthCommand(), a.convertCommand(), a.inspectCommand(), a.versionCommand())
	return root
}

// kinds says what the values of flags are, by the name of their type.
var kinds = map[string]string{
	"bool": "true or false", "int": "a whole number of at most 18 digits", "uint64": "a whole number of 0 or more", "float64": "a number",
	"intSlice": "whole numbers separated by commas", "float64Slice": "numbers separated by commas, as in 0.05,0.5",
	"duration": "a time such as 90s or 10m",
}

// flagWords says of a flag's value what it should be, instead of which function could not read it.
func flagWords(_ *cobra.Command, err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	if kinds[bad.GetFlag().Value.Type()] == "" { // a type of this package, which says itself what it needs
		return fmt.Errorf("--%s %q: %w", bad.GetFlag().Name, bad.GetValue(), bad.Unwrap())
	}
	return fmt.Errorf("--%s %q: need %s", bad.GetFlag().Name, bad.GetValue(), kinds[bad.GetFlag().Value.Type()])
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

// result is what a command prints: lines for people, in this order, or one JSON object.
type result struct {
	lines [][2]string
	notes []string
	// cautions are notes that nobody should miss: that data are not what the model knows. They go to standard error, too.
	cautions []string
}

// allNotes are the cautions and the notes, never nil.
func (r *result) allNotes() []string { return append(append([]string{}, r.cautions...), r.notes...) }

func (r *result) line(name, format string, args ...any) {
	r.lines = append(r.lines, [2]string{name, fmt.Sprintf(format, args...)})
}

func (r *result) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// standardiseFlag adds --standardise for curves.
func standardiseFlag(fl *pflag.FlagSet, to *bool) {
	fl.BoolVar(to, "standardise", true, "curves: give the values of every context the mean and the deviation that the model was trained on, and the prediction those of the data, so that a shift or another unit of values changes nothing; "+
		"bring coordinates of another scale into the trained span; average contexts that are denser than in training over cells. Models trained on data keep the units in their files, and the authors' checkpoints, which know no range, take data as they are")
}

// add adds the notes of a prediction, whose fields are flags here.
func (r *result) add(n *predict.Notes) {
	r.cautions, r.notes = append(r.cautions, texts(n.Cautions)...), append(r.notes, texts(n.Notes)...)
}

// answered turns the error that some targets lie outside what a model can look at into a caution; see predict.Notes.
func (r *result) answered(p *cnp.Prediction[float32], err error, nt, dy int) ([]bool, error) {
	var n predict.Notes
	counts, err := n.Answered(p, err, nt, dy)
	r.add(&n)
	return counts, err
}

// unscaled refuses --standardise=false where a model works in other units than its data.
func unscaled(c *cnp.Config, standardise bool) error {
	return flagged(predict.CheckUnits(c, standardise))
}

// noteStandardised says which tasks were brought into the model's range.
func (r *result) noteStandardised(scaled, of int) {
	var n predict.Notes
	n.Standardised(scaled, of)
	r.add(&n)
}

// noteThinned says that a context was denser than those of the model's training.
func (r *result) noteThinned(points, seen int) {
	var n predict.Notes
	n.Thinned(points, seen)
	r.add(&n)
}

// noteIncomplete says how many rows of a table could not be observations.
func (r *result) noteIncomplete(rows int, table string) {
	var n predict.Notes
	n.Incomplete(rows, table)
	r.add(&n)
}

// print writes object as JSON under --json, else the lines and notes.
func (a *app) print(r *result, object any) error {
	for _, c := range r.cautions {
		fmt.Fprintf(a.stderr, "note: %s\n", c)
	}
	if a.json {
		enc := json.NewEncoder(a.stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(object)
	}
	var b strings.Builder
	for _, l := range r.lines {
		fmt.Fprintf(&b, "%-15s %s\n", l[0], l[1])
	}
	for _, n := range r.notes {
		fmt.Fprintf(&b, "%-15s %s\n", "note", n)
	}
	_, err := io.WriteString(a.stdout, b.String())
	return err
}

// number is a float64 that JSON can hold: NaN and infinities become null.
type number float64

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) {
	if v := float64(n); math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}
