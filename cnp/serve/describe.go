package serve

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
)

// extensions are those of the protocol that the server has.
var extensions = []string{"binary_tensor_data", "model_configuration", "model_repository(index)", "statistics"}

func (s *Server) serverMetadata(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"name": "equivcnp", "version": s.opt.Version, "extensions": extensions})
}

// withModel answers for a model, or that there is none.
func (s *Server) withModel(f func(http.ResponseWriter, *model)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		m, err := s.find(r.PathValue("model"), r.PathValue("version"))
		if err != nil {
			writeError(w, asFailure(err))
			return
		}
		f(w, m)
	}
}

func (s *Server) modelReady(w http.ResponseWriter, r *http.Request) {
	m, err := s.find(r.PathValue("model"), r.PathValue("version"))
	if err != nil {
		writeError(w, asFailure(err))
		return
	}
	status := http.StatusOK
	if !s.ready() {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, map[string]any{"name": m.name, "ready": s.ready()})
}

// modelMetadata is a model in the protocol.
type modelMetadata struct {
	Name       string            `json:"name"`
	Versions   []string          `json:"versions"`
	Platform   string            `json:"platform"`
	Inputs     []tensorInfo      `json:"inputs"`
	Outputs    []tensorInfo      `json:"outputs"`
	Properties map[string]string `json:"properties"`
}

// platform is what a model needs, in the protocol's way of project_format.
const platform = "equivcnp_safetensors"

func metadataOf(m *model) modelMetadata {
	return modelMetadata{m.name, []string{m.version}, platform, m.inputs, m.outputs, propertiesOf(m)}
}

// propertiesOf are what identifies a model beside its name and version.
func propertiesOf(m *model) map[string]string {
	p := map[string]string{"digest": m.digest, "architecture": string(m.cfg.Architecture), "group": m.cfg.Group}
	if m.note != "" {
		p["trained_on"] = m.note
	}
	p["parameters"] = strings.Join(m.parameters(), ", ")
	maps.DeleteFunc(p, func(_, v string) bool { return v == "" })
	return p
}

// tritonConfig is a model's configuration with the names that Triton has for it. Tensors have all of their axes: max_batch_size is 0.
type tritonConfig struct {
	Name       string                     `json:"name"`
	Platform   string                     `json:"platform"`
	Backend    string                     `json:"backend"`
	MaxBatch   int                        `json:"max_batch_size"`
	Input      []tritonTensor             `json:"input"`
	Output     []tritonTensor             `json:"output"`
	Parameters map[string]tritonParameter `json:"parameters"`
}

type tritonTensor struct {
	Name string  `json:"name"`
	Type string  `json:"data_type"`
	Dims []int64 `json:"dims"`
}

type tritonParameter struct {
	Value string `json:"string_value"`
}

// configOf is a model's configuration. Its parameters hold the model's own one, as JSON, and what identifies it.
func configOf(m *model) tritonConfig {
	tensors := func(list []tensorInfo) (out []tritonTensor) {
		for _, t := range list {
			out = append(out, tritonTensor{t.Name, "TYPE_" + t.Datatype, t.Shape})
		}
		return out
	}
	c := tritonConfig{Name: m.name, Platform: platform, Backend: "equivcnp", Input: tensors(m.inputs), Output: tensors(m.outputs),
		Parameters: map[string]tritonParameter{}}
	for k, v := range propertiesOf(m) {
		c.Parameters[k] = tritonParameter{v}
	}
	if b, err := json.Marshal(m.cfg); err == nil { // a valid configuration has no NaN
		c.Parameters["config"] = tritonParameter{string(b)}
	}
	return c
}

// describeAll lists all models with all that is known of them, in one answer: the page needs it, and asks once however many there are.
func (s *Server) describeAll(w http.ResponseWriter, _ *http.Request) {
	type described struct {
		modelMetadata
		Config    cnp.Config `json:"config"`
		TrainedOn string     `json:"trained_on,omitempty"`
	}
	out := []described{}
	for _, m := range s.list() {
		out = append(out, described{metadataOf(m), m.cfg, m.note})
	}
	writeJSON(w, http.StatusOK, map[string]any{"models": out})
}

// indexEntry is a model in the repository's index.
type indexEntry struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	State   string `json:"state"`
	Reason  string `json:"reason"`
}

// entries are the models by name and then, unless only those that are ready are asked for, the files that could not be read. Names of
// files may be any bytes, and gRPC takes UTF-8 alone.
func (s *Server) entries(ready bool) []indexEntry {
	failures, out := *s.failures.Load(), []indexEntry{}
	for _, m := range s.list() {
		out = append(out, indexEntry{m.name, m.version, "READY", strings.ToValidUTF8(failures[m.name], "?")})
	}
	for _, name := range slices.Sorted(maps.Keys(failures)) {
		if !ready && (*s.models.Load())[name] == nil {
			out = append(out, indexEntry{strings.ToValidUTF8(name, "?"), "", "UNAVAILABLE", strings.ToValidUTF8(failures[name], "?")})
		}
	}
	return out
}

// index lists the models, and the files that could not be read. Triton's clients post, and may ask for what is ready alone.
func (s *Server) index(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Ready bool `json:"ready"`
	}
	if r.Method == http.MethodPost {
		b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, smallMessage))
		if err != nil {
			writeError(w, asFailure(unreadable(err)))
			return
		}
		if len(bytes.TrimSpace(b)) > 0 {
			err = json.Unmarshal(b, &ask)
		}
		if err != nil {
			writeError(w, notJSON(err))
			return
		}
	}
	writeJSON(w, http.StatusOK, s.entries(ask.Ready))
}
