package serve

import (
	"net/http"
)

// extensions are those of the protocol that the server has.
var extensions = []string{"binary_tensor_data", "model_configuration", "model_repository(index)"}

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
	Name     string       `json:"name"`
	Versions []string     `json:"versions"`
	Platform string       `json:"platform"`
	Inputs   []tensorInfo `json:"inputs"`
	Outputs  []tensorInfo `json:"outputs"`
}

// platform is what a model needs, in the protocol's way of project_format.
const platform = "equivcnp_safetensors"

func metadataOf(m *model) modelMetadata {
	return modelMetadata{m.name, []string{m.version}, platform, m.inputs, m.outputs}
}

// configOf is what else clients may want to know of a model.
func (s *Server) configOf(m *model) map[string]any {
	return map[string]any{"name": m.name, "platform": platform, "max_batch_size": s.opt.Batch, "input": m.inputs, "output": m.outputs,
		"parameters": m.cfg, "trained_on": m.note}
}

// index lists the models, and the files that could not be read.
func (s *Server) index(w http.ResponseWriter, _ *http.Request) {
	type entry struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
		State   string `json:"state"`
		Reason  string `json:"reason"`
	}
	failures, out := *s.failures.Load(), []entry{}
	for _, m := range s.list() {
		out = append(out, entry{m.name, m.version, "READY", failures[m.name]})
	}
	for name, reason := range failures {
		if (*s.models.Load())[name] == nil {
			out = append(out, entry{name, "", "UNAVAILABLE", reason})
		}
	}
	writeJSON(w, http.StatusOK, out)
}
