package weights

import (
	"fmt"
	"math"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// Save writes a model as safetensors, float32 models as F32 and float64 models as F64, with its configuration and the
// digest of its group in the metadata. extra is added to the metadata; its keys must not begin with "equivcnp.". The
// file appears whole or not at all. Load gives the same model back, bit by bit.
//
// A model with values that are not finite is refused with an error that wraps ErrTensor, as Load would refuse the file.
func Save[T cnp.Float](path string, m cnp.Model[T], extra map[string]string) error {
	f, err := encode(m, extra)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return safetensors.Write(path, f)
}

func encode[T cnp.Float](m cnp.Model[T], extra map[string]string) (*safetensors.File, error) {
	if m == nil {
		return nil, fmt.Errorf("%w: no model", cnp.ErrConfig)
	}
	text, err := encodeConfig(m.Config())
	if err != nil {
		return nil, err
	}
	f := &safetensors.File{Metadata: map[string]string{metaFormat: versionOf(m.Config()), metaConfig: text}}
	if g := cnp.GroupOf(m); g != nil {
		f.Metadata[metaGroup] = group.Digest(g)
	}
	for k, v := range extra {
		if strings.HasPrefix(k, metaPrefix) {
			return nil, fmt.Errorf("the metadata key %q is this package's own", k)
		}
		f.Metadata[k] = v
	}
	var faults faultList
	for _, p := range m.State() {
		for i, x := range p.Data {
			if y := float64(x); math.IsNaN(y) || math.IsInf(y, 0) {
				faults.add("not finite", "%s%s = %g", p.Name, position(i, p.Shape), y)
				break
			}
		}
		switch data := any(p.Data).(type) {
		case []float32:
			f.Tensors = append(f.Tensors, safetensors.FromFloat32s(p.Name, p.Shape, data))
		case []float64:
			f.Tensors = append(f.Tensors, safetensors.FromFloat64s(p.Name, p.Shape, data))
		default:
			panic(fmt.Sprintf("weights: Save: no format for %T", data))
		}
	}
	return f, faults.err()
}
