//go:build !race

package cnp

const raceEnabled = false
