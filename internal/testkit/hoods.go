package testkit

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Hood is a neighbourhood to be planned.
type Hood struct {
	Name          string
	Offsets       []int
	Index, Pose   []int32
	Points, Poses int
}

// Pairs draws a neighbourhood in CSR form: row sizes around every unrolling, some rows empty, and offsets that do not start at 0.
func Pairs(rng *rand.Rand, rows, points, poses int) (offsets []int, index, pose []int32) {
	offsets = []int{rng.IntN(5)}
	for range rows {
		n := rng.IntN(11)
		for range n {
			index = append(index, int32(rng.IntN(points)))
			pose = append(pose, int32(rng.IntN(poses)))
		}
		offsets = append(offsets, offsets[len(offsets)-1]+n)
	}
	return offsets, index, pose
}

// GridDisk returns the neighbourhood of a disk on a grid, with the number of the offset as pose. On a torus every row is whole;
// otherwise rows are clipped at the border.
func GridDisk(height, width, reach int, torus bool) (offsets []int, index, pose []int32, poses int) {
	offsets = []int{3}
	side := 2*reach + 1
	for y := range height {
		for x := range width {
			for dy := -reach; dy <= reach; dy++ {
				for dx := -reach; dx <= reach; dx++ {
					v, u := y+dy, x+dx
					if torus {
						v, u = (v+height)%height, (u+width)%width
					}
					if dx*dx+dy*dy > reach*reach+1 || v < 0 || u < 0 || v >= height || u >= width {
						continue
					}
					index = append(index, int32(v*width+u))
					pose = append(pose, int32((dy+reach)*side+dx+reach))
				}
			}
			offsets = append(offsets, 3+len(index))
		}
	}
	return offsets, index, pose, side * side
}

// DiskPairs returns the neighbourhood of every point of a periodic 64 x 64 grid: the nearest 273 points, and as pose the
// number of their offset. Rows are ordered by index, as a neighbourhood lists them, or else by distance.
func DiskPairs(byIndex bool) (offsets []int, index, pose []int32) {
	const side, perRow, reach = 64, 273, 12
	type offset struct{ y, x int }
	var disk []offset
	for y := -reach; y <= reach; y++ {
		for x := -reach; x <= reach; x++ {
			disk = append(disk, offset{y, x})
		}
	}
	slices.SortStableFunc(disk, func(a, b offset) int { return a.y*a.y + a.x*a.x - b.y*b.y - b.x*b.x })
	offsets = []int{0}
	for i := range side * side {
		var row [][2]int32
		for p, d := range disk[:perRow] {
			j := (i/side+d.y+side)%side*side + (i+d.x+side)%side
			row = append(row, [2]int32{int32(j), int32(p)})
		}
		if byIndex {
			slices.SortFunc(row, func(a, b [2]int32) int { return int(a[0] - b[0]) })
		}
		for _, r := range row {
			index, pose = append(index, r[0]), append(pose, r[1])
		}
		offsets = append(offsets, len(index))
	}
	return offsets, index, pose
}

// PlanHoods returns grids, permuted grids, and neighbourhoods that have no structure or no pairs.
func PlanHoods() []Hood {
	var hoods []Hood
	add := func(name string, offsets []int, index, pose []int32, points, poses int) {
		hoods = append(hoods, Hood{name, offsets, index, pose, points, poses})
	}
	for _, torus := range []bool{false, true} {
		offsets, index, pose, poses := GridDisk(5, 19, 2, torus)
		add("grid", offsets, index, pose, 5*19, poses)
		offsets, index, pose, poses = GridDisk(7, 24, 3, torus)
		shuffled, other := slices.Clone(index), slices.Clone(pose)
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range len(offsets) - 1 {
			ix, ps := shuffled[offsets[i]-3:offsets[i+1]-3], other[offsets[i]-3:offsets[i+1]-3]
			rng.Shuffle(len(ix), func(a, b int) { ix[a], ix[b], ps[a], ps[b] = ix[b], ix[a], ps[b], ps[a] })
		}
		add("shuffled grid", offsets, shuffled, other, 7*24, poses)
	}
	rng := Rand(48)
	offsets, index, pose := Pairs(rng, 43, 13, 5)
	add("random", offsets, index, pose, 13, 5)
	add("no rows", []int{0}, nil, nil, 1, 1)
	add("no pairs", make([]int, 20), nil, nil, 1, 1)
	line := []int{0}
	index, pose = nil, nil
	for i := range 16 { // one long run, and rows that are their neighbours' shifted
		for k := range 40 {
			index, pose = append(index, int32(i+k)), append(pose, int32(k))
		}
		line = append(line, len(index))
	}
	add("line", line, index, pose, 60, 40)
	line, index, pose = []int{0}, nil, nil
	for i := range 8 { // the same pair twice, and once more in some rows
		for k := range 6 + i%2 {
			index, pose = append(index, int32(i+k/2)), append(pose, int32(k/4))
		}
		line = append(line, len(index))
	}
	add("twice", line, index, pose, 20, 3)
	return hoods
}

// GatherSum returns Σ a[p[k], j]·b[q[k], j] over pairs lo to hi in float64, and the sum of the magnitudes.
func GatherSum[T float32 | float64](a, b []T, p, q []int32, lo, hi, c, j int) (sum, size float64) {
	for k := lo; k < hi; k++ {
		v := float64(a[int(p[k])*c+j]) * float64(b[int(q[k])*c+j])
		sum, size = sum+v, size+math.Abs(v)
	}
	return sum, size
}
