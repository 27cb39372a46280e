//go:build !unix

package cli

import "os"

// ReloadSignals ask a server to read again what it was started with. signal.Notify takes an empty list for all signals, so
// there is one that nobody sends.
var ReloadSignals = []os.Signal{never{}}

type never struct{}

func (never) Signal()        {}
func (never) String() string { return "never" }

// SurviveBrokenPipes has nothing to do where writes to broken pipes are mere errors.
func SurviveBrokenPipes() (undo func()) { return func() {} }
