package recipe

import (
	"fmt"
	"math"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/layers"
)

// startFrom gives a model the parameters of another one. If the other one has fewer residual blocks on each level of
// its lattice, the new blocks add nothing at first, so that the model predicts what the other one does. If its lattice has another step,
// the encoder's length grows with the step: the model is the other one for places that are so many times as far apart.
func startFrom(model, other cnp.Model[float32]) error {
	c := model.Config()
	from, to, err := startJoint(&c, other.State(), model.State())
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
			return fmt.Errorf("it has no tensor %s, which this model has", p.Name)
		}
		if ok && len(from[i].Data) != len(p.Data) {
			return fmt.Errorf("tensor %s has shape %v, this model's %v", p.Name, from[i].Shape, p.Shape)
		}
	}
	for _, p := range from {
		if !needed[p.Name] {
			return fmt.Errorf("it has a tensor %s, which this model has not", p.Name)
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

// startJoint starts the outputs of a joint distribution from those of independent normals: the network and the means
// are taken over, and the numbers of each value begin with its mean. It returns the parameters that are left.
func startJoint(c *cnp.Config, from, to []layers.Param[float32]) (_, _ []layers.Param[float32], err error) {
	l, err := cnp.ParseLikelihood(c)
	if err != nil {
		return nil, nil, err
	}
	_, joint := l.(cnp.JointLikelihood)
	n := len(from) - 4
	if !joint || n < 0 || n+2 > len(to) || from[n].Name != "mean_linear.weight" || to[n].Name != "raw_linear.weight" {
		return from, to, nil
	}
	mean, raw := from[n:n+2], to[n:n+2]
	values := len(mean[1].Data)
	for k, p := range raw {
		row := len(p.Data) / len(raw[1].Data) // of one number
		for d := range values {
			at := d * (len(raw[1].Data) / values) * row
			if k == 0 && len(mean[0].Data) != values*row {
				return nil, nil, fmt.Errorf("tensor %s has shape %v, for features of another width than this model's",
					mean[0].Name, mean[0].Shape)
			}
			copy(p.Data[at:at+row], mean[k].Data[d*row:])
		}
	}
	return from[:n], to[:n], nil
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
