//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// ReloadSignals ask the server to read again what it was started with.
var ReloadSignals = []os.Signal{syscall.SIGHUP}

// SurviveBrokenPipes makes writes to pipes that nobody reads fail, until undo is called. Without it those to standard output and standard
// error end the program.
func SurviveBrokenPipes() (undo func()) {
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	return func() { signal.Stop(broken) }
}
