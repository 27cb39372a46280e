package words

import "unicode/utf8"

// Closest returns the name that a typo may have meant: the first one with the fewest letters to change, at most a third of the
// typo's and at least two. It returns "" where no name is that close.
func Closest(typo string, names []string) string {
	best, name := max(2, utf8.RuneCountInString(typo)/3)+1, ""
	for _, n := range names {
		if d := Distance(n, typo); d < best {
			best, name = d, n
		}
	}
	return name
}

// Distance returns the number of letters to insert, delete, replace or swap with a neighbour to make one word of the other.
func Distance(first, second string) int {
	a, b := []rune(first), []rune(second)
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
		for j := 1; j <= len(b); j++ {
			if i == 0 {
				rows[i][j] = j
				continue
			}
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
