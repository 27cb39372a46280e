package serve

import (
	"fmt"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/krige"
)

// said is what an answer says of its prediction: what that leaves out, and where targets lie beyond what the context tells.
func (j *job) said() string {
	var all []string
	for _, text := range []string{j.note, j.beyondDrift()} {
		if text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, "; ")
}

// beyondDrift says of which columns of a drift targets lie outside the range of their task's context, "" where none do: nothing tells
// whether values depend on a column linearly there, too. It is what interpolate's BeyondDrift says of tables.
func (j *job) beyondDrift() string {
	da := j.lane.columns
	if da == 0 || j.given == nil {
		return ""
	}
	names := make([]string, da)
	for k := range names {
		names[k] = fmt.Sprintf("column %d of aux_target", k)
	}
	d := krige.NewDoubts(j.model.cfg.DimY, names)
	d.Add(j.given)
	return d.Beyond()
}
