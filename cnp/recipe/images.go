package recipe

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/words"
)

// ImageData says where images come from, and how much of them is seen. One of Digits, Folder, MNIST and In is given.
type ImageData struct {
	// Digits draws those of a digital clock. Folder has PNG, JPEG and TIFF images, in colour if Colour says so. MNIST
	// is an IDX or .amat file.
	Digits bool
	Folder string
	Colour bool
	MNIST  string
	// In is a file with a stack of images, the array of the name Array, or the only one. Stdin is what the file name - stands for.
	In, Array string
	Stdin     io.Reader `json:"-"`
	// Size is that of digits and of a folder's images, width and height; 0: 64 for digits, those of the first image.
	// Resize scales and crops a folder's images to it instead of leaving out those of another size.
	Size   [2]int
	Resize bool
	Rates  task.Rates
	// MaxAngle is in degrees, MaxShift in pixels. Nil: the images stay as they are; the digits of tests are turned and
	// scaled as in the paper.
	MaxAngle, MinScale, MaxScale, MaxShift *float64
	// Holdout is the share of a user's own images that is not trained on; 0: none. Seed draws them (nil: the
	// training's), or HoldoutLast takes the last ones.
	Holdout     float64
	HoldoutSeed *uint64
	HoldoutLast bool
}

// Images is the recipe of a model that completes images. Start from [DefaultImages].
type Images struct {
	Data ImageData
	Settings
	// Alpha weighs the first part of the group's distance; 0: the group's default.
	Alpha float64
	// Views, if there are any, makes every lift under Sim(2) a view of the image.
	Views *cnp.Views
	// Width is the number of channels (0: 128, of views 32), Blocks that of residual blocks.
	Width, Blocks int
	// KeepObserved makes an observed pixel keep its value.
	KeepObserved bool
}

// DefaultImages is an equivcnp for images of which 1 % to 50 % of the pixels are seen. Its data have no images.
func DefaultImages() Images {
	return Images{Settings: defaultSettings(1000, 0.03), Blocks: 4, Data: ImageData{Rates: task.PaperRates, Holdout: defaultHoldout}}
}

// Clone implements Recipe.
func (p *Images) Clone() Recipe {
	out := *p
	return &out
}

// motions are what the images undergo; m has what is not said.
func (d *ImageData) motions(m task.Motions) (task.Motions, error) {
	if d.MaxAngle != nil {
		m.MaxAngle = *d.MaxAngle * math.Pi / 180
	}
	m.MinScale, m.MaxScale, m.MaxShift = or(d.MinScale, m.MinScale), or(d.MaxScale, m.MaxScale), or(d.MaxShift, m.MaxShift)
	return m, invalid(m.Validate())
}

// check refuses settings of one kind of images beside another kind.
func (d *ImageData) check() error {
	for _, c := range []struct {
		refused bool
		text    string
	}{
		{!d.Digits && d.Folder == "" && d.MNIST == "" && d.In == "", "say where the images come from: {Digits}, {Folder}, {MNIST} or {In}"},
		{d.Colour && d.Folder == "", "{Colour} is for {Folder}"},
		{d.Array != "" && d.In == "", "{Array} is for {In}"},
		{d.Resize && d.Folder == "", "{Resize} is for {Folder}"},
		{d.Resize && d.Size == [2]int{}, "{Resize} without {Size}: say to which size"},
		{d.Size != [2]int{} && !d.Digits && d.Folder == "", "{Size} is for {Digits} and {Folder}"},
	} {
		if c.refused {
			return Errorf("%s", c.text)
		}
	}
	return invalid(d.Rates.Validate())
}

// digits are those that are drawn.
func (d *ImageData) digits(usual task.Digits) (task.Digits, error) {
	var err error
	if usual.Motions, err = d.motions(usual.Motions); err != nil {
		return usual, err
	}
	if d.Size == [2]int{} {
		return usual, invalid(usual.Validate())
	}
	usual = usual.Resized(d.Size[1], d.Size[0])
	if err := usual.Validate(); err != nil {
		text := fmt.Sprint(d.Size[0])
		if d.Size[1] != d.Size[0] {
			text = fmt.Sprintf("%dx%d", d.Size[0], d.Size[1])
		}
		return usual, Errorf("{Size} %s: %w", text, err)
	}
	return usual, nil
}

// read reads a user's own images, of so many channels, of which 0 is any.
func (d *ImageData) read(channels int) (*task.ImageSet, error) {
	switch {
	case d.Folder != "":
		return task.ReadFolder(d.Folder, task.FolderOptions{Channels: channels, H: d.Size[1], W: d.Size[0], Resize: d.Resize})
	case d.MNIST != "":
		return task.ReadMNIST(d.MNIST)
	}
	file, err := taskFile(d.In, d.Stdin)
	if err != nil {
		return nil, err
	}
	set, err := task.StackOf(file, d.Array, channels)
	if err != nil && d.Array == "" && len(file.Tensors()) > 1 {
		return nil, settings.Hintf("%w; {Array} names the array to take", err)
	}
	return set, err
}

// Test returns the images on which a model of that configuration is measured, and how many there are: 0 where there is
// no end. notes say what was left out.
func (d ImageData) Test(_ context.Context, cfg *cnp.Config) (src task.Source[float32], n int, notes []string, err error) {
	if err := d.check(); err != nil {
		return nil, 0, nil, err
	}
	var pictures task.Pictures
	if d.Digits {
		pictures, err = d.digits(task.TestDigits())
	} else {
		if d.Folder != "" && cfg.DimY != 1 && cfg.DimY != 3 {
			return nil, 0, nil, Errorf("the model has %d channels; an image file is grey (1) or in colour (3), use {In}", cfg.DimY)
		}
		motions, bad := d.motions(task.Upright)
		if bad != nil {
			return nil, 0, nil, bad
		}
		var set *task.ImageSet
		if set, err = d.read(cfg.DimY); err == nil {
			pictures, n, notes = task.Moved{ImageSet: set, Motions: motions}, set.N, notesOf(set, false)
		}
	}
	if err != nil {
		return nil, 0, nil, err
	}
	if c, _, _ := pictures.Size(); c != cfg.DimY {
		return nil, 0, nil, fmt.Errorf("the images have %s, the model has %d", words.Plural(c, "channel"), cfg.DimY)
	}
	return task.ImageSource[float32]{Pictures: pictures, Rates: d.Rates, InOrder: true}, n, notes, nil
}

// namedSkips is the number of skipped images that are named one by one.
const namedSkips = 5

// notesOf says which images of a set were left out, in total if there are many of them or if counted is true, and how
// many pixels are missing.
func notesOf(set *task.ImageSet, counted bool) (notes []string) {
	for i, s := range set.Skipped {
		if i == namedSkips {
			notes = append(notes, fmt.Sprintf("and %d more", len(set.Skipped)-i))
			break
		}
		notes = append(notes, "skipped "+s)
	}
	if n := len(set.Skipped); n > namedSkips || counted && n > 0 {
		notes = append(notes, words.Plural(n, "image")+" skipped")
	}
	if set.Levels > 0 {
		notes = append(notes, fmt.Sprintf("integers are levels of %d: 0 to 1, and so is what the model predicts", set.Levels))
	}
	if n := set.Missing(); n > 0 {
		notes = append(notes, fmt.Sprintf("%d of %s missing: they are never observed, and what they lack is not scored", n,
			words.Plural(set.N*set.H*set.W, "pixel")))
	}
	return notes
}

// usualValues is the largest magnitude of values that are trained on without a note: noise and standard deviations are of about .03 to .3.
const usualValues = 10

// outermost returns the value of the largest magnitude; NaN does not count.
func outermost(v []float32) (out float32) {
	for _, x := range v {
		if abs := max(x, -x); abs > max(out, -out) {
			out = x
		}
	}
	return out
}

// Plan implements Recipe.
func (p *Images) Plan(context.Context) (*Plan, error) {
	if err := p.Data.check(); err != nil {
		return nil, err
	}
	src, test, notes, err := p.sources()
	if err != nil {
		return nil, err
	}
	channels, h, w := src.Pictures.Size()
	m, err := p.architecture(channels, h, w)
	if err != nil {
		return nil, err
	}
	d := kindDefaults{batch: 4, noise: 0.3}
	if m.Views == nil {
		return p.plan(m, d, src, test, notes)
	}
	d.batch = 8
	seen := func(s task.ImageSource[float32]) task.Source[float32] {
		return task.ViewSource[float32]{ImageSource: s, Views: *m.Views, Angles: m.Lifts / p.Lifts.Scales, Scales: p.Lifts.Scales,
			Side: viewSide}
	}
	if s, ok := test.(task.ImageSource[float32]); ok {
		test = seen(s)
	}
	return p.plan(m, d, seen(src), test, notes)
}

// sources settles what is trained on, and what scores are taken on: nil where there is no end of images.
func (p *Images) sources() (src task.ImageSource[float32], test task.Source[float32], notes []string, err error) {
	d := &p.Data
	src.Rates = d.Rates
	if d.Digits {
		if d.Holdout != defaultHoldout || d.HoldoutLast {
			return src, nil, nil, Errorf("{Holdout} is for your own images, not for {Digits}, of which there is no end")
		}
		digits, err := d.digits(task.TrainDigits())
		src.Pictures = digits
		return src, nil, nil, err
	}
	motions, err := d.motions(task.Upright)
	if err != nil {
		return src, nil, nil, err
	}
	channels := 0
	if d.Folder != "" {
		if channels = 1; d.Colour {
			channels = 3
		}
	}
	set, err := d.read(channels)
	if err != nil {
		return src, nil, nil, err
	}
	notes = notesOf(set, true)
	if v := outermost(set.Pix); v < -usualValues || v > usualValues {
		notes = append(notes, fmt.Sprintf("%s has values like %.6g: training expects them near 0 to 1, and learns little of others; "+
			"subtract and divide", set.Name, v))
	}
	kept, apart, held, err := holdOut(d.Holdout, or(d.HoldoutSeed, p.Seed), set, set.N, &notes)
	if held && err == nil && d.HoldoutLast {
		kept, apart, err = set.HoldoutLast(d.Holdout)
	}
	if err != nil {
		return src, nil, nil, err
	}
	src.Pictures = task.Moved{ImageSet: kept, Motions: motions}
	if held {
		test = task.ImageSource[float32]{Pictures: task.Moved{ImageSet: apart, Motions: motions}, Rates: src.Rates, InOrder: true}
	}
	return src, test, notes, nil
}

// architecture settles the model for images of that size.
func (p *Images) architecture(channels, h, w int) (m cnp.Config, err error) {
	width := 128
	switch p.Model {
	case "equivcnp":
		if m, err = p.equivariant(channels, h, w); err != nil {
			return m, err
		}
		if m.Views != nil {
			width = 32
		}
	case "convcnp":
		m = cnp.Default(cnp.ConvCNPImage, "", channels)
	case "cnp":
		m = cnp.Default(cnp.CNPImage, "", channels)
	default:
		return m, Errorf("{Model} %q: need equivcnp, convcnp or cnp", p.Model)
	}
	if p.Model != "equivcnp" && (p.Group != "" || p.Alpha != 0 || p.Lifts != (Lifts{Count: 1}) || p.Views != nil) {
		return m, Errorf("{Group}, {Alpha}, {Lifts} and {Views} are for {Model} equivcnp")
	}
	if p.Width != 0 {
		width = p.Width
	}
	if p.Model != "cnp" {
		m.Channels, m.Blocks = []int{width}, p.Blocks
	} else if p.Width != 0 || p.Blocks != DefaultImages().Blocks {
		return m, Errorf("{Width} and {Blocks} are not for {Model} cnp")
	}
	m.Likelihood, m.KeepObserved = p.Likelihood, p.KeepObserved
	if err := p.paper(&m); err != nil {
		return m, err
	}
	return m, invalid(m.Validate())
}

func (p *Images) equivariant(channels, h, w int) (m cnp.Config, err error) {
	name := p.Group
	switch {
	case name != "":
	case p.Views != nil:
		name = "Sim2"
	default: // which costs least
		name = "T2"
	}
	g, err := group.Parse(name, p.Alpha)
	if err != nil {
		return m, Errorf("{Group}: %w", err)
	}
	if g, err = p.Lifts.Of(g); err != nil {
		return m, err
	}
	m = cnp.Default(cnp.EquivCNPImage, g.Name(), channels)
	m.Alpha, m.Lifts, m.ImageSize = p.Alpha, p.Lifts.Count, [2]int{h, w}
	_, sim := g.(*group.Sim2)
	if sim && m.Lifts > 0 { // a lift sees as many others as with one lift, so that the cost grows with their number and not with its square
		m.Fill, m.BlockFill = m.Fill/float64(m.Lifts), m.BlockFill/float64(m.Lifts)
	}
	if p.Views == nil {
		return m, nil
	}
	if !sim || p.Lifts.Scales == 0 {
		return m, Errorf("{Views} is for {Group} Sim2 with {Lifts} of angles and scales, such as 12x4; these are %s with %v",
			g.Name(), p.Lifts)
	}
	v := *p.Views
	m.Views, m.Fill, m.BlockFill, m.RadiusRate = &v, 0.035, 0.0125, 0 // balls of about 140 and 50 cells
	return m, nil
}

// viewSide is how many cells wide the canvases are that views are trained on.
const viewSide = 48

// PlaneGroups are the groups that act on the plane.
func PlaneGroups() []string {
	var names []string
	for _, name := range group.Names() {
		if g, err := group.Parse(name, 0); err == nil && g.PointDim() == 2 {
			names = append(names, name)
		}
	}
	return names
}
