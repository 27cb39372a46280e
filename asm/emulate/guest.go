//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// guest is the first process of the guest: it runs the program, and says on the console how that ended. The host ends the guest then.
func guest() {
	for _, m := range [][2]string{{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/tmp"}} {
		if err := syscall.Mount(m[0], m[1], m[0], 0, ""); err != nil {
			fmt.Println("init: mount", m[1], err)
		}
	}
	cmd := exec.Command(lines("/run/args")[0], lines("/run/args")[1:]...)
	cmd.Dir, cmd.Env = lines("/run/dir")[0], lines("/run/env")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err, code := cmd.Run(), 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() >= 0 {
		code = exit.ExitCode()
	} else if err != nil {
		fmt.Println("init:", err)
		code = 1
	}
	fmt.Printf("\x1eexit %d\n", code)
	for { // what is on its way to the console would be lost if this ended, and select{} would be a deadlock
		time.Sleep(time.Hour)
	}
}

// lines returns what a file lists, each followed by a zero byte.
func lines(path string) []string {
	b, err := os.ReadFile(path)
	if err != nil {
		fmt.Println("init:", err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}
