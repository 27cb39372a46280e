package weights

import (
	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/group"
)

// greediest names the field of a configuration without which it would need the fewest numbers.
func greediest(c *cnp.Config, g group.Group) string {
	name, least := "", elements(c, g)
	ones := make([]int, len(c.Channels))
	for i := range ones {
		ones[i] = 1
	}
	for _, f := range []struct {
		name   string
		shrink func(c *cnp.Config)
	}{
		{"channels", func(c *cnp.Config) { c.Channels = ones }}, {"blocks", func(c *cnp.Config) { c.Blocks = 1 }},
		{"hidden", func(c *cnp.Config) { c.Hidden = 1 }}, {"mid", func(c *cnp.Config) { c.Mid = 1 }},
		{"kernel", func(c *cnp.Config) { c.Kernel = 1 }}, {"multiplicity", func(c *cnp.Config) { c.Multiplicity = 1 }},
		{"dim_y", func(c *cnp.Config) { c.DimY = 1 }}, {"likelihood", func(c *cnp.Config) { c.Likelihood = "" }},
	} {
		smaller := *c
		f.shrink(&smaller)
		if n := elements(&smaller, g); n < least {
			name, least = f.name, n
		}
	}
	return name
}

// elements counts the numbers that a model of configuration c under group g (nil where there is none), which
// ValidateWithGroup accepts, holds in its State, without building it. The limits of Validate keep it far below 2^64.
func elements(c *cnp.Config, g group.Group) uint64 {
	const rbf = 2
	pose := uint64(0)
	if g != nil {
		pose = uint64(group.PoseDim(g))
	}
	weightNet := func(hidden, out uint64, norm bool) uint64 {
		n := linear(pose, hidden) + linear(hidden, hidden) + linear(hidden, out)
		if norm {
			n += 4 * (2*hidden + out)
		}
		return n
	}
	dx, dy, degree := uint64(c.DimX), uint64(c.DimY), uint64(c.Multiplicity)
	kernel, hidden, mid, blocks := uint64(c.Kernel), uint64(c.Hidden), uint64(c.Mid), uint64(c.Blocks)
	width := make([]uint64, len(c.Channels))
	for i, w := range c.Channels {
		width[i] = uint64(w)
	}
	lieConv := func(in, out uint64) uint64 {
		return 1 + weightNet(hidden, mid, !c.NoBatchNorm) + linear(in*mid, out)
	}
	l, err := cnp.ParseLikelihood(c)
	if err != nil {
		panic("weights: a configuration that was valid is not: " + err.Error())
	}
	outs, constants := dy*uint64(l.Outputs()-l.Constants()), dy*uint64(l.Constants())
	features := 1 + degree*dy
	if c.ChannelDensity {
		features += dy - 1
	}
	if c.CoordinateFeature {
		features += dx
	}
	departure := uint64(0)
	if c.Departure != nil {
		channels, places := uint64(c.Departure.Channels), dx
		if c.OnSphere() {
			places = 3
		}
		features += channels
		departure = linear(places, cnp.DepartureWidth) + linear(cnp.DepartureWidth, channels) + channels
	}

	first, last := width[0], width[len(width)-1]
	n := uint64(0)
	if c.Architecture == cnp.EquivCNPCurve && c.Levels > 0 {
		return rbf + linear(features, first) + linear(first, outs) + pyramid(dx, kernel, blocks, width) + constants + departure
	}
	switch c.Architecture {
	case cnp.EquivCNPCurve:
		n = 2*rbf + linear(features, first) + linear(last, outs)
		for i := range len(width) - 1 {
			n += lieConv(width[i], width[i+1])
		}
	case cnp.ConvCNPCurve:
		n = 2*rbf + linear(features, first) + linear(last, outs)
		for i := range len(width) - 1 {
			n += linear(width[i]*kernel, width[i+1])
		}
	case cnp.EquivCNPImage:
		n = lieConv(degree*dy, first) + linear(2*first, first) + linear(first, outs)
		n += 2 * blocks * (1 + weightNet(hidden, first, c.BlockBatchNorm) + linear(first, first))
	case cnp.ConvCNPImage:
		n = degree*dy*kernel*kernel + linear(2*degree*dy, first) + linear(first, outs)
		n += 2 * blocks * (linear(kernel*kernel, first) + linear(first, first))
	case cnp.CNPCurve, cnp.CNPImage:
		if c.Architecture == cnp.CNPImage {
			dx = 2
		}
		n = chained(dx+dy, width) + chained(last+dx, width[:max(1, len(width)-2)])
		n += linear(width[max(1, len(width)-2)-1], outs)
	}
	return n + constants + departure
}

// linear counts a linear map.
func linear(in, out uint64) uint64 { return in*out + out }

// chained counts linear maps, one after the other.
func chained(in uint64, width []uint64) (n uint64) {
	for _, w := range width {
		n += linear(in, w)
		in = w
	}
	return n
}

// pyramid counts the convolutions of a model with levels of these widths.
func pyramid(dx, kernel, blocks uint64, width []uint64) uint64 {
	taps := uint64(1)
	for range dx {
		taps *= kernel
	}
	conv := func(w uint64) uint64 { return taps*w + linear(w, w) }
	n := conv(width[0])
	for l, w := range width {
		n += 2 * blocks * conv(w)
		if l+1 < len(width) { // down, up, and the blocks after that
			n += linear(w, width[l+1]) + linear(width[l+1]+w, w) + 2*blocks*conv(w)
		}
	}
	return n
}
