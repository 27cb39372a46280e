package task

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/safetensors"
)

func TestReadCSV(t *testing.T) {
	s, err := ReadCSV(save(t, "x.csv", []byte("y,task,x\n1,7,0.5\n2,3,0.25\n3,7,-1\n")), CSVOptions{Dx: 1, Dy: 1})
	require.NoError(t, err)
	require.Equal(t, []Curve{{Points: Points{X: []float64{0.5, -1}, Y: []float64{1, 3}}},
		{Points: Points{X: []float64{0.25}, Y: []float64{2}}}}, s.Curves)

	s, err = ReadCSV(save(t, "x.csv", []byte("x1,x2,y1,context\n1,2,3,0\n4,5,6,1\n")), CSVOptions{})
	require.NoError(t, err)
	require.Equal(t, []Curve{{Points: Points{X: []float64{1, 2, 4, 5}, Y: []float64{3, 6}},
		Context: &Points{X: []float64{4, 5}, Y: []float64{6}}}}, s.Curves)

	for text, want := range map[string]string{
		"a,y\n1,2\n":           `x.csv:1:1: the columns do not fit: header "a,y": it has no column x or x1`,
		"x,z\n1,2\n":           `header "x,z": it has no column y or y1`,
		"1,2,3\n":              "the model needs 1 of x, then 1 of y",
		"x,y\n":                "no rows",
		"x,y\n1,oops\n":        "x.csv:2:3: not a table of numbers",
		"x,y\n0,1\n1,1e40\n":   "x.csv:3:3: not usable as data: 1e+40 is beyond float32",
		"x,y,context\n1,2,3\n": "x.csv:2:5: not usable as data: context = 3",
	} {
		_, err := ReadCSV(save(t, "x.csv", []byte(text)), CSVOptions{Dx: 1, Dy: 1})
		require.ErrorContains(t, err, want)
	}
	_, err = ReadCSV(save(t, "x.csv", []byte("x,y\n1,2\n")), CSVOptions{Dx: -1})
	require.ErrorContains(t, err, "-1 coordinates")

	s, err = ReadCSV(save(t, "x.csv", []byte("temp;t\n5;1\n")), CSVOptions{X: []string{"t"}, Y: []string{"temp"}})
	require.NoError(t, err)
	require.Equal(t, []Curve{{Points: Points{X: []float64{1}, Y: []float64{5}}}}, s.Curves)
	s, err = ReadCSV(save(t, "x.csv", []byte("1\t2\t3\n")), CSVOptions{Dx: 1, Dy: 2})
	require.NoError(t, err)
	require.Equal(t, []Curve{{Points: Points{X: []float64{1}, Y: []float64{2, 3}}}}, s.Curves)
}

// TestCurveSetSource: tasks of different lengths are padded, the context is drawn from the task, and a set in order comes
// whole.
func TestCurveSetSource(t *testing.T) {
	set, err := ReadCSV(save(t, "x.csv", []byte("task,x,y\n1,1,10\n1,2,20\n1,3,30\n2,4,40\n")), CSVOptions{})
	require.NoError(t, err)
	s := CurveSetSource[float32]{Set: set, MinContext: 1, MaxContext: 2, InOrder: true}
	require.Equal(t, 2, s.Len())
	require.Contains(t, s.String(), "2 tasks, in order from ")
	for step := -2; step < 3; step++ {
		b, err := s.Batch(2, 1, step)
		require.NoError(t, err)
		require.Equal(t, []float64{1, 2, 3, 4, 0, 0}, b.Curves.XTarget)
		require.Equal(t, []float32{10, 20, 30, 40, 0, 0}, b.Y)
		require.Equal(t, []bool{true, true, true, true, false, false}, b.Curves.TargetMask)
		for i, ok := range b.Curves.ContextMask {
			if ok {
				require.EqualValues(t, 10*b.Curves.XContext[i], b.Curves.YContext[i])
			}
		}
		require.True(t, b.Curves.ContextMask[0] && b.Curves.ContextMask[b.Curves.Nc])
	}
	b, err := s.Batch(3, 1, 1) // tasks 3, 4 and 5 of 1 2 1 2 1 2
	require.NoError(t, err)
	require.Equal(t, []float64{4, 0, 0, 1, 2, 3, 4, 0, 0}, b.Curves.XTarget)
	s.InOrder = false
	require.Zero(t, s.Len())
	seen := map[float64]bool{}
	for step := range 20 {
		b, err := s.Batch(1, 1, step)
		require.NoError(t, err)
		seen[b.Curves.XTarget[0]] = true
	}
	require.Len(t, seen, 2)
	s.MaxContext = 0
	_, err = s.Batch(1, 1, 1)
	require.ErrorContains(t, err, "1 to 0 context")
}

// TestReadCurves: what a safetensors file holds comes back as a batch, padding left out.
func TestReadCurves(t *testing.T) {
	f := &safetensors.File{Tensors: []safetensors.Tensor{
		safetensors.FromFloat64s("x_context", []int{2, 1, 1}, []float64{1, math.NaN()}),
		safetensors.FromFloat32s("y_context", []int{2, 1, 1}, []float32{2, 0}),
		safetensors.FromFloat64s("context_mask", []int{2, 1}, []float64{1, 0}),
		safetensors.FromFloat64s("x_target", []int{2, 2, 1}, []float64{3, 4, 5, 6}),
		safetensors.FromFloat32s("y_target", []int{2, 2, 1}, []float32{7, 8, 9, 10}),
	}}
	write := func() string {
		b, err := safetensors.Encode(f)
		require.NoError(t, err)
		return save(t, "tasks.safetensors", b)
	}
	set, err := ReadCurves(write(), 1, 1)
	require.NoError(t, err)
	b, err := CurveSetSource[float64]{Set: set, InOrder: true}.Batch(2, 1, 0)
	require.NoError(t, err)
	require.Equal(t, []float64{1, 0}, b.Curves.XContext)
	require.Equal(t, []bool{true, false}, b.Curves.ContextMask)
	require.Equal(t, []float64{3, 4, 5, 6}, b.Curves.XTarget)
	require.Equal(t, []float64{7, 8, 9, 10}, b.Y)
	_, err = ReadCurves(write(), 2, 1)
	require.ErrorContains(t, err, "x_target")
	f.Tensors = f.Tensors[:4]
	_, err = ReadCurves(write(), 1, 1)
	require.ErrorContains(t, err, "with y_target: false")
	_, err = ReadCurves(save(t, "x", []byte("oops")), 1, 1)
	require.ErrorIs(t, err, safetensors.ErrFormat)
}

// TestReadImages: images with masks of their own, taken in order.
func TestReadImages(t *testing.T) {
	pix := []float32{0, 0.25, 0.5, 1}
	write := func() string {
		b, err := safetensors.Encode(&safetensors.File{Tensors: []safetensors.Tensor{
			safetensors.FromFloat32s("image", []int{2, 1, 1, 2}, pix), safetensors.FromFloat32s("mask", []int{2, 1, 2},
				[]float32{1, 0, 0, 1}),
		}})
		require.NoError(t, err)
		return save(t, "images.safetensors", b)
	}
	set, err := ReadImages(write(), 1)
	require.NoError(t, err)
	s := ImageSource[float32]{Pictures: Moved{set, Upright}, InOrder: true}
	require.Equal(t, 2, s.Len())
	b, err := s.Batch(3, 1, 0)
	require.NoError(t, err)
	require.Equal(t, []bool{true, false, false, true, true, false}, b.Images.Mask)
	require.Equal(t, []float32{0, 0.25, 0.5, 1, 0, 0.25}, b.Y)
	require.Contains(t, s.String(), "in order")
	require.Nil(t, Moved{set, PaperMotions}.MaskAt(0))
	_, err = ReadImages(write(), 3)
	require.ErrorContains(t, err, "C = 3")
	pix[0] = float32(math.NaN()) // the mask observes it
	set, err = ReadImages(write(), 1)
	require.NoError(t, err)
	b, err = ImageSource[float32]{Pictures: Moved{set, Upright}, InOrder: true}.Batch(2, 1, 0)
	require.NoError(t, err)
	require.Equal(t, []bool{false, false, false, true}, b.Images.Mask)
	require.Equal(t, []bool{false, true, true, true}, b.Counts())
	pix[1] = pix[0] // an image of which nothing is known
	set, err = ReadImages(write(), 1)
	require.NoError(t, err)
	require.Equal(t, 1, set.N)
	require.Equal(t, []float32{0.5, 1}, set.Pix)
	require.Equal(t, []bool{false, true}, set.Mask)
	require.Contains(t, set.Skipped[0], "image has no value at all in image 0")
	pix[2] = float32(math.Inf(1))
	_, err = ReadImages(write(), 1)
	require.ErrorContains(t, err, "image is +Inf in image 1, channel 0, row 0, column 0")
	pix[2], pix[3] = pix[0], pix[0]
	_, err = ReadImages(write(), 1)
	require.ErrorContains(t, err, "image has no value at all")

	set, err = DecodeIDX(bytes.NewReader(idx(3, 1, 1, 1, 2, 3)))
	require.NoError(t, err)
	s = ImageSource[float32]{Pictures: Moved{set, Upright}, Rates: Rates{1, 1}}
	require.Zero(t, s.Len())
	b, err = s.Batch(50, 1, 0)
	require.NoError(t, err)
	require.NotContains(t, b.Images.Mask, false)
	require.Subset(t, b.Y, set.Pix)
	_, err = ImageSource[float32]{Pictures: Moved{&ImageSet{C: 1, H: 1, W: 1}, Upright}}.Batch(1, 1, 1)
	require.ErrorContains(t, err, "no images")
}

// A missing output is neither learned from nor scored, and a row that lacks one is no part of a random context.
func TestMissingOutputs(t *testing.T) {
	s, err := DecodeCSV(strings.NewReader("station,lon,t2m,rain\nA,0,1,2\nA,1,,3\nB,2,NA,NaN\nB,3,4,\nB,4,5,6\n"), "data.csv",
		CSVOptions{X: []string{"lon"}, Y: []string{"t2m", "rain"}, Task: "station"})
	require.NoError(t, err)
	require.Len(t, s.Curves, 2)
	require.Equal(t, []float64{3, 4}, s.Curves[1].X, "a row without any output is left out")
	src := CurveSetSource[float32]{Set: s, MinContext: 5, MaxContext: 5, InOrder: true}
	b, err := src.Batch(2, 1, 0)
	require.NoError(t, err)
	require.Equal(t, []bool{true, true, false, true, true, false, true, true}, b.Known)
	require.Equal(t, b.Known, b.Counts())
	require.Equal(t, 1, b.Curves.Nc, "rows with all outputs")
	require.Equal(t, []float32{1, 2, 5, 6}, b.Curves.YContext)

	_, err = DecodeCSV(strings.NewReader("x,y\n1,\n"), "data.csv", CSVOptions{})
	require.ErrorIs(t, err, ErrData)
	_, err = DecodeCSV(strings.NewReader("x,y\n1,2\n"), "data.csv", CSVOptions{Task: "id"})
	require.ErrorContains(t, err, `data.csv:1:1: the columns do not fit: header "x,y": it has no column "id" besides x and y`)
}

// TestCurveSetCheck: what a caller puts together has to fit together.
func TestCurveSetCheck(t *testing.T) {
	good := func() *CurveSet {
		curve := func() Curve {
			return Curve{Points: Points{X: []float64{0, 1, 2, 3}, Y: []float64{1, math.NaN()}, Aux: []float64{5, math.NaN()}},
				Context: &Points{X: []float64{0, 1}, Y: []float64{1}, Aux: []float64{2}},
				Field:   &Field{Names: []string{"height"}, X: []float64{0, 0}, Y: []float64{7}}}
		}
		return &CurveSet{Dx: 2, Dy: 1, Auxiliary: []string{"hour"}, Static: []string{"height"}, Curves: []Curve{curve(), curve()}}
	}
	require.NoError(t, good().Check())
	for want, change := range map[string]func(s *CurveSet){
		"0 coordinates":                         func(s *CurveSet) { s.Dx = 0 },
		"-1 outputs":                            func(s *CurveSet) { s.Dy = -1 },
		"no tasks":                              func(s *CurveSet) { s.Curves = nil },
		"task 1: x has 3 numbers":               func(s *CurveSet) { s.Curves[1].X = s.Curves[1].X[:3] },
		"task 1: y has 1 numbers":               func(s *CurveSet) { s.Curves[1].Y = s.Curves[1].Y[:1] },
		"task 1: aux has 0 numbers":             func(s *CurveSet) { s.Curves[1].Aux = nil },
		"task 1: x[1, 0] = NaN":                 func(s *CurveSet) { s.Curves[1].X[2] = math.NaN() },
		"task 0: y[1, 0] = -Inf":                func(s *CurveSet) { s.Curves[0].Y[1] = math.Inf(-1) },
		"task 0: aux[0, 0] = +Inf":              func(s *CurveSet) { s.Curves[0].Aux[0] = math.Inf(1) },
		"task 1: context: y has 0 numbers":      func(s *CurveSet) { s.Curves[1].Context.Y = nil },
		"task 1 has no static fields":           func(s *CurveSet) { s.Curves[1].Field = nil },
		`task 0: static fields ["width"]`:       func(s *CurveSet) { s.Curves[0].Field.Names = []string{"width"} },
		"task 0: static fields: 2 coordinates":  func(s *CurveSet) { s.Curves[0].Field.Y = nil },
		"task 0: static fields: x[0, 1] = +Inf": func(s *CurveSet) { s.Curves[0].Field.X[1] = math.Inf(1) },
	} {
		s := good()
		change(s)
		err := s.Check()
		require.ErrorIs(t, err, ErrData)
		require.ErrorContains(t, err, want)
	}
}
