package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/internal/shards"
	"github.com/equivcnp/equivcnp/internal/tables"
)

// stationsFlags are the flags of equivcnp stations.
type stationsFlags struct {
	model       modelFlags
	input       csvFlags
	out         string
	rows        int
	quantiles   []float64
	outputs     []string
	standardise bool
}

func (a *app) stationsCommand() *cobra.Command {
	var f stationsFlags
	cmd := &cobra.Command{
		Use:                   "stations --model M --csv data.csv --targets targets.csv --out pred.csv",
		DisableFlagsInUseLine: true,
		Short:                 "Predict at more places than fit into memory, from one context",
		Long: `Predict at the rows of a CSV or TSV file of any length, given the context points of a table: what "regress
--targets" writes, row for row, but --rows at a time, so that memory does not grow with their number.

While it is not complete, the output is called .partial, and .progress beside it says how far it is: the same
command goes on there, after whatever end. The model must predict a target alike in any company, as models
do that were trained here.`,
		Example: `  equivcnp stations --model m.safetensors --csv stations.csv --targets places.csv --x lat,lon --y t2m --out t2m.csv`,
		Args:    cobra.NoArgs,
		RunE:    a.action(func(cmd *cobra.Command, _ []string) error { return a.stations(cmd.Context(), &f) }),
	}
	f.model.register(a, cmd)
	f.model.registerLattice(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.input.csv, "csv", "", "table of the context points, required")
	fl.StringVar(&f.input.targets, "targets", "", "CSV or TSV file of the targets' coordinates, required")
	f.input.columns.register(cmd)
	fl.StringVarP(&f.out, "out", "o", "", "table of the prediction, .csv or .tsv, required")
	fl.IntVar(&f.rows, "rows", 1<<16, "targets at a time")
	quantilesFlag(fl, &f.quantiles)
	outputsFlag(fl, &f.outputs)
	standardiseFlag(fl, &f.standardise)
	fl.BoolVar(&a.json, "json", false, "print one JSON object")
	for _, name := range []string{"csv", "targets", "out"} {
		must(cmd.MarkFlagRequired(name))
	}
	return cmd
}

// stationsResult is what stations --json prints.
type stationsResult struct {
	Model         string   `json:"model"`
	CSV           string   `json:"csv"`
	ContextPoints int      `json:"context_points"`
	Targets       int      `json:"targets"`
	Kept          int      `json:"kept"` // predicted by an earlier process
	Seconds       number   `json:"seconds"`
	Out           string   `json:"out"`
	Notes         []string `json:"notes"`
}

// stationsStep says how far both files are.
type stationsStep struct {
	In   int64 `json:"in"`
	Out  int64 `json:"out"`
	Rows int   `json:"rows"`
}

func (a *app) stations(ctx context.Context, f *stationsFlags) error {
	if f.rows < 1 || f.rows > maxPoints {
		return usagef("--rows %d: need 1 to %d", f.rows, maxPoints)
	}
	if err := checkQuantiles(f.quantiles); err != nil {
		return err
	}
	outs, err := newOutputs([]string{f.model.path, f.input.csv, f.input.targets}, outFile{"out", f.out, ".csv .tsv"})
	if err != nil {
		return err
	}
	defer outs.discard()
	if outs.files[0].direct || f.out == stdio || f.input.csv == stdio || f.input.targets == stdio {
		return usagef("stations reads and writes regular files, not standard input or output")
	}
	model, err := f.model.regressor(ctx)
	if err != nil {
		return err
	}
	cfg := model.Config()
	if cfg.PointsPerUnit > 0 && cfg.Placement != cnp.PlacementContext {
		return fmt.Errorf("%s: the model lays a lattice over all targets, so that each changes the others' predictions: regress takes them together", f.model.path)
	}
	if err := unscaled(&cfg, f.standardise); err != nil {
		return err
	}
	judged := model
	if f.standardise {
		judged = cnp.Standardised(model)
	}
	opt, err := f.input.columns.text()
	if err != nil {
		return err
	}
	points, err := f.input.columns.table(ctx, a, f.input.csv)
	if err != nil {
		return err
	}
	in, err := os.Open(f.input.targets)
	if err != nil {
		return err
	}
	defer in.Close()
	work, err := f.work()
	if err != nil {
		return err
	}
	path := outs.files[0].path
	progress, err := shards.OpenProgress(f.out+".progress", work, nil)
	if err != nil {
		return err
	}
	defer progress.Close()
	var at stationsStep
	for _, line := range progress.Steps {
		var s stationsStep
		if json.Unmarshal(line, &s) == nil && s.In > at.In {
			at = s
		}
	}
	flags := os.O_RDWR | os.O_CREATE
	if at.In == 0 {
		flags |= os.O_TRUNC
	}
	out, err := os.OpenFile(path+".partial", flags, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		out.Close()
		if at.Rows == 0 { // nothing to go on with
			os.Remove(path + ".partial")
			os.Remove(f.out + ".progress")
		}
	}()
	if info, err := out.Stat(); err != nil || info.Size() < at.Out {
		return errors.Join(err, fmt.Errorf("%s.partial is shorter than %s.progress says: remove both", path, f.out))
	}
	err = out.Truncate(at.Out)
	if err == nil {
		_, err = out.Seek(at.Out, io.SeekStart)
	}
	if err == nil {
		_, err = in.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(in, 1<<20)
	header, first, err := tableHeader(lines, f.input.targets)
	if err != nil {
		return err
	}
	if at.In > 0 {
		if _, err := in.Seek(at.In, io.SeekStart); err != nil {
			return err
		}
		lines.Reset(in)
		first = nil
	} else {
		at.In = int64(len(header) + len(first))
	}
	kept, seen := at.Rows, 0
	ctx, remove := a.withProgress(ctx, "predicting")
	defer remove()
	r := &result{}
	start := time.Now()
	for ended := false; !ended; {
		text := append(bytes.Clone(header), first...)
		n := bytes.Count(first, []byte("\n"))
		first = nil
		for n < f.rows {
			line, err := lines.ReadBytes('\n')
			at.In += int64(len(line))
			text = append(text, line...)
			if err == io.EOF {
				ended = true
				break
			} else if err != nil {
				return err
			}
			n++
		}
		if len(text) == len(header) {
			if at.Rows > 0 {
				break
			}
		}
		targets, err := tables.DecodeAs(text, fmt.Sprintf("%s after row %d", f.input.targets, at.Rows), nil, opt)
		if err != nil {
			return err
		}
		if targets.Rows() == 0 && at.Rows > 0 {
			break
		}
		t := &csvTask{points: points, targets: targets}
		if err := t.fit(ctx, a, &f.input, f.model.path, &cfg); err != nil {
			return err
		}
		seen = t.batch.Nc
		p, err := judged.Predict(ctx, t.batch)
		counts, err := r.answered(p, err, t.batch.Nt, cfg.DimY)
		if err == nil {
			err = p.Check(func(i int) bool { return counts == nil || counts[i] })
		}
		if errors.Is(err, context.Canceled) {
			return fmt.Errorf("interrupted: the same command goes on")
		}
		if err != nil {
			return err
		}
		written, err := t.predicted(&f.input.columns, &predict.Result{Prediction: p, Counts: counts, Quantiles: f.quantiles}, f.outputs)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := tables.Write(&b, f.out, written, written.First(cfg.DimX)); err != nil {
			return err
		}
		body := b.Bytes()
		if at.Rows > 0 { // the header stands at the beginning
			_, body, _ = bytes.Cut(body, []byte("\n"))
		}
		if _, err := out.Write(body); err != nil {
			return err
		}
		if err := out.Sync(); err != nil {
			return err
		}
		at.Out, at.Rows = at.Out+int64(len(body)), at.Rows+targets.Rows()
		if err := progress.Step(at); err != nil {
			return err
		}
	}
	remove()
	if err := out.Close(); err != nil {
		return err
	}
	if err := os.Rename(path+".partial", path); err != nil {
		return err
	}
	if err := progress.End(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	seconds := time.Since(start).Seconds()
	r.line("model", "%s", f.model.describe(cfg))
	r.line("targets", "%d, %d of them done before", at.Rows, kept)
	if at.Rows == 0 {
		r.cautions = append(r.cautions, f.input.targets+" has no rows: there is nothing to predict")
	}
	r.line("time", "%.2f s", seconds)
	r.line("written", "%s", f.out)
	return a.print(r, stationsResult{f.model.path, f.input.csv, seen, at.Rows, kept, number(seconds), f.out, r.allNotes()})
}

// tableHeader reads the first line that is no comment: the header, or else the first row.
func tableHeader(lines *bufio.Reader, name string) (header, first []byte, err error) {
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, nil, err
		}
		text := bytes.TrimSpace(line)
		if len(text) > 0 && text[0] != '#' {
			t, bad := tables.Decode(append(append(append([]byte(nil), header...), line...), '\n'), name, nil)
			if bad != nil {
				return nil, nil, bad
			}
			if t.Header != nil && t.Rows() == 0 {
				return append(header, line...), nil, nil
			}
			return header, line, nil
		}
		header = append(header, line...)
		if err == io.EOF {
			return header, nil, nil
		}
	}
}

// work tells this prediction from others.
func (f *stationsFlags) work() (string, error) {
	h := sha256.New()
	members, err := f.model.members()
	if err != nil {
		return "", err
	}
	for _, m := range members {
		fmt.Fprintln(h, modelSetting(m))
	}
	c := &f.input.columns
	fmt.Fprintln(h, f.model.group, f.model.alpha, f.model.pointsPerUnit, f.standardise, f.quantiles, f.outputs, c.x, c.y, c.task, c.decimal, filepath.Ext(f.out), c.aux, c.fields)
	files := []string{f.input.csv, f.input.targets}
	if c.static != "" {
		files = append(files, c.static)
	}
	for _, path := range files {
		file, err := fileIdentity(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, file)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
