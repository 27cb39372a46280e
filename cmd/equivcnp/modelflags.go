package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/describe"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/cli"
)

// modelFlags say which model a command runs.
type modelFlags struct {
	app           *app
	path          string
	more          []string // of an ensemble, all but the first
	group         string
	alpha         float64
	pointsPerUnit float64
	plans         string
	precision     string   // empty: the command has no such flag
	unsuited      []string // what the files say against bfloat16
}

// register adds the flags that every command with a model has.
func (m *modelFlags) register(a *app, cmd *cobra.Command) {
	m.app = a
	f := cmd.Flags()
	f.VarP((*modelList)(m), "model", "m",
		"model file or name of a shipped model, required; several predict as one (\"equivcnp help models\")")
	f.StringVar(&m.group, "group", "", "the model's group, if the file does not hold it: "+strings.Join(group.Names(), ", "))
	f.Float64Var(&m.alpha, "alpha", 0, "weight of the first part of the group's distance; 0: the file's, or the group's default")
	must(cmd.MarkFlagRequired("model"))
	must(cmd.MarkFlagFilename("model", "safetensors", "pth"))
	cli.Completions(cmd, map[string][]string{"group": group.Names()})
}

// modelList is the value of --model.
type modelList modelFlags

func (m *modelList) String() string { return strings.Join(append([]string{m.path}, m.more...), ",") }
func (m *modelList) Type() string   { return "string" }

func (m *modelList) Set(path string) error {
	if path == "" {
		return errors.New("need a name")
	}
	if m.path == "" {
		m.path = path
	} else {
		m.more = append(m.more, path)
	}
	return nil
}

// paths are the values of the flag.
func (m *modelFlags) paths() []string {
	if m.path == "" {
		return nil
	}
	return append([]string{m.path}, m.more...)
}

// members are the models behind the flag; none where it was left out.
func (m *modelFlags) members() ([]string, error) {
	all, err := predict.Members(m.paths()...)
	if err == nil && len(all) > 1 && slices.Contains(all, cli.Stdio) {
		return nil, cli.Usagef("--model -: a model of an ensemble must be a file")
	}
	return all, err
}

// registerLattice adds the flag of the curve models' lattice.
func (m *modelFlags) registerLattice(cmd *cobra.Command) {
	cmd.Flags().Float64Var(&m.pointsPerUnit, "points-per-unit", 0, "lattice points per unit of a curve model; 0: the file's")
}

// registerPlans adds the flag of the folder of plans.
func (m *modelFlags) registerPlans(cmd *cobra.Command) {
	plansFlag(cmd, &m.plans)
}

// registerPrecision adds the flag of the precision that image models compute in.
func (m *modelFlags) registerPrecision(cmd *cobra.Command) {
	precisionFlag(cmd, &m.precision)
}

// precisionFlag adds --precision.
func precisionFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "precision", string(cnp.Float32),
		"of image models: float32, or bfloat16, which is faster and less exact (\"equivcnp help models\")")
	cli.Completions(cmd, map[string][]string{"precision": {string(cnp.Float32), string(cnp.BFloat16)}})
}

// checkPrecision refuses a value of --precision that is none.
func checkPrecision(name string) error {
	if p := cnp.Precision(name); p != cnp.Float32 && p != cnp.BFloat16 {
		return cli.Usagef("--precision %q: need %s or %s", name, cnp.Float32, cnp.BFloat16)
	}
	return nil
}

// rounds reports whether the model is to compute in bfloat16.
func (m *modelFlags) rounds() bool { return cnp.Precision(m.precision) == cnp.BFloat16 }

// exactly refuses --precision bfloat16 together with what is computed in float32 alone.
func (m *modelFlags) exactly(asked bool, flag, what string) error {
	if asked && m.rounds() {
		return cli.Usagef("%s: %s computes in %s alone, not with --precision %s", flag, what, cnp.Float32, cnp.BFloat16)
	}
	return nil
}

// plansFlag adds --plans.
func plansFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "plans", "", "folder in which the plans of image models are kept for the next time; "+
		"processes may share it, and it may be emptied at any time")
	must(cmd.MarkFlagDirname("plans"))
}

// makePlans makes the folder of --plans.
func makePlans(folder string) error {
	if folder == "" {
		return nil
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("--plans: %w", err)
	}
	return nil
}

// must is for registrations that fail only if this program names a flag that it does not have.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// options checks the flags that say how a model is opened.
func (m *modelFlags) options() (opt predict.OpenOptions, err error) {
	if !(m.alpha >= 0 && m.alpha <= 1) {
		return opt, cli.Usagef("--alpha %g: need a number from 0 to 1", m.alpha)
	}
	if !(m.pointsPerUnit >= 0) || math.IsInf(m.pointsPerUnit, 0) {
		return opt, cli.Usagef("--points-per-unit %g: need 0 or a positive number", m.pointsPerUnit)
	}
	if m.precision != "" {
		if err := checkPrecision(m.precision); err != nil {
			return opt, err
		}
	}
	return predict.OpenOptions{Group: m.group, Alpha: m.alpha, PointsPerUnit: m.pointsPerUnit, Precision: cnp.Precision(m.precision),
		Plans: m.plans, Read: m.app.readFile}, nil
}

// open opens the model: a file, or where there is none of that name, a shipped model, or several of them as an ensemble.
func (m *modelFlags) open(ctx context.Context) (*predict.Model, error) {
	opt, err := m.options()
	if err != nil {
		return nil, err // before the files are read
	}
	if _, err := m.members(); err != nil {
		return nil, err
	}
	if err := makePlans(m.plans); err != nil {
		return nil, err
	}
	model, err := predict.Open(ctx, opt, m.paths()...)
	if err != nil {
		return nil, m.hint(err)
	}
	for _, why := range model.Unsuited {
		m.unsuited = append(m.unsuited, fmt.Sprintf("--precision %s: %s", cnp.BFloat16, why))
	}
	return model, nil
}

// hint says which flags help against an error of opening a model.
func (m *modelFlags) hint(err error) error {
	switch {
	case errors.Is(err, weights.ErrGroup) && m.group == "":
		return fmt.Errorf("%w (with --group)", err)
	case errors.Is(err, cnp.ErrConfig) && m.rounds():
		return fmt.Errorf("%w (--precision %s)", err, m.precision)
	}
	return err
}

// load opens the model for commands that ask nothing but predictions of it.
func (m *modelFlags) load(ctx context.Context) (cnp.Model[float32], error) {
	model, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	return model.Model, nil
}

// readOne reads the file of a single model.
func (m *modelFlags) readOne(ctx context.Context) (*weights.State, error) {
	members, err := m.members()
	if err != nil {
		return nil, err
	}
	if len(members) > 1 {
		return nil, cli.Usagef("--model: need one model here, not %d", len(members))
	}
	return m.app.readState(ctx, members[0])
}

// build makes the model of a file of that name that was read.
func (m *modelFlags) build(path string, s *weights.State) (cnp.Model[float32], error) {
	opt, err := m.options()
	if err != nil {
		return nil, err
	}
	model, err := predict.Build(s, &opt)
	if err != nil {
		return nil, m.hint(fmt.Errorf("%s: %w", path, err))
	}
	return model, nil
}

// readFile reads a model file, or standard input.
func (a *app) readFile(ctx context.Context, path string) (*weights.State, error) {
	return fromInput(ctx, a, path, weights.ReadState, func(b []byte, name string) (*weights.State, error) {
		s, err := weights.DecodeState(b)
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return s, err
	})
}

// readState reads a model file, or where there is none of that name, a shipped model.
func (a *app) readState(ctx context.Context, path string) (*weights.State, error) {
	return predict.ReadState(ctx, path, a.readFile)
}

// completer opens a model that completes images.
func (m *modelFlags) completer(ctx context.Context) (cnp.Completer[float32], error) {
	model, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	return model.Completer()
}

// regressor opens a model that regresses curves.
func (m *modelFlags) regressor(ctx context.Context) (cnp.Regressor[float32], error) {
	model, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	return model.Regressor()
}

// describe names a model in one line: "T2.pth: equivcnp-image, T(2)".
func (m *modelFlags) describe(c cnp.Config) string {
	s := filepath.Base(m.path)
	if len(m.more) > 0 {
		s += fmt.Sprintf(" and %d more", len(m.more))
	}
	s += ": " + string(c.Architecture)
	if c.Group != "" {
		s += ", " + c.Group
	}
	return s
}

// registerModelOut adds the flag of the model file that a command writes.
func registerModelOut(cmd *cobra.Command, out *string) {
	cmd.Flags().StringVarP(out, "out", "o", "", "safetensors file to write, required")
	must(cmd.MarkFlagRequired("out"))
	must(cmd.MarkFlagFilename("out", "safetensors"))
}

// precisionNotes say what of an image model --precision bfloat16 rounds.
func (m *modelFlags) precisionNotes(cfg *cnp.Config) []string {
	if !m.rounds() {
		return nil
	}
	return describe.Rounded(cfg, m.unsuited)
}
