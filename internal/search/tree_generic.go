package search

// treeBoxesGeneric keeps the runs whose box is nearer to the box than radius2 says.
func treeBoxesGeneric[T Float](outFrom, outTo []int32, boxes []T, ld int, from, to []int32, box []T, radius2 T, dim int) int {
	m := 0
	for k, first := range from {
		var sum T
		for a := range dim {
			d := max(boxes[2*a*ld+k]-box[2*a+1], box[2*a]-boxes[(2*a+1)*ld+k], 0)
			sum += T(d * d)
		}
		if sum < radius2 {
			outFrom[m], outTo[m] = first, to[k]
			m++
		}
	}
	return m
}

// treeFilterGeneric keeps the points of the runs whose squared distance from the box is less than radius2.
func treeFilterGeneric[T Float](out []T, ldo int, dist2 []T, outID []int32, c []T, ldc int, id, from, to []int32, box []T,
	radius2 T, dim int) int {
	m := 0
	for k, first := range from {
		for j := int(first); j < int(to[k]); j++ {
			var sum T
			for a := range dim {
				x := c[a*ldc+j]
				d := x - max(min(x, box[2*a+1]), box[2*a])
				sum += T(d * d)
			}
			if sum < radius2 {
				for a := range dim {
					out[a*ldo+m] = c[a*ldc+j]
				}
				dist2[m], outID[m] = sum, id[j]
				m++
			}
		}
	}
	return m
}

// pairDist2 is the squared distance of point j and query i. The conversion keeps the compiler from fusing the square into
// the sum.
func pairDist2[T Float](q []T, ldq, i int, c []T, ldc, j int, period []T, dim int) T {
	var sum T
	for a := range dim {
		d := c[a*ldc+j] - q[a*ldq+i]
		if period != nil {
			d = max(d, -d)
			other := d - period[a]
			if other = max(other, -other); other < d {
				d = other
			}
		}
		sum += T(d * d)
	}
	return sum
}

func treeScanGeneric[T Float](index []int32, dist2 []T, end []int32, q []T, ldq int, c []T, ldc int, id []int32, radius2,
	period []T, dim int) {
	m := 0
	for i := range end {
		r2 := radius2[min(i, len(radius2)-1)]
		for j, number := range id {
			if d := pairDist2(q, ldq, i, c, ldc, j, period, dim); d < r2 {
				index[m], dist2[m] = number, d
				m++
			}
		}
		end[i] = int32(m)
	}
}

func treeCountGeneric[T Float](count []int32, q []T, ldq int, c []T, ldc, nc int, radius2, period []T, dim int) {
	for i := range count {
		r2, m := radius2[min(i, len(radius2)-1)], int32(0)
		for j := range nc {
			if pairDist2(q, ldq, i, c, ldc, j, period, dim) < r2 {
				m++
			}
		}
		count[i] = m
	}
}

func treePartitionGeneric[T Float](x []T, ldx, rows int, scratch []T, lds, n, key int, pivot T) int {
	front := 0
	for j := range n {
		if x[key*ldx+j] < pivot {
			for r := range rows {
				x[r*ldx+front] = x[r*ldx+j]
			}
			front++
			continue
		}
		for r := range rows {
			scratch[r*lds+j-front] = x[r*ldx+j]
		}
	}
	return front
}
