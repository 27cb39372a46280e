package train_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/train"
	"github.com/equivcnp/equivcnp/layers"
)

// waves draws tasks: sine curves of random phase, a few points of each observed.
func waves(rng *rand.Rand, tasks, nc, nt int) (*cnp.Batch[float32], []float32) {
	b := &cnp.Batch[float32]{B: tasks, Nc: nc, Nt: nt}
	var y []float32
	for range tasks {
		phase := 2 * math.Pi * rng.Float64()
		for range nc {
			x := 4*rng.Float64() - 2
			b.XContext, b.YContext = append(b.XContext, x), append(b.YContext, float32(math.Sin(2*x+phase)))
		}
		for range nt {
			x := 4*rng.Float64() - 2
			b.XTarget, y = append(b.XTarget, x), append(y, float32(math.Sin(2*x+phase)))
		}
	}
	return b, y
}

// A model is trained by differentiating its loss on batches of tasks and letting Adam step along the gradients.
func Example() {
	c := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	c.Channels, c.PointsPerUnit, c.Fill = []int{8, 8, 8}, 12, 0.2
	m, err := cnp.New[float32](c, 1)
	if err != nil {
		log.Fatal(err)
	}
	model := m.(cnp.TrainableRegressor[float32])
	adam, err := train.NewAdam(train.DefaultAdam(1e-2), model.State())
	if err != nil {
		log.Fatal(err)
	}
	grads := layers.NewGrads(model.State())
	rng := rand.New(rand.NewPCG(1, 1))
	var mean [2]float64 // of the first ten steps and of the last ten
	for step := range 160 {
		tasks, y := waves(rng, 4, 12, 12)
		pass, err := model.Differentiate(context.Background(), tasks, layers.Train)
		if err != nil {
			log.Fatal(err)
		}
		grads.Zero()
		loss, err := pass.Gradient(y, grads)
		if err != nil {
			log.Fatal(err)
		}
		if err := adam.Step(grads); err != nil {
			log.Fatal(err)
		}
		if step < 10 || step >= 150 {
			mean[step/80] += loss / 12 / 10
		}
	}
	fmt.Println("the loss per target falls:", mean[1] < mean[0]-0.3)
	// Output: the loss per target falls: true
}

// waveSource is a source of one's own: batch step of a seed, and nothing else, decides what is drawn.
type waveSource struct{}

func (waveSource) Batch(n int, seed uint64, step int) (*task.Tasks[float32], error) {
	b, y := waves(rand.New(rand.NewPCG(seed, uint64(step))), n, 12, 12)
	return &task.Tasks[float32]{Curves: b, Y: y}, nil
}

func (waveSource) String() string { return "sine curves of frequency 2" }

// A run trains on any source of tasks, scores the model on tasks that it never saw, and, with a checkpoint, goes on after an interruption.
func ExampleNewRun() {
	c := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	c.Channels, c.PointsPerUnit, c.Fill = []int{8, 8, 8}, 12, 0.2
	model, err := cnp.New[float32](c, 1)
	if err != nil {
		log.Fatal(err)
	}
	cfg := train.DefaultConfig(100)
	cfg.Batch, cfg.Adam.Rate, cfg.EvalEvery, cfg.EvalTasks = 4, 1e-2, 50, 16
	run, err := train.NewRun(model, waveSource{}, cfg, train.Options[float32]{})
	if err != nil {
		log.Fatal(err)
	}
	before, err := run.Score(context.Background(), model)
	if err != nil {
		log.Fatal(err)
	}
	if err := run.Train(context.Background()); err != nil {
		log.Fatal(err)
	}
	best, _ := run.Best()
	fmt.Println(run.Step(), "steps; better than before:", best.LogLikelihood > before.LogLikelihood+0.3)
	// Output: 100 steps; better than before: true
}
