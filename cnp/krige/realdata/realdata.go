// Package realdata scores interpolation without training on a folder of tables, beside the held-out scores of classical methods.
//
// The folder holds data/sets.json and data/NAME.csv, splits/NAME.json (rows of context and test, from 0), and
// scores.json with the scores of other methods on the same splits.
package realdata

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/equivcnp/equivcnp/cnp/krige"
)

// Kinds are the kinds of splits, in the order of the report.
var Kinds = []string{"dense", "sparse", "gap", "forecast", "given"}

// Strong are the methods whose best one a tool is compared with.
var Strong = []string{"fields", "gstat", "gp"}

// Score holds what one method achieved on one split. Densities are those of values over the context's standard deviation.
type Score struct {
	Kind  string  `json:"kind"`
	LPD   float64 `json:"lpd"`
	CRPS  float64 `json:"crps"`
	RMSE  float64 `json:"rmse"`
	C50   float64 `json:"c50"`
	C95   float64 `json:"c95"`
	CPU   float64 `json:"cpu"`
	Error string  `json:"error,omitempty"`
}

// set is a table with its splits.
type set struct {
	name   string
	d      int
	n      int
	x, y   []float64
	latLon []float64 // of places on the earth
	splits []split
}

type split struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Context []int  `json:"context"`
	Test    []int  `json:"test"`
}

// Row is a set and a kind of splits: means over the splits.
type Row struct {
	Set, Kind     string
	Splits        int
	Score         Score
	Best          map[string]string     // by measure: the best strong method
	Difference    map[string][2]float64 // by measure: the tool less the best, mean and standard error
	Ratio         map[string]float64    // of crps and rmse to the best's
	Constant      float64               // the constant's log density
	Seconds       float64               // of fit and prediction
	Context, Test int
}

// Options choose what is scored.
type Options struct {
	Sets   []string // all, where empty
	Kinds  []string
	Most   int  // splits of a kind and set, 0 for all
	Sphere bool // places on the earth by latitude and longitude
	Robust bool // see krige.Options
	// Spoil is the share of the values of each context, one at least, that Size of their standard deviations are added to or taken from; 0:
	// none. Test values stay as they are.
	Spoil, Size float64
	// Done is called after each set, where it is not nil.
	Done func(set string)
}

// Run scores krige on a folder.
func Run(ctx context.Context, dir string, opt Options) ([]Row, error) {
	names, err := setNames(dir)
	if err != nil {
		return nil, err
	}
	var baselines map[string]map[string]map[string]Score
	if err := readJSON(filepath.Join(dir, "scores.json"), &baselines); err != nil {
		return nil, err
	}
	kinds := opt.Kinds
	if len(kinds) == 0 {
		kinds = Kinds
	}
	var rows []Row
	for _, name := range names {
		if len(opt.Sets) > 0 && !slices.Contains(opt.Sets, name) {
			continue
		}
		s, err := readSet(dir, name)
		if err != nil {
			return nil, err
		}
		for _, kind := range kinds {
			row, err := s.score(ctx, kind, baselines[name], opt)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", name, kind, err)
			}
			if row != nil {
				rows = append(rows, *row)
			}
		}
		if opt.Done != nil {
			opt.Done(name)
		}
	}
	return rows, nil
}

// score scores the splits of a kind, nil where there are none.
func (s *set) score(ctx context.Context, kind string, baselines map[string]map[string]Score, opt Options) (*Row, error) {
	scores := map[string]Score{}
	row := &Row{Set: s.name, Kind: kind, Best: map[string]string{}, Difference: map[string][2]float64{}, Ratio: map[string]float64{}}
	var order []string
	for _, sp := range s.splits {
		if sp.Kind != kind || opt.Most > 0 && len(scores) == opt.Most {
			continue
		}
		start := time.Now()
		score, err := s.run(ctx, &sp, opt)
		if err != nil {
			return nil, fmt.Errorf("split %s: %w", sp.ID, err)
		}
		row.Seconds += time.Since(start).Seconds()
		scores[sp.ID] = score
		order = append(order, sp.ID)
		row.Context, row.Test = len(sp.Context), len(sp.Test)
	}
	if len(order) == 0 {
		return nil, nil
	}
	row.Splits = len(order)
	n := float64(row.Splits)
	row.Seconds /= n
	for _, id := range order {
		v := scores[id]
		row.Score.LPD += v.LPD / n
		row.Score.CRPS += v.CRPS / n
		row.Score.RMSE += v.RMSE / n
		row.Score.C50 += v.C50 / n
		row.Score.C95 += v.C95 / n
		row.Constant += baselines["const"][id].LPD / n
	}
	for _, measure := range []string{"lpd", "crps", "rmse"} {
		row.compare(measure, order, scores, baselines)
	}
	return row, nil
}

// measures are the numbers that methods are compared by.
func (s Score) measure(name string) float64 {
	switch name {
	case "lpd":
		return s.LPD
	case "crps":
		return s.CRPS
	}
	return s.RMSE
}

// compare finds the best strong method by its mean, and the paired difference to it.
func (r *Row) compare(measure string, order []string, scores map[string]Score, baselines map[string]map[string]Score) {
	best, found := math.Inf(1), false
	most := 0
	for _, m := range Strong {
		most = max(most, len(common(order, baselines[m])))
	}
	for _, m := range Strong {
		ids := common(order, baselines[m])
		if len(ids) == 0 || len(ids) < most {
			continue // a method that failed somewhere is not the best
		}
		var mean float64
		var diffs []float64
		for _, id := range ids {
			b := baselines[m][id].measure(measure)
			mean += b / float64(len(ids))
			diffs = append(diffs, scores[id].measure(measure)-b)
		}
		key := mean
		if measure == "lpd" {
			key = -mean
		}
		if !found || key < best {
			best, found = key, true
			d, se := meanError(diffs)
			r.Best[measure], r.Difference[measure] = m, [2]float64{d, se}
			r.Ratio[measure] = (mean + d) / mean
		}
	}
}

func common(order []string, scores map[string]Score) (ids []string) {
	for _, id := range order {
		if v, ok := scores[id]; ok && v.Error == "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// meanError is the mean and its standard error, NaN for one value.
func meanError(v []float64) (mean, se float64) {
	n := float64(len(v))
	for _, a := range v {
		mean += a / n
	}
	for _, a := range v {
		se += (a - mean) * (a - mean)
	}
	return mean, math.Sqrt(se / (n - 1) / n)
}

// run fits the context of a split and scores its test values.
func (s *set) run(ctx context.Context, sp *split, how Options) (Score, error) {
	x, opt := s.x, krige.Options{Dim: s.d, Robust: how.Robust}
	if how.Sphere && s.latLon != nil {
		x, opt.Sphere = s.latLon, true
	}
	take := func(rows []int) (xs, ys []float64) {
		for _, i := range rows {
			xs, ys = append(xs, x[i*s.d:(i+1)*s.d]...), append(ys, s.y[i])
		}
		return xs, ys
	}
	cx, cy := take(sp.Context)
	tx, ty := take(sp.Test)
	unit := deviation(cy)
	if how.Spoil > 0 {
		rng := rand.New(rand.NewPCG(uint64(len(cy)), uint64(s.n)))
		for _, i := range rng.Perm(len(cy))[:max(1, int(how.Spoil*float64(len(cy))))] {
			cy[i] += how.Size * unit * float64(1-2*rng.IntN(2))
		}
	}
	m, err := krige.Fit(ctx, cx, cy, opt)
	if err != nil {
		return Score{}, err
	}
	mean, std, err := m.Predict(ctx, tx)
	if err != nil {
		return Score{}, err
	}
	out := Judge(ty, mean, std, unit)
	out.Kind = sp.Kind
	return out, nil
}

// deviation is the standard deviation of a context, 1 where it has none.
func deviation(v []float64) float64 {
	mean, _ := meanError(v)
	var s float64
	for _, a := range v {
		s += (a - mean) * (a - mean)
	}
	if d := math.Sqrt(s / float64(len(v)-1)); d > 0 {
		return d
	}
	return 1
}

// Judge scores normal predictions of y, in units of sd.
func Judge(y, mean, std []float64, sd float64) (s Score) {
	n := float64(len(y))
	var square float64
	for i, v := range y {
		d, e := (v-mean[i])/sd, max(std[i]/sd, 1e-6)
		z := d / e
		s.LPD += (-0.5*z*z - math.Log(e) - 0.5*math.Log(2*math.Pi)) / n
		square += d * d / n
		s.CRPS += e * (z*math.Erf(z/math.Sqrt2) + 2*math.Exp(-0.5*z*z)/math.Sqrt(2*math.Pi) - 1/math.Sqrt(math.Pi)) / n
		if math.Abs(z) <= 0.67448975 {
			s.C50 += 1 / n
		}
		if math.Abs(z) <= 1.95996398 {
			s.C95 += 1 / n
		}
	}
	s.RMSE = math.Sqrt(square)
	return s
}

// setNames lists the sets of a folder whose files are there, in the order of the file of public ones, or of their names.
func setNames(dir string) (names []string, err error) {
	if err := readJSON(filepath.Join(dir, "public.json"), &names); err == nil {
		return names, nil
	}
	var all map[string]json.RawMessage
	if err := readJSON(filepath.Join(dir, "data", "sets.json"), &all); err != nil {
		return nil, err
	}
	for name := range all {
		if _, err := os.Stat(filepath.Join(dir, "data", name+".csv")); err == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

func readJSON(path string, to any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// readSet reads a table and its splits.
func readSet(dir, name string) (*set, error) {
	path := filepath.Join(dir, "data", name+".csv")
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cells, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(cells) == 0 {
		return nil, fmt.Errorf("%s: no header", path)
	}
	s := &set{name: name, n: len(cells) - 1}
	column := func(wanted string) (values []float64, err error) {
		at := slices.Index(cells[0], wanted)
		if at < 0 {
			return nil, nil
		}
		for i, row := range cells[1:] {
			v, err := strconv.ParseFloat(row[at], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: row %d: %w", path, i, err)
			}
			values = append(values, v)
		}
		return values, nil
	}
	columns := map[string][]float64{}
	for _, c := range []string{"x", "x1", "x2", "lat", "lon", "y"} {
		if columns[c], err = column(c); err != nil {
			return nil, err
		}
	}
	s.y = columns["y"]
	switch {
	case columns["x"] != nil:
		s.d, s.x = 1, columns["x"]
	case columns["x1"] != nil && columns["x2"] != nil:
		s.d = 2
		for i := range s.n {
			s.x = append(s.x, columns["x1"][i], columns["x2"][i])
		}
	}
	if s.d == 0 || s.y == nil {
		return nil, fmt.Errorf("%s: need the columns x, or x1 and x2, and y", path)
	}
	if columns["lat"] != nil && columns["lon"] != nil {
		for i := range s.n {
			s.latLon = append(s.latLon, columns["lat"][i], columns["lon"][i])
		}
	}
	var f struct {
		Splits []split `json:"splits"`
	}
	if err := readJSON(filepath.Join(dir, "splits", name+".json"), &f); err != nil {
		return nil, err
	}
	for _, sp := range f.Splits {
		for _, i := range slices.Concat(sp.Context, sp.Test) {
			if i < 0 || i >= s.n {
				return nil, fmt.Errorf("%s: split %s: row %d of %d", name, sp.ID, i, s.n)
			}
		}
	}
	s.splits = f.Splits
	return s, nil
}
