//go:build !linux

package main

// others watches what the machine's CPUs do besides this process, where the system says so.
type others struct{}

func watchOthers() others { return others{} }

// shares knows nothing here.
func (others) shares() (other, stolen float64) { return 0, 0 }
