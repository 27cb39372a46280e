package serve

// output is a tensor that models answer with.
type output struct {
	name   string
	of     func(m *model) bool    // whether that model has it
	asked  func(j *job) bool      // whether a request that names no outputs gets it; nil: always
	shape  func(m *model) []int64 // in the metadata
	size   func(j *job) []int64   // in an answer
	values func(j *job) []float32 // of an answer
}

// outputs are all of them, in the order of metadata and answers.
var outputs = []output{
	{name: "mean", of: every, shape: targetShape, size: (*job).shapeOf, values: func(j *job) []float32 { return j.prediction.Mean }},
	{name: "std", of: every, shape: targetShape, size: (*job).shapeOf, values: func(j *job) []float32 { return j.prediction.Std }},
	{name: "samples", of: every, asked: func(j *job) bool { return j.alone != nil && j.alone.draw != nil },
		shape:  func(m *model) []int64 { return append([]int64{-1}, targetShape(m)...) },
		size:   func(j *job) []int64 { return append([]int64{int64(j.alone.draw.Samples)}, j.shapeOf()...) },
		values: func(j *job) []float32 { return j.alone.samples }},
	{name: "covariance", of: jointly, asked: never, shape: func(*model) []int64 { return []int64{-1, -1, -1} },
		size:   func(j *job) []int64 { return []int64{int64(j.tasks), j.perTask(), j.perTask()} },
		values: (*job).covariance},
	{name: "cov_factor", of: jointly, asked: never, shape: func(m *model) []int64 { return []int64{-1, -1, int64(m.rank)} },
		size:   func(j *job) []int64 { return []int64{int64(j.tasks), j.perTask(), int64(j.model.rank)} },
		values: func(j *job) []float32 { f, _ := j.factors(); return f }},
	{name: "cov_diag", of: jointly, asked: never, shape: func(*model) []int64 { return []int64{-1, -1} },
		size:   func(j *job) []int64 { return []int64{int64(j.tasks), j.perTask()} },
		values: func(j *job) []float32 { _, d := j.factors(); return d }},
}

func every(*model) bool     { return true }
func jointly(m *model) bool { return m.rank > 0 }
func never(*job) bool       { return false }

// targetShape is the shape of a value per target.
func targetShape(m *model) []int64 {
	if m.completer != nil {
		return []int64{-1, int64(m.cfg.DimY), -1, -1}
	}
	return []int64{-1, -1, int64(m.cfg.DimY)}
}

// answer is a tensor of a response.
type answer struct {
	name   string
	shape  []int64
	values []float32
	binary bool
}

// answers are the tensors that a request gets, in the order in which it names them.
func (j *job) answers(r *request) []answer {
	var out []answer
	add := func(o *output, binary bool) {
		out = append(out, answer{o.name, o.size(j), o.values(j), binary})
	}
	for i := range outputs {
		if o := &outputs[i]; len(r.outputs) == 0 && o.of(j.model) && (o.asked == nil || o.asked(j)) {
			add(o, r.binary)
		}
	}
	for _, w := range r.outputs {
		for i := range outputs {
			if o := &outputs[i]; o.name == w.name {
				add(o, w.binary)
			}
		}
	}
	return out
}

// answerBytes is about how much memory the answers of a job take, as float32 and on the way there.
func (j *job) answerBytes(r *request) int64 {
	n := 8 * int64(j.values)
	if a := j.alone; a != nil {
		if a.draw != nil {
			n += 4 * int64(j.values) * int64(a.draw.Samples)
		}
		if a.joint {
			per := j.perTask()
			for _, w := range r.outputs {
				switch w.name {
				case "covariance":
					n += 12 * int64(j.values) * per
				case "cov_factor":
					n += 12 * int64(j.values) * int64(j.model.rank)
				}
			}
		}
	}
	return n
}

// covariance is that of every task [B, n, n].
func (j *job) covariance() []float32 {
	var out []float32
	for t := range j.tasks {
		for _, v := range j.prediction.Task(t, j.tasks).Covariance() {
			out = append(out, float32(v))
		}
	}
	return out
}

// factors are those of every task: [B, n, rank] and [B, n].
func (j *job) factors() (factor, diag []float32) {
	for t := range j.tasks {
		f, d, _ := j.prediction.Task(t, j.tasks).Factors()
		for _, v := range f {
			factor = append(factor, float32(v))
		}
		for _, v := range d {
			diag = append(diag, float32(v))
		}
	}
	return factor, diag
}
