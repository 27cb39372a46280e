package selection

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/recipe"
	"github.com/equivcnp/equivcnp/group"
)

// contender is a group that is tried.
type contender struct {
	label string
	group string // as a recipe takes it
	lifts int
	dims  int  // of the symmetry
	turns bool // rotations are part of it
	seed  uint64
	// approximate contenders depart from their group.
	approximate bool
	plan        *recipe.Plan // of a training with the recipe's seed
}

// approximateMark begins the names of groups from which a model may depart, and approximateDrop is the probability with which training
// drops what it departs by.
const (
	approximateMark = "~"
	approximateDrop = 0.5
)

// cutLifts takes the number of lifts off the end of a name.
func cutLifts(name string) (group string, lifts string) {
	if i := strings.LastIndexAny(name, "xX"); i > 0 {
		if n, err := strconv.Atoi(name[i+1:]); err == nil && n > 0 {
			return name[:i], name[i+1:]
		}
	}
	return name, ""
}

// parseContender reads the name of a group for data of so many coordinates.
func parseContender(name string, dx int) (*contender, error) {
	c := &contender{label: strings.TrimSpace(name), lifts: 1}
	exact, approximate := strings.CutPrefix(c.label, approximateMark)
	c.approximate = approximate
	g, err := group.Parse(exact, 0)
	if strings.EqualFold(exact, "none") {
		g, err = group.NewTrivial(dx, 0), nil
	} else if err != nil {
		rest, lifts := cutLifts(exact)
		if lifts == "" {
			return nil, err
		}
		c.lifts, _ = strconv.Atoi(lifts)
		if angles, more := cutLifts(rest); more != "" { // angles and scales
			f, bad := recipe.ParseLifts(more + "x" + lifts)
			if bad != nil {
				return nil, bad
			}
			if g, err = group.Parse(angles, 0); err == nil {
				g, err = f.Of(g)
			}
			c.lifts = f.Count
		} else {
			g, err = group.Parse(rest, 0)
		}
		if err != nil {
			return nil, err
		}
	}
	c.group, c.dims, c.turns = g.Name(), g.AlgebraDim(), rotates(g)
	if approximate { // no symmetry is built in
		c.dims, c.turns = 0, false
		return c, nil
	}
	sim, scales := g.(*group.Sim2)
	switch {
	case scales: // several angles tell rotations, several scales scalings
		c.dims, c.turns = 2, c.lifts > sim.Scales()
		if c.turns {
			c.dims++
		}
		if sim.Scales() > 1 {
			c.dims++
		}
	case g.MaxLifts() != 1 && c.lifts == 1: // a single lift does not tell elements of the stabiliser from each other
		c.dims, c.turns = c.dims-(g.AlgebraDim()+g.OrbitDim()-g.PointDim()), false
	}
	return c, nil
}

// rotates reports whether some of a group's elements turn vectors.
func rotates(g group.Group) bool {
	turner, ok := g.(group.Turner)
	if !ok {
		return false
	}
	a, r := make([]float64, g.AlgebraDim()), make([]float64, g.PointDim()*g.PointDim())
	for i := range a {
		a[i] = 1
	}
	turner.Turn(r, a)
	return r[0] != 1
}

// usualGroups are the contenders for data of so many coordinates.
func usualGroups(dx int) []string {
	switch dx {
	case 1:
		return []string{"none", "T1", "R>0(1)"}
	case 2:
		return []string{"none", "T2", "SO2", "RxSO2", "SE2x4"}
	case 3:
		return []string{"none", "T3", "SO3x4", "SE3x4"}
	}
	return []string{"none", fmt.Sprintf("T(%d)", dx)}
}
