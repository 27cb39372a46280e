package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/merge"
	"github.com/equivcnp/equivcnp/internal/shards"
	"github.com/equivcnp/equivcnp/internal/words"
)

// shardFlags say which part of a manifest's work a process does, and where its results go.
type shardFlags struct {
	manifest, shard string
	shards          int
	outDir          string
	skipBad         bool
}

// register adds the flags; lines says what a line of the manifest is.
func (f *shardFlags) register(cmd *cobra.Command, lines string) {
	fl := cmd.Flags()
	fl.StringVar(&f.manifest, "manifest", "", "list of the work, "+lines)
	fl.StringVar(&f.shard, "shard", "", "--manifest: part of the work for this process, 0/64 to 63/64 (default: all)")
	fl.IntVar(&f.shards, "shards", 0, "--manifest: number of parts; the part of this process is read from "+
		strings.Join(shards.Variables, " or ")+" (Kubernetes' Indexed Jobs, Slurm's arrays, AWS Batch)")
	fl.StringVar(&f.outDir, "out-dir", "", "--manifest: folder for the results")
	fl.BoolVar(&f.skipBad, "skip-bad", false, "--manifest: record lines that fail, with the reason, and go on")
	cmd.MarkFlagsMutuallyExclusive("shard", "shards")
	cmd.MarkFlagsRequiredTogether("manifest", "out-dir")
	must(cmd.MarkFlagDirname("out-dir"))
}

// which is the part that the flags ask for.
func (f *shardFlags) which() (shards.Shard, error) {
	s, err := shards.Shard{Count: 1}, error(nil)
	switch {
	case f.shard != "":
		if s, err = shards.ParseShard(f.shard); err != nil {
			return s, cli.Usagef("--shard %v", err)
		}
	case f.shards != 0:
		if s, err = shards.FromEnvironment(f.shards, os.LookupEnv); err != nil {
			return s, cli.Usagef("--shards: %v", err)
		}
	}
	return s, nil
}

// lines reads the manifest.
func (f *shardFlags) lines() ([]shards.Item, error) {
	file, err := os.Open(f.manifest)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return shards.Lines(file, f.manifest)
}

// settings are the flags that results depend on, sorted: those that were set, but for those that say where and how fast.
func (f *shardFlags) settings(fl *pflag.FlagSet, but ...string) []string {
	but = append(but, "manifest", "shard", "shards", "out-dir", "skip-bad", "json", "quiet", "threads", "in", "out", "model",
		"batch", "memory")
	var out []string
	fl.Visit(func(x *pflag.Flag) {
		if !slices.Contains(but, x.Name) {
			out = append(out, "--"+x.Name+"="+x.Value.String())
		}
	})
	slices.Sort(out)
	return out
}

// shardResult is what a shard prints under --json.
type shardResult struct {
	Shard  string   `json:"shard"`
	Items  int      `json:"items"` // of the shard
	Done   int      `json:"done"`  // by this process
	Kept   int      `json:"kept"`  // finished before
	Bad    int      `json:"bad"`
	OutDir string   `json:"out_dir"`
	Notes  []string `json:"notes"`
}

// run works on the shard's part of a job, and says how it went.
func (f *shardFlags) run(ctx context.Context, a *app, job *shards.Job, name func(shards.Item) string,
	work func(ctx context.Context, it shards.Item, out string) (any, error)) error {
	s, err := f.which()
	if err != nil {
		return err
	}
	job.Folder, job.SkipBad = f.outDir, f.skipBad
	of := s.Of(job.Items)
	report, remove := a.bar("shard " + s.String())
	defer remove()
	done := 0
	o, err := job.Run(ctx, s, f.manifest, name, func(ctx context.Context, it shards.Item, out string) (any, error) {
		if report != nil {
			report(slices.IndexFunc(of, func(x shards.Item) bool { return x.ID == it.ID }), len(of))
		}
		done++
		return work(ctx, it, out)
	})
	remove()
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted: %s keeps what was finished, the same command resumes", f.outDir)
	}
	if err != nil {
		return err
	}
	r := &result{cli.Result{Notes: o.Failed}}
	r.Line("shard", "%v, %s", s, words.Plural(len(of), "item"))
	r.Line("done", "%d", o.Done)
	r.Line("kept", "%d", o.Kept)
	bad := 0
	for _, x := range o.Records {
		if x.Error != "" {
			bad++
		}
	}
	if bad > 0 {
		r.Line("bad", "%d", bad)
	}
	r.Line("written", "%s", f.outDir)
	return a.print(r, shardResult{s.String(), len(of), o.Done, o.Kept, bad, f.outDir, r.AllNotes()})
}

// modelSetting tells a model from others: by its file's digest, or its name if it is shipped.
func modelSetting(path string) string {
	if sum, err := shards.Digest(path); err == nil {
		return "model sha256:" + sum
	}
	return "model " + path
}

// mergeResult is what merge prints under --json, and what it writes as report.json.
type mergeResult struct {
	Folder        string          `json:"folder"`
	Kind          string          `json:"kind"`
	Job           string          `json:"job"`
	Shards        int             `json:"shards"`
	Items         int             `json:"items"`
	Bad           int             `json:"bad"`
	Tasks         int             `json:"tasks,omitempty"`
	LogLikelihood *number         `json:"log_likelihood,omitempty"` // mean over all values of all files
	Records       []shards.Record `json:"records,omitempty"`
	Notes         []string        `json:"notes"`
}

func (a *app) mergeCommand() *cobra.Command {
	var report, out string
	cmd := &cobra.Command{
		Use:                   "merge D",
		DisableFlagsInUseLine: true,
		Short:                 "Check and join the results of a manifest",
		Long:                  helpText("merge"),
		Example: `  equivcnp merge predictions --report predictions.json
  equivcnp merge predictions --out all.safetensors
  equivcnp merge maps --out all.parquet`,
		Args: cobra.ExactArgs(1),
		RunE: a.action(func(cmd *cobra.Command, args []string) error { return a.merge(cmd.Context(), args[0], report, out) }),
	}
	fl := cmd.Flags()
	fl.StringVar(&report, "report", "", "file for all records, .json")
	fl.StringVarP(&out, "out", "o", "", "file for all predictions: .safetensors, .npz or .nc; of tables .csv, .tsv, .parquet, .npz or .nc")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) merge(ctx context.Context, folder, report, out string) error {
	outs, err := a.outputs(nil, cli.Out("report", report, ".json"), cli.Out("out", out, taskFiles+" .csv .tsv .parquet"))
	if err != nil {
		return err
	}
	defer outs.Discard()
	m, err := shards.Merge(ctx, folder)
	if err != nil {
		return err
	}
	res := mergeResult{Folder: folder, Kind: m.Kind, Job: m.Job, Shards: m.Shards, Items: len(m.Records)}
	r := &result{}
	r.Line("job", "%s: %s by %s, all complete", m.Kind, words.Plural(res.Items, "item"), words.Plural(m.Shards, "shard"))
	for _, rec := range m.Records {
		if rec.Error != "" {
			res.Bad++
			r.Note("line %d: %s", rec.Line, rec.Error)
		} else if m.Kind == "train" {
			var t trainResult
			if err := json.Unmarshal(rec.Result, &t); err != nil {
				return fmt.Errorf("line %d: %w", rec.Line, err)
			}
			score := "no score"
			if s := t.Last; s != nil {
				score = fmt.Sprintf("log-likelihood %.4f, RMSE %.4g", s.LogLikelihood, s.RMSE)
			}
			r.Line(fmt.Sprintf("line %d", rec.Line), "%s, %s: %s", score, words.Plural(t.Steps, "step"), rec.Name)
		}
	}
	if m.Kind == "predict" {
		s, err := merge.Summarize(m)
		if err != nil {
			return err
		}
		res.Tasks, res.LogLikelihood = s.Tasks, (*number)(s.LogLikelihood)
		r.Line("tasks", "%d", res.Tasks)
		if s.Values > 0 {
			r.Line("log-likelihood", "%.4f mean of %d values", *s.LogLikelihood, s.Values)
		}
	}
	if res.Bad > 0 {
		r.Line("bad", "%d", res.Bad)
	}
	res.Notes = r.AllNotes()
	if out != "" {
		if err := outs.WriteFile("out", func(path string) error { return merge.Join(path, out, folder, m) }); err != nil {
			return err
		}
		r.Line("written", "%s", out)
	}
	if report != "" {
		whole := res
		whole.Records = m.Records
		err := outs.WriteFile("report", func(path string) error { return writeJSON(path, whole) })
		if err != nil {
			return err
		}
		r.Line("report", "%s", report)
	}
	if err := outs.Commit(); err != nil {
		return err
	}
	return a.print(r, res)
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o666)
}
