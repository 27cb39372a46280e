//go:build !purego

package limits

func fma(level string, rounds int) (lanes int, ok bool) {
	switch level {
	case "avx512", "amx":
		fmaAVX512(rounds)
		return 16, true
	case "avx2":
		fmaAVX2(rounds)
		return 8, true
	}
	return 0, false
}

func read(level string, x []byte) bool {
	switch level {
	case "avx512", "amx":
		readAVX512(&x[0], len(x)/512)
	case "avx2":
		readAVX2(&x[0], len(x)/512)
	default:
		return false
	}
	return true
}
