package recipe

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/group"
)

// Lifts is the number of group elements that every point is lifted to. Under Sim(2) they may be counted by angles and scales: Count is
// then the product of both, and Scales the number of scales.
type Lifts struct{ Count, Scales int }

// mostLifts bounds either number.
const mostLifts = 1 << 10

// ParseLifts reads a number of lifts, "4", or numbers of angles and scales, "4x3".
func ParseLifts(text string) (Lifts, error) {
	angles, scales, both := strings.Cut(strings.ToLower(text), "x")
	n, err := strconv.Atoi(angles)
	s := 0
	if err == nil && both {
		if s, err = strconv.Atoi(scales); err == nil && s < 1 {
			err = strconv.ErrRange
		}
	}
	if err != nil || n < 0 || n > mostLifts || s > mostLifts {
		return Lifts{}, errors.New("need a number of lifts, or angles and scales, as in 4x3")
	}
	return Lifts{n * max(1, s), s}, nil
}

// String returns what ParseLifts reads.
func (l Lifts) String() string {
	if l.Scales > 0 {
		return fmt.Sprintf("%dx%d", l.Count/l.Scales, l.Scales)
	}
	return strconv.Itoa(l.Count)
}

// MarshalText implements encoding.TextMarshaler.
func (l Lifts) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *Lifts) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLifts(string(text))
	return err
}

// Of returns the group with as many scales as there are lifts for.
func (l Lifts) Of(g group.Group) (group.Group, error) {
	if l.Scales == 0 {
		return g, nil
	}
	if _, ok := g.(*group.Sim2); !ok {
		return nil, Errorf("{Lifts} %v: angles and scales are for {Group} Sim2, %s takes a single number", l, g.Name())
	}
	g, err := group.Parse(fmt.Sprintf("Sim(2) at %d scales", l.Scales), g.Alpha())
	if err != nil {
		return nil, Errorf("{Lifts}: %w", err)
	}
	return g, nil
}
