package main

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// neonCount is what one function's main loop takes: instructions a turn and, if the generator said so, for how much work.
type neonCount struct {
	name         string
	turn, work   int
	unit         string
	instructions int // of the whole function
}

var (
	neonText    = regexp.MustCompile(`^TEXT ·(\w+)\(SB\)`)
	neonLabel   = regexp.MustCompile(`^(\w+):$`)
	neonBranch  = regexp.MustCompile(`^\t(?:B|BEQ|BNE|BLT|BLE|BGT|BGE|BLO|BLS|BHI|BHS|BMI|BPL|CBZ|CBNZ|TBZ|TBNZ)\s(?:.*[ ,])?(\w+)$`)
	neonCounted = regexp.MustCompile(`// (\d+) instructions for (\d+) ([\w-]+), `)
)

// neonCounts reads the functions of an assembly text. If loops state their work, the cheapest of them is the main loop, because the
// others take what is left over. Otherwise it is the longest loop that holds no other.
func neonCounts(text []byte) []neonCount {
	var counts []neonCount
	for part := range strings.SplitSeq(string(text), "\nTEXT ") {
		lines := strings.Split("TEXT "+part, "\n")
		m := neonText.FindStringSubmatch(lines[0])
		if m == nil {
			continue
		}
		counts = append(counts, countLoops(m[1], lines[1:]))
	}
	return counts
}

func countLoops(name string, lines []string) neonCount {
	c := neonCount{name: name}
	labels, inner := map[string]int{}, -1 // where labels stand, and the last loop's start
	for _, line := range lines {
		if m := neonLabel.FindStringSubmatch(line); m != nil {
			labels[m[1]] = c.instructions
			continue
		}
		if m := neonCounted.FindStringSubmatch(line); m != nil {
			turn, _ := strconv.Atoi(m[1])
			work, _ := strconv.Atoi(m[2])
			if c.work == 0 || turn*c.work < c.turn*work {
				c.turn, c.work, c.unit = turn, work, m[3]
			}
			continue
		}
		if !strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "\t//") {
			continue
		}
		c.instructions++
		m := neonBranch.FindStringSubmatch(line)
		if m == nil || c.work > 0 {
			continue
		}
		if start, seen := labels[m[1]]; seen && start > inner {
			inner = start
			c.turn = max(c.turn, c.instructions-start)
		}
	}
	return c
}

// renderNEONCounts writes the table of instructions per element of all arm64 kernels.
func renderNEONCounts() output {
	var b bytes.Buffer
	b.WriteString(`# Instructions of the NEON kernels

Written by the generators from the code that they emit; a test compares. No machine to measure on is at hand, so this is what is
known of the kernels' speed: how many instructions the main loop takes for one element (or pair, matrix, point), loads, stores and the
loop's own included. Loops that serve several shapes state a turn alone, and functions without a loop their length.

| file | function | instructions a turn | for | each |
|---|---|---:|---|---:|
`)
	for _, g := range neonRegistry {
		counts := neonCounts(renderNEON(g)[0].text)
		slices.SortFunc(counts, func(a, b neonCount) int { return strings.Compare(a.name, b.name) })
		file := g.file[strings.LastIndex(g.file, "/")+1:]
		for _, c := range counts {
			switch {
			case c.work > 0:
				fmt.Fprintf(&b, "| %s | %s | %d | %d %s | %.3g |\n", file, c.name, c.turn, c.work, c.unit, float64(c.turn)/float64(c.work))
			case c.turn > 0:
				fmt.Fprintf(&b, "| %s | %s | %d | one turn | |\n", file, c.name, c.turn)
			default:
				fmt.Fprintf(&b, "| %s | %s | %d | in all | |\n", file, c.name, c.instructions)
			}
		}
	}
	return output{"../asm/NEON.md", b.Bytes()}
}
