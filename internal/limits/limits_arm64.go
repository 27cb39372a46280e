//go:build !purego

package limits

func fma(level string, rounds int) (lanes int, ok bool) {
	if level != "neon" {
		return 0, false
	}
	fmaNEON(rounds)
	return 4, true
}

func read(level string, x []byte) bool {
	if level != "neon" {
		return false
	}
	readNEON(&x[0], len(x)/512)
	return true
}
