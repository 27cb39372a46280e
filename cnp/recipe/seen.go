package recipe

import (
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// mostMarks bounds the marks that a model's file keeps. Of more tasks these are the smallest, a sample that knows its share of any
// other tasks.
const mostMarks = 256

// marksOf are the marks of the user's own tasks behind sources, in ascending order; the same task has the same mark, wherever it stands.
func marksOf(sources ...task.Source[float32]) (marks []uint32) {
	for _, src := range sources {
		curves, images := setOf(src)
		if curves != nil {
			for i := range curves.Curves {
				marks = append(marks, finish(rowsMark(&curves.Curves[i].Points, curves.Dx, curves.Dy)))
			}
		}
		if images != nil {
			for i := range images.N {
				sum := uint64(0)
				for _, v := range images.Image(i) {
					sum = mixed(sum, v)
				}
				marks = append(marks, finish(sum))
			}
		}
	}
	slices.Sort(marks)
	return marks
}

// trainedMarks are those of the tasks that a plan trains on. A task of which rows are held out is known as a whole, too.
func (p *Plan) trainedMarks() []uint32 {
	whole := marksOf(p.Source)
	marks := slices.Clone(whole)
	if curves, _ := setOf(p.Test); curves != nil && p.HeldOut() {
		for _, c := range curves.Curves {
			if c.Context == nil {
				continue
			}
			rest := rowsMark(c.Context, curves.Dx, curves.Dy)
			if _, trained := slices.BinarySearch(whole, finish(rest)); trained {
				marks = append(marks, finish(rest+rowsMark(&c.Points, curves.Dx, curves.Dy)))
			}
		}
	}
	marks = slices.Compact(slices.Sorted(slices.Values(marks)))
	return marks[:min(len(marks), mostMarks)]
}

// rowsMark is a mark of points that does not depend on their order: that of two sets is the sum of theirs.
func rowsMark(p *task.Points, dx, dy int) (sum uint64) {
	for i := range len(p.X) / dx {
		row := uint64(0)
		for _, v := range p.X[i*dx : (i+1)*dx] {
			row = mixed(row, float32(v))
		}
		for _, v := range p.Y[i*dy : (i+1)*dy] {
			row = mixed(row, float32(v))
		}
		sum += scatter(row)
	}
	return sum
}

// mixed adds a value to a mark. All values that are missing are one, and so are both zeros.
func mixed(mark uint64, v float32) uint64 {
	bits := math.Float32bits(v + 0)
	if v != v {
		bits = 1<<31 | 1
	}
	return scatter(mark ^ uint64(bits))
}

// scatter is a bijection whose results have no order left: the finaliser of SplitMix64.
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// finish shortens a mark to what a file keeps.
func finish(mark uint64) uint32 { return uint32(scatter(mark) >> 32) }

// SeenNote says how many of the tasks of a source, if they are a user's own, a model was trained on, "" if on none: scores of such tasks
// promise more than new data will give.
func SeenNote(cfg *cnp.Config, src task.Source[float32]) string {
	if cfg.Trained == nil || len(cfg.Trained.Marks) == 0 {
		return ""
	}
	known, all := cfg.Trained.Marks, marksOf(src)
	looked, seen := 0, 0
	for _, m := range all {
		if _, ok := slices.BinarySearch(known, m); ok {
			seen++
		}
		if len(known) < mostMarks || m <= known[len(known)-1] { // else the file does not know
			looked++
		}
	}
	how := ""
	switch {
	case seen == 0:
		return ""
	case looked == len(all):
		how = fmt.Sprintf("%d of these %d tasks", seen, len(all))
	case seen == looked:
		how = "all or most of these tasks"
	default:
		how = fmt.Sprintf("about %.0f %% of these tasks", 100*float64(seen)/float64(looked))
	}
	return how + " were trained on: their scores promise more than those of new data"
}
