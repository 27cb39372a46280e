package krige

import (
	"math"
)

// mode descends from start to a mode of the posterior of a family's parameters: BFGS with differences for gradients, all of which are
// evaluated at once.
func (e *evidence) mode(s *spec, start []float64, steps int, tolerance float64) (theta []float64, cost float64) {
	n := len(start)
	theta = append([]float64(nil), start...)
	cost = e.cost(s, theta)
	if math.IsInf(cost, 1) {
		return theta, cost
	}
	_, std := e.prior.normals(s)
	h := make([]float64, n*n) // the inverse Hessian
	for i := range n {
		h[i*n+i] = 0.1 * min(1, std[i]*std[i])
	}
	grad := e.gradient(s, theta, cost, std)
	for range steps {
		dir := make([]float64, n)
		var slope float64
		for i := range n {
			for j := range n {
				dir[i] -= h[i*n+j] * grad[j]
			}
		}
		shrink := 1.0
		for i, d := range dir {
			slope += d * grad[i]
			if m := min(1.5, 1.5*std[i]); math.Abs(d) > m {
				shrink = min(shrink, m/math.Abs(d))
			}
		}
		if !(slope < 0) {
			break
		}
		next, c, ok := e.search(s, theta, dir, cost, slope, shrink)
		if !ok {
			break
		}
		gain := cost - c
		g := e.gradient(s, next, c, std)
		bfgs(h, theta, next, grad, g)
		theta, cost, grad = next, c, g
		if gain < tolerance {
			break
		}
	}
	return theta, cost
}

// search finds a step along dir that lowers the cost.
func (e *evidence) search(s *spec, theta, dir []float64, cost, slope, shrink float64) (next []float64, c float64, ok bool) {
	for range 4 {
		tries := make([][]float64, 2)
		for i, f := range [2]float64{1, 0.35} {
			tries[i] = make([]float64, len(theta))
			for j := range theta {
				tries[i][j] = theta[j] + f*shrink*dir[j]
			}
		}
		costs := e.costs(s, tries)
		best := 0
		if costs[1] < costs[0] {
			best = 1
		}
		if f := [2]float64{1, 0.35}[best] * shrink; costs[best] < cost+1e-4*f*slope {
			return tries[best], costs[best], true
		}
		shrink *= 0.1
	}
	return nil, 0, false
}

// gradient is the gradient of the cost by differences.
func (e *evidence) gradient(s *spec, theta []float64, cost float64, std []float64) []float64 {
	n := len(theta)
	tries := make([][]float64, n)
	for i := range tries {
		tries[i] = append([]float64(nil), theta...)
		tries[i][i] += 1e-3 * min(1, std[i])
	}
	costs := e.costs(s, tries)
	grad := make([]float64, n)
	for i, c := range costs {
		if grad[i] = (c - cost) / (1e-3 * min(1, std[i])); math.IsInf(grad[i], 0) {
			grad[i] = 0
		}
	}
	return grad
}

// bfgs updates the inverse Hessian.
func bfgs(h, x0, x1, g0, g1 []float64) {
	n := len(x0)
	step, change, hy := make([]float64, n), make([]float64, n), make([]float64, n)
	var sy, yhy float64
	for i := range n {
		step[i], change[i] = x1[i]-x0[i], g1[i]-g0[i]
		sy += step[i] * change[i]
	}
	if !(sy > 1e-10) {
		return
	}
	for i := range n {
		for j := range n {
			hy[i] += h[i*n+j] * change[j]
		}
		yhy += change[i] * hy[i]
	}
	for i := range n {
		for j := range n {
			h[i*n+j] += (1+yhy/sy)*step[i]*step[j]/sy - (hy[i]*step[j]+step[i]*hy[j])/sy
		}
	}
}

// hessian is the Hessian [n, n] of the cost at a mode, by differences over steps of the posterior's size.
func (e *evidence) hessian(s *spec, theta []float64, cost float64) []float64 {
	n := len(theta)
	_, std := e.prior.normals(s)
	h := make([]float64, n)
	var tries [][]float64
	move := func(i int, a float64, j int, b float64) {
		t := append([]float64(nil), theta...)
		t[i] += a
		t[j] += b
		tries = append(tries, t)
	}
	for i := range n {
		h[i] = 0.25 * min(1, std[i])
		move(i, h[i], i, 0)
		move(i, -h[i], i, 0)
	}
	for i := range n {
		for j := range i {
			move(i, h[i], j, h[j])
		}
	}
	costs := e.costs(s, tries)
	for i, c := range costs {
		costs[i] = min(c, cost+50)
	}
	out := make([]float64, n*n)
	p := 2 * n
	for i := range n {
		out[i*n+i] = max((costs[2*i]+costs[2*i+1]-2*cost)/(h[i]*h[i]), 0.2/(std[i]*std[i]))
		for j := range i {
			v := (costs[p] - costs[2*i] - costs[2*j] + cost) / (h[i] * h[j])
			out[i*n+j], out[j*n+i] = v, v
			p++
		}
	}
	return out
}

// eigen returns eigenvalues and, in columns, eigenvectors of a symmetric matrix [n, n], by Jacobi's rotations. It destroys a.
func eigen(a []float64, n int) (values, vectors []float64) {
	vectors = make([]float64, n*n)
	for i := range n {
		vectors[i*n+i] = 1
	}
	for range 30 {
		var off float64
		for i := range n {
			for j := range i {
				off += a[i*n+j] * a[i*n+j]
			}
		}
		if off < 1e-22 {
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				if a[p*n+q] == 0 {
					continue
				}
				theta := (a[q*n+q] - a[p*n+p]) / (2 * a[p*n+q])
				t := 1 / (math.Abs(theta) + math.Sqrt(theta*theta+1))
				if theta < 0 {
					t = -t
				}
				c := 1 / math.Sqrt(t*t+1)
				s := t * c
				for k := range n {
					u, v := a[k*n+p], a[k*n+q]
					a[k*n+p], a[k*n+q] = c*u-s*v, s*u+c*v
				}
				for k := range n {
					u, v := a[p*n+k], a[q*n+k]
					a[p*n+k], a[q*n+k] = c*u-s*v, s*u+c*v
				}
				for k := range n {
					u, v := vectors[k*n+p], vectors[k*n+q]
					vectors[k*n+p], vectors[k*n+q] = c*u-s*v, s*u+c*v
				}
			}
		}
	}
	values = make([]float64, n)
	for i := range n {
		values[i] = a[i*n+i]
	}
	return values, vectors
}
