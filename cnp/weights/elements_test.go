package weights

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/group"
)

// The count agrees with models as built, field by field.
func TestElements(t *testing.T) {
	groups := map[cnp.Architecture]string{cnp.EquivCNPCurve: "T(1)", cnp.EquivCNPImage: "SO(2)"}
	departing := cnp.DefaultLevels(2, 2, 1)
	departing.Departure = &cnp.Departure{Channels: 3}
	for _, levels := range []cnp.Config{cnp.DefaultLevels(1, 1, 1), cnp.DefaultLevels(3, 1, 2), cnp.DefaultLevels(2, 3, 1), departing} {
		levels.Blocks, levels.Channels, levels.Likelihood = 2, []int{4, 6, 5}[:levels.Levels], "normal:noise"
		m, err := cnp.New[float32](levels, 1)
		require.NoError(t, err)
		want := 0
		for _, p := range m.State() {
			want += len(p.Data)
		}
		assert.Equal(t, uint64(want), elements(&levels, cnp.GroupOf(m)), "%d levels", levels.Levels)
	}
	for _, a := range cnp.Architectures {
		base := cnp.Default(a, groups[a], 2)
		base.Channels, base.Fill, base.BlockFill, base.Kernel = []int{4, 3, 5}, 0, 0, 3
		changes := map[string]func(c *cnp.Config){
			"as it is":   func(*cnp.Config) {},
			"width":      func(c *cnp.Config) { c.Channels[0] = 7 },
			"depth":      func(c *cnp.Config) { c.Channels = []int{4, 3, 5, 6} },
			"two":        func(c *cnp.Config) { c.Channels = []int{4, 3} },
			"outputs":    func(c *cnp.Config) { c.DimY = 3 },
			"powers":     func(c *cnp.Config) { c.Multiplicity = 3 },
			"coordinate": func(c *cnp.Config) { c.CoordinateFeature = true },
			"departure":  func(c *cnp.Config) { c.Departure = &cnp.Departure{Channels: 5, Drop: 0.5} },
			"hidden":     func(c *cnp.Config) { c.Hidden = 9 },
			"mid":        func(c *cnp.Config) { c.Mid = 7 },
			"no norm":    func(c *cnp.Config) { c.NoBatchNorm = true },
			"block norm": func(c *cnp.Config) { c.BlockBatchNorm = true },
			"blocks":     func(c *cnp.Config) { c.Blocks = 2 },
			"kernel":     func(c *cnp.Config) { c.Kernel = 5 },
			"noise":      func(c *cnp.Config) { c.Likelihood = "normal:noise" },
			"low rank":   func(c *cnp.Config) { c.Likelihood = "lowrank:7:noise" },
			"readout":    func(c *cnp.Config) { c.Readout, c.Placement = cnp.ReadoutRBF, cnp.PlacementBatch },
		}
		for name, change := range changes {
			t.Run(fmt.Sprintf("%s/%s", a, name), func(t *testing.T) {
				c := base
				c.Channels = append([]int(nil), base.Channels...)
				change(&c)
				if c.Validate() != nil {
					t.Skip("not a configuration of this architecture")
				}
				m, err := cnp.New[float32](c, 1)
				require.NoError(t, err)
				want := 0
				for _, p := range m.State() {
					want += len(p.Data)
				}
				assert.Equal(t, uint64(want), elements(&c, cnp.GroupOf(m)))
			})
		}
	}
}

// The largest configuration that Validate accepts does not overflow the count.
func TestElementsLargest(t *testing.T) {
	for _, a := range cnp.Architectures {
		c := cnp.Default(a, "T(2)", 1<<16)
		c.DimX = 2
		if a == cnp.ConvCNPCurve {
			c.DimX = 1
		}
		c.Hidden, c.Mid, c.Blocks, c.Kernel, c.Multiplicity, c.CoordinateFeature = 1<<16, 1<<16, 1<<10, 1<<10-1, 64, true
		c.Channels = make([]int, 1<<10)
		for i := range c.Channels {
			c.Channels[i] = 1 << 16
		}
		require.NoError(t, c.Validate(), a)
		n := elements(&c, group.NewT(2, 0))
		assert.Greater(t, n, uint64(1)<<32, a)
		assert.Less(t, n, uint64(1)<<62, a)
	}
}
