package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/internal/atomicfile"
	"github.com/equivcnp/equivcnp/internal/shards"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/tabular"
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
	noCheck     bool
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
	noCheckFlag(fl, &f.noCheck)
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
	// Check says whether the model suits the context.
	Check *predict.Checked `json:"check,omitempty"`
}

// stationsStep says how far both files are, and what was written last.
type stationsStep struct {
	In   int64  `json:"in"`
	Out  int64  `json:"out"`
	Rows int    `json:"rows"`
	Sum  string `json:"sum"` // the digest of the part of the output
}

// stationsFile is the output while it is not complete, and how far it is.
type stationsFile struct {
	*os.File
	progress *shards.Progress
	at       stationsStep
}

// openStationsFile opens the output and goes to the end of its last part that is as an earlier process wrote it.
func openStationsFile(path, work string) (*stationsFile, error) {
	progress, err := shards.OpenProgress(path+".progress", work, nil)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path+".partial", os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, errors.Join(err, progress.Close())
	}
	s := &stationsFile{File: f, progress: progress}
	kept := 0
	for _, line := range progress.Steps {
		var next stationsStep
		if json.Unmarshal(line, &next) != nil || next.In < s.at.In || next.Out < s.at.Out || next.Rows < s.at.Rows {
			break
		}
		h := sha256.New()
		n, err := io.Copy(h, io.NewSectionReader(f, s.at.Out, next.Out-s.at.Out))
		if err != nil || n < next.Out-s.at.Out || hexSum(h) != next.Sum {
			break
		}
		s.at, kept = next, kept+1
	}
	err = progress.Keep(kept)
	if err == nil {
		err = f.Truncate(s.at.Out)
	}
	if err == nil {
		_, err = f.Seek(s.at.Out, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:16]) }

// add writes a part, which is on the disk then; to is where its rows end in the input, and rows how many they are.
func (s *stationsFile) add(part []byte, to int64, rows int) error {
	if _, err := s.Write(part); err != nil {
		return err
	}
	if err := s.Sync(); err != nil {
		return err
	}
	h := sha256.New()
	h.Write(part)
	s.at = stationsStep{In: to, Out: s.at.Out + int64(len(part)), Rows: s.at.Rows + rows, Sum: hexSum(h)}
	return s.progress.Step(s.at)
}

// close closes both files, and removes them where there is nothing to go on with.
func (s *stationsFile) close() error {
	if s.at.Rows == 0 && s.File != nil {
		os.Remove(s.Name())
		s.File.Close()
		s.File = nil
		return s.progress.End()
	}
	if s.File != nil {
		s.File.Close()
		s.File = nil
	}
	return s.progress.Close()
}

// finish gives the output its name.
func (s *stationsFile) finish(path string) error {
	name := s.Name()
	err := s.File.Close()
	s.File = nil
	if err == nil {
		err = atomicfile.Rename(name, path)
	}
	if err != nil {
		return err
	}
	return s.progress.End()
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
	out, err := openStationsFile(path, work)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	defer out.close()
	at := out.at
	lines := bufio.NewReaderSize(in, 1<<20)
	header, first, err := tableHeader(lines, f.input.targets, opt)
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
	var checked *predict.Checked
	start := time.Now()
	for ended := false; !ended; {
		text := append(bytes.Clone(header), first...)
		n := bytes.Count(first, []byte("\n"))
		first = nil
		for n < f.rows {
			line, err := readLine(lines)
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
		if seen = t.batch.Nc; checked == nil && !f.noCheck {
			if checked, err = r.check(ctx, false, judged, t.batch); err != nil {
				return err
			}
			if checked == nil { // there is nothing to check, of no piece
				checked = &predict.Checked{}
			}
		}
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
		if err := out.add(body, at.In, targets.Rows()); err != nil {
			return err
		}
		at = out.at
	}
	remove()
	if err := out.finish(path); err != nil {
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
	return a.print(r, stationsResult{f.model.path, f.input.csv, seen, at.Rows, kept, number(seconds), f.out, r.allNotes(), checked})
}

// maxLine bounds a line of the targets.
const maxLine = 1 << 24

// readLine reads a line with its end.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); err != bufio.ErrBufferFull {
			return line, err
		}
		if len(line) > maxLine {
			return nil, fmt.Errorf("%w: more than %d bytes without a line's end", tabular.ErrCell, maxLine)
		}
	}
}

// tableHeader reads the first line that is no comment: the header, or else the first row.
func tableHeader(lines *bufio.Reader, name string, opt tabular.Options) (header, first []byte, err error) {
	if start, _ := lines.Peek(2); bytes.IndexByte(start, 0) >= 0 || bytes.Equal(start, []byte("\xff\xfe")) ||
		bytes.Equal(start, []byte("\xfe\xff")) {
		return nil, nil, fmt.Errorf("%s: %w: stations reads targets of UTF-8 text, and this is none", name, tabular.ErrCell)
	}
	for {
		line, err := readLine(lines)
		if err != nil && err != io.EOF {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		text := bytes.TrimSpace(line)
		if len(text) > 0 && text[0] != '#' && (len(header) > 0 || !bytes.HasPrefix(line, []byte("sep="))) {
			t, bad := tables.DecodeAs(append(append(append([]byte(nil), header...), line...), '\n'), name, nil, opt)
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
	fmt.Fprintln(h, f.model.group, f.model.alpha, f.model.pointsPerUnit, f.standardise, f.quantiles, f.outputs, c.x, c.y, c.task,
		c.decimal, filepath.Ext(f.out), c.aux, c.fields)
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
