package main

import (
	"fmt"
	"strings"
)

// mostOthers is the share of the CPUs' time above which other work makes results doubtful.
const mostOthers = 0.03

// say returns a sentence if others used more than mostOthers of the CPUs' time since the watch began, or the host took as much
// away. It returns an empty string otherwise.
func (o others) say() string { return sayShares(o.shares()) }

// sayShares puts shares above mostOthers into words.
func sayShares(other, stolen float64) string {
	var says []string
	if other > mostOthers {
		says = append(says, fmt.Sprintf("other programs used %.0f %% of the CPUs' time during the runs", 100*other))
	}
	if stolen > mostOthers {
		says = append(says, fmt.Sprintf("the host of this virtual machine took %.0f %% of the CPUs' time away", 100*stolen))
	}
	return strings.Join(says, "; ")
}
