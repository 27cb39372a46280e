//go:build !unix

package main

import "os"

// reloadSignals ask the server to read again what it was started with. signal.Notify takes an empty list for all signals, so there is one
// that nobody sends.
var reloadSignals = []os.Signal{never{}}

type never struct{}

func (never) Signal()        {}
func (never) String() string { return "never" }
