package cnp

import (
	"context"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/layers"
)

// A model whose poses are translations sees no further than its layers' radii together, and looks alike at every place. So a raster that
// is larger than memory can be completed piece by piece with the result of the whole.
//
// A RasterPlan goes down a band of columns. It keeps, of each layer, as many lines as the next one needs, and computes
// a line when those that it depends on are there: no line of a band is computed twice. Bands overlap by what the layers
// see to the sides; that, and what is above a place where it begins again, is all that is computed more than once.
//
// The bits are those of one plan for the whole raster (RasterGeometry) that sums over pairs (layers.Direct; what a
// transform gives depends on how its tiles lie). A row of a plan adds up its pairs in an order that depends on which of
// them the other rows of its group of eight have, so: bands begin at multiples of eight, a raster's lines have a
// multiple of eight pixels, of which the last ones may be unobserved ones beyond its edge, and the margin of a band
// covers every group that its edge cuts through. Coordinates are whole numbers of a step that has 24 bits, so that
// differences are exact, and poses equal everywhere.

// rasterGroup is how many rows of a plan are added up together.
const rasterGroup = 8

// RasterGeometry places the pixels of a raster of h x w: at the distance that pixels had in training, whatever the
// size. This is unlike [ImageEquivCNP.Geometry], which takes a large image for a finer drawing of a small one. w must
// be a multiple of 8; pixels that are added for it are unobserved.
func (m *ImageEquivCNP[T]) RasterGeometry(h, w int) (Geometry, error) {
	if h < 1 || w < 1 || h > maxPixels/w || w%rasterGroup != 0 {
		return Geometry{}, fmt.Errorf("%w: a raster of %d x %d pixels: need at least 1 x 8, whole eights along a line, "+
			"and at most %d in all", ErrShape, h, w, maxPixels)
	}
	down, right := m.rasterSteps()
	g := Geometry{Points: make([]float64, 0, 2*h*w)}
	for y := range h {
		for x := range w {
			g.Points = append(g.Points, float64(y)*down, float64(x)*right)
		}
	}
	return g, nil
}

// RasterOptions say how a raster is divided. They change time and memory, and no bit of a prediction.
type RasterOptions struct {
	// Memory is about how much a plan and its work may take; 0 is 1 GB.
	Memory int64
	// Across is the width of a band with its margins, Down the height of a tile; 0 chooses them. A band that needs more than
	// Memory is refused.
	Across, Down int
}

// RasterTile is lines Y to Y+H of columns X to X+W, which are predicted together.
type RasterTile struct{ Y, X, H, W int }

// RasterPlan completes rasters of one size. It serves one call at a time.
type RasterPlan[T Float] struct{ plan rasterPlanner[T] }

// rasterPlanner is what a rasterPlan can do, behind an interface as imagePlanner is.
type rasterPlanner[T Float] interface {
	Bytes() int64
	Predict(ctx context.Context, read func(part *Images[T], y, x int) error, done func(i int) bool,
		write func(i int, t RasterTile, p *Prediction[T]) error) error
	Reach() (lines, columns int)
	Tiles() []RasterTile
}

// Bytes returns roughly the memory that the plan and its work need.
func (r *RasterPlan[T]) Bytes() int64 { return r.plan.Bytes() }

// Predict completes a raster, tile by tile. read sets part, an image of part.H x part.W pixels, to the raster from line
// y and column x on; it is asked for lines in order, and once more only where tiles are left out or bands overlap.
// done, if not nil, reports whether a tile is left out; write takes the prediction [C, tile.H, tile.W] of every other
// one, which is only its own during the call.
func (r *RasterPlan[T]) Predict(ctx context.Context, read func(part *Images[T], y, x int) error, done func(i int) bool,
	write func(i int, t RasterTile, p *Prediction[T]) error) error {
	return r.plan.Predict(ctx, read, done, write)
}

// Reach returns the number of lines above and below, and at most the number of columns to each side, that a prediction depends on.
func (r *RasterPlan[T]) Reach() (lines, columns int) { return r.plan.Reach() }

// Tiles lists the tiles in the order in which Predict goes through them.
func (r *RasterPlan[T]) Tiles() []RasterTile { return r.plan.Tiles() }

// rasterPlan is a RasterPlan.
type rasterPlan[T Float] struct {
	plan    *imagePlan[T]
	h, w    int       // of the raster; w is a multiple of eight
	pixels  int       // of a line that are the raster's own
	reach   []int     // of each layer, in lines
	aside   []int     // of each layer, in columns
	pairs   []float64 // of each layer, about how many a pixel has
	most    int       // the largest of them
	lines   int       // of the plan
	across  int       // of the plan
	batch   int       // lines computed at a time
	margin  int       // columns of a band that are not the raster's
	columns []int     // where bands' own columns begin, and the end
	down    int
	bytes   int64
}

// rasterBatch is how many lines of a layer are computed at a time, rasterDown how many a tile has.
const rasterBatch, rasterDown = 16, 256

// A band is no wider than rasterAcross columns, or so many times its margin: its plan and the lines of a layer then
// stay in a core's second-level cache, or near it. Digits-T2-small (margin 32) takes 0.73 µs of a core for a pixel of a
// raster of 20,000 columns at 1,024 columns, 0.80 at 512, and 0.95 to 1.0 at 10,000.
const rasterAcross, rasterMargins = 1024, 20

// mostTiles bounds the tiles of a raster, which are listed: those of 256 lines of 1024 columns are 2.7e11 pixels. A header
// of a few bytes can claim a larger raster.
const mostTiles = 1 << 20

// PlanRaster makes a plan of a model for rasters of h x w pixels. It is an error if the model's prediction of a pixel
// depends on the whole raster, or on where the pixel lies.
func PlanRaster[T Float](ctx context.Context, model Model[T], h, w int, opt RasterOptions) (*RasterPlan[T], error) {
	return instance[func(context.Context, Model[T], int, int, RasterOptions) (*RasterPlan[T], error)](&planRasterInstances)(
		ctx, model, h, w, opt)
}

var planRasterInstances = instances{planRaster[float32], planRaster[float64]}

func planRaster[T Float](ctx context.Context, model Model[T], h, w int, opt RasterOptions) (*RasterPlan[T], error) {
	r, err := newRasterPlan(ctx, model, h, w, opt)
	if err != nil {
		return nil, err
	}
	return &RasterPlan[T]{r}, nil
}

func newRasterPlan[T Float](ctx context.Context, model Model[T], h, w int, opt RasterOptions) (*rasterPlan[T], error) {
	if model == nil {
		return nil, errNoModel
	}
	cfg := model.Config()
	if err := cfg.Tileable(); err != nil {
		return nil, err
	}
	m, ok := model.(*ImageEquivCNP[T])
	if !ok {
		return nil, fmt.Errorf("%w for rasters: several models are completed one by one", ErrNoPlan)
	}
	const most = 1 << 22
	if h < 1 || w < 1 || h > most || w > most {
		return nil, fmt.Errorf("%w: a raster of %d x %d pixels, need 1 to %d along each side", ErrShape, h, w, most)
	}
	if opt.Memory < 0 || opt.Across < 0 || opt.Down < 0 || opt.Across%rasterGroup != 0 {
		return nil, fmt.Errorf("%w: %d bytes, bands of %d columns, tiles of %d lines: need 0 or more, and a multiple of 8 columns",
			ErrConfig, opt.Memory, opt.Across, opt.Down)
	}
	if opt.Memory == 0 {
		opt.Memory = 1 << 30
	}
	r := &rasterPlan[T]{h: h, pixels: w, w: eights(w), down: opt.Down}
	if r.down == 0 {
		r.down = rasterDown
	}
	if err := r.measure(m); err != nil {
		return nil, err
	}
	need := m.rasterColumnBytes(r)
	r.across = min(int(min(opt.Memory/need, math.MaxInt32)), r.w, max(rasterAcross, rasterMargins*r.margin)) / rasterGroup * rasterGroup
	least := min(2*r.margin+rasterGroup, r.w)
	if opt.Across > 0 {
		if r.across = min(opt.Across, r.w); r.across < least {
			return nil, fmt.Errorf("%w: bands of %d columns: with margins of %d columns to either side, they need at least %d",
				ErrConfig, r.across, r.margin, least)
		}
		least = r.across
	}
	if r.across < least || need > opt.Memory/int64(least) {
		return nil, fmt.Errorf("%w: bands of %d columns, which see %d pixels to either side, need about %v, the limit is %v",
			ErrMemory, least, r.margin, Bytes(need*int64(least)), Bytes(opt.Memory))
	}
	r.bytes = need * int64(r.across)
	g, err := m.RasterGeometry(r.lines, r.across)
	if err != nil {
		return nil, err
	}
	if r.plan, err = m.planGeometry(ctx, g, PlanOptions{Memory: -1, Algorithm: layers.Direct, Precision: Float32}); err != nil {
		return nil, err
	}
	if !r.plan.layout.Flat() {
		return nil, fmt.Errorf("%w: a raster of %d x %d pixels is too small to be divided: complete it as an image", ErrShape, h, w)
	}
	r.columns = []int{0}
	for x := 0; x < r.w; {
		if x = r.first(x) + r.across; x < r.w {
			x -= r.margin
		}
		r.columns = append(r.columns, min(x, r.w))
	}
	if bands, tiles := len(r.columns)-1, (h-1)/r.down+1; bands > mostTiles/tiles {
		return nil, fmt.Errorf("%w: a raster of %d x %d pixels, in %d bands of %d columns and tiles of %d lines, has more than %d tiles",
			ErrShape, h, w, bands, r.across, r.down, mostTiles)
	}
	return r, nil
}

// eights returns the next multiple of eight.
func eights(n int) int { return (n + rasterGroup - 1) / rasterGroup * rasterGroup }

// Tileable reports, as an error, why a model of this configuration cannot complete an image piece by piece.
func (c *Config) Tileable() error {
	switch {
	case c.Architecture != EquivCNPImage:
		return fmt.Errorf("%w: tiles need an %s model; what a %s model says of a pixel depends on the whole image, or "+
			"on more of it than is known here", ErrConfig, EquivCNPImage, c.Architecture)
	case c.Group == "SO(2)" || c.Group == "R>0xSO(2)":
		return fmt.Errorf("%w: tiles need the group T(2): under %s the weights depend on where a pixel lies in the image, not "+
			"only on where its neighbours lie from it, so a piece alone is predicted otherwise than in the whole", ErrConfig, c.Group)
	case c.Group != "T(2)":
		return fmt.Errorf("%w: tiles need the group T(2): under %s the lifts of a pixel are drawn by its place in the "+
			"image, so a piece alone is predicted otherwise than in the whole", ErrConfig, c.Group)
	case c.MaxNeighbors > 0 || c.blockNeighbors() > 0:
		return fmt.Errorf("%w: the model draws %d neighbours of each pixel by its place in the image: a piece alone "+
			"is predicted otherwise than in the whole", ErrConfig, max(c.MaxNeighbors, c.blockNeighbors()))
	case c.Lifts > 1:
		return fmt.Errorf("%w: the model has %d lifts of each pixel, drawn by its place in the image: a piece alone "+
			"is predicted otherwise than in the whole", ErrConfig, c.Lifts)
	}
	return nil
}

// measure finds how far each layer sees, by the group's own distance.
func (r *rasterPlan[T]) measure(m *ImageEquivCNP[T]) error {
	down, right := m.rasterSteps()
	side := 0
	for _, radius := range append([]float64{m.psi.Radius()}, blockRadii(m)...) {
		var seen [2]int
		for d, step := range [2]float64{down, right} {
			for pose := [2]float64{}; ; seen[d]++ {
				if pose[d] = float64(seen[d]+1) * step; !(m.group.Distance(pose[:]) < radius) {
					break
				}
				if seen[d] == 1<<12 {
					return fmt.Errorf("%w: a radius of more than %d pixels", ErrRange, seen[d])
				}
			}
		}
		r.pairs = append(r.pairs, 3.15*float64(seen[0]+1)*float64(seen[1]+1))
		r.reach, r.aside, r.most = append(r.reach, seen[0]), append(r.aside, seen[1]), max(r.most, seen[0])
		side = max(side+seen[1], eights(seen[1]))
	}
	r.margin = eights(side)
	r.batch = rasterBatch
	r.lines = min(2*r.most+r.batch, r.h)
	return nil
}

// rasterSteps returns the distances of pixels: with 24 bits, all multiples and their differences are exact.
func (m *ImageEquivCNP[T]) rasterSteps() (down, right float64) {
	return float64(float32(pixelStep(m.cfg.ImageSize[0]))), float64(float32(pixelStep(m.cfg.ImageSize[1])))
}

// rasterColumnBytes returns about what a column of a band needs: its part of the plan, while that is made, and the lines of all layers.
func (m *ImageEquivCNP[T]) rasterColumnBytes(r *rasterPlan[T]) int64 {
	pairs, seen := 0.0, map[float64]bool{}
	for _, n := range r.pairs { // layers of one radius share their pairs
		if !seen[n] {
			seen[n] = true
			pairs += n
		}
	}
	size := int64(unsafe.Sizeof(T(0)))
	features := int64(len(r.reach)*m.cfg.Channels[0]+2*m.cfg.DimY*m.cfg.Multiplicity)*int64(r.height()) + int64(2*m.cfg.Channels[0]*r.lines)
	need := int64(pairs*planPairBytes)*int64(r.lines) + size*features + 64*int64(r.lines)
	if m.cfg.KeepObserved { // what was observed on the lines from a tile's first one to the last one that is read, in slices that grow
		ahead, _ := r.Reach()
		need += 3 * (size*int64(m.cfg.DimY) + 1) * int64(min(r.down+ahead+r.batch, r.h)) / 2
	}
	return need
}

// planPairBytes is what a pair of a flat plan takes while it is made.
const planPairBytes = 45

func blockRadii[T Float](m *ImageEquivCNP[T]) (out []float64) {
	for _, b := range m.blocks {
		for _, conv := range b.Conv {
			out = append(out, conv.Depthwise.Radius())
		}
	}
	return out
}

// height is how many lines of each layer are kept.
func (r *rasterPlan[T]) height() int { return min(2*(2*r.most+r.batch)+r.batch, r.h+r.batch) }

// first returns the column at which the band that begins with column x has its margin, or the raster's edge.
func (r *rasterPlan[T]) first(x int) int { return max(0, min(x-r.margin, r.w-r.across)) }

func (r *rasterPlan[T]) Reach() (lines, columns int) {
	for _, n := range r.reach {
		lines += n
	}
	return lines, r.margin
}

func (r *rasterPlan[T]) Bytes() int64 { return r.bytes }

func (r *rasterPlan[T]) Tiles() []RasterTile {
	var tiles []RasterTile
	for k := range len(r.columns) - 1 {
		for y := 0; y < r.h; y += r.down {
			x := r.columns[k]
			tiles = append(tiles, RasterTile{y, x, min(r.down, r.h-y), min(r.columns[k+1], r.pixels) - x})
		}
	}
	return tiles
}

// Predict is [RasterPlan.Predict].
func (r *rasterPlan[T]) Predict(ctx context.Context, read func(part *Images[T], y, x int) error, done func(i int) bool,
	write func(i int, t RasterTile, p *Prediction[T]) error) error {
	tiles := r.Tiles()
	report := progress(ctx)
	ctx = quiet(ctx)
	var s *rasterStream[T]
	for i, t := range tiles {
		report(i, len(tiles))
		if t.W <= 0 || done != nil && done(i) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if s == nil {
			s = r.stream(read)
		}
		if x := r.first(t.X); s.x != x || s.next != t.Y {
			s.begin(t.Y, x)
			s.see(t)
		}
		p, err := s.tile(ctx, t)
		if err != nil {
			return err
		}
		if err := write(i, t, p); err != nil {
			return err
		}
	}
	report(len(tiles), len(tiles))
	return ctx.Err()
}

// rasterStream goes down a band.
type rasterStream[T Float] struct {
	r       *rasterPlan[T]
	read    func(part *Images[T], y, x int) error
	x, next int // the band's first column, and the next line that will be predicted
	// layers has the input, then what the embedding and each convolution makes of it. The last one's lines are read as
	// soon as they are there.
	layers []rasterLines[T]
	whole  []T // of the lines of the plan: where layers write to
	ws     layers.Workspace[T]
	runs   []layers.RowRun
	input  imageRun[T]
	part   Images[T]
	out    *Prediction[T]
	rows   []readBuffers[T]
	seen   seenLines[T]
}

// seenLines are the lines of a band that were read and are not predicted yet, for a model that keeps observed pixels.
type seenLines[T Float] struct {
	first, c, width int
	pixels          []T // [lines, c, width]
	mask            []bool
}

// add appends the lines of a part, from line y on.
func (l *seenLines[T]) add(part *Images[T], y int) {
	if len(l.mask) == 0 {
		l.first, l.c, l.width = y, part.C, part.W
	}
	l.mask = append(l.mask, part.Mask...)
	for y := range part.H {
		for ch := range part.C {
			l.pixels = append(l.pixels, part.Pixels[(ch*part.H+y)*part.W:][:part.W]...)
		}
	}
}

// at returns some pixels of a channel and whether they were observed.
func (l *seenLines[T]) at(y, x, n, ch int) ([]T, []bool) {
	y -= l.first
	return l.pixels[(y*l.c+ch)*l.width+x:][:n], l.mask[y*l.width+x:][:n]
}

// drop forgets the lines before y.
func (l *seenLines[T]) drop(y int) {
	n := (y - l.first) * l.width
	l.first, l.mask, l.pixels = y, slices.Delete(l.mask, 0, n), slices.Delete(l.pixels, 0, n*l.c)
}

// rasterLines are lines of one layer's features.
type rasterLines[T Float] struct {
	data  []T
	line  int // numbers of a line
	first int // the first line that data holds
	have  int // the line after the last that is there
	from  int // the columns of the band that are computed, whole eights
	to    int
}

func (r *rasterPlan[T]) stream(read func(part *Images[T], y, x int) error) *rasterStream[T] {
	p := r.plan
	s := &rasterStream[T]{r: r, read: read, x: -1, input: imageRun[T]{plan: p}, whole: make([]T, p.rows*p.cfg.Channels[0])}
	channels := 2 * p.cfg.DimY * p.cfg.Multiplicity
	for range len(r.reach) {
		s.layers = append(s.layers, rasterLines[T]{data: make([]T, r.height()*r.across*channels), line: r.across * channels})
		channels = p.cfg.Channels[0]
	}
	s.layers = append(s.layers, rasterLines[T]{line: r.across * channels}) // the last: never kept
	return s
}

// begin goes to a line of a band: every layer starts at the first line that this one depends on.
func (s *rasterStream[T]) begin(y, x int) {
	s.x, s.next = x, y
	s.seen.mask, s.seen.pixels = s.seen.mask[:0], s.seen.pixels[:0]
	for i := len(s.layers) - 1; i >= 0; i-- {
		l := &s.layers[i]
		l.have = y
		clear(l.data)
		if i > 0 {
			y = max(0, y-s.r.reach[i-1])
		}
	}
	for i := range s.layers { // a window may begin above what a layer has; no row that is wanted reads that
		s.layers[i].first = s.keep(i)
	}
}

// see finds the columns of each layer that a band's own depend on: the nearer a layer is to the result, the fewer.
func (s *rasterStream[T]) see(t RasterTile) {
	r := s.r
	lo, hi := t.X-s.x, t.X-s.x+t.W
	for i := len(s.layers) - 1; i >= 0; i-- {
		l := &s.layers[i]
		l.from, l.to = max(0, lo)/rasterGroup*rasterGroup, min(eights(hi), r.across)
		if i > 0 {
			lo, hi = lo-r.aside[i-1], hi+r.aside[i-1]
		}
	}
}

// window returns the first line of the plan's lines where those from y on are computed.
func (s *rasterStream[T]) window(y int) int { return max(0, min(y-s.r.most, s.r.h-s.r.lines)) }

// keep returns the first line of layer i that is still needed: by the next layer's window, and by the layer after that, which adds it.
func (s *rasterStream[T]) keep(i int) int {
	if i+1 >= len(s.layers) {
		return s.layers[i].have
	}
	line := s.window(s.layers[i+1].have)
	if i%2 == 1 && i+2 < len(s.layers) {
		line = min(line, s.layers[i+2].have)
	}
	return line
}

// room moves a layer's lines so that those up to hi have their place.
func (s *rasterStream[T]) room(i, hi int) {
	l := &s.layers[i]
	if hi <= l.first+len(l.data)/l.line {
		return
	}
	keep := s.keep(i)
	copy(l.data, l.data[(keep-l.first)*l.line:])
	l.first = keep
	if hi > l.first+len(l.data)/l.line {
		panic(fmt.Sprintf("cnp: raster: layer %d keeps %d lines from %d on and needs line %d", i, len(l.data)/l.line, keep, hi))
	}
}

// at returns the lines lo to hi.
func (l *rasterLines[T]) at(lo, hi int) []T { return l.data[(lo-l.first)*l.line : (hi-l.first)*l.line] }

// need computes layer i up to a line, and before it what it depends on. done takes batches of the last layer.
func (s *rasterStream[T]) need(ctx context.Context, i, to int, done func(lo, hi int, f []T)) error {
	r, l := s.r, &s.layers[i]
	for l.have < to {
		lo := l.have
		hi := min(to, lo+r.batch)
		if i == 0 {
			if err := s.take(lo, hi); err != nil {
				return err
			}
			continue
		}
		if err := s.need(ctx, i-1, min(r.h, hi+r.reach[i-1]), nil); err != nil {
			return err
		}
		if err := s.layer(ctx, i, lo, hi); err != nil {
			return err
		}
		w0 := s.window(lo)
		f := s.whole[(lo-w0)*l.line : (hi-w0)*l.line]
		if done != nil {
			done(lo, hi, f)
		} else {
			s.room(i, hi)
			copy(l.at(lo, hi), f)
		}
		l.have = hi
	}
	return nil
}

// layer computes lines of layer i into s.whole.
func (s *rasterStream[T]) layer(ctx context.Context, i, lo, hi int) error {
	r, p := s.r, s.r.plan
	from, to := &s.layers[i-1], &s.layers[i]
	w0 := s.window(lo)
	s.room(i-1, w0+r.lines)
	f := from.at(w0, w0+r.lines)
	// Pieces of lines that lie one below the other see almost the same features: they come one after the other, while
	// those are in the caches.
	s.runs = s.runs[:0]
	for x := to.from; x < to.to; x += stepRows {
		for y := lo - w0; y < hi-w0; y++ {
			s.runs = append(s.runs, layers.RowRun{Lo: y*r.across + x, Hi: y*r.across + min(x+stepRows, to.to)})
		}
	}
	if i == 1 {
		return p.embedding.ForwardRows(ctx, s.whole, f, 1, s.runs, &s.ws)
	}
	var base []T
	if i%2 == 1 {
		base = s.whole
		copy(s.whole[(lo-w0)*s.layers[i].line:], s.layers[i-2].at(lo, hi))
	}
	return p.conv[i-2].ForwardRows(ctx, s.whole, f, base, 1, s.runs, &s.ws)
}

// take reads lines of the raster and makes density and signal of them; pixels beyond its edge are unobserved.
func (s *rasterStream[T]) take(lo, hi int) error {
	r, l := s.r, &s.layers[0]
	s.room(0, hi)
	n, own := hi-lo, min(r.pixels-s.x, r.across)
	c := r.plan.cfg.DimY
	if len(s.part.Mask) < r.batch*own {
		s.part.Pixels, s.part.Mask = make([]T, c*r.batch*own), make([]bool, r.batch*own)
	}
	part := Images[T]{B: 1, C: c, H: n, W: own, Pixels: s.part.Pixels[:c*n*own], Mask: s.part.Mask[:n*own]}
	if err := s.read(&part, lo, s.x); err != nil {
		return err
	}
	for i, m := range part.Mask {
		if !m {
			continue
		}
		for ch := range c {
			if v := part.Pixels[ch*n*own+i]; v-v != 0 {
				return fmt.Errorf("%w: line %d, column %d, channel %d = %v", ErrValue, lo+i/own, s.x+i%own, ch, v)
			}
		}
	}
	if r.plan.family.noise > 0 {
		s.seen.add(&part, lo)
	}
	k := r.plan.cfg.Multiplicity
	dst := l.at(lo, hi)
	parallel.For(n, 1, func(a, z int) {
		for y := a; y < z; y++ {
			line := dst[y*l.line : (y+1)*l.line]
			clear(line)
			for x := range own {
				if !part.Mask[y*own+x] {
					continue
				}
				row := line[x*2*c*k:][:2*c*k]
				for ch := range c {
					v, power := part.Pixels[(ch*n+y)*own+x], T(1)
					for j := range k {
						power *= v
						row[j*c+ch], row[c*k+j*c+ch] = 1, power
					}
				}
			}
		}
	})
	l.have = hi
	return nil
}

// tile predicts the lines of a tile, the next ones of the band.
func (s *rasterStream[T]) tile(ctx context.Context, t RasterTile) (*Prediction[T], error) {
	p := s.r.plan
	c, width, numbers := p.cfg.DimY, p.cfg.Channels[0], p.family.numbers()
	if s.out == nil || len(s.out.Mean) != c*t.H*t.W {
		s.out = p.family.newPrediction(c * t.H * t.W)
	}
	if s.rows == nil {
		for range workers() {
			s.rows = append(s.rows, readBuffers[T]{value: p.family.buffer()})
		}
	}
	err := s.need(ctx, len(s.layers)-1, t.Y+t.H, func(lo, hi int, f []T) {
		parallel.ForWorkers(hi-lo, 1, len(s.rows), func(worker, a, z int) {
			buf := &s.rows[worker]
			for y := a; y < z; y++ {
				h := f[(y*s.r.across+t.X-s.x)*width:][:t.W*width]
				buf.out = reuse.Sized(buf.out, t.W*numbers*c)
				out := buf.out
				p.last.Forward(out, h, t.W)
				for ch := range c {
					to := (ch*t.H + lo + y - t.Y) * t.W
					var seen seenPixels[T]
					if p.family.noise > 0 {
						seen.y, seen.mask = s.seen.at(lo+y, t.X-s.x, t.W, ch)
					}
					p.family.link.channel(&p.family, s.out, to, ch, out, seen, buf.value)
				}
			}
		})
		if p.family.noise > 0 {
			s.seen.drop(hi)
		}
	})
	s.next = t.Y + t.H
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		s.x = -1 // what is there may be a part
		return nil, err
	}
	return s.out, nil
}
