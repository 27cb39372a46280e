package main

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/neighbor"
)

// poseImages are the images whose neighbourhoods and pose tables are timed: the group, its name in the output, and the number of lifts
// per pixel.
var poseImages = []struct {
	group, name string
	side, lifts int
}{
	{"T(2)", "T2", 64, 1}, {"SE(2)", "SE2", 64, 1}, {"SE(2)", "SE2x4", 64, 4}, {"SO(2)", "SO2", 64, 1},
	{"R>0xSO(2)", "RxSO2", 64, 1}, {"R>0xSO(2)", "RxSO2", 128, 1},
}

// poseCalls is how many calls are timed; the shortest counts. The garbage collector runs before each call, because a call leaves much
// garbage behind. It is off during a call: otherwise the runtime would return memory to the system, but only while a core is
// idle, and then the run on two cores would wait for new pages where the run on one core does not.
const poseCalls = 8

// reportPoseTables times neighbor.Ball, pose table included, of images at the radius that fills 1/15, on one core and on two.
// A line's size is the number of pairs.
func reportPoseTables(r *report, only string) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, c := range poseImages {
		name := fmt.Sprintf("posetable/ours/%s/%dx%[2]d", c.name, c.side)
		if !strings.HasPrefix(name, only) && !strings.HasPrefix(only, name) {
			continue
		}
		g, err := group.Parse(c.group, 0)
		if err != nil {
			return err
		}
		// The pixels of the image models.
		x := make([]float64, 0, 2*c.side*c.side)
		at := func(k int) float64 {
			return float64(c.side) * (float64(k)/float64(c.side-1) - 0.5)
		}
		for i := range c.side {
			for j := range c.side {
				x = append(x, at(i), at(j))
			}
		}
		l := group.LiftPoints(g, x, c.lifts, 0)
		radius, err := neighbor.RadiusForFill(l, 1.0/15, neighbor.Options{})
		if err != nil {
			return err
		}
		pairs := 0
		ball := func() {
			nb, err := neighbor.Ball(l, l, neighbor.Options{Radius: radius})
			if err != nil {
				panic(err)
			}
			pairs = nb.Pairs()
		}
		var lines [2]string
		var least [2]float64
		most := 0
		for cores := 1; cores <= min(2, runtime.NumCPU()); cores++ {
			if line := fmt.Sprintf("%s/cores%d", name, cores); strings.HasPrefix(line, only) {
				lines[cores-1], least[cores-1], most = line, math.Inf(1), cores
			}
		}
		// One core and two cores take turns, so that other work on the machine disturbs both alike.
		for range poseCalls {
			for k := range most {
				if lines[k] == "" {
					continue
				}
				runtime.GOMAXPROCS(k + 1)
				runtime.GC()
				start := time.Now()
				ball()
				least[k] = min(least[k], time.Since(start).Seconds())
			}
		}
		for k := range most {
			if lines[k] == "" {
				continue
			}
			if err := r.add(sample{lines[k], pairs, "ms", least[k] * 1e3}); err != nil {
				return err
			}
		}
	}
	return nil
}
