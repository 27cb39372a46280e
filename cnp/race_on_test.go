//go:build race

package cnp

// raceEnabled says that the race detector is on. Pools then forget at random.
const raceEnabled = true
