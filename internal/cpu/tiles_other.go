//go:build !(linux && amd64)

package cpu

// tilesAllowed says no: how other systems let a program use tiles is not known here.
func tilesAllowed() bool { return false }
