package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// others watches what the machine's CPUs do besides this process and its children.
type others struct {
	busy, stolen, own time.Duration
	cpus              int
	start             time.Time
}

// jiffy is the unit of /proc/stat: USER_HZ is 100 on every platform that Go runs on.
const jiffy = 10 * time.Millisecond

// watchOthers starts watching.
func watchOthers() others {
	o, err := cpuTimes()
	if err != nil {
		return others{}
	}
	return o
}

// cpuTimes reads how long all CPUs worked since the machine started, for how long its host took them away, and how long this
// process and its finished children worked.
func cpuTimes() (others, error) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return others{}, err
	}
	var user, nice, system, idle, wait, irq, softirq, steal int64
	if _, err := fmt.Sscanf(string(b), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &softirq,
		&steal); err != nil {
		return others{}, err
	}
	o := others{busy: time.Duration(user+nice+system+irq+softirq) * jiffy, stolen: time.Duration(steal) * jiffy, start: time.Now(),
		cpus: strings.Count(string(b), "\ncpu")}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			return others{}, err
		}
		o.own += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return o, nil
}

// shares returns which part of the CPUs' time other programs used since the watch began, and which part the host of a virtual machine
// took away. Both are 0 where the system does not say.
func (o others) shares() (other, stolen float64) {
	now, err := cpuTimes()
	if err != nil || o.start.IsZero() || now.cpus == 0 {
		return 0, 0
	}
	all := (time.Since(o.start) * time.Duration(now.cpus)).Seconds()
	other = ((now.busy - o.busy) - (now.own - o.own)).Seconds() / all
	return max(0, other), (now.stolen - o.stolen).Seconds() / all
}
