package serve

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// interpolating are the parameters of requests to models that interpolate without having been trained.
var interpolating = []string{"dates", "log", "no_check", "period", "positive", "robust", "units"}

// maxPeriods bounds the periods of a request: each is fitted.
const maxPeriods = 16

// interpolation is what replaces a model whose parameters, or columns of a drift, a request gives.
type interpolation struct {
	regressor  *krige.Regressor
	likelihood cnp.Likelihood
	config     cnp.Config
	plain      bool // only columns are given: requests with as many may go together
}

// parameters lists the parameters that a request to the model may have.
func (m *model) parameters() []string {
	_, interpolates := m.regressor.(*krige.Regressor)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(known[ofRequest])), func(name string) bool {
		return !interpolates && slices.Contains(interpolating, name)
	})
}

// columnTensors are the tensors of the columns of a drift, at the context and at the targets.
var columnTensors = [2]string{"aux_context", "aux_target"}

// columns returns how many columns of a drift the inputs of a request have for a model that interpolates, 0 for others, whose auxiliary
// inputs their configuration counts.
func (m *model) columns(inputs []safetensors.Tensor) (int, error) {
	if _, ok := m.regressor.(*krige.Regressor); !ok {
		return 0, nil
	}
	var of [2]*safetensors.Tensor
	for i := range inputs {
		if k := slices.Index(columnTensors[:], inputs[i].Name); k >= 0 {
			of[k] = &inputs[i]
		}
	}
	if of[0] == nil && of[1] == nil {
		return 0, nil
	}
	for k, t := range of {
		switch {
		case t == nil:
			return 0, invalid("input %q is missing: %q is there, and columns of a drift are known at the context and at the targets",
				columnTensors[k], columnTensors[1-k])
		case len(t.Shape) != 3:
			return 0, invalid("input %q: shape %v, need [B, N%c, columns]", t.Name, t.Shape, "ct"[k])
		}
	}
	switch da, at := of[0].Shape[2], of[1].Shape[2]; {
	case da != at:
		return 0, invalid("inputs %q and %q have %d and %d columns, need as many", columnTensors[0], columnTensors[1], da, at)
	case da > krige.MaxDrift:
		return 0, invalid("input %q: %d columns, need at most %d", columnTensors[0], da, krige.MaxDrift)
	default:
		return da, nil
	}
}

// interpolation returns what a request's parameters, and so many columns of a drift, make of the model, nil where they make nothing of it.
func (m *model) interpolation(p params, columns int) (*interpolation, error) {
	var given string
	for _, name := range interpolating {
		if v, ok := p[name]; ok && !idle(v) && given == "" {
			given = name
		}
	}
	if given == "" && columns == 0 {
		return nil, nil
	}
	r, ok := m.regressor.(*krige.Regressor)
	if !ok {
		return nil, invalid("parameter %q is for models that interpolate, such as universal-1: %q was trained", given, m.name)
	}
	opt := r.Options()
	logarithmic, err := p.flag("log", false)
	if err != nil {
		return nil, err
	}
	positive, err := p.flag("positive", false)
	if err != nil {
		return nil, err
	}
	switch {
	case logarithmic && positive:
		return nil, invalid(`parameters "log" and "positive": what is interpolated as a logarithm is never negative, leave one of them out`)
	case logarithmic:
		opt.Values = krige.Logarithmic
	case positive:
		opt.Values = krige.Positive
	}
	if opt.NoCheck, err = p.flag("no_check", false); err != nil {
		return nil, err
	}
	if opt.Robust, err = p.flag("robust", false); err != nil {
		return nil, err
	}
	switch units := p["units"]; units {
	case nil, "", "same":
	case "different":
		if opt.Sphere {
			return nil, invalid(`parameter "units": latitude and longitude have one unit`)
		}
		opt.DifferentUnits = true
	default:
		return nil, invalid(`parameter "units": %.40q, need "same" or "different"`, units)
	}
	if opt.Periods, err = p.periods(opt.Dim); err != nil {
		return nil, err
	}
	dates, err := p.flag("dates", false)
	switch {
	case err != nil:
		return nil, err
	case dates && opt.Dim != 1:
		return nil, invalid(`parameter "dates": seasons are of models with one input, and this one has %d`, opt.Dim)
	case dates:
		opt.Calendar = krige.CalendarDays()
	}
	opt.Dim, opt.Drift = opt.Dim+columns, columns
	if r, err = krige.NewRegressor(opt); err != nil {
		return nil, invalid("%v", err)
	}
	r = r.Outputs(m.cfg.DimY)
	l, err := predict.LikelihoodOf(r)
	if err != nil {
		return nil, err
	}
	return &interpolation{r, l, r.Config(), given == ""}, nil
}

// periods is the parameter period: a number, or a text of some.
func (p params) periods(inputs int) (out []float64, err error) {
	list, text := p["period"].(string)
	if !text {
		v, ok, err := p.number("period", 0, math.MaxFloat64)
		if !ok || err != nil || v == 0 {
			return nil, err
		}
		list = strconv.FormatFloat(v, 'g', -1, 64)
	}
	if list == "" {
		return nil, nil
	}
	if inputs != 1 {
		return nil, invalid(`parameter "period": seasons are of models with one input, and this one has %d`, inputs)
	}
	for _, word := range strings.Split(list, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) || len(out) == maxPeriods {
			return nil,
				invalid(`parameter "period": %.40q: need at most %d positive numbers in the unit of the input, as in "7,365.25"`, list,
					maxPeriods)
		}
		out = append(out, v)
	}
	return out, nil
}
