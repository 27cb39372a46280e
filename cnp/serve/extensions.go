package serve

import (
	"context"
	"net/http"

	"connectrpc.com/connect"

	"github.com/equivcnp/equivcnp/cnp/serve/inference"
)

// extensionRoutes adds those of Triton's extensions that the server announces, over gRPC.
func (s *Server) extensionRoutes(mux *http.ServeMux, options []connect.HandlerOption) {
	unary(mux, "ModelConfig", options, func(_ context.Context, r *inference.ModelConfigRequest) (*inference.ModelConfigResponse, error) {
		m, err := s.find(r.Name, r.Version)
		if err != nil {
			return nil, err
		}
		c := configOf(m)
		out := &inference.ModelConfig{Name: c.Name, Platform: c.Platform, Backend: c.Backend, MaxBatchSize: int32(c.MaxBatch),
			Parameters: map[string]*inference.ModelParameter{}}
		for _, t := range c.Input {
			out.Input = append(out.Input, &inference.ModelInput{Name: t.Name,
				DataType: inference.DataType(inference.DataType_value[t.Type]),
				Dims:     t.Dims})
		}
		for _, t := range c.Output {
			out.Output = append(out.Output, &inference.ModelOutput{Name: t.Name,
				DataType: inference.DataType(inference.DataType_value[t.Type]),
				Dims:     t.Dims})
		}
		for k, v := range c.Parameters {
			out.Parameters[k] = &inference.ModelParameter{StringValue: v.Value}
		}
		return &inference.ModelConfigResponse{Config: out}, nil
	})
	unary(mux, "ModelStatistics", options, func(_ context.Context, r *inference.ModelStatisticsRequest) (*inference.ModelStatisticsResponse,
		error) {
		models := s.list()
		if r.Name != "" {
			m, err := s.find(r.Name, r.Version)
			if err != nil {
				return nil, err
			}
			models = []*model{m}
		}
		out := &inference.ModelStatisticsResponse{}
		for _, m := range models {
			out.ModelStats = append(out.ModelStats, statisticsOf(m.stats.report(m)))
		}
		return out, nil
	})
	unary(mux, "RepositoryIndex", options, func(_ context.Context, r *inference.RepositoryIndexRequest) (*inference.RepositoryIndexResponse,
		error) {
		out := &inference.RepositoryIndexResponse{}
		for _, e := range s.entries(r.Ready) {
			out.Models = append(out.Models, &inference.RepositoryIndexResponse_ModelIndex{Name: e.Name, Version: e.Version, State: e.State,
				Reason: e.Reason})
		}
		return out, nil
	})
}

// statisticsOf is a model's statistics as a message.
func statisticsOf(m modelStats) *inference.ModelStatistics {
	of := func(d duration) *inference.StatisticDuration {
		return &inference.StatisticDuration{Count: d.Count, Ns: d.NS}
	}
	r := m.Requests
	out := &inference.ModelStatistics{Name: m.Name, Version: m.Version, LastInference: uint64(m.Last), InferenceCount: m.Inferences,
		ExecutionCount: m.Executions,
		InferenceStats: &inference.InferStatistics{Success: of(r.Success), Fail: of(r.Fail), Queue: of(r.Queue), ComputeInput: of(r.Input),
			ComputeInfer: of(r.Infer), ComputeOutput: of(r.Output)}}
	for _, b := range m.Batches {
		out.BatchStats = append(out.BatchStats, &inference.InferBatchStatistics{BatchSize: uint64(b.Size), ComputeInput: of(b.Input),
			ComputeInfer: of(b.Infer), ComputeOutput: of(b.Output)})
	}
	return out
}
