//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package atomicfile

import "os"

const canLock = false

// TryLock does nothing on this system.
func TryLock(*os.File) (locked bool, err error) { return true, nil }
