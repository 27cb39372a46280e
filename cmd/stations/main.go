// Command stations makes the data of the walk-through docs/stations.md: weather stations that measure temperature and rain, with gaps.
//
// Temperature falls with elevation by 6.5 degrees a kilometre, has a daily cycle and an offset of its own at every
// time, and above that is a Gaussian process with kernel 4*matern32(2) and a noise of variance 0.09; so the best linear
// prediction of it is universal kriging with that kernel. Rain is another process where that is positive, else none.
// Longitude and latitude are in units of a hundred kilometres, elevation is in kilometres.
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

func main() {
	seed := flag.Uint64("seed", 1, "seed of everything")
	stations := flag.Int("stations", 200, "number of stations")
	times := flag.Int("times", 150, "number of times, six hours apart")
	out := flag.String("out", "stations.csv", "table of all times but the last")
	today := flag.String("today", "today.csv", "table of the last")
	grid := flag.String("grid", "grid.csv", "table of a grid's places, with their elevation and the last time's hour")
	flag.Parse()
	for name, write := range map[string]func(w io.Writer) error{
		*out:   func(w io.Writer) error { return write(w, *seed, *stations, 0, *times-1) },
		*today: func(w io.Writer) error { return write(w, *seed, *stations, *times-1, *times) },
		*grid:  func(w io.Writer) error { return writeGrid(w, at(*times-1)) },
	} {
		if err := toFile(name, write); err != nil {
			fmt.Fprintln(os.Stderr, "stations:", err)
			os.Exit(1)
		}
	}
}

func toFile(name string, write func(w io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// elevation is that of the ground.
func elevation(lon, lat float64) float64 {
	return 0.6*(1+math.Sin(0.9*lon)*math.Cos(0.7*lat)) + 0.5*math.Exp(-((lon-6)*(lon-6)+(lat-4)*(lat-4))/3)
}

// at is the k-th time.
func at(k int) time.Time {
	return time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(k) * 6 * time.Hour)
}

// write writes the observations of some times, which do not depend on how many others are written.
func write(w io.Writer, seed uint64, stations, from, to int) error {
	rng := rand.New(rand.NewPCG(seed, 0))
	place := make([][3]float64, stations)
	for i := range place {
		lon, lat := 10*rng.Float64(), 10*rng.Float64()
		place[i] = [3]float64{lon, lat, elevation(lon, lat)}
	}
	kernel, cov := task.Matern32(2), mat.NewSymDense(stations, nil)
	for i := range place {
		for j := range i + 1 {
			d := math.Hypot(math.Hypot(place[i][0]-place[j][0], place[i][1]-place[j][1]), place[i][2]-place[j][2])
			cov.SetSym(i, j, kernel(d))
		}
		cov.SetSym(i, i, 1+1e-9)
	}
	var chol mat.Cholesky
	if !chol.Factorize(cov) {
		return fmt.Errorf("%d stations are too many for the numbers of the process", stations)
	}
	var l mat.TriDense
	chol.LTo(&l)
	process := func(rng *rand.Rand) *mat.VecDense {
		z := mat.NewVecDense(stations, nil)
		for i := range stations {
			z.SetVec(i, rng.NormFloat64())
		}
		z.MulVec(&l, z)
		return z
	}

	out := &tabular.Table{Header: []string{"station", "time", "lon", "lat", "elevation", "hour", "t2m", "rain"}, Cols: 8,
		Texts: make([][]string, 8)}
	for k := from; k < to; k++ {
		rng := rand.New(rand.NewPCG(seed, uint64(k)+1))
		now := at(k)
		offset := 12 + 4*rng.NormFloat64() + 5*math.Sin(2*math.Pi*float64(now.Hour()-9)/24)
		warm, wet := process(rng), process(rng)
		for i, p := range place {
			t2m := offset - 6.5*p[2] + 2*warm.AtVec(i) + 0.3*rng.NormFloat64()
			rain := max(0, 6*(wet.AtVec(i)-0.5))
			gone, noT2M, noRain := rng.Float64() < 0.1, rng.Float64() < 0.15, rng.Float64() < 0.25
			if noT2M || gone {
				t2m = math.NaN()
			}
			if noRain || gone {
				rain = math.NaN()
			}
			round := func(v, by float64) float64 { return math.Round(v*by) / by }
			out.Texts[0], out.Texts[1] = append(out.Texts[0], fmt.Sprintf("S%02d", i+1)),
				append(out.Texts[1], now.Format("2006-01-02T15:04"))
			out.Values = append(out.Values, math.NaN(), math.NaN(), round(p[0], 1e4), round(p[1], 1e4), round(p[2], 1e4),
				float64(now.Hour()), round(t2m, 100), round(rain, 100))
		}
	}
	return tabular.Write(w, out, ',')
}

// writeGrid writes places a quarter of a unit apart, at a time.
func writeGrid(w io.Writer, now time.Time) error {
	out := &tabular.Table{Header: []string{"lon", "lat", "elevation", "hour"}, Cols: 4}
	for i := range 41 {
		for j := range 41 {
			lon, lat := float64(j)/4, float64(i)/4
			out.Values = append(out.Values, lon, lat, math.Round(elevation(lon, lat)*1e4)/1e4, float64(now.Hour()))
		}
	}
	return tabular.Write(w, out, ',')
}
