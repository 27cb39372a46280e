package serve

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// stats are what a model has answered, as Triton's extension of statistics counts.
type stats struct {
	mu                         sync.Mutex
	last                       time.Time
	inferences, executions     uint64
	success, fail, queue, work duration
	batches                    map[int]*duration // by tasks
}

// duration is a number of requests and their time.
type duration struct {
	Count uint64 `json:"count"`
	NS    uint64 `json:"ns"`
}

func (d *duration) add(t time.Duration) {
	d.Count++
	d.NS += uint64(max(0, t))
}

// answered counts a request. j is nil if none was made of it; f is nil if it was answered.
func (s *stats) answered(took time.Duration, j *job, f *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f != nil || j == nil {
		s.fail.add(took)
		return
	}
	s.last = time.Now()
	s.inferences += uint64(j.tasks)
	s.success.add(took)
	s.queue.add(j.began.Sub(j.came))
	s.work.add(j.ended.Sub(j.began))
}

// executed counts a batch.
func (s *stats) executed(tasks int, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.executions++
	if s.batches == nil {
		s.batches = map[int]*duration{}
	}
	d := s.batches[tasks]
	if d == nil {
		if len(s.batches) >= maxWorks {
			return
		}
		d = &duration{}
		s.batches[tasks] = d
	}
	d.add(took)
}

// modelStats is a model in the extension. Reading a request is a part of its time, and no phase of its own; so is writing the answer.
type modelStats struct {
	Name       string       `json:"name"`
	Version    string       `json:"version"`
	Last       int64        `json:"last_inference"` // milliseconds since 1970
	Inferences uint64       `json:"inference_count"`
	Executions uint64       `json:"execution_count"`
	Requests   requestStats `json:"inference_stats"`
	Batches    []batchStats `json:"batch_stats"`
}

type requestStats struct {
	Success duration `json:"success"`
	Fail    duration `json:"fail"`
	Queue   duration `json:"queue"`
	Input   duration `json:"compute_input"`
	Infer   duration `json:"compute_infer"`
	Output  duration `json:"compute_output"`
}

type batchStats struct {
	Size   int      `json:"batch_size"`
	Input  duration `json:"compute_input"`
	Infer  duration `json:"compute_infer"`
	Output duration `json:"compute_output"`
}

func (s *stats) report(m *model) modelStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	none := duration{Count: s.work.Count}
	out := modelStats{Name: m.name, Version: m.version, Inferences: s.inferences, Executions: s.executions, Batches: []batchStats{},
		Requests: requestStats{Success: s.success, Fail: s.fail, Queue: s.queue, Input: none, Infer: s.work, Output: none}}
	if !s.last.IsZero() {
		out.Last = s.last.UnixMilli()
	}
	for _, size := range slices.Sorted(maps.Keys(s.batches)) {
		d := *s.batches[size]
		out.Batches = append(out.Batches, batchStats{size, duration{Count: d.Count}, d, duration{Count: d.Count}})
	}
	return out
}
