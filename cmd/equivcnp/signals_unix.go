//go:build unix

package main

import (
	"os"
	"syscall"
)

// reloadSignals ask the server to read again what it was started with.
var reloadSignals = []os.Signal{syscall.SIGHUP}
