package cnp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"unsafe"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/frozen"
	"github.com/equivcnp/equivcnp/layers"
)

// ErrPlanFile is wrapped by errors about the contents of a plan's file: it is no plan, damaged, or of another version of
// the program, another model, geometry, machine or other options.
var ErrPlanFile = frozen.ErrFile

// planVersion is that of the files of plans. It must grow when what they hold, or how kernels need it to be arranged,
// changes; TestPlanFileVersion notices most of that.
const planVersion = 6

// SavePlan makes a plan, as [ImageEquivCNP.PlanGeometry] does, and writes it to a file for [ImageEquivCNP.LoadPlan]:
// neighbourhoods, and the weights that it stores. The file is for this version of the program, and machines of this
// architecture and level (simd.CurrentLevel).
func (m *ImageEquivCNP[T]) SavePlan(ctx context.Context, path string, g Geometry, opt PlanOptions) (*ImagePlan[T], error) {
	checked := opt
	if err := checkPlan(g, &checked); err != nil {
		return nil, err
	}
	key := m.planKey(&g, &checked)
	p, err := m.makePlan(ctx, g, opt)
	if err != nil {
		return nil, err
	}
	return &ImagePlan[T]{p}, p.save(path, key)
}

// save writes the plan to a file.
func (p *imagePlan[T]) save(path string, key frozen.Key) error {
	balls := slices.SortedFunc(maps.Keys(p.arranged), ball.compare)
	err := frozen.Create(path, planVersion, key, func(f *frozen.File) { p.freeze(f, balls) })
	if err == nil {
		p.info.File = path
	}
	return err
}

// LoadPlan returns the plan that was saved to a file, with the bits of the one that [ImageEquivCNP.PlanGeometry] makes
// for that geometry and options. The file may be replaced, removed or cut afterwards. A file of another model,
// geometry, options, program or kind of machine is refused with ErrPlanFile; where there is none, the error is
// fs.ErrNotExist. Checksums are compared while the first prediction is computed, which waits for them: if the file is
// damaged, every prediction fails with ErrPlanFile.
func (m *ImageEquivCNP[T]) LoadPlan(ctx context.Context, path string, g Geometry, opt PlanOptions) (*ImagePlan[T], error) {
	return asImagePlan(m.loadPlan(ctx, path, g, opt))
}

func (m *ImageEquivCNP[T]) loadPlan(ctx context.Context, path string, g Geometry, opt PlanOptions) (*imagePlan[T], error) {
	if err := checkPlan(g, &opt); err != nil {
		return nil, err
	}
	p := m.newPlan(g)
	f, err := frozen.Open(path, planVersion, m.planKey(&g, &opt))
	if err != nil {
		return nil, err
	}
	if err := p.thaw(ctx, m, f, opt); err != nil {
		if damage := f.Wait(); damage != nil { // what the rest follows from
			return nil, damage
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p.file = f
	p.info.File = path
	return p, nil
}

// planEnding is that of the files of a folder of plans.
const planEnding = ".plan"

// sweepPlans removes from a folder, if one is named, what processes that died while they wrote a plan have left.
func sweepPlans(folder string) {
	if folder != "" {
		frozen.Sweep(folder, planEnding)
	}
}

// keptPlan is PlanGeometry with a folder.
func (m *ImageEquivCNP[T]) keptPlan(ctx context.Context, g Geometry, opt PlanOptions) (*imagePlan[T], error) {
	checked := opt
	if err := checkPlan(g, &checked); err != nil {
		return nil, err
	}
	key := m.planKey(&g, &checked)
	path := filepath.Join(opt.Plans, hex.EncodeToString(key[:12])+planEnding)
	p, err := m.loadPlan(ctx, path, g, opt)
	if err == nil { // checksums are compared now, while there is still another way
		err = p.intact()
	}
	if err == nil {
		return p, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if p, err = m.makePlan(ctx, g, opt); err != nil {
		return nil, err
	}
	err = os.MkdirAll(opt.Plans, 0o777)
	if err == nil {
		err = p.save(path, key)
	}
	p.info.FileErr = err
	return p, nil
}

// planKey returns a digest of all that a plan depends on.
func (m *ImageEquivCNP[T]) planKey(g *Geometry, opt *PlanOptions) (key frozen.Key) {
	h := sha256.New()
	cfg, err := json.Marshal(m.cfg)
	if err != nil {
		panic(err) // a valid configuration has no NaN
	}
	precision := opt.Precision
	if precision == "" {
		precision = Float32
	}
	fmt.Fprintf(h, "%d %s %s %v %d\n%s\n%s\n", planVersion, runtime.GOARCH, cpu.CurrentLevel(), cpu.AMD, unsafe.Sizeof(T(0)),
		group.Digest(m.group), cfg)
	if precision == BFloat16 && cpu.Dots() {
		fmt.Fprintln(h, "weights in pairs")
	}
	fmt.Fprintf(h, "%d %v %s %s %d\n", opt.Memory, opt.Soft, precision, opt.Algorithm, opt.Concurrency)
	fmt.Fprintf(h, "%d %d %d %d %d\n", len(g.Points), len(g.Targets), g.Interleaved.H, g.Interleaved.W, g.Interleaved.Stride)
	hashNumbers(h.Write, g.Points)
	hashNumbers(h.Write, g.Targets)
	for _, s := range m.State() {
		fmt.Fprintf(h, "%s %d\n", s.Name, len(s.Data))
		hashNumbers(h.Write, s.Data)
	}
	return frozen.Key(h.Sum(nil))
}

// hashNumbers writes numbers as they are in memory.
func hashNumbers[E float32 | float64](write func([]byte) (int, error), x []E) {
	if len(x) > 0 {
		_, _ = write(unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(x[0])))) // hashes do not fail
	}
}

// freeze writes or reads what takes time to compute: rows, arrangements for these balls and, if there are layers, their
// weights. Reading stops before the layers, since assemble makes them from the file.
func (p *imagePlan[T]) freeze(f *frozen.File, balls []ball) {
	frozen.Array(f, &p.rank)
	n := len(balls)
	f.Int(&n)
	if n != len(balls) {
		f.Fail("%d kinds of neighbourhoods, the model has %d", n, len(balls))
		return
	}
	if f.Reading() {
		p.arranged = map[ball]*layers.Arrangement[T]{}
	}
	for _, r := range balls {
		p.arranged[r] = layers.Freeze(f, p.arranged[r], p.rows)
	}
	if f.Reading() {
		return
	}
	p.embedding.Freeze(f)
	for _, l := range p.conv {
		l.Freeze(f)
	}
}

// thaw makes the plan from a file.
func (p *imagePlan[T]) thaw(ctx context.Context, m *ImageEquivCNP[T], f *frozen.File, opt PlanOptions) error {
	balls := slices.SortedFunc(slices.Values(m.balls()), ball.compare)
	p.freeze(f, balls)
	if f.Err() != nil {
		return f.Err()
	}
	if seen := make([]bool, p.rows); p.rank != nil {
		for _, r := range p.rank {
			if int(r) < 0 || int(r) >= p.rows || seen[r] || len(p.rank) != p.rows {
				f.Fail("the order of rows is not one of %d", p.rows)
				return f.Err()
			}
			seen[r] = true
		}
	}
	flat := p.arranged[balls[0]].Flat()
	for _, a := range p.arranged {
		if a.Flat() != flat {
			f.Fail("neighbourhoods of two kinds")
			return f.Err()
		}
	}
	if !layers.Agree(slices.Collect(maps.Values(p.arranged))) {
		f.Fail("neighbourhoods that store features in two ways")
		return f.Err()
	}
	if err := p.assemble(ctx, m, p.arranged, opt, f); err != nil {
		return err
	}
	if f.Err() == nil && f.Left() > 0 {
		f.Fail("%d bytes are left over", f.Left())
	}
	return f.Err()
}
