package group

import "math"

// OrbitDistance is the distance of two orbits with coordinates qi and qj, as it enters the group's distance before it is
// weighted; 0 where the group acts transitively. A group may say it as an OrbitMetric: for SO(2) it is |r_i - r_j|/(r_i + r_j + 0.001), for R>0 on the plane the
// difference of the angles modulo a turn, otherwise |q_i - q_j|.
func OrbitDistance(g Group, qi, qj []float64) float64 {
	q := g.OrbitDim()
	if q == 0 {
		return 0
	}
	if o, ok := g.(OrbitMetric); ok {
		return o.OrbitDistance(qi[:q], qj[:q])
	}
	if q > maxDim {
		sum := 0.0
		for c := range q {
			sum = math.Hypot(sum, qi[c]-qj[c])
		}
		return sum
	}
	return gap(qi[:q], qj[:q])
}

// OrbitDistance implements OrbitMetric.
func (g *SO2) OrbitDistance(qi, qj []float64) float64 { return radiusDist(qi[0], qj[0]) }

// OrbitDistance implements OrbitMetric.
func (g *Rx) OrbitDistance(qi, qj []float64) float64 { return g.rayDist(qi, qj) }
