package interpolate

import (
	"math"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/settings"
)

// ParsePeriods reads periods in the input's unit, or as times such as 1y, 7d or 12h: years, weeks, days, hours, minutes and
// seconds become days.
func ParsePeriods(texts []string) (out []float64, err error) {
	days := map[string]float64{"y": 365.2425, "w": 7, "d": 1, "h": 1. / 24, "m": 1. / 1440, "s": 1. / 86400, "": 1}
	for _, text := range texts {
		number := strings.TrimRight(text, "ywdhms")
		v, err := strconv.ParseFloat(number, 64)
		unit, ok := days[text[len(number):]]
		if err != nil || !ok || !(v > 0) || math.IsInf(v, 0) {
			return nil, settings.Errorf("{Period} %q: need a positive number, or a time such as 1y, 7d or 12h", text)
		}
		out = append(out, v*unit)
	}
	return out, nil
}
