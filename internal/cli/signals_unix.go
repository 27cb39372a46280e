//go:build unix

package cli

import (
	"os"
	"syscall"
)

// ReloadSignals ask the server to read again what it was started with.
var ReloadSignals = []os.Signal{syscall.SIGHUP}
