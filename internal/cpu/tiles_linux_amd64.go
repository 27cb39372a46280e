package cpu

import "syscall"

// tilesAllowed asks the system for the use of tiles, which Linux grants to a whole process: their registers make what a
// thread saves larger by 8 KB, and signal stacks must have room for it.
func tilesAllowed() bool {
	const (
		sysArchPrctl        = 158
		archReqXcompPerm    = 0x1023
		featureTileRegister = 18
	)
	_, _, err := syscall.RawSyscall(sysArchPrctl, archReqXcompPerm, featureTileRegister, 0)
	return err == 0
}
