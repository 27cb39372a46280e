package fuzz

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/tiff"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/tables"
)

var (
	mutantCount = flag.Int("mutants", 0, "files of each kind that TestMutants damages and gives to the program; 0: a few")
	mutantSeed  = flag.Uint64("mutants-seed", 1, "seed of the damages")
)

// What one file may cost the program.
const (
	mutantTime   = 5 * time.Second
	mutantMemory = 300 << 20
)

// mutantKind is a kind of file, and the command that reads it: FILE stands for the damaged one, DIR for the folder of the good ones.
type mutantKind struct {
	name, file string
	args       string
}

var mutantKinds = []mutantKind{
	{"model", "model.safetensors", "regress --model FILE --csv DIR/data.csv --from -2 --to 2 --points 20 --out DIR/out.csv"},
	{"checkpoint", "model.pth", "inspect FILE"},
	{"legacy checkpoint", "legacy.pth", "inspect FILE"},
	{"image", "image.png", "complete --model DIR/image.safetensors --image FILE --rate 0.5 --out DIR/out.png"},
	{"TIFF", "image.tif", "complete --model DIR/image.safetensors --image FILE --rate 0.5 --out DIR/out.png"},
	{"TIFF raster", "image.tif", "raster --model DIR/image.safetensors --in FILE --out DIR/out.tif --memory 50M"},
	{"PNG raster", "image.png", "raster --model DIR/image.safetensors --in FILE --out DIR/out.png --memory 50M"},
	{"table", "data.csv", "regress --model DIR/model.safetensors --csv FILE --from -2 --to 2 --points 20 --out DIR/out.csv"},
	{"tasks", "tasks.safetensors", "predict --model DIR/model.safetensors --in FILE --out DIR/out.safetensors"},
	{"npz tasks", "tasks.npz", "predict --model DIR/model.safetensors --in FILE --out DIR/out.npz"},
	{"npz table", "table.npz", "regress --model DIR/model.safetensors --csv FILE --from -2 --to 2 --points 20 --out DIR/out.npz"},
	{"Parquet table", "table.parquet", "predict --model DIR/model.safetensors --in FILE --out DIR/out.parquet"},
	{"NetCDF table", "table.nc", "regress --model DIR/model.safetensors --csv FILE --targets FILE --x x --y y --out DIR/out.nc"},
	{"NetCDF tasks", "tasks.nc", "predict --model DIR/model.safetensors --in FILE --out DIR/out.nc"},
	{"idx", "digits.idx", "eval --model DIR/image.safetensors --mnist FILE --tasks 1"},
	{"gzip", "digits.idx.gz", "eval --model DIR/image.safetensors --mnist FILE --tasks 1"},
}

// TestMutants gives damaged files of every kind to the program. It must end within five seconds and 300 MB, with an exit status of its
// own and never by a panic. By hand: go test ./fuzz -run TestMutants -mutants 4000 -timeout 2h.
func TestMutants(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads the peak memory of a process as Linux reports it")
	}
	if testing.Short() {
		t.Skip("-short leaves it out: it builds the program and runs it a hundred times")
	}
	count := *mutantCount
	if count == 0 {
		count = 12
	}
	program := filepath.Join(t.TempDir(), "equivcnp")
	out, err := exec.Command("go", "build", "-o", program, "../cmd/equivcnp").CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%d files of each of %d kinds, seed %d", count, len(mutantKinds), *mutantSeed)
	for i, kind := range mutantKinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			goodFiles(t, dir)
			good, err := os.ReadFile(filepath.Join(dir, kind.file))
			require.NoError(t, err)
			if status, text, _, _ := runMutant(program, dir, kind, filepath.Join(dir, kind.file)); status != 0 {
				t.Fatalf("the file that is to be damaged is refused: %s", text)
			}
			refused, longest, most := 0, time.Duration(0), int64(0)
			path := filepath.Join(dir, "mutant-"+kind.file)
			for n := range count {
				rng := rand.New(rand.NewPCG(*mutantSeed, uint64(i)<<32|uint64(n)))
				damaged := mutate(rng, good)
				require.NoError(t, os.WriteFile(path, damaged, 0o600))
				status, text, took, memory := runMutant(program, dir, kind, path)
				if status != 0 {
					refused++
				}
				longest, most = max(longest, took), max(most, memory)
				if status < 0 || status > 1 && strings.Contains(text, "goroutine ") || strings.Contains(text, "panic:") ||
					took > mutantTime || memory > mutantMemory {
					kept := filepath.Join(os.TempDir(), fmt.Sprintf("mutant-%d-%d-%s", *mutantSeed, n, kind.file))
					require.NoError(t, os.WriteFile(kept, damaged, 0o600))
					t.Errorf("file %d of seed %d: status %d, %v, %d MB; kept as %s\n%.2000s", n, *mutantSeed, status, took,
						memory>>20, kept, text)
				}
			}
			t.Logf("%d files, %d refused; at most %v and %d MB", count, refused, longest.Round(time.Millisecond), most>>20)
		})
	}
}

// runMutant runs a kind's command on a file.
func runMutant(program, dir string, kind mutantKind, path string) (status int, text string, took time.Duration, memory int64) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*mutantTime)
	defer cancel()
	var args []string
	for a := range strings.FieldsSeq(kind.args) {
		args = append(args, strings.ReplaceAll(strings.ReplaceAll(a, "FILE", path), "DIR", dir))
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	err := cmd.Run()
	took = time.Since(start)
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return -1, err.Error(), took, 0
	}
	return cmd.ProcessState.ExitCode(), out.String(), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
		peakMemory(cmd.ProcessState)
}

// mutate returns a damaged copy.
func mutate(rng *rand.Rand, good []byte) []byte {
	b := bytes.Clone(good)
	at := func() int { return rng.IntN(len(b)) }
	// Headers and structure are near the beginning, mostly.
	front := func() int { return rng.IntN(min(len(b), 1024)) }
	for range 1 + max(0, rng.IntN(8)-4) {
		if len(b) == 0 {
			return b
		}
		where := at
		if rng.IntN(2) == 0 {
			where = front
		}
		switch rng.IntN(9) {
		case 0:
			b[where()] ^= 1 << rng.IntN(8)
		case 1:
			b[where()] = byte(rng.IntN(256))
		case 2:
			b = b[:at()]
		case 3: // a piece twice, or somewhere else
			lo := at()
			piece := bytes.Clone(b[lo:min(len(b), lo+1+rng.IntN(64))])
			to := at()
			b = append(b[:to:to], append(piece, b[to:]...)...)
		case 4: // a piece less
			lo := at()
			b = append(b[:lo:lo], b[min(len(b), lo+1+rng.IntN(64)):]...)
		case 5: // a number that is too large, as bytes
			word := [8]byte{}
			binary.LittleEndian.PutUint64(word[:], []uint64{0, 1, 1 << 31, 1<<31 - 1, 1<<32 - 1, 1 << 40, 1<<63 - 1, 1 << 63,
				1<<64 - 1}[rng.IntN(9)])
			if rng.IntN(2) == 0 {
				binary.BigEndian.PutUint32(word[:4], uint32(rng.Uint64()))
			}
			copy(b[where():], word[:1<<rng.IntN(4)])
		case 6: // or as text, in place of a digit
			if digits := digitsIn(b); len(digits) > 0 {
				i := digits[rng.IntN(len(digits))]
				text := []string{"0", "-1", "99999999999", "1e308", "1e999", "NaN", "-Inf", "4294967296", "0.5", "null", "[]",
					"\"\""}[rng.IntN(12)]
				b = append(b[:i:i], append([]byte(text), b[i+1:]...)...)
			}
		case 7:
			for i, n := at(), rng.IntN(64); i < len(b) && n > 0; i, n = i+1, n-1 {
				b[i] = byte(rng.IntN(256))
			}
		case 8:
			i, j := at(), at()
			b[i], b[j] = b[j], b[i]
		}
	}
	return b
}

// digitsIn returns where the text part of a file has digits: its first 64 KiB.
func digitsIn(b []byte) (at []int) {
	for i, c := range b[:min(len(b), 1<<16)] {
		if c >= '0' && c <= '9' {
			at = append(at, i)
		}
	}
	return at
}

// goodFiles writes a small file of every kind.
func goodFiles(t *testing.T, dir string) {
	t.Helper()
	write := func(name string, b []byte) { require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600)) }
	rng := rand.New(rand.NewPCG(1, 2))

	curve := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	curve.Channels, curve.Hidden, curve.Mid, curve.PointsPerUnit = []int{4, 6, 4}, 4, 4, 8
	m, err := cnp.New[float32](curve, 1)
	require.NoError(t, err)
	require.NoError(t, weights.Save(filepath.Join(dir, "model.safetensors"), m, nil))
	picture := cnp.Default(cnp.EquivCNPImage, "T(2)", 1)
	picture.Channels, picture.Blocks, picture.Hidden, picture.Mid = []int{8}, 1, 4, 4
	m, err = cnp.New[float32](picture, 1)
	require.NoError(t, err)
	require.NoError(t, weights.Save(filepath.Join(dir, "image.safetensors"), m, nil))

	for name, from := range map[string]string{"model.pth": "small_zip.pth", "legacy.pth": "small_legacy.pth"} {
		pth, err := os.ReadFile(filepath.Join("..", "cnp", "weights", "testdata", from))
		require.NoError(t, err)
		write(name, pth)
	}

	im := image.NewGray(image.Rect(0, 0, 12, 12))
	for i := range im.Pix {
		im.SetGray(i%12, i/12, color.Gray{Y: uint8(rng.IntN(256))})
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, im))
	write("image.png", b.Bytes())
	b.Reset()
	require.NoError(t, tiff.Encode(&b, im, &tiff.Options{Compression: tiff.Deflate}))
	write("image.tif", b.Bytes())

	b.Reset()
	b.WriteString("x,y\n")
	for range 20 {
		fmt.Fprintf(&b, "%.4f,%.4f\n", 4*rng.Float64()-2, rng.NormFloat64())
	}
	write("data.csv", b.Bytes())

	x, y, targets := make([]float32, 12), make([]float32, 12), make([]float32, 10)
	for i := range x {
		x[i], y[i] = 4*rng.Float32()-2, rng.Float32()
	}
	for i := range targets {
		targets[i] = 4*rng.Float32() - 2
	}
	tasks := []safetensors.Tensor{safetensors.FromFloat32s("x_context", []int{2, 6, 1}, x),
		safetensors.FromFloat32s("y_context", []int{2, 6, 1}, y),
		safetensors.FromFloat32s("x_target", []int{2, 5, 1}, targets)}
	for _, name := range []string{"tasks.safetensors", "tasks.npz", "tasks.nc"} {
		b.Reset()
		require.NoError(t, taskfile.Write(&b, name, tasks))
		write(name, b.Bytes())
	}
	table, err := tables.ReadFile(filepath.Join(dir, "data.csv"), nil)
	require.NoError(t, err)
	for _, name := range []string{"table.npz", "table.parquet", "table.nc"} {
		b.Reset()
		require.NoError(t, tables.Write(&b, name, table, []int{0}))
		write(name, b.Bytes())
	}

	idx := []byte{0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 10, 0, 0, 0, 10}
	for range 300 {
		idx = append(idx, byte(rng.IntN(256)))
	}
	write("digits.idx", idx)
	b.Reset()
	z := gzip.NewWriter(&b)
	_, err = z.Write(idx)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	write("digits.idx.gz", b.Bytes())
}
