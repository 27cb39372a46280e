package weights_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/layers"
)

// pickled writes the pickles of torch.save, of protocol 2.
type pickled struct{ bytes.Buffer }

func (p *pickled) text(s string) {
	p.WriteByte('X')
	p.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(s))))
	p.WriteString(s)
}

func (p *pickled) int(n int) {
	p.WriteByte('J')
	p.Write(binary.LittleEndian.AppendUint32(nil, uint32(n)))
}

func (p *pickled) ints(list []int) {
	p.WriteByte('(')
	for _, n := range list {
		p.int(n)
	}
	p.WriteByte('t')
}

// tensor writes a call of _rebuild_tensor_v2 for a contiguous tensor that is a storage of its own.
func (p *pickled) tensor(class, key string, shape []int) {
	stride, n := make([]int, len(shape)), 1
	for i := len(shape) - 1; i >= 0; i-- {
		stride[i] = n
		n *= shape[i]
	}
	p.WriteString("ctorch._utils\n_rebuild_tensor_v2\n((")
	p.text("storage")
	p.WriteString("ctorch\n" + class + "\n")
	p.text(key)
	p.text("cpu")
	p.int(n)
	p.WriteString("tQ")
	p.int(0)
	p.ints(shape)
	p.ints(stride)
	p.WriteString("\x89ccollections\nOrderedDict\n)RtR")
}

// checkpoint is what a training script saves: the state_dict of a wrapped model, in numbers of two bytes, beside the epoch
// and an optimizer with tensors of its own. half turns a number into these bytes.
func checkpoint(t *testing.T, state []layers.Param[float32], prefix, class string, half func(float32) uint16) []byte {
	t.Helper()
	var p pickled
	p.WriteString("\x80\x02}(")
	p.text("epoch")
	p.int(3)
	p.text("state_dict")
	p.WriteString("ccollections\nOrderedDict\n)R(")
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	store := func(name string, data []byte) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		require.NoError(t, err)
		_, err = w.Write(data)
		require.NoError(t, err)
	}
	var storages [][]byte
	for i, s := range state {
		p.text(prefix + s.Name)
		p.tensor(class, fmt.Sprint(i), s.Shape)
		var data []byte
		for _, v := range s.Data {
			data = binary.LittleEndian.AppendUint16(data, half(v))
		}
		storages = append(storages, data)
	}
	p.WriteString("u")
	p.text("optimizer")
	p.WriteString("}(")
	p.text("state")
	p.WriteString("}(K\x00}(")
	p.text("step")
	p.int(17)
	p.text("exp_avg")
	p.tensor("FloatStorage", fmt.Sprint(len(state)), []int{2})
	p.WriteString("uu")
	p.text("lr")
	p.WriteByte('G')
	p.Write(binary.BigEndian.AppendUint64(nil, math.Float64bits(1e-3)))
	p.WriteString("uu.")
	store("archive/data.pkl", p.Bytes())
	for i, data := range append(storages, make([]byte, 8)) {
		store(fmt.Sprintf("archive/data/%d", i), data)
	}
	store("archive/version", []byte("3\n"))
	require.NoError(t, z.Close())
	return b.Bytes()
}

// toHalf rounds a normal number to IEEE's half precision.
func toHalf(v float32) uint16 {
	u := math.Float32bits(v)
	sign, e := uint16(u>>16&0x8000), int(u>>23&0xff)-127+15
	switch {
	case v == 0 || e < -10:
		return sign
	case e <= 0: // subnormal
		return sign | uint16(math.RoundToEven(math.Abs(float64(v))*(1<<24)))
	}
	m := u & 0x7fffff
	h := uint32(e)<<10 | m>>13
	if rest := m & 0x1fff; rest > 0x1000 || rest == 0x1000 && h&1 == 1 {
		h++
	}
	return sign | uint16(h)
}

// fromHalf is what half precision stands for.
func fromHalf(h uint16) float32 {
	m, e := float64(h&0x3ff), int(h>>10&31)
	v := math.Ldexp(m, -24)
	if e > 0 {
		v = math.Ldexp(1024+m, e-25)
	}
	if h>>15 == 1 {
		v = -v
	}
	return float32(v)
}

// A checkpoint of a wrapped model in half precision or bfloat16, beside an epoch and an optimizer, is the model whose
// parameters are so rounded, of every kind that the authors' code has.
func TestHalfCheckpoint(t *testing.T) {
	image := cnp.Default(cnp.EquivCNPImage, "T(2)", 1)
	image.Channels, image.Blocks = []int{8}, 1
	curve := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	curve.CoordinateFeature, curve.Readout = true, cnp.ReadoutTargets
	curve.Placement, curve.FixedStep, curve.Window = cnp.PlacementBatch, false, ""
	for name, c := range map[string]cnp.Config{"image": image, "curve": curve, "convcnp": cnp.Default(cnp.ConvCNPCurve, "", 1),
		"cnp": cnp.Default(cnp.CNPCurve, "", 1)} {
		model, err := cnp.New[float32](c, 4)
		require.NoError(t, err)
		state := model.State()
		for _, p := range state {
			for i := range p.Data {
				p.Data[i] += 1e-3 * float32(i%7) // no statistic or bias is a round number
			}
		}
		for class, round := range map[string]struct {
			to   func(float32) uint16
			back func(uint16) float32
		}{
			"HalfStorage": {toHalf, fromHalf},
			"BFloat16Storage": {func(v float32) uint16 { return uint16(math.Float32bits(v) >> 16) },
				func(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }},
		} {
			for _, prefix := range []string{"", "module.", "model."} {
				path := filepath.Join(t.TempDir(), "checkpoint.pth")
				require.NoError(t, os.WriteFile(path, checkpoint(t, state, prefix, class, round.to), 0o600))
				got, err := weights.Load[float32](path, weights.Options{Group: c.Group})
				require.NoError(t, err, "%s %s %q", name, class, prefix)
				require.Equal(t, c.Architecture, got.Config().Architecture)
				loaded := map[string][]float32{}
				for _, p := range got.State() {
					loaded[p.Name] = p.Data
				}
				for _, p := range state {
					want := make([]float32, len(p.Data))
					for i, v := range p.Data {
						want[i] = round.back(round.to(v))
					}
					require.Equal(t, want, loaded[p.Name], "%s %s %q: %s", name, class, prefix, p.Name)
				}
			}
		}
	}
}
