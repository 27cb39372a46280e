package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/shards"
)

func TestMain(m *testing.M) { ptest.Main(m) }

// images writes files of digits with these numbers of images, and a manifest with a file that is missing and one that is broken.
func images(t *testing.T, dir string, counts ...int) (manifest string, all []*cnp.Images[float32]) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	text := "# digits\n"
	for i, n := range counts {
		im := &cnp.Images[float32]{B: n, C: 1, H: 12 + i%2, W: 12, Pixels: make([]float32, n*(12+i%2)*12),
			Mask: make([]bool, n*(12+i%2)*12)}
		mask := make([]byte, len(im.Mask))
		for k := range im.Pixels {
			im.Pixels[k] = rng.Float32()
			if im.Mask[k] = rng.IntN(3) == 0; im.Mask[k] {
				mask[k] = 1
			}
		}
		all = append(all, im)
		name := fmt.Sprintf("in%d.safetensors", i)
		err := safetensors.Write(filepath.Join(dir, name), &safetensors.File{Tensors: []safetensors.Tensor{
			safetensors.FromFloat32s("image", []int{n, 1, im.H, im.W}, im.Pixels),
			{Name: "mask", DType: safetensors.Bool, Shape: []int{n, im.H, im.W}, Data: mask}}})
		if err != nil {
			t.Fatal(err)
		}
		text += name + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "broken.npz"), []byte("PK"), 0o666); err != nil {
		t.Fatal(err)
	}
	manifest = filepath.Join(dir, "list")
	if err := os.WriteFile(manifest, []byte(text+"missing.npz\nbroken.npz\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return manifest, all
}

// check compares a folder with what the model itself predicts, file by file.
func check(t *testing.T, folder string, all []*cnp.Images[float32]) {
	t.Helper()
	model, err := pretrained.Load("digits-T2-small")
	if err != nil {
		t.Fatal(err)
	}
	m, err := shards.Merge(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Records) != len(all)+2 {
		t.Fatalf("%d records", len(m.Records))
	}
	for i, im := range all {
		want, err := model.(cnp.Completer[float32]).Complete(t.Context(), im)
		if err != nil {
			t.Fatal(err)
		}
		f, err := safetensors.Read(filepath.Join(folder, m.Records[i].Out))
		if err != nil {
			t.Fatal(err)
		}
		for name, values := range map[string][]float32{"mean": want.Mean, "std": want.Std} {
			got, err := f.Get(name).Float32s()
			if err != nil || len(got) != len(values) {
				t.Fatal(err, len(got), len(values))
			}
			for k := range got {
				if got[k] != values[k] {
					t.Fatalf("file %d: %s[%d] = %v, want %v", i, name, k, got[k], values[k])
				}
			}
		}
		if r := resultOf(m.Records[i]); r.Tasks != im.B || r.LogLikelihood == nil || r.Values != len(im.Pixels) {
			t.Fatalf("file %d: %+v", i, r)
		}
	}
	for _, r := range m.Records[len(all):] {
		if r.Error == "" {
			t.Fatalf("%s is bad", r.Name)
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, badFile))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var b Bad
	if len(lines) != 2 || json.Unmarshal([]byte(lines[0]), &b) != nil || !strings.HasSuffix(b.File, "missing.npz") || b.Reason == "" {
		t.Fatalf("%s", text)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(all) + min(3, len(m.Records)) + 1; len(entries) != want {
		t.Fatalf("%d files in the folder, want %d", len(entries), want)
	}
}

// The pipeline's predictions are the model's own bit for bit, whatever the batches; files that cannot be read are named with their reasons.
func TestPipeline(t *testing.T) {
	dir := t.TempDir()
	manifest, all := images(t, dir, 7, 1, 1, 12, 2)
	for _, batch := range []int{1, 5, 64} {
		o := Options{Model: "digits-T2-small", Manifest: manifest, Folder: filepath.Join(dir, fmt.Sprint("out", batch)),
			Shards: 3, Batch: batch, Memory: 160 << 20}
		if err := run(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		check(t, o.Folder, all)
	}
}

// A bundle that fails, and is done again with its job, neither loses nor doubles anything, wherever it fails.
func TestFailures(t *testing.T) {
	dir := t.TempDir()
	manifest, all := images(t, dir, 3, 4, 2)
	o := Options{Model: "digits-T2-small", Manifest: manifest, Folder: filepath.Join(dir, "out"), Shards: 3, Batch: 2, Memory: 160 << 20}
	var lock sync.Mutex
	left := map[string]int{"predict": 1, "sink": 1}
	testHook = func(step string, file int) error {
		lock.Lock()
		defer lock.Unlock()
		if file == 1 && left[step] > 0 {
			left[step]--
			return errors.New("injected at " + step)
		}
		return nil
	}
	defer func() { testHook = nil }()
	failed := 0
	for range 5 { // Prism, unlike other runners, fails the job with the bundle: who started it starts it again
		if err := run(context.Background(), o); err != nil {
			failed++
			continue
		}
		break
	}
	if left["predict"]+left["sink"] != 0 {
		t.Fatalf("%v were not injected", left)
	}
	t.Logf("%d jobs failed", failed)
	check(t, o.Folder, all)
}

// A model that is not there fails the job: its files are not bad.
func TestNoModel(t *testing.T) {
	dir := t.TempDir()
	manifest, _ := images(t, dir, 1)
	o := Options{Model: "no-such-model", Manifest: manifest, Folder: filepath.Join(dir, "out"), Shards: 3, Batch: 2, Memory: 160 << 20}
	if err := run(context.Background(), o); err == nil || !strings.Contains(err.Error(), "no-such-model") {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(o.Folder, "*")); len(left) > 0 {
		t.Fatalf("written: %v", left)
	}
}

// A job whose files are all bad ends; once they are mended the same job leaves none of its complaints; and the results of another job, or
// of another number of shards, are not written over.
func TestAgain(t *testing.T) {
	dir := t.TempDir()
	images(t, dir, 2, 1)
	list := filepath.Join(dir, "all")
	if err := os.WriteFile(list, []byte("late0.safetensors\nlate1.safetensors\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	o := Options{Model: "digits-T2-small", Manifest: list, Folder: filepath.Join(dir, "out"), Shards: 2, Batch: 2, Memory: 160 << 20}
	if err := run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(o.Folder, badFile)
	if text, err := os.ReadFile(bad); err != nil || strings.Count(string(text), "\n") != 2 {
		t.Fatal(string(text), err)
	}
	for i := range 2 {
		in, late := filepath.Join(dir, fmt.Sprintf("in%d.safetensors", i)), filepath.Join(dir, fmt.Sprintf("late%d.safetensors", i))
		if err := os.Rename(in, late); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bad); !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(o.Folder, "000000-late0.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(o *Options){func(o *Options) { o.Model = "digits-T2" }, func(o *Options) { o.Shards = 1 }} {
		other := o
		change(&other)
		if err := run(context.Background(), other); err == nil || !strings.Contains(err.Error(), "results of another job") {
			t.Fatal(err)
		}
	}
	after, err := os.ReadFile(filepath.Join(o.Folder, "000000-late0.safetensors"))
	if err != nil || string(after) != string(before) {
		t.Fatal("written over", err)
	}
}

// Tensors are written in the order in which equivcnp predict writes them.
func TestOrder(t *testing.T) {
	b, err := safetensors.Encode(&safetensors.File{Tensors: []safetensors.Tensor{safetensors.FromFloat32s("std", []int{1}, []float32{1}),
		safetensors.FromFloat32s("quantiles", []int{1}, []float32{2})}})
	if err != nil {
		t.Fatal(err)
	}
	part := Part{Parts: 2, Data: b, Names: []string{"std", "quantiles"}, Tasks: 1}
	next := part
	next.Part = 1
	tensors, _, err := together([]Part{next, part})
	if err != nil || len(tensors) != 2 || tensors[0].Name != "std" || tensors[1].Name != "quantiles" || tensors[1].Shape[0] != 2 {
		t.Fatal(tensors, err)
	}
}

// Parts that come twice, in any order, are one file; a part that is missing is an error.
func TestTogether(t *testing.T) {
	part := func(i, of int) Part {
		b, err := safetensors.Encode(&safetensors.File{Tensors: []safetensors.Tensor{safetensors.FromFloat32s("mean", []int{1, 2},
			[]float32{float32(i), 1})}})
		if err != nil {
			t.Fatal(err)
		}
		return Part{Part: i, Parts: of, Data: b, Names: []string{"mean"}, Tasks: 1, LogDensity: float64(i), Values: 2}
	}
	tensors, res, err := together([]Part{part(2, 3), part(0, 3), part(0, 3), part(1, 3), part(2, 3)})
	if err != nil {
		t.Fatal(err)
	}
	v, err := tensors[0].Float32s()
	if err != nil || fmt.Sprint(v, tensors[0].Shape) != "[0 1 1 1 2 1] [3 2]" || res.Tasks != 3 || *res.LogLikelihood != 0.5 {
		t.Fatal(v, tensors[0].Shape, res, err)
	}
	for _, bad := range [][]Part{{part(1, 2)}, {part(0, 2)}, {part(0, 3), part(2, 3)}, {{Parts: 1, Error: "broken"}}} {
		if _, _, err := together(bad); err == nil {
			t.Fatal("a file without all parts")
		}
	}
}
