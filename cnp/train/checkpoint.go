package train

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/layers"
)

// A checkpoint is a safetensors file of everything that a run's next step depends on:
//
//	model.*            parameters and buffers: running statistics, radii
//	adam.m.*, adam.v.* the optimiser's moments
//	best.*             the model of the best score, where patience keeps one
//
// and in its metadata the configurations of run and model, the names of the sources and the run's state. Random numbers need
// no place: a step's tasks follow from seed and step.
//
// A digest of all that stands in the metadata, too: a file of which any bit changed is refused.
const (
	metaTraining      = "equivcnp.training"
	metaDigest        = "equivcnp.digest"
	checkpointVersion = 2
	plainVersion      = 1 // without a digest
)

// ErrCheckpoint is wrapped by the errors of checkpoints that a run cannot continue from.
var ErrCheckpoint = errors.New("not a checkpoint of this run")

// header is a checkpoint's metadata.
type header struct {
	Version int        `json:"version"`
	Model   cnp.Config `json:"model"`
	Run     Config     `json:"run"`
	Source  string     `json:"source"`
	Test    string     `json:"test"`
	State   state      `json:"state"`
	Adam    int        `json:"adam_count"`
	Group   string     `json:"group,omitempty"` // the digest of the model's group; earlier versions have none
}

func (r *Run[T]) header() header {
	h := header{checkpointVersion, r.model.Config(), r.config, r.train.String(), r.opt.Test.String(), r.state, r.adam.Count, ""}
	if g := cnp.GroupOf(r.model); g != nil {
		h.Group = group.Digest(g)
	}
	return h
}

// save writes the checkpoint, if the run has one. The file is always a whole one, the old or the new.
func (r *Run[T]) save() error {
	if r.opt.Checkpoint == "" {
		return nil
	}
	head, err := json.Marshal(r.header())
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	f := &safetensors.File{Metadata: map[string]string{metaTraining: string(head)}}
	r.arrays(func(name string, shape []int, v []T) {
		f.Tensors = append(f.Tensors, tensor(name, shape, v))
	})
	f.Metadata[metaDigest] = digest(f)
	if err := safetensors.Write(r.opt.Checkpoint, f); err != nil {
		return fmt.Errorf("train: checkpoint: %w", err)
	}
	return nil
}

// digest is the SHA-256 of a checkpoint's training state and tensors, by their names' order.
func digest(f *safetensors.File) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", f.Metadata[metaTraining])
	order := slices.Clone(f.Tensors)
	slices.SortFunc(order, func(a, b safetensors.Tensor) int { return cmp.Compare(a.Name, b.Name) })
	for _, t := range order {
		fmt.Fprintf(h, "%q %s %v %d\n", t.Name, t.DType, t.Shape, len(t.Data))
		h.Write(t.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// intact is an error where a checkpoint is not what was written. Those of version 1 have no digest.
func intact(f *safetensors.File, version int) error {
	have, ok := f.Metadata[metaDigest]
	if !ok && version == plainVersion && len(f.Metadata) == 1 {
		return nil
	}
	if !ok || len(f.Metadata) != 2 || have != digest(f) {
		return fmt.Errorf("%w: its bytes are not those that were written: it was damaged or changed", ErrCheckpoint)
	}
	return nil
}

// arrays visits all arrays of a checkpoint, live.
func (r *Run[T]) arrays(visit func(name string, shape []int, v []T)) {
	for i, p := range r.params {
		visit("model."+p.Name, p.Shape, p.Data)
		if r.adam.M[i] != nil {
			visit("adam.m."+p.Name, p.Shape, r.adam.M[i])
			visit("adam.v."+p.Name, p.Shape, r.adam.V[i])
		}
		if r.best != nil {
			visit("best."+p.Name, p.Shape, r.best[i])
		}
	}
}

// Resume takes the run to where its checkpoint was written. The checkpoint must be of the same model, source and
// configuration; Steps, LogEvery and CheckpointEvery may have changed. A missing file gives an error that wraps
// fs.ErrNotExist, any other that does not fit one that wraps ErrCheckpoint, and the run is then as it was.
func (r *Run[T]) Resume() error {
	path := r.opt.Checkpoint
	f, err := read(path)
	if err != nil {
		return fmt.Errorf("train: resume: %w", err)
	}
	if err := r.restore(f); err != nil {
		return fmt.Errorf("train: resume: %s: %w", path, err)
	}
	return nil
}

// read reads a file that ought to be a checkpoint.
func read(path string) (*safetensors.File, error) {
	f, err := safetensors.Read(path)
	if errors.Is(err, safetensors.ErrFormat) {
		err = fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	return f, err
}

// readHeader returns the training state of a file.
func readHeader(f *safetensors.File) (have header, err error) {
	text, ok := f.Metadata[metaTraining]
	if !ok {
		return have, bad("the file holds no training state")
	}
	if err := json.Unmarshal([]byte(text), &have); err != nil {
		return have, bad("its training state: %v", err)
	}
	if have.Version != checkpointVersion && have.Version != plainVersion {
		return have, bad("version %d, this program reads %d", have.Version, checkpointVersion)
	}
	return have, nil
}

func (r *Run[T]) restore(f *safetensors.File) error {
	have, err := readHeader(f)
	if err != nil {
		return err
	}
	if err := r.same(&have); err != nil {
		return err
	}

	// All arrays are read before the first is changed.
	into := *r
	if r.config.Patience > 0 && have.State.Best != nil {
		into.best = make([][]T, len(r.params))
		for i, p := range r.params {
			into.best[i] = make([]T, len(p.Data))
		}
	}
	read := map[string][]T{}
	into.arrays(func(name string, shape []int, v []T) {
		t := f.Get(name)
		switch {
		case err != nil:
		case t == nil:
			err = bad("tensor %q is missing", name)
		case !slices.Equal(t.Shape, shape) || t.DType != dtype[T]():
			err = bad("tensor %q is %s%v, need %s%v", name, t.DType, t.Shape, dtype[T](), shape)
		default:
			read[name], err = values[T](t)
			for _, x := range read[name] {
				if x-x != 0 {
					err = bad("tensor %q holds a number that is not finite", name)
				}
			}
		}
	})
	if err != nil {
		return err
	}
	if err := intact(f, have.Version); err != nil { // last: what is wrong with the run says more
		return err
	}
	into.arrays(func(name string, _ []int, v []T) { copy(v, read[name]) })
	r.best, r.state, r.adam.Count, r.ended = into.best, have.State, have.Adam, false
	return nil
}

// bad is an error about a checkpoint.
func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCheckpoint, fmt.Sprintf(format, args...))
}

// same refuses a checkpoint of another run: of another model, on other data, or trained otherwise.
func (r *Run[T]) same(have *header) error {
	had, here := have.Model, r.model.Config()
	had.Trained, here.Trained = nil, nil // what the data were, below
	source := r.train.String()
	if d := differences("model", had, here); d != nil {
		if have.Source != source {
			d = append(d, Mismatch{Field: "source", Have: have.Source, Want: source})
		}
		d[0].Also = d[1:]
		return &d[0]
	}
	if now := r.header().Group; have.Group != "" && have.Group != now {
		return bad("group %s is another than here: its digest is %s, here %s", have.Model.Group, have.Group, now)
	}
	want := r.config
	want.Steps, want.LogEvery, want.CheckpointEvery = have.Run.Steps, have.Run.LogEvery, have.Run.CheckpointEvery
	if was, now := have.Run.Adam.Schedule.Kind, want.Adam.Schedule.Kind; was != now { // before the fields that one kind has alone
		return &Mismatch{Field: "adam.schedule.kind", Have: cmp.Or(was, "constant"), Want: cmp.Or(now, "constant")}
	}
	if d := differences("", have.Run, want); d != nil {
		d[0].Also = d[1:]
		return &d[0]
	}
	if have.Source != source {
		return bad("it was trained on %s, this run on %s", have.Source, source)
	}
	if s := r.opt.Test.String(); have.Test != s {
		return bad("it was tested on %s, this run on %s", have.Test, s)
	}
	if differences("trained", have.Model.Trained, r.model.Config().Trained) != nil {
		return bad("%s are no longer what they were: their numbers lie elsewhere", have.Source)
	}
	return have.counted()
}

// counted refuses counters that no run has.
func (h *header) counted() error {
	if s := h.State; s.Step < 0 || h.Adam != s.Step || s.Since < 0 || s.BadScores < 0 {
		return bad("its counters are impossible: step %d, %d steps of Adam", s.Step, h.Adam)
	}
	return nil
}

// Mismatch is the error of a checkpoint whose run had another value of a field of its model's (model.fill) or of its own configuration
// (adam.rate). It wraps ErrCheckpoint.
type Mismatch struct {
	Field      string
	Have, Want any // the checkpoint's value, and this run's; nil: not set
	// Also are the other fields that differ, of which one may be the cause. If the model differs, the source of the
	// tasks ("source") may be among them.
	Also []Mismatch
}

func (m *Mismatch) Error() string {
	show := func(v any) any {
		if v == nil {
			return "not set"
		}
		return v
	}
	return fmt.Sprintf("%v: it has %s = %v, this run %v", ErrCheckpoint, m.Field, show(m.Have), show(m.Want))
}

// Unwrap returns ErrCheckpoint.
func (m *Mismatch) Unwrap() error { return ErrCheckpoint }

// Saved is the configuration of the run that a checkpoint is of, and the number of steps that were done. A missing file gives an error
// that wraps fs.ErrNotExist, one that is no checkpoint an error that wraps ErrCheckpoint.
func Saved(path string) (Config, int, error) {
	f, err := read(path)
	if err != nil {
		return Config{}, 0, fmt.Errorf("train: %w", err)
	}
	have, err := readHeader(f)
	if err = cmp.Or(err, intact(f, have.Version), have.counted()); err != nil {
		return Config{}, 0, fmt.Errorf("train: %s: %w", path, err)
	}
	return have.Run, have.State.Step, nil
}

// differences are the fields in which two values of one type differ, by their names' order.
func differences(path string, have, want any) (all []Mismatch) {
	a, b := fields(have), fields(want)
	keys := map[string]any{}
	maps.Copy(keys, a)
	maps.Copy(keys, b)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		name := k
		if path != "" {
			name = path + "." + k
		}
		va, vb := a[k], b[k]
		if reflect.DeepEqual(va, vb) {
			continue
		}
		ma, okA := va.(map[string]any)
		mb, okB := vb.(map[string]any)
		if okA || okB {
			all = append(all, differences(name, ma, mb)...)
			continue
		}
		all = append(all, Mismatch{Field: name, Have: va, Want: vb})
	}
	return all
}

// fields is a value as JSON sees it.
func fields(v any) map[string]any {
	out := map[string]any{}
	if b, err := json.Marshal(v); err == nil {
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.UseNumber()      // seeds have 64 bits
		_ = dec.Decode(&out) // null makes it nil, which has no fields either
	}
	return out
}

// dtype is the type of a T in files.
func dtype[T layers.Float]() safetensors.DType {
	if _, ok := any(T(0)).(float64); ok {
		return safetensors.F64
	}
	return safetensors.F32
}

// tensor makes a tensor of T's own type.
func tensor[T layers.Float](name string, shape []int, v []T) safetensors.Tensor {
	switch v := any(v).(type) {
	case []float32:
		return safetensors.FromFloat32s(name, shape, v)
	case []float64:
		return safetensors.FromFloat64s(name, shape, v)
	}
	panic(fmt.Sprintf("train: no format for %T", v))
}

// values reads a tensor of T's own type, exactly.
func values[T layers.Float](t *safetensors.Tensor) ([]T, error) {
	w, err := t.Float64s()
	if err != nil {
		return nil, err
	}
	out := make([]T, len(w))
	for i, x := range w {
		out[i] = T(x)
	}
	return out, nil
}
