package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// keyVersion is the key of a model file's metadata that names its version; without it is "1".
const keyVersion = "version"

// openModel opens the model of a source. Where its file does not say its group, the words of name and path may.
func openModel(ctx context.Context, src Source, plans string) (*predict.Model, error) {
	opt := predict.OpenOptions{Group: src.Options.Group, Alpha: src.Options.Alpha, PointsPerUnit: src.Options.PointsPerUnit, Plans: plans}
	for _, name := range []string{src.Name, src.Path} {
		opt.Groups = append(opt.Groups, groupInName(name))
	}
	return predict.Open(ctx, opt, src.Path)
}

// loadModel reads a model.
func loadModel(ctx context.Context, src Source, plans string) (*model, error) {
	opened, err := openModel(ctx, src, plans)
	if err != nil {
		return nil, err
	}
	built, metadata := opened.Model, opened.Metadata
	m := &model{stats: &stats{}, digest: digestOf(built), name: src.Name, path: src.Path, version: "1", limit: cnp.MemoryLimit(),
		cfg: built.Config(), note: metadata[pretrained.KeyTasks], unsuited: metadata[pretrained.KeyBFloat16]}
	if predict.IsUniversal(built) {
		m.note = "nothing: each task is interpolated on its own, in any units"
	}
	if v := metadata[keyVersion]; v != "" {
		m.version = v
	}
	if m.likelihood, err = predict.LikelihoodOf(built); err != nil {
		return nil, fmt.Errorf("%s: %w", src.Path, err)
	}
	m.offered = predict.Outputs(m.likelihood)
	for _, p := range built.State() {
		m.bytes += 3 * 4 * int64(len(p.Data)) // as they are, folded, and packed
	}
	m.completer, _ = built.(cnp.Completer[float32])
	m.regressor, _ = built.(cnp.Regressor[float32])
	switch {
	case m.completer != nil:
		m.merge = true
		if m.cfg.Architecture == cnp.EquivCNPImage { // of others nothing can be computed in advance
			m.planned = built
		}
		channels := int64(m.cfg.DimY)
		m.inputs = []tensorInfo{{"image", "FP32", []int64{-1, channels, -1, -1}}, {"mask", "BOOL", []int64{-1, 1, -1, -1}}}
	case m.regressor != nil:
		m.merge = m.cfg.PointsPerUnit == 0 || m.cfg.Placement == cnp.PlacementContext
		dx, dy := int64(m.cfg.DimX), int64(m.cfg.DimY)
		m.inputs = []tensorInfo{{"x_context", "FP64", []int64{-1, -1, dx}}, {"y_context", "FP32", []int64{-1, -1, dy}},
			{"x_target", "FP64", []int64{-1, -1, dx}}, {"context_mask", "BOOL", []int64{-1, -1}}, {"target_mask", "BOOL", []int64{-1, -1}}}
		if da := int64(len(m.cfg.Auxiliary)); da > 0 {
			m.inputs = append(m.inputs, tensorInfo{"aux_context", "FP32", []int64{-1, -1, da}},
				tensorInfo{"aux_target", "FP32", []int64{-1, -1,
					da}})
		}
		if _, interpolates := m.regressor.(*krige.Regressor); interpolates {
			for _, name := range columnTensors { // of as many columns as a request has
				m.inputs = append(m.inputs, tensorInfo{name, "FP32", []int64{-1, -1, -1}})
			}
		}
		if ds := int64(len(m.cfg.Static)); ds > 0 {
			m.inputs = append(m.inputs, tensorInfo{"x_static", "FP64", []int64{-1, -1, dx}},
				tensorInfo{"y_static", "FP32", []int64{-1, -1, ds}})
		}
		if m.merge && m.cfg.PointsPerUnit > 0 {
			// without one the model predicts
			if m.curve, err = built.Plan(ctx, cnp.Scattered(), cnp.PlanOptions{}); err != nil && !errors.Is(err, cnp.ErrNoPlan) {
				return nil, fmt.Errorf("%s: %w", src.Path, err)
			}
		}
	default:
		return nil, fmt.Errorf("%s: a %s model predicts nothing", src.Path, m.cfg.Architecture)
	}
	m.offer()
	return m, nil
}

// digestOf is a digest of a model's configuration and parameters: two models have the same one if they predict the same, wherever they
// were read from.
func digestOf(m cnp.Model[float32]) string {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode(m.Config()) // hashes do not fail, and a valid configuration has no NaN
	for _, p := range m.State() {
		fmt.Fprintf(h, "%s %d\n", p.Name, len(p.Data))
		h.Write(safetensors.Float32Bytes(p.Data))
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// groupInName returns the first word of a name that names a group, or nothing.
func groupInName(name string) string {
	for _, w := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if g, err := group.Parse(w, 0); err == nil {
			return g.Name()
		}
	}
	return ""
}
