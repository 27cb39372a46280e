//go:build !purego

package simd

import "github.com/equivcnp/equivcnp/internal/race"

// raceEnabled says whether the race detector is watching, for announcements that take a loop.
const raceEnabled = race.Enabled

func raceRead[T any](x []T)  { race.Read(x) }
func raceWrite[T any](x []T) { race.Write(x) }
