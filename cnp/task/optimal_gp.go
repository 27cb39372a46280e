package task

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/equivcnp/equivcnp/simd"
)

// The ranges that jointCurve draws variances and lengths from.
const (
	curveLeast, curveMost    = 0.5, 1.5
	curveShortest, curveLong = 0.1, 1.0
)

// Settings of the integral over curves.
const (
	curveFar       = 25.0 // nats below the greatest density that are left out
	curveCells     = 16   // of the logarithm of the length
	curveSteps     = 4    // of a cell that counts
	curveVariances = 10   // nodes of the variance, 3 to find the cells that count
)

// jointRows are jointKernels for rows of squared distances.
var jointRows = []func(d2 []float64, length float64){exponential, matern32, matern52}

// curveNode is a process with one of jointKernels, and how likely it is.
type curveNode struct {
	kernel           int
	length, variance float64
	prior            float64           // the logarithm of its part of the prior
	log              float64           // with the density of the values
	factor           blas64.Triangular // of the values over the root of the variance
	z                []float64         // that its inverse makes of them
}

// optimalCurve returns the log-densities per value of those behind the first nc values of a curve of jointCurve, given the first nc: of
// all of them together, and of each on its own. It integrates over kernels, lengths and variances: midpoints in the logarithm of the
// length, Gauss-Legendre in the variance.
func optimalCurve(x, y []float64, nc int) (joint, independent float64, err error) {
	n := len(y) - nc
	if n == 0 {
		return 0, 0, nil
	}
	given, err := curveNodes(x[:nc], y[:nc], curveSteps, curveVariances, true)
	if err != nil {
		return 0, 0, err
	}
	all, err := curveNodes(x, y, curveSteps, curveVariances, false)
	if err != nil {
		return 0, 0, err
	}
	before := logOfNodes(given)
	each := make([]logSum, n)
	for i := range given {
		given[i].predict(x, y, nc, each)
	}
	for i := range each {
		independent += each[i].log() - before
	}
	return (logOfNodes(all) - before) / float64(n), independent / float64(n), nil
}

// curveNodes are the nodes of the integral for values y at x, in so many steps of each cell and with so many variances. Where they are to
// predict they keep their factors.
func curveNodes(x, y []float64, steps, variances int, predict bool) ([]curveNode, error) {
	cell := math.Log(curveLong/curveShortest) / curveCells // of the logarithm of the length
	at := func(kernel int, position, width float64, q quadrature) (curveNode, error) {
		length := curveShortest * math.Exp(cell*position)
		share := jointShares[kernel]
		if kernel > 0 {
			share -= jointShares[kernel-1]
		}
		node := curveNode{kernel: kernel, length: length, variance: q.at,
			prior: math.Log(share) + math.Log(length*cell*width/(curveLong-curveShortest)) + q.log}
		err := node.set(x, y)
		if !predict {
			node.factor, node.z = blas64.Triangular{}, nil
		}
		return node, err
	}
	coarse := legendre(3, curveLeast, curveMost)
	most := make([][curveCells]float64, len(jointRows))
	best := math.Inf(-1)
	for k := range most {
		for c := range curveCells {
			most[k][c] = math.Inf(-1)
			for _, q := range coarse {
				node, err := at(k, float64(c)+0.5, 1, q)
				if err != nil {
					return nil, err
				}
				most[k][c] = max(most[k][c], node.log)
			}
			best = max(best, most[k][c])
		}
	}
	fine := legendre(variances, curveLeast, curveMost)
	var kept []curveNode
	for k := range most {
		for c := range curveCells {
			if slices.Max(most[k][max(c-1, 0):min(c+2, curveCells)]) < best-curveFar {
				continue
			}
			for s := range steps {
				for _, q := range fine {
					node, err := at(k, float64(c)+(float64(s)+0.5)/float64(steps), 1/float64(steps), q)
					if err != nil {
						return nil, err
					}
					if node.log > best-curveFar {
						kept, best = append(kept, node), max(best, node.log)
					}
				}
			}
		}
	}
	return slices.DeleteFunc(kept, func(node curveNode) bool { return node.log < best-curveFar }), nil
}

// set computes the density of values y at x.
func (c *curveNode) set(x, y []float64) (err error) {
	c.factor, err = factor(x, 1, jointNoise/c.variance, func(row []float64) { jointRows[c.kernel](row, c.length) }, nil)
	if err != nil {
		return err
	}
	c.z, c.log = make([]float64, len(y)), c.prior
	scale := 1 / math.Sqrt(c.variance)
	for i := range y {
		row := c.factor.Data[i*c.factor.Stride:][:i+1]
		c.z[i] = (scale*y[i] - simd.Dot(row[:i], c.z[:i])) / row[i]
		c.log -= 0.5*c.z[i]*c.z[i] + math.Log(row[i]) + 0.5*math.Log(2*math.Pi*c.variance)
	}
	return nil
}

// predict adds the node's densities of each value behind the first nc, times that of the first nc, to those of others.
func (c *curveNode) predict(x, y []float64, nc int, to []logSum) {
	l, cov := make([]float64, nc), make([]float64, nc)
	for i := range to {
		at := nc + i
		for j := range cov {
			d := x[at] - x[j]
			cov[j] = d * d
		}
		jointRows[c.kernel](cov, c.length)
		for j := range l { // the row of the factor that a value at this place would have
			row := c.factor.Data[j*c.factor.Stride:][:j+1]
			l[j] = (cov[j] - simd.Dot(row[:j], l[:j])) / row[j]
		}
		mean := math.Sqrt(c.variance) * simd.Dot(l, c.z)
		v := c.variance*max(0, 1-simd.SumSq(l)) + jointNoise
		e := y[at] - mean
		to[i].add(c.log - 0.5*e*e/v - 0.5*math.Log(2*math.Pi*v))
	}
}

// logOfNodes is the logarithm of the integral.
func logOfNodes(nodes []curveNode) float64 {
	var sum logSum
	for i := range nodes {
		sum.add(nodes[i].log)
	}
	return sum.log()
}

// matern32 replaces squared distances by the values of the kernel Matern32.
func matern32(d2 []float64, l float64) {
	e := make([]float64, len(d2))
	for i, v := range d2 {
		d2[i] = math.Sqrt(3*v) / l
		e[i] = -d2[i]
	}
	simd.Exp(e, e)
	for i, s := range d2 {
		d2[i] = (1 + s) * e[i]
	}
}
