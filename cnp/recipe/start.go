package recipe

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/likelihood"
	"github.com/equivcnp/equivcnp/layers"
)

// startFrom gives a model the parameters of another one. If the other one has fewer residual blocks on each level of
// its lattice, the new blocks add nothing at first, so that the model predicts what the other one does. If its lattice has another step,
// the encoder's length grows with the step: the model is the other one for places that are so many times as far apart.
func startFrom(model, other cnp.Model[float32]) error {
	c := model.Config()
	o := other.Config()
	begins, err := asNormals(&c, &o, other.State())
	if err != nil {
		return err
	}
	from, to, err := startOutputs(&c, begins, model.State())
	if err != nil {
		return err
	}
	place := map[string]int{} // of a tensor's name in from
	for i, p := range from {
		place[p.Name] = i
	}
	needed := map[string]bool{}
	for _, p := range to {
		needed[p.Name] = true
		i, ok := place[p.Name]
		if !ok && !strings.Contains(p.Name, ".block.") {
			return fmt.Errorf("it has no tensor %s, which this model has%s", p.Name, otherwise(&c, &o))
		}
		if ok && len(from[i].Data) != len(p.Data) {
			return fmt.Errorf("tensor %s has shape %v, this model's %v%s", p.Name, from[i].Shape, p.Shape, otherwise(&c, &o))
		}
	}
	for _, p := range from {
		if !needed[p.Name] {
			return fmt.Errorf("it has a tensor %s, which this model has not%s", p.Name, otherwise(&c, &o))
		}
	}
	for _, p := range to {
		if i, ok := place[p.Name]; ok {
			copy(p.Data, from[i].Data)
			if strings.HasSuffix(p.Name, encoderLength) {
				stretch(p.Data, other.Config(), c)
			}
		} else if strings.Contains(p.Name, ".conv.1.linear.") { // the last layer of a block, which scales what the block adds
			clear(p.Data)
		}
	}
	return nil
}

// otherwise says in what another model is not like one whose tensors it should have, "" where names and shapes alone tell.
func otherwise(c, other *cnp.Config) string {
	count := func(n int) string { return fmt.Sprint(n) }
	for _, of := range []struct{ what, mine, its string }{{"architecture", string(c.Architecture), string(other.Architecture)},
		{"number of levels", count(c.Levels), count(other.Levels)},
		{"likelihood", cmp.Or(c.Likelihood, likelihood.NormalName), cmp.Or(other.Likelihood, likelihood.NormalName)},
		{"number of lifts", count(c.Lifts), count(other.Lifts)}, {"group", c.Group, other.Group}} {
		if of.mine != of.its {
			return fmt.Sprintf(": its %s is %s, this model's %s", of.what, of.its, of.mine)
		}
	}
	return ""
}

// encoderLength ends the name of the encoder's raw length, in units of the coordinates.
const encoderLength = ".raw_lengthscale"

// stretch multiplies raw lengths of an encoder, in place, by the ratio of the steps of two lattices.
func stretch(raw []float32, from, to cnp.Config) {
	if from.Levels == 0 || to.Levels == 0 || from.PointsPerUnit == to.PointsPerUnit {
		return
	}
	ratio := from.PointsPerUnit / to.PointsPerUnit
	for i, r := range raw {
		length := math.Log1p(math.Exp(float64(r))) * ratio
		raw[i] = float32(math.Log(math.Expm1(length)))
	}
}

// startOutputs starts the outputs of a joint distribution, or of a mixture of normals, from those of independent normals. The network is
// taken over. Of a joint distribution the numbers of each value begin with its mean; of a mixture, all normals begin with
// its mean and its deviation, next to which random numbers tell them apart. It returns the parameters that are left.
func startOutputs(c *cnp.Config, from, to []layers.Param[float32]) (_, _ []layers.Param[float32], err error) {
	l, err := cnp.ParseLikelihood(c)
	if err != nil {
		return nil, nil, err
	}
	means, spreads := []int(nil), []int(nil)
	if m, ok := l.(likelihood.Normals); ok {
		means, spreads = m.Means(), m.Spreads()
	} else if _, joint := l.(cnp.JointLikelihood); joint {
		means = []int{0}
	}
	n := len(from) - 4
	if means == nil || n < 0 || n+2 > len(to) || from[n].Name != "mean_linear.weight" || to[n].Name != "raw_linear.weight" {
		return from, to, nil
	}
	raw, values := to[n:n+2], len(from[n+1].Data)
	if values != c.DimY {
		return nil, nil, fmt.Errorf("it has %d outputs, this model %d", values, c.DimY)
	}
	for i, numbers := range [][]int{means, spreads} {
		for k, p := range raw {
			row := len(p.Data) / len(raw[1].Data) // of one number
			one := from[n+2*i+k]
			if len(one.Data) != values*row {
				return nil, nil, fmt.Errorf("tensor %s has shape %v, for features of another width than this model's", one.Name, one.Shape)
			}
			for d := range values {
				for _, number := range numbers {
					at := (d*len(raw[1].Data)/values + number) * row
					begin(p.Data[at:at+row], one.Data[d*row:], len(numbers) > 1)
				}
			}
		}
	}
	return from[:n], to[:n], nil
}

// asNormals returns the parameters of a model whose values have one mean and one spread among other numbers as those of independent
// normals, if the model that starts from them has another distribution.
func asNormals(c, other *cnp.Config, from []layers.Param[float32]) ([]layers.Param[float32], error) {
	n := len(from) - 2
	if n < 0 || from[n].Name != "raw_linear.weight" || c.Likelihood == other.Likelihood {
		return from, nil
	}
	l, err := cnp.ParseLikelihood(other)
	if err != nil {
		return nil, err
	}
	m, ok := l.(likelihood.Normals)
	if !ok || len(m.Means()) != 1 || len(m.Spreads()) != 1 {
		return from, nil
	}
	out := slices.Clone(from[:n])
	for i, number := range []int{m.Means()[0], m.Spreads()[0]} {
		for _, p := range from[n:] {
			each := len(from[n+1].Data) / other.DimY // numbers of a value
			row := len(p.Data) / len(from[n+1].Data)
			part := layers.Param[float32]{Name: []string{"mean", "spread"}[i] + strings.TrimPrefix(p.Name, "raw")}
			for d := range other.DimY {
				part.Data = append(part.Data, p.Data[(d*each+number)*row:(d*each+number+1)*row]...)
			}
			part.Shape = append([]int{other.DimY}, p.Shape[1:]...)
			out = append(out, part)
		}
	}
	return out, nil
}

// begin sets the parameters of a number to those of another model's, and leaves a tenth of the random ones where several begin so.
func begin(p, from []float32, several bool) {
	keep := float32(0)
	if several {
		keep = 0.1
	}
	for i, v := range p {
		p[i] = from[i] + keep*v
	}
}

// finished is the model as its file keeps it: it knows what it was trained on, and its standard deviations are at least noise. Below the
// noise that the true values were taken to have to the end, no deviation was ever learned, and where data lie differently from those of
// training one may come out arbitrarily small. A CNP's own floor is part of its function, and stays.
func finished(m cnp.Model[float32], noise float64, trained *cnp.Trained) (cnp.Model[float32], error) {
	c, floor := m.Config(), noise
	if c.Output == cnp.OutputVariance {
		floor *= noise
	}
	if c.Architecture != cnp.CNPCurve && c.Architecture != cnp.CNPImage {
		c.Floor = max(c.Floor, floor)
	}
	if trained != nil {
		known := *trained
		known.Noise, c.Trained = noise, &known
	}
	out, err := cnp.New[float32](c, 0)
	if err != nil {
		return nil, err
	}
	from := m.State()
	for i, p := range out.State() {
		copy(p.Data, from[i].Data)
	}
	return out, nil
}
