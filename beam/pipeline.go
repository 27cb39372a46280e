package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/shards"
)

// Options say what a pipeline predicts.
type Options struct {
	Model, Manifest, Glob, Folder string
	Shards, Batch                 int
	Memory                        int64
	// Outputs are the names of what is written of each prediction; none is what equivcnp predict writes. Samples are not among them.
	Outputs   []string
	Quantiles []float64
}

func (o *Options) check() error {
	switch {
	case o.Model == "" || o.Folder == "":
		return errors.New("--model and --out_dir are needed")
	case (o.Manifest == "") == (o.Glob == ""):
		return errors.New("need --manifest or --glob")
	case o.Shards < 1 || o.Shards > shards.MaxShards:
		return fmt.Errorf("--shards %d: need 1 to %d", o.Shards, shards.MaxShards)
	case o.Batch < 1:
		return fmt.Errorf("--batch %d: need at least 1", o.Batch)
	case slices.Contains(o.Outputs, "samples"):
		return errors.New("--outputs samples: a pipeline draws none")
	}
	return predict.CheckQuantiles(o.Quantiles)
}

// settings tell this work from other work on the same files.
func (o *Options) settings() []string {
	all := []string{"beam", o.Model}
	if len(o.Outputs) > 0 {
		all = append(all, "outputs "+strings.Join(o.Outputs, ","))
	}
	if len(o.Quantiles) > 0 {
		all = append(all, fmt.Sprintf("quantiles %g", o.Quantiles))
	}
	return all
}

// File is a file of the manifest.
type File struct {
	ID, Line int
	Name     string
	Job      string // the digest of the whole job, and how many files it has
	Of       int
}

// Chunk is a part of a file's tasks, as a file of tensors.
type Chunk struct {
	File        File
	Part, Parts int
	Data        []byte
}

// Part is the prediction of a chunk, or why there is none.
type Part struct {
	File        File
	Part, Parts int
	Data        []byte
	Names       []string // of the tensors, in the order in which they are written
	Tasks       int
	LogDensity  float64
	Values      int
	Error       string
}

// Bad is a file that cannot be predicted.
type Bad struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

const badFile = "bad.jsonl"

func init() {
	register.DoFn3x1[context.Context, []byte, func(File), error](&expandFn{})
	register.DoFn4x1[context.Context, File, func(Chunk), func(int, Part), error](&readFn{})
	register.DoFn3x1[context.Context, Chunk, func(int, Part), error](&predictFn{})
	register.DoFn5x1[context.Context, int, func(*Part) bool, func(int, []byte), func(int, Bad), error](&sinkFn{})
	register.DoFn3x1[context.Context, int, func(*[]byte) bool, error](&shardFn{})
	register.DoFn3x1[context.Context, int, func(*Bad) bool, error](&badFn{})
	register.Emitter1[File]()
	register.Emitter1[Chunk]()
	register.Emitter2[int, Part]()
	register.Emitter2[int, []byte]()
	register.Emitter2[int, Bad]()
	register.Iter1[Part]()
	register.Iter1[[]byte]()
	register.Iter1[Bad]()
}

// Predict adds the pipeline to a scope. Files become chunks of tasks, which any worker takes; their predictions come
// together again by file, and appear under its name at once. So a bundle that is done twice, or half and then anew,
// changes nothing: names and bytes are the same. Files that cannot be predicted are returned with their reasons; they
// are in the records, too.
func Predict(s beam.Scope, o Options) (bad beam.PCollection) {
	s = s.Scope("equivcnp")
	files := beam.ParDo(s, &expandFn{o}, beam.Impulse(s))
	chunks, unread := beam.ParDo2(s, &readFn{Options: o}, beam.Reshuffle(s, files))
	parts := beam.ParDo(s, &predictFn{Options: o}, beam.Reshuffle(s, chunks))
	records, bad := beam.ParDo2(s, &sinkFn{Options: o}, beam.GroupByKey(s, beam.Flatten(s, parts, unread)))
	beam.ParDo0(s, &shardFn{o}, beam.GroupByKey(s, records))
	beam.ParDo0(s, &badFn{o}, beam.GroupByKey(s, bad))
	return bad
}

// expandFn lists the files.
type expandFn struct{ Options Options }

func (f *expandFn) ProcessElement(_ context.Context, _ []byte, emit func(File)) error {
	o := f.Options
	lines, folder, name := []shards.Item{{ID: 0, Line: 1, Name: o.Glob}}, "", "--glob"
	if o.Manifest != "" {
		r, err := os.Open(o.Manifest)
		if err != nil {
			return err
		}
		defer r.Close()
		if lines, err = shards.Lines(r, o.Manifest); err != nil {
			return err
		}
		folder, name = filepath.Dir(o.Manifest), o.Manifest
	}
	items, err := shards.Files(lines, folder, name)
	if err != nil {
		return err
	}
	job := shards.Job{Kind: "predict", Settings: o.settings(), Items: items, Folder: o.Folder}
	if err := job.Alone(min(o.Shards, len(items))); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(o.Folder, badFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // what was bad in an earlier run may be mended: without bad files none is written
	}
	digest := job.Digest()
	for _, it := range items {
		emit(File{it.ID, it.Line, it.Name, digest, len(items)})
	}
	return nil
}

// loaded are the models of this process: every bundle and thread uses one copy, and one plan for an image size.
var loaded struct {
	sync.Mutex
	models map[string]*model
}

type model struct {
	once  sync.Once
	model *predict.Model
	err   error
	lock  sync.Mutex
	plans map[cnp.Shape]cnp.Plan[float32]
}

// use returns a model of this process.
func use(path string) (*model, error) {
	loaded.Lock()
	if loaded.models == nil {
		loaded.models = map[string]*model{}
	}
	m := loaded.models[path]
	if m == nil {
		m = &model{plans: map[cnp.Shape]cnp.Plan[float32]{}}
		loaded.models[path] = m
	}
	loaded.Unlock()
	m.once.Do(func() { m.model, m.err = predict.Open(context.Background(), predict.OpenOptions{}, path) })
	return m, m.err
}

// plan returns the plan for images of a shape.
func (m *model) plan(ctx context.Context, s cnp.Shape, memory int64) (cnp.Plan[float32], error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if p := m.plans[s]; p != nil {
		return p, nil
	}
	p, err := m.model.Plan(ctx, s, cnp.PlanOptions{Memory: memory, Soft: true})
	if err != nil {
		return nil, err
	}
	if len(m.plans) == 8 { // sizes come and go
		clear(m.plans)
	}
	m.plans[s] = p
	return p, nil
}

// readFn reads files, and divides those of images, which are predicted alike in any company.
type readFn struct {
	Options Options
	m       *model
}

// Setup opens the model. A worker without it fails its bundles: its files are not bad.
func (f *readFn) Setup() (err error) {
	f.m, err = use(f.Options.Model)
	return err
}

func (f *readFn) ProcessElement(_ context.Context, file File, emit func(Chunk), unread func(int, Part)) error {
	chunks, err := f.chunks(file)
	if err != nil {
		unread(file.ID, Part{File: file, Parts: 1, Error: err.Error()})
		return nil
	}
	for i, data := range chunks {
		emit(Chunk{file, i, len(chunks), data})
	}
	return nil
}

func (f *readFn) chunks(file File) ([][]byte, error) {
	in, err := taskfile.Open(file.Name)
	if err != nil {
		return nil, err
	}
	if !f.m.model.Config().Architecture.Image() {
		b, err := os.ReadFile(file.Name)
		return [][]byte{b}, err
	}
	images, err := in.Images(f.m.model.Config().DimY)
	if err != nil {
		return nil, err
	}
	im := &images.Batch
	n := im.H * im.W
	var out [][]byte
	for lo := 0; lo < max(1, im.B); lo += f.Options.Batch {
		hi := min(lo+f.Options.Batch, im.B)
		mask := make([]byte, 0, (hi-lo)*n)
		for _, seen := range im.Mask[lo*n : hi*n] {
			mask = append(mask, map[bool]byte{true: 1}[seen])
		}
		tensors := []safetensors.Tensor{safetensors.FromFloat32s("image", []int{hi - lo, im.C, im.H, im.W}, im.Pixels[lo*im.C*n:hi*im.C*n]),
			{Name: "mask", DType: safetensors.Bool, Shape: []int{hi - lo, im.H, im.W}, Data: mask}}
		if images.Truth != nil {
			tensors = append(tensors, safetensors.FromFloat32s("y_target", []int{hi - lo, im.C, im.H, im.W},
				images.Truth[lo*im.C*n:hi*im.C*n]))
		}
		b, err := safetensors.Encode(&safetensors.File{Tensors: tensors})
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// predictFn predicts chunks; images of one size go through their plan together, as many as a batch has, whatever files
// of the bundle they are of.
type predictFn struct {
	Options Options
	m       *model
	waiting []*waiting
	images  int
	tasks   beam.Counter
}

// waiting is a chunk of images on its way.
type waiting struct {
	chunk Chunk
	task  *taskfile.Images
}

func (f *predictFn) Setup() error {
	f.tasks = beam.NewCounter("equivcnp", "tasks")
	m, err := use(f.Options.Model)
	f.m = m
	return err
}

func (f *predictFn) StartBundle(_ context.Context, _ func(int, Part)) { f.waiting, f.images = nil, 0 }

func (f *predictFn) ProcessElement(ctx context.Context, c Chunk, emit func(int, Part)) error {
	if testHook != nil {
		if err := testHook("predict", c.File.ID); err != nil {
			return err
		}
	}
	in, err := taskfile.Decode(c.Data, c.File.Name)
	cfg := f.m.model.Config()
	if err == nil && !cfg.Architecture.Image() {
		p, err := f.curves(ctx, in, c)
		return f.emit(ctx, c, p, err, emit)
	}
	var images *taskfile.Images
	if err == nil {
		images, err = in.Images(cfg.DimY)
	}
	if err != nil {
		return f.emit(ctx, c, nil, err, emit)
	}
	if n := len(f.waiting); n > 0 && (f.waiting[0].task.Batch.H != images.Batch.H || f.waiting[0].task.Batch.W != images.Batch.W) {
		if err := f.flush(ctx, emit); err != nil {
			return err
		}
	}
	f.waiting = append(f.waiting, &waiting{c, images})
	if f.images += images.Batch.B; f.images >= f.Options.Batch {
		return f.flush(ctx, emit)
	}
	return nil
}

func (f *predictFn) FinishBundle(ctx context.Context, emit func(int, Part)) error {
	return f.flush(ctx, emit)
}

// emit gives away a chunk's prediction. Only an error of the whole bundle is returned.
func (f *predictFn) emit(ctx context.Context, c Chunk, p *Part, err error, emit func(int, Part)) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		p = &Part{Error: err.Error()}
	}
	f.tasks.Inc(ctx, int64(p.Tasks))
	p.File, p.Part, p.Parts = c.File, c.Part, c.Parts
	emit(c.File.ID, *p)
	return nil
}

// flush predicts the images that wait.
func (f *predictFn) flush(ctx context.Context, emit func(int, Part)) error {
	all := f.waiting
	f.waiting, f.images = nil, 0
	if len(all) == 0 {
		return nil
	}
	first := &all[0].task.Batch
	batch := &cnp.Images[float32]{C: first.C, H: first.H, W: first.W}
	for _, w := range all {
		batch.B += w.task.Batch.B
		batch.Pixels, batch.Mask = append(batch.Pixels, w.task.Batch.Pixels...), append(batch.Mask, w.task.Batch.Mask...)
	}
	p, err := f.complete(ctx, batch)
	at := 0
	for _, w := range all {
		var part *Part
		own := err
		im := &w.task.Batch
		truth, _ := w.task.Answer()
		if n := len(im.Pixels); own == nil {
			part, own = f.partOf(p.Slice(at, at+n), im.B, []int{im.B, im.C, im.H, im.W}, truth, nil)
			at += n
		} else if len(all) > 1 { // one of them is bad: each alone says which
			var alone *cnp.Prediction[float32]
			if alone, own = f.complete(ctx, im); own == nil {
				part, own = f.partOf(alone, im.B, []int{im.B, im.C, im.H, im.W}, truth, nil)
			}
		}
		if err := f.emit(ctx, w.chunk, part, own, emit); err != nil {
			return err
		}
	}
	return nil
}

// complete predicts images, through the plan where there is one.
func (f *predictFn) complete(ctx context.Context, im *cnp.Images[float32]) (*cnp.Prediction[float32], error) {
	cfg := f.m.model.Config()
	if im.B == 0 {
		return cnp.NewPrediction[float32](&cfg, 0)
	}
	plan, err := f.m.plan(ctx, im.Shape(), f.Options.Memory)
	if err != nil {
		return nil, err
	}
	out := plan.NewPrediction(im)
	return out, plan.Predict(ctx, out, im)
}

// curves predicts the curves of a file.
func (f *predictFn) curves(ctx context.Context, in *taskfile.File, c Chunk) (*Part, error) {
	m, err := f.m.model.Regressor()
	if err != nil {
		return nil, err
	}
	cfg := m.Config()
	t, err := in.Curves(&cfg)
	if err != nil {
		return nil, err
	}
	b := &t.Batch
	p := &cnp.Prediction[float32]{Likelihood: cnp.Normal}
	if len(b.XTarget) > 0 {
		if p, err = cnp.Standardised(m).Predict(ctx, b); err != nil {
			return nil, err
		}
	}
	var counts []bool
	if b.TargetMask != nil {
		for i := range p.Mean {
			counts = append(counts, b.TargetMask[i/cfg.DimY])
		}
	}
	return f.partOf(p, b.B, []int{b.B, b.Nt, cfg.DimY}, t.Truth, counts)
}

// known says which true values count and are not missing, which NaN says; nil: all.
func known(truth []float32, counts []bool) []bool {
	if !slices.ContainsFunc(truth, func(v float32) bool { return v != v }) {
		return counts
	}
	out := make([]bool, len(truth))
	for i, v := range truth {
		out[i] = v == v && (counts == nil || counts[i])
	}
	return out
}

// partOf is what is said of a prediction, and its tensors.
func (f *predictFn) partOf(p *cnp.Prediction[float32], tasks int, shape []int, truth []float32, counts []bool) (*Part, error) {
	if err := p.Check(func(i int) bool { return counts == nil || counts[i] }); err != nil {
		return nil, err
	}
	out := &Part{Tasks: tasks}
	if truth != nil {
		counts := known(truth, counts)
		if err := cnp.CheckSupport(p.Likelihood, "y_target", truth, counts, max(1, shape[len(shape)-1])); err != nil {
			return nil, err
		}
		out.LogDensity, out.Values = p.LogDensities(tasks, truth, counts)
	}
	result := predict.Result{Prediction: p, Shape: shape, Counts: counts, Quantiles: f.Options.Quantiles}
	all, err := result.Tensors(f.Options.Outputs...)
	if err != nil {
		return nil, err
	}
	var tensors []safetensors.Tensor
	for _, t := range all {
		tensors = append(tensors, safetensors.FromFloat32s(t.Name, t.Shape, t.Values))
		out.Names = append(out.Names, t.Name)
	}
	out.Data, err = safetensors.Encode(&safetensors.File{Tensors: tensors})
	return out, err
}

// result is what a record says of a file, under the names that the program gives it.
type result struct {
	Tasks         int      `json:"tasks"`
	LogLikelihood *float64 `json:"log_likelihood,omitempty"`
	Values        int      `json:"log_likelihood_values,omitempty"`
}

func resultOf(r shards.Record) (out result) {
	_ = json.Unmarshal(r.Result, &out) // of another program: nothing
	return out
}

// sinkFn writes the file of a file's predictions once all its parts are there.
type sinkFn struct {
	Options    Options
	files, bad beam.Counter
}

func (f *sinkFn) Setup() {
	f.files, f.bad = beam.NewCounter("equivcnp", "files"), beam.NewCounter("equivcnp", "bad files")
}

func (f *sinkFn) ProcessElement(ctx context.Context, _ int, parts func(*Part) bool, emit func(int, []byte), bad func(int, Bad)) error {
	var all []Part
	for p := (Part{}); parts(&p); p = (Part{}) {
		all = append(all, p)
	}
	file := all[0].File
	if testHook != nil {
		if err := testHook("sink", file.ID); err != nil {
			return err
		}
	}
	r := shards.Record{Item: file.ID, Line: file.Line, Name: file.Name}
	tensors, res, err := together(all)
	if err == nil {
		r.Out = outName(file)
		path := filepath.Join(f.Options.Folder, r.Out)
		if err := os.MkdirAll(f.Options.Folder, 0o777); err != nil {
			return err
		}
		var text bytes.Buffer
		if err = taskfile.Write(&text, path, tensors); err == nil {
			r.Bytes, r.SHA256 = int64(text.Len()), shards.Sum(text.Bytes())
			if err := shards.Create(path, func(w io.Writer) error { _, err := w.Write(text.Bytes()); return err }); err != nil {
				return err // of the disk: the bundle is tried again
			}
		}
	}
	if err == nil {
		r.Result, err = json.Marshal(res)
	}
	if err != nil {
		r = shards.Record{Item: file.ID, Line: file.Line, Name: file.Name, Error: err.Error()}
		f.bad.Inc(ctx, 1)
		bad(0, Bad{file.Name, file.Line, err.Error()})
	}
	f.files.Inc(ctx, 1)
	b, err := json.Marshal(struct {
		Job    string
		Of     int
		Record shards.Record
	}{file.Job, file.Of, r})
	if err != nil {
		return err
	}
	emit(file.ID%min(f.Options.Shards, file.Of), b)
	return nil
}

// outName is the name that equivcnp predict --manifest gives the file.
func outName(file File) string {
	base := filepath.Base(file.Name)
	ending := filepath.Ext(base)
	stem := strings.TrimSuffix(base, ending)
	if !slices.Contains(strings.Fields(taskfile.Endings), strings.ToLower(ending)) {
		ending = ".safetensors"
	}
	return shards.OutName(file.ID, stem, ending)
}

// together puts the parts of a file one after the other.
func together(all []Part) (tensors []safetensors.Tensor, res result, err error) {
	slices.SortStableFunc(all, func(a, b Part) int { return cmp.Compare(a.Part, b.Part) })
	sum, next := 0.0, 0
	for _, p := range all {
		if p.Error != "" {
			return nil, res, errors.New(p.Error)
		}
		if p.Part < next { // a bundle was done twice, and gave the same
			continue
		}
		if p.Part > next {
			return nil, res, fmt.Errorf("part %d of %d is missing", next, p.Parts)
		}
		next++
		f, err := safetensors.Decode(p.Data)
		if err != nil {
			return nil, res, err
		}
		for i, name := range p.Names {
			t := f.Get(name)
			if t == nil {
				return nil, res, fmt.Errorf("part %d of %d has no tensor %s", p.Part, p.Parts, name)
			}
			if p.Part == 0 {
				tensors = append(tensors, *t)
				continue
			}
			have := &tensors[i]
			have.Shape = slices.Clone(have.Shape)
			have.Shape[0] += t.Shape[0]
			have.Data = append(slices.Clip(have.Data), t.Data...)
		}
		sum, res.Tasks, res.Values = sum+p.LogDensity, res.Tasks+p.Tasks, res.Values+p.Values
	}
	if next != all[0].Parts {
		return nil, res, fmt.Errorf("%d of %d parts are there", next, all[0].Parts)
	}
	if res.Values > 0 {
		mean := sum / float64(res.Values)
		res.LogLikelihood = &mean
	}
	return tensors, res, nil
}

// shardFn writes the records of a shard, by which equivcnp merge checks the folder.
type shardFn struct{ Options Options }

func (f *shardFn) ProcessElement(_ context.Context, shard int, lines func(*[]byte) bool) error {
	var one struct {
		Job    string
		Of     int
		Record shards.Record
	}
	var records []shards.Record
	for b := []byte(nil); lines(&b); b = nil {
		one.Record = shards.Record{}
		if err := json.Unmarshal(b, &one); err != nil {
			return err
		}
		records = append(records, one.Record)
	}
	slices.SortFunc(records, func(a, b shards.Record) int { return cmp.Compare(a.Item, b.Item) })
	records = slices.CompactFunc(records, func(a, b shards.Record) bool { return a.Item == b.Item })
	if err := os.MkdirAll(f.Options.Folder, 0o777); err != nil {
		return err
	}
	return shards.WriteShard(f.Options.Folder, one.Job, "predict", one.Of,
		shards.Shard{Index: shard, Count: min(f.Options.Shards, one.Of)}, records)
}

// badFn writes the files that could not be predicted, with their reasons.
type badFn struct{ Options Options }

func (f *badFn) ProcessElement(_ context.Context, _ int, all func(*Bad) bool) error {
	var list []Bad
	for b := (Bad{}); all(&b); b = (Bad{}) {
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b Bad) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.File, b.File)) })
	if err := os.MkdirAll(f.Options.Folder, 0o777); err != nil {
		return err
	}
	return shards.Create(filepath.Join(f.Options.Folder, badFile), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		for _, b := range slices.Compact(list) {
			if err := enc.Encode(b); err != nil {
				return err
			}
		}
		return nil
	})
}

// testHook, if not nil, may fail a bundle.
var testHook func(step string, file int) error
