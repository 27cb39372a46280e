//go:build purego || !(amd64 || arm64)

package bicubic

func interpolate(dst, nodes []float32, code []int32, n, cols, c int) {
	interpolateGeneric(dst, nodes, code, n, cols, c)
}

func gradient(dnodes, d []float32, code []int32, n, cols, width, c int) {
	gradientGeneric(dnodes, d, code, n, cols, width, c)
}

// announce has nothing to announce: the race detector sees what Go does.
func (p *Plan) announce(read, written []float32) {}

// Fast reports whether interpolation is faster than a small network: the portable one is not.
func Fast() bool { return false }
