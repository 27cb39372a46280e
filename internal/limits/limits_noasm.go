//go:build purego || !(amd64 || arm64)

package limits

func fma(string, int) (lanes int, ok bool) { return 0, false }

func read(string, []byte) bool { return false }
