// Package words writes numbers: of things as English has them, and of any size as JSON has them.
package words

import (
	"fmt"
)

// Plural returns "1 pixel" or "2 pixels": a number with its noun, which takes an s unless the number is 1.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
