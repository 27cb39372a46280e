// Package cpu tells what the machine offers: instruction set extensions and the sizes of its caches.
package cpu

import (
	"sync"

	"github.com/klauspost/cpuid/v2"
	"golang.org/x/sys/cpu"
)

// extensions are the instruction set extensions that kernels use, by the names that the kernels' generators give them.
// Those of other architectures are false. x/sys/cpu reports the wide registers only if the operating system saves them.
var extensions = map[string]bool{
	"AVX":      cpu.X86.HasAVX,
	"AVX2":     cpu.X86.HasAVX2,
	"FMA3":     cpu.X86.HasFMA,
	"POPCNT":   cpu.X86.HasPOPCNT,
	"BMI":      cpu.X86.HasBMI1,
	"BMI2":     cpu.X86.HasBMI2,
	"AVX512F":  cpu.X86.HasAVX512F,
	"AVX512DQ": cpu.X86.HasAVX512DQ,
	"AVX512BW": cpu.X86.HasAVX512BW,
	"AVX512VL": cpu.X86.HasAVX512VL,
	"ASIMD":    cpu.ARM64.HasASIMD,

	"AVX512BF16": cpu.X86.HasAVX512BF16,
	"AVX512VNNI": cpu.X86.HasAVX512VNNI,
	"AMXBF16":    cpu.X86.HasAMXBF16,
	"AMXTILE":    cpu.X86.HasAMXTile && tilesAllowed(),
}

// Missing returns those of the named extensions that the machine lacks, or that this package does not know.
func Missing(names ...string) []string {
	var missing []string
	for _, n := range names {
		if !extensions[n] {
			missing = append(missing, n)
		}
	}
	return missing
}

// AMD reports whether AMD made the processor. A few kernels are fastest in one shape on AMD's cores and in another elsewhere.
// They choose by this where no other property of the processor distinguishes the two.
var AMD = cpuid.CPU.VendorID == cpuid.AMD

// Zen4 reports whether the processor is AMD's of the fourth generation of Zen or a later one, the first that has AVX-512.
var Zen4 = AMD && cpu.X86.HasAVX512F

// Zen5 reports whether the processor is AMD's of the fifth generation of Zen or a later one.
var Zen5 = AMD && cpuid.CPU.Family >= 0x1a

// Caches are the sizes in bytes of the data caches that one core sees.
type Caches struct{ L1, L2, L3 int }

// DataCaches returns the sizes of the machine's caches, or those of a modest machine where they are not known.
var DataCaches = sync.OnceValue(func() Caches {
	c := cpuid.CPU.Cache
	return Caches{or(c.L1D, 32<<10), or(c.L2, 512<<10), or(c.L3, 8<<20)}
})

func or(size, otherwise int) int {
	if size > 0 {
		return size
	}
	return otherwise
}

// StreamFrom is the size in bytes from which on a result is stored past the caches: eight times the second-level cache, about
// the share of the third level that a core gets. A store through the caches first reads the line that it overwrites, and a
// larger result has left the caches by the time it is read.
func StreamFrom() int { return 8 * DataCaches().L2 }

// unknownMemory stands for the size of the main memory where the machine does not tell.
const unknownMemory = 4 << 30
