package eval

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// Calibration says what Calibrate may fit.
type Calibration struct {
	// Normals of every mixture; one normal is a factor for all deviations.
	Normals int
	// Mixtures, each for a range of deviations; where the model is sure it may be wrong in another way than where it is not.
	Mixtures int
}

// Calibrate measures by how much the true values of the first tasks of a source differ from a model's predictions, in
// its own deviations, and returns the model with deviations that are as wide: the most likely mixtures of normals
// (cnp.Calibrated). The means stay as they are. The tasks should be such as the model was trained on, and not those
// themselves. predict is the model's, in units of the tasks.
func Calibrate[T cnp.Float](ctx context.Context, m cnp.Model[T], predict Predictor[T], src task.Source[T], opt Options,
	c Calibration) (cnp.Model[T], error) {
	if c.Normals < 1 || c.Mixtures < 1 {
		return nil, fmt.Errorf("eval: calibration by %d mixtures of %d normals, need at least 1 of each", c.Mixtures, c.Normals)
	}
	if _, err := cnp.Calibrated(m, cnp.Mixture{Share: []float64{1}, Factor: []float64{1}}); err != nil {
		return nil, err // before the work
	}
	var all []deviation
	err := Tasks(ctx, src, opt, func(b *task.Tasks[T], n int) error {
		p, err := predict.checked(ctx, b)
		if err != nil {
			return err
		}
		std, counts := p.Deviations(), b.Counts()
		for i := range n * (len(b.Y) / Count(b)) {
			s := float64(std[i])
			z := math.Abs(float64(b.Y[i])-float64(p.Mean[i])) / s
			if (counts == nil || counts[i]) && s > 0 && z-z == 0 {
				all = append(all, deviation{z, s})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(all) < leastErrors {
		return nil, fmt.Errorf("eval: calibration with %d values, need at least %d", len(all), leastErrors)
	}
	return cnp.Calibrated(m, fitScales(all, c)...)
}

// deviation is the size of an error, in deviations, and the deviation.
type deviation struct{ z, std float64 }

const (
	leastErrors = 100
	mostErrors  = 1 << 17  // that are looked at, evenly spread among all of them in order of size
	leastFactor = 1.0 / 64 // errors of exactly 0, as of saturated values, would make a normal as narrow as you please
	mostFactor  = 1 << 12
	leastShare  = 1e-5 // of a normal; one of less goes
)

// fitScales returns the most likely mixtures of normals around 0 for errors of such sizes, by expectation and
// maximisation: no step makes them less likely.
func fitScales(all []deviation, c Calibration) []cnp.Mixture {
	slices.SortFunc(all, func(a, b deviation) int { return cmp.Or(cmp.Compare(a.z, b.z), cmp.Compare(a.std, b.std)) })
	if step := float64(len(all)) / mostErrors; step > 1 {
		for i := range mostErrors {
			all[i] = all[int((float64(i)+0.5)*step)]
		}
		all = all[:mostErrors]
	}
	nodes := nodesOf(all, c.Mixtures)
	limit := func(a float64) float64 { return max(leastFactor, min(a, mostFactor)) }
	for n := range nodes {
		for k := range c.Normals { // each begins where it has its share of the sizes
			q := (float64(k) + 0.5) / float64(c.Normals)
			nodes[n].Share = append(nodes[n].Share, 1/float64(c.Normals))
			nodes[n].Factor = append(nodes[n].Factor, limit(all[int(q*float64(len(all)))].z/(math.Sqrt2*math.Erfinv(q))))
		}
	}
	// place is where a value is among the nodes.
	type place struct {
		node   int
		weight float64
	}
	places := make([]place, len(all))
	for i, v := range all {
		places[i].node, places[i].weight = cnp.NodeOf(nodes, v.std)
	}
	type normal struct{ height, narrow, n, squares, p float64 }
	normals := make([][]normal, len(nodes))
	was := math.Inf(-1)
	for range 1000 {
		for n, mix := range nodes {
			normals[n] = make([]normal, len(mix.Share))
			for k, a := range mix.Factor {
				normals[n][k] = normal{height: mix.Share[k] / a, narrow: 0.5 / (a * a)}
			}
		}
		sum := 0.0
		for i, v := range all {
			at := places[i]
			near, total := normals[at.node:min(at.node+2, len(nodes))], math.SmallestNonzeroFloat64
			weight := 1 - at.weight
			for n := range near {
				for k := range near[n] {
					one := &near[n][k]
					one.p = weight * one.height * math.Exp(-one.narrow*v.z*v.z)
					total += one.p
				}
				weight = at.weight
			}
			sum += math.Log(total)
			for n := range near {
				for k := range near[n] {
					one := &near[n][k]
					one.n += one.p / total
					one.squares += one.p / total * v.z * v.z
				}
			}
		}
		for n := range nodes {
			mix := cnp.Mixture{At: nodes[n].At}
			total := 0.0
			for _, one := range normals[n] {
				total += one.n
			}
			for k, one := range normals[n] {
				if one.n > leastShare*total {
					mix.Share, mix.Factor = append(mix.Share, one.n/total), append(mix.Factor, limit(math.Sqrt(one.squares/one.n)))
				} else if total == 0 { // no value is near the node
					mix.Share, mix.Factor = append(mix.Share, nodes[n].Share[k]), append(mix.Factor, nodes[n].Factor[k])
				}
			}
			nodes[n] = mix
		}
		if sum /= float64(len(all)); sum-was < 1e-7 {
			break
		}
		was = sum
	}
	return nodes
}

// nodesOf returns so many deviations from small to large ones, of all but the outermost hundredths, as far apart from
// each other on a logarithmic scale; fewer where they would lie too near each other.
func nodesOf(all []deviation, n int) []cnp.Mixture {
	std := make([]float64, len(all))
	for i, v := range all {
		std[i] = math.Log(v.std)
	}
	slices.Sort(std)
	lo, hi := std[len(std)/100], std[len(std)-1-len(std)/100]
	n = max(1, min(n, 1+int((hi-lo)/0.2)))
	nodes := make([]cnp.Mixture, n)
	for i := range nodes {
		nodes[i].At = math.Exp(lo + (hi-lo)*float64(i)/float64(max(1, n-1)))
	}
	return nodes
}
