package neighbor

import "math"

// nearest keeps the k smallest of the pairs (dist, index) offered to it, in a heap with the greatest on top.
type nearest struct {
	k     int
	dist  []float64
	index []int32
}

// reset empties the heap for another k.
func (h *nearest) reset(k int) {
	h.k = k
	h.dist, h.index = h.dist[:0], h.index[:0]
}

func (h *nearest) full() bool { return len(h.dist) == h.k }

// after reports whether entry i comes after (d, j) in the order by (dist, index).
func (h *nearest) after(i int, d float64, j int32) bool {
	return h.dist[i] > d || (h.dist[i] == d && h.index[i] > j)
}

// offer takes the pair (d, j) if it is among the k smallest so far. NaN is no distance and never taken.
func (h *nearest) offer(d float64, j int32) {
	if math.IsNaN(d) || h.k == 0 {
		return
	}
	if h.full() {
		if h.after(0, d, j) {
			h.down(0, d, j)
		}
		return
	}
	h.dist, h.index = append(h.dist, d), append(h.index, j)
	i := len(h.dist) - 1
	for i > 0 {
		up := (i - 1) / 2
		if h.after(up, d, j) {
			break
		}
		h.dist[i], h.index[i] = h.dist[up], h.index[up]
		i = up
	}
	h.dist[i], h.index[i] = d, j
}

// down puts (d, j) into the hole at i and restores the heap below it.
func (h *nearest) down(i int, d float64, j int32) {
	for {
		c := 2*i + 1
		if c >= len(h.dist) {
			break
		}
		if c+1 < len(h.dist) && h.after(c+1, h.dist[c], h.index[c]) {
			c++
		}
		if !h.after(c, d, j) {
			break
		}
		h.dist[i], h.index[i] = h.dist[c], h.index[c]
		i = c
	}
	h.dist[i], h.index[i] = d, j
}

// sort turns the heap into the list by ascending (dist, index).
func (h *nearest) sort() {
	dist, index := h.dist, h.index
	for n := len(dist) - 1; n > 0; n-- {
		d, j := dist[n], index[n]
		dist[n], index[n] = dist[0], index[0]
		h.dist, h.index = dist[:n], index[:n]
		h.down(0, d, j)
	}
	h.dist, h.index = dist, index
}
