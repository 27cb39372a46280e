//go:build unix

package main

import "syscall"

func init() { hangUp = func() error { return syscall.Kill(syscall.Getpid(), syscall.SIGHUP) } }
