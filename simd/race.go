//go:build !purego

package simd

import "github.com/equivcnp/equivcnp/internal/race"

// raceEnabled reports whether the race detector is on. It guards announcements that take a loop.
const raceEnabled = race.Enabled

func raceRead[T any](x []T)  { race.Read(x) }
func raceWrite[T any](x []T) { race.Write(x) }
