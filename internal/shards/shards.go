package shards

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/internal/atomicfile"
)

// Shard is part Index, from 0, of Count.
type Shard struct{ Index, Count int }

// MaxShards bounds their number.
const MaxShards = 1 << 20

// ParseShard reads "3/64".
func ParseShard(s string) (Shard, error) {
	i, n, ok := strings.Cut(s, "/")
	index, err1 := strconv.Atoi(i)
	count, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || count < 1 || count > MaxShards || index < 0 || index >= count {
		return Shard{}, fmt.Errorf("%q: need INDEX/COUNT with an index from 0 to COUNT-1, such as 0/64 to 63/64", s)
	}
	return Shard{index, count}, nil
}

// Variables are those of the environment by which schedulers tell an array's tasks which they are: a Kubernetes Indexed
// Job, Slurm, AWS Batch.
var Variables = []string{"JOB_COMPLETION_INDEX", "SLURM_ARRAY_TASK_ID", "AWS_BATCH_JOB_ARRAY_INDEX"}

// FromEnvironment takes the index of one of count shards from the first of Variables that is set.
func FromEnvironment(count int, lookup func(string) (string, bool)) (Shard, error) {
	if count < 1 || count > MaxShards {
		return Shard{}, fmt.Errorf("%d shards: need 1 to %d", count, MaxShards)
	}
	for _, name := range Variables {
		v, ok := lookup(name)
		if !ok {
			continue
		}
		i, err := strconv.Atoi(v)
		if err != nil || i < 0 || i >= count {
			return Shard{}, fmt.Errorf("%s=%s: need an index from 0 to %d", name, v, count-1)
		}
		return Shard{i, count}, nil
	}
	return Shard{}, fmt.Errorf("none of %s is set: say which shard this is", strings.Join(Variables, ", "))
}

// Of returns the shard's items: every Count-th. A shard of none, or one that is not there, has none.
func (s Shard) Of(items []Item) []Item {
	var out []Item
	if s.Index < 0 || s.Count < 1 || s.Index >= s.Count || s.Count > MaxShards {
		return nil
	}
	for i := s.Index; i < len(items); i += s.Count {
		out = append(out, items[i])
	}
	return out
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// Record says what became of an item.
type Record struct {
	Item   int             `json:"item"`
	Line   int             `json:"line"`
	Name   string          `json:"name"`
	Out    string          `json:"out,omitempty"` // in the folder
	Bytes  int64           `json:"bytes,omitempty"`
	SHA256 string          `json:"sha256,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"` // why there is no file
}

// Job is a list of work, and the folder in which its results are collected.
type Job struct {
	// Kind and Settings are what the results depend on beside the items: two jobs of equal digests give the same files.
	Kind     string
	Settings []string
	Items    []Item
	Folder   string
	// SkipBad records items that fail, instead of leaving the shard unfinished.
	SkipBad bool
}

// Digest tells a job from others.
func (j *Job) Digest() string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	_ = enc.Encode([]any{j.Kind, j.Settings}) // a hash takes everything
	for _, it := range j.Items {
		_ = enc.Encode(it.Name)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Outcome reports what Run did.
type Outcome struct {
	Records []Record // of all items of the shard, in order; of failed ones only under SkipBad
	Done    int      // computed now
	Kept    int      // finished already
	Failed  []string // file, line and reason
}

// head is the first line of a journal, and the beginning of a shard's finished record.
type head struct {
	Job   string `json:"job"`
	Kind  string `json:"kind"`
	Shard int    `json:"shard"`
	Of    int    `json:"of"`
	Items int    `json:"items"` // of the whole job
}

// finished is the file of a shard that has nothing left to do.
type finished struct {
	head
	Records []Record `json:"records"`
	Sum     string   `json:"sum,omitempty"` // the digest of the rest; files of earlier versions have none
}

// summed is the file with its digest.
func (f finished) summed() finished {
	f.Sum = ""
	b, _ := json.Marshal(f) // numbers and texts
	f.Sum = chained("", b)
	return f
}

// stem is the name of a shard's own files in the folder.
func (s Shard) stem() string { return fmt.Sprintf("shard-%05d-of-%05d", s.Index, s.Count) }

// ErrOther is wrapped where a folder holds the results of another job.
var ErrOther = errors.New("the folder holds results of another job")

// ErrFailed is wrapped where items failed.
var ErrFailed = errors.New("items failed")

// Run works on a shard's items, those that are not finished yet, one after the other. work makes an item's file, under
// the name out in the job's folder, all at once (by Create or os.Rename), and returns what is to be recorded. manifest
// is the manifest's name, for errors. An item that fails stops nothing but itself; Run then returns an error that wraps
// ErrFailed after the others.
func (j *Job) Run(ctx context.Context, s Shard, manifest string, name func(Item) string,
	work func(ctx context.Context, it Item, out string) (any, error)) (*Outcome, error) {
	h := head{j.Digest(), j.Kind, s.Index, s.Count, len(j.Items)}
	if err := os.MkdirAll(j.Folder, 0o777); err != nil {
		return nil, err
	}
	full, journal := filepath.Join(j.Folder, s.stem()+".json"), filepath.Join(j.Folder, s.stem()+".journal")
	known, complete, err := j.known(h, full, journal)
	if err == nil && !complete {
		err = j.alone()
	}
	if err != nil {
		return nil, err
	}
	o := &Outcome{}
	var log *os.File
	defer func() {
		if log != nil {
			log.Close()
		}
	}()
	for _, it := range s.Of(j.Items) {
		if r, ok := known[it.ID]; ok && r.Name == it.Name && (r.Error == "" || j.SkipBad) && (r.Error != "" || j.there(r, !complete)) {
			r.Line = it.Line
			o.Records, o.Kept = append(o.Records, r), o.Kept+1
			continue
		}
		if err := ctx.Err(); err != nil {
			return o, err
		}
		if log == nil {
			if log, err = openJournal(journal, h); err != nil {
				return o, err
			}
		}
		r := Record{Item: it.ID, Line: it.Line, Name: it.Name, Out: name(it)}
		result, err := work(ctx, it, filepath.Join(j.Folder, r.Out))
		if err == nil {
			r.Result, err = json.Marshal(result)
		}
		if err == nil {
			r.Bytes, r.SHA256, err = fileDigest(filepath.Join(j.Folder, r.Out))
		}
		if ctx.Err() != nil {
			return o, ctx.Err()
		}
		if err != nil {
			o.Failed = append(o.Failed, fmt.Sprintf("%s:%d: %v", manifest, it.Line, err))
			if !j.SkipBad {
				continue
			}
			r = Record{Item: it.ID, Line: it.Line, Name: it.Name, Error: err.Error()}
		}
		if err := appendLine(log, r); err != nil {
			return o, err
		}
		o.Records, o.Done = append(o.Records, r), o.Done+1
	}
	if len(o.Failed) > 0 && !j.SkipBad {
		return o, fmt.Errorf("%w: %d of shard %v:\n  %s", ErrFailed, len(o.Failed), s,
			strings.Join(o.Failed[:min(20, len(o.Failed))], "\n  "))
	}
	if o.Done == 0 && complete {
		return o, nil
	}
	if err := Create(full, func(w io.Writer) error { return indented(w, finished{head: h, Records: o.Records}.summed()) }); err != nil {
		return o, err
	}
	if log != nil {
		log.Close()
		log = nil
	}
	if err := os.Remove(journal); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return o, err
	}
	return o, nil
}

// known reads what the shard has done before, and whether that was all.
func (j *Job) known(h head, full, journal string) (map[int]Record, bool, error) {
	known := map[int]Record{}
	f, err := readFinished(full)
	if err == nil {
		if f.head != h {
			return nil, false, fmt.Errorf("%w: %s was made from another manifest, model or other flags", ErrOther, full)
		}
		for _, r := range f.Records {
			known[r.Item] = r
		}
		return known, true, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, false, err
	}
	have, records, err := readJournal(journal)
	if errors.Is(err, fs.ErrNotExist) || err == nil && have == (head{}) {
		return known, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if have != h {
		return nil, false, fmt.Errorf("%w: %s was made from another manifest, model or other flags", ErrOther, journal)
	}
	for _, r := range records {
		known[r.Item] = r
	}
	return known, false, nil
}

// alone refuses a folder in which a shard of another job, of whatever number of shards, has begun or finished: results of
// one line have one name in both jobs, and would replace each other.
func (j *Job) alone() error {
	paths, err := filepath.Glob(filepath.Join(literal(j.Folder), "shard-*-of-*.j*"))
	if err != nil {
		return err
	}
	digest := j.Digest()
	for _, path := range paths {
		if have := jobOf(path); have != "" && have != digest {
			return fmt.Errorf("%w: %s was made from another manifest, model or other flags", ErrOther, path)
		}
	}
	return nil
}

// Alone refuses a folder with shards of another job, or of this one by another number of shards. It is for a runner that has a journal
// of its own.
func (j *Job) Alone(count int) error {
	if err := j.alone(); err != nil {
		return err
	}
	paths, err := filepath.Glob(filepath.Join(literal(j.Folder), "shard-*-of-*.j*"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		var s Shard
		if n, _ := fmt.Sscanf(filepath.Base(path), "shard-%d-of-%d.", &s.Index, &s.Count); n == 2 && s.Count != count {
			return fmt.Errorf("%w: %s is one of %d shards, not of %d", ErrOther, path, s.Count, count)
		}
	}
	return nil
}

// jobOf returns the digest of the job that a shard's record or journal is of, from its beginning alone, as there may be many
// of them and long ones. It is empty where there is none to be read: a journal goes when its shard has finished.
func jobOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if filepath.Ext(path) == ".json" {
		var first [3]json.Token // {"job": digest
		dec := json.NewDecoder(f)
		for i := range first {
			if first[i], err = dec.Token(); err != nil {
				return ""
			}
		}
		job, _ := first[2].(string)
		return job
	}
	var h head
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, _, ok := readLine("", lines.Bytes()); ok && json.Unmarshal(value, &h) == nil {
			return h.Job
		}
	}
	return ""
}

// there reports whether a record's file is as it was, by its size or by its digest.
func (j *Job) there(r Record, digest bool) bool {
	path := filepath.Join(j.Folder, filepath.Base(r.Out))
	if !digest {
		info, err := os.Stat(path)
		return err == nil && info.Mode().IsRegular() && info.Size() == r.Bytes
	}
	n, sum, err := fileDigest(path)
	return err == nil && n == r.Bytes && sum == r.SHA256
}

func readFinished(path string) (*finished, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var f finished
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return nil, fmt.Errorf("%s: no record of a shard: %w", path, err)
	}
	for i, r := range f.Records { // as it was before it was indented
		var b bytes.Buffer
		if len(r.Result) > 0 && json.Compact(&b, r.Result) == nil {
			f.Records[i].Result = b.Bytes()
		}
	}
	if f.Sum != "" && f.summed().Sum != f.Sum {
		return nil, fmt.Errorf("%w: %s was changed after it was written: remove it, and its shard is done again", ErrIncomplete, path)
	}
	return &f, nil
}

// readJournal reads the lines of a journal that are what was written: a process that was killed may have written a part
// of one. Every line has a digest of its own.
func readJournal(path string) (head, []Record, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return head{}, nil, err
	}
	var h head
	var records []Record
	for {
		text, rest, whole := bytes.Cut(b, []byte{'\n'})
		if !whole {
			return h, records, nil
		}
		b = rest
		value, _, ok := readLine("", text)
		if !ok {
			continue
		}
		if h == (head{}) {
			if json.Unmarshal(value, &h) != nil {
				h = head{}
			}
			continue
		}
		var r Record
		if json.Unmarshal(value, &r) == nil && r.Name != "" {
			records = append(records, r)
		}
	}
}

// openJournal opens a journal for more lines. It begins with an empty line, so that what a killed process left of its
// last line stays apart.
func openJournal(path string, h head) (*os.File, error) {
	have, _, err := readJournal(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteString("\n"); err != nil {
		f.Close()
		return nil, err
	}
	if have == (head{}) {
		if err := appendLine(f, h); err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

// appendLine writes a line in one piece, so that lines of two processes do not mix.
func appendLine(f *os.File, v any) error {
	text, _, err := line("", v)
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Sync()
}

func indented(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(v)
}

// Create writes a file under another name in its folder, and gives it its own when it is complete and on the disk.
func Create(path string, write func(w io.Writer) error) error {
	if write == nil {
		panic("shards: Create: write = nil")
	}
	return atomicfile.Write(path, write)
}

// leftover is the ending of files that a killed process may leave.
const leftover = ".tmp"

func fileDigest(path string) (int64, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return n, hex.EncodeToString(h.Sum(nil)), err
}

// Sum is the SHA-256 of bytes, as records have it.
func Sum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// WriteShard writes the file of a finished shard of a job with that digest and number of items, for a runner that has a journal of its own.
func WriteShard(folder, job, kind string, items int, s Shard, records []Record) error {
	return Create(filepath.Join(folder, s.stem()+".json"), func(w io.Writer) error {
		return indented(w, finished{head: head{job, kind, s.Index, s.Count, items}, Records: records}.summed())
	})
}

// OutName is the name of an item's result: its number, and what it was made of.
func OutName(id int, stem, ending string) string {
	stem = strings.Map(func(c rune) rune {
		if c == '/' || c == '\\' || c < ' ' {
			return '-'
		}
		return c
	}, stem)
	return fmt.Sprintf("%06d-%s%s", id, stem[:min(len(stem), 100)], ending)
}

// Digest is the SHA-256 of a file, for settings.
func Digest(path string) (string, error) {
	_, sum, err := fileDigest(path)
	return sum, err
}

// Merged is a finished job.
type Merged struct {
	Job     string   `json:"job"`
	Kind    string   `json:"kind"`
	Shards  int      `json:"shards"`
	Records []Record `json:"records"` // of all items, in the manifest's order
}

// ErrIncomplete is wrapped by what Merge finds missing or changed.
var ErrIncomplete = errors.New("the job is not complete")

// Merge collects the records of all shards of a folder. It is an error if shards or items are missing, or stand twice,
// or if a file is not the one that was recorded. It removes what killed processes left.
func Merge(ctx context.Context, folder string) (*Merged, error) {
	paths, err := filepath.Glob(filepath.Join(literal(folder), "shard-*-of-*.json"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		if _, err := os.Stat(folder); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %s has no finished shard", ErrIncomplete, folder)
	}
	var first head
	var m *Merged
	seen := map[int]string{}
	shards := map[int]bool{}
	for _, path := range paths {
		f, err := readFinished(path)
		if err != nil {
			return nil, err
		}
		if m == nil {
			first, m = f.head, &Merged{Job: f.Job, Kind: f.Kind, Shards: f.Of}
			if f.Of < 1 || f.Of > MaxShards || f.Items < 0 || f.Items > maxItems {
				return nil, fmt.Errorf("%w: %s: shard of %d, %d items", ErrIncomplete, path, f.Of, f.Items)
			}
			m.Records = make([]Record, f.Items)
		}
		if f.Job != first.Job || f.Of != first.Of || f.Items != first.Items {
			return nil, fmt.Errorf("%w: %s and %s are of different manifests, models, flags or numbers of shards", ErrOther, paths[0], path)
		}
		if s := (Shard{f.Shard, f.Of}); f.Shard < 0 || f.Shard >= f.Of || filepath.Base(path) != s.stem()+".json" {
			return nil, fmt.Errorf("%w: %s says that it is shard %v", ErrIncomplete, path, s)
		}
		shards[f.Shard] = true
		for _, r := range f.Records {
			switch {
			case r.Item < 0 || r.Item >= f.Items || r.Item%f.Of != f.Shard:
				return nil, fmt.Errorf("%w: %s: item %d is not of this shard", ErrIncomplete, path, r.Item)
			case seen[r.Item] != "":
				return nil, fmt.Errorf("%w: item %d stands in %s and in %s", ErrIncomplete, r.Item, seen[r.Item], path)
			}
			seen[r.Item] = path
			m.Records[r.Item] = r
		}
	}
	if missing := missingShards(folder, first.Of, shards); len(missing) > 0 {
		return nil, fmt.Errorf("%w: %d of %d shards are missing: %s", ErrIncomplete, len(missing), first.Of, list(missing))
	}
	for i := range m.Records {
		if seen[i] == "" {
			return nil, fmt.Errorf("%w: item %d is in no shard", ErrIncomplete, i)
		}
	}
	if err := m.checkFiles(ctx, folder); err != nil {
		return nil, err
	}
	left, err := filepath.Glob(filepath.Join(literal(folder), ".*"+leftover))
	if err != nil {
		return nil, err
	}
	for _, path := range left {
		os.Remove(path) // another merge may have done it
	}
	return m, nil
}

// missingShards names the shards that have not finished, and says how far they are.
func missingShards(folder string, of int, finished map[int]bool) (missing []string) {
	for i := range of {
		if finished[i] {
			continue
		}
		s := Shard{i, of}
		word := s.String()
		if _, records, err := readJournal(filepath.Join(folder, s.stem()+".journal")); err == nil {
			word += fmt.Sprintf(" (%d items done)", len(records))
		}
		missing = append(missing, word)
	}
	return missing
}

// checkFiles refuses files that are missing, or are not as their shards wrote them.
func (m *Merged) checkFiles(ctx context.Context, folder string) error {
	var bad []string
	for _, r := range m.Records {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.Error != "" {
			continue
		}
		if r.Out == "" || r.Out != filepath.Base(r.Out) {
			return fmt.Errorf("%w: item %d: %q is no file of the folder", ErrIncomplete, r.Item, r.Out)
		}
		switch n, sum, err := fileDigest(filepath.Join(folder, r.Out)); {
		case err != nil:
			bad = append(bad, fmt.Sprintf("line %d: %v", r.Line, err))
		case n != r.Bytes || sum != r.SHA256:
			bad = append(bad, fmt.Sprintf("line %d: %s is not what was written", r.Line, r.Out))
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("%w: %d files are missing or changed, their shards write them again if the files are removed: %s",
			ErrIncomplete, len(bad), list(bad))
	}
	return nil
}

// literal quotes what Glob would take for a pattern.
func literal(path string) string {
	var b strings.Builder
	for _, c := range path {
		if strings.ContainsRune(`*?[\`, c) && filepath.Separator == '/' {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// list writes the first of many.
func list(words []string) string {
	if len(words) > 20 {
		words = append(slices.Clone(words[:20]), fmt.Sprintf("and %d more", len(words)-20))
	}
	return strings.Join(words, ", ")
}
