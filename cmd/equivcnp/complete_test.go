package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/raster"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// complete draws four panels, and its numbers are those of the model on the observed pixels.
func TestComplete(t *testing.T) {
	b := newBench(t)
	m := b.save("m.safetensors", imageConfig("T(2)", 1))
	b.writeImage("in.png", gradient(12, 8))
	mask := gradient(12, 8)
	for i := range mask.Pix {
		mask.Pix[i] = []uint8{0, 127, 128, 255}[i%4]
	}
	b.writeImage("mask.png", mask)
	out := b.ok("complete", "--model", "@m.safetensors", "--image", "@in.png", "--mask", "@mask.png", "--out", "@out.png",
		"--mean-out", "@mean.png", "--std-out", "@std.png", "--json")
	got := decode[completeResult](t, out)

	truth, err := raster.Read(b.path("in.png"))
	require.NoError(t, err)
	observed := make([]bool, 96)
	for i := range observed {
		observed[i] = i%4 >= 2
	}
	want, err := m.(cnp.Completer[float32]).Complete(context.Background(),
		&cnp.Images[float32]{B: 1, C: 1, H: 8, W: 12, Pixels: truth.Pix, Mask: observed})
	require.NoError(t, err)
	sum, n := cnp.LogLikelihood(want.Mean, want.Std, truth.Pix, nil)
	require.Equal(t, number(sum/float64(n)), got.LogLikelihood)
	require.Equal(t, []int{12, 8, 1, 96, 48}, []int{got.Width, got.Height, got.Channels, got.Pixels, got.ContextPixels})
	require.Equal(t, "T(2)", got.Group)
	require.Greater(t, got.Seconds, number(0))

	for file, values := range map[string][]float32{"mean.png": want.Mean, "std.png": want.Std} {
		im, err := raster.Read(b.path(file))
		require.NoError(t, err)
		for i, v := range values {
			require.InDelta(t, max(0, min(1, v)), im.Pix[i], 1e-5, "%s, pixel %d", file, i)
		}
	}
	im, err := raster.Read(b.path("out.png"))
	require.NoError(t, err)
	require.Greater(t, im.W, 4*12*21)
	require.Equal(t, []string{"in.png", "m.safetensors", "mask.png", "mean.png", "out.png", "std.png"}, b.names())
}

// A model file may ask for more than the machine has: it is refused before anything is made of it.
func TestCompleteMemory(t *testing.T) {
	b := newBench(t)
	cfg := imageConfig("SE(2)", 1)
	cfg.Lifts = 1000
	b.save("m.safetensors", cfg)
	b.writeImage("in.png", gradient(20, 20))
	args := []string{"complete", "--model", "@m.safetensors", "--image", "@in.png", "--rate", "0.5", "--out", "@o.png"}
	b.fails(1, "too much memory: this needs about", append(args, "--memory", "500M")...)
	require.Contains(t, b.ok("inspect", "@m.safetensors", "--size", "20x20"), "to complete 20x20 pixels")
	got := decode[inspection](t, b.ok("inspect", "@m.safetensors", "--size", "20x20", "--json"))
	require.Greater(t, got.Memory.Complete.Bytes(), int64(500<<20))
	b.fails(2, `--size "20x": need a side or width x height`, "inspect", "@m.safetensors", "--size", "20x")
	b.fails(2, `--memory "all"`, append(args, "--memory", "all")...)
}

// An image that needs too much memory as a whole is completed in coarser parts, if these are as fine as the images of the training.
func TestCompleteWithin(t *testing.T) {
	b := newBench(t)
	cfg := imageConfig("R>0xSO(2)", 1)
	cfg.Fill, cfg.BlockFill, cfg.ImageSize = 0.1, 0.06, [2]int{16, 16}
	b.save("m.safetensors", cfg)
	m, err := weights.Load[float32](b.path("m.safetensors"), weights.Options{})
	require.NoError(t, err)
	need, err := cnp.EstimateModel(m, cnp.Work{Batch: 1, H: 32, W: 32, Weights: implicitWeights})
	require.NoError(t, err)
	b.writeImage("in.png", gradient(32, 32))
	args := []string{"complete", "--model", "@m.safetensors", "--image", "@in.png", "--rate", "0.5", "--out", "@o.png"}
	require.NotContains(t, b.ok(args...), "coarser")
	less := fmt.Sprint(need.Bytes() - 1)
	require.Contains(t, b.ok(append(args, "--memory", less)...), "each image is completed as 4 coarser ones: fewer would need more than")
	b.fails(1, "too much memory", append(args, "--memory", "20K")...)
	b.fails(1, "too much memory", append(args, "--memory", less, "--scale", "2")...)

	mask := safetensors.Tensor{Name: "mask", DType: safetensors.Bool, Shape: []int{1, 32, 32}, Data: bytes.Repeat([]byte{1, 0}, 512)}
	b.tensors("in.safetensors", safetensors.FromFloat32s("image", []int{1, 1, 32, 32}, make([]float32, 1024)), mask)
	predict := []string{"predict", "--model", "@m.safetensors", "--in", "@in.safetensors", "--out", "@p.safetensors"}
	require.NotContains(t, b.ok(predict...), "coarser")
	need, err = cnp.EstimateModel(m, cnp.Work{Batch: 1, H: 32, W: 32})
	require.NoError(t, err)
	require.Contains(t, b.ok(append(predict, "--memory", fmt.Sprint(need.Bytes()-1))...), "completed as 4 coarser ones")
}

func TestCompleteRate(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", imageConfig("SO(2)", 1))
	b.writeImage("in.png", gradient(8, 8))
	args := []string{"complete", "--model", "@m.safetensors", "--image", "@in.png", "--rate", "0.25", "--quiet", "--threads", "1"}
	text := b.ok(append(args, "--seed", "7", "--out", "@a.png")...)
	require.Contains(t, text, "16 pixels (25.0 %)")
	require.Contains(t, text, "log-likelihood  ")
	b.ok(append(args, "--seed", "7", "--out", "@b.png", "--group", "SO(2)")...)
	b.ok(append(args, "--seed", "8", "--out", "@c.png")...)
	files := b.files()
	require.Equal(t, files["a.png"], files["b.png"], "one seed, one picture")
	require.NotEqual(t, files["a.png"], files["c.png"])
}

// TestCompleteMisfit: a model of digits says that it does not know noise, unless a mask hides what nobody has to know.
func TestCompleteMisfit(t *testing.T) {
	b := newBench(t)
	noise, rng := image.NewGray(image.Rect(0, 0, 24, 24)), rand.New(rand.NewPCG(1, 2))
	for i := range noise.Pix {
		noise.Pix[i] = uint8(rng.IntN(256))
	}
	b.writeImage("in.png", noise)
	args := []string{"complete", "--model", "digits-T2-small", "--image", "@in.png", "--out", "@out.png", "--json"}
	const note = "do not trust this completion: "
	require.Contains(t, strings.Join(decode[completeResult](t, b.ok(append(args, "--rate", "0.5")...)).Notes, "\n"), note)
	require.NotContains(t, strings.Join(decode[completeResult](t, b.ok(append(args, "--mask", "@in.png")...)).Notes, "\n"), note)
}

// Every kind of image file is completed, or refused with a reason.
func TestCompleteImages(t *testing.T) {
	b := newBench(t)
	b.save("grey.safetensors", imageConfig("T(2)", 1))
	b.save("colour.safetensors", imageConfig("T(2)", 3))
	b.save("many.safetensors", imageConfig("T(2)", 2))

	rect := image.Rect(0, 0, 6, 5)
	deep, rgb, glass := image.NewGray16(rect), image.NewNRGBA(rect), image.NewNRGBA(rect)
	palette := image.NewPaletted(rect, color.Palette{color.Gray{0}, color.Gray{128}, color.Gray{255}})
	for i := range 30 {
		x, y := i%6, i/6
		deep.SetGray16(x, y, color.Gray16{uint16(2111 * i)})
		rgb.SetNRGBA(x, y, color.NRGBA{uint8(8 * i), uint8(255 - 8*i), 77, 255})
		glass.SetNRGBA(x, y, color.NRGBA{200, 200, 200, uint8(8 * i)})
		palette.SetColorIndex(x, y, uint8(i%3))
	}
	const converted, given, black = "converted to grey", "three equal channels", "more transparent than opaque are not observed"
	for _, c := range []struct {
		name, model string
		im          image.Image
		notes       []string
	}{
		{"grey", "grey", gradient(6, 5), nil},
		{"16 bits", "grey", deep, nil},
		{"palette", "grey", palette, nil},
		{"alpha", "grey", glass, []string{black}},
		{"colour for a grey model", "grey", rgb, []string{converted}},
		{"colour", "colour", rgb, nil},
		{"grey for a colour model", "colour", gradient(6, 5), []string{given}},
		{"alpha for a colour model", "colour", glass, []string{black, given}},
		{"one pixel", "grey", gradient(1, 1), nil},
		{"one row", "grey", gradient(9, 1), nil},
		{"one column", "colour", gradient(1, 9), []string{given}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.writeImage("in.png", c.im)
			args := []string{"complete", "--model", "@" + c.model + ".safetensors", "--image", "@in.png", "--rate", "0.5",
				"--out", "@out.png"}
			got := decode[completeResult](t, b.ok(append(args, "--json")...))
			got.Notes = slices.DeleteFunc(got.Notes, func(note string) bool { // the models know nothing yet
				return strings.HasPrefix(note, "do not trust this completion: ")
			})
			require.Len(t, got.Notes, len(c.notes))
			text := b.ok(args...)
			for i, words := range c.notes {
				require.Contains(t, got.Notes[i], words)
				require.Contains(t, text, words)
			}
			require.Equal(t, c.im.Bounds().Dx(), got.Width)
			require.Equal(t, c.im.Bounds().Dy(), got.Height)
			_, err := raster.Read(b.path("out.png"))
			require.NoError(t, err)
		})
	}

	b.writeImage("in.png", gradient(6, 5))
	b.fails(1, "the model has 2 channels", "complete", "--model", "@many.safetensors", "--image", "@in.png", "--rate", "0.5",
		"--out", "@new.png")
}

func TestCompleteJPEG(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", imageConfig("T(2)", 1))
	f, err := os.Create(b.path("in.jpg"))
	require.NoError(t, err)
	require.NoError(t, jpeg.Encode(f, gradient(8, 8), nil))
	require.NoError(t, f.Close())
	b.ok("complete", "--model", "@m.safetensors", "--image", "@in.jpg", "--rate", "0.5", "--out", "@out.png")
}

// No observed pixel is a valid task: the prediction is the prior, whatever the image.
func TestCompleteEmptyMask(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", imageConfig("R>0xSO(2)", 1))
	b.writeImage("a.png", gradient(8, 8))
	b.writeImage("b.png", image.NewGray(image.Rect(0, 0, 8, 8)))
	b.writeImage("none.png", image.NewGray(image.Rect(0, 0, 8, 8)))
	for _, name := range []string{"a", "b"} {
		got := decode[completeResult](t, b.ok("complete", "--model", "@m.safetensors", "--image", "@"+name+".png", "--mask", "@none.png",
			"--out", "@out.png", "--mean-out", "@"+name+"mean.png", "--json"))
		require.Equal(t, 0, got.ContextPixels)
	}
	require.Equal(t, b.files()["amean.png"], b.files()["bmean.png"])
}

func TestCompleteErrors(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", imageConfig("T(2)", 1))
	b.writeImage("in.png", gradient(8, 4))
	b.writeImage("mask.png", gradient(4, 8))
	b.write("text.png", "not a picture")
	b.write("cut.png", b.files()["in.png"][:40])
	require.NoError(t, os.Mkdir(b.path("folder"), 0o755))
	args := func(more ...string) []string {
		return append([]string{"complete", "--model", "@m.safetensors"}, more...)
	}
	for _, c := range []struct {
		name, want string
		args       []string
	}{
		{"mask of another size", "the mask has 4 x 8 pixels, the image 8 x 4", args("--image", "@in.png", "--mask", "@mask.png",
			"--out", "@o.png")},
		{"missing mask", "no such file", args("--image", "@in.png", "--mask", "@none.png", "--out", "@o.png")},
		{"missing image", "no such file", args("--image", "@none.png", "--rate", "1", "--out", "@o.png")},
		{"text", "not a usable image", args("--image", "@text.png", "--rate", "1", "--out", "@o.png")},
		{"truncated", "not a usable image", args("--image", "@cut.png", "--rate", "1", "--out", "@o.png")},
		{"missing folder", "--out: ", args("--image", "@in.png", "--rate", "1", "--out", "@nowhere/o.png")},
		{"missing folder of a second output", "--std-out: ", args("--image", "@in.png", "--rate", "1", "--out", "@o.png",
			"--std-out", "@nowhere/o.png")},
		{"folder as output", "is a folder", args("--image", "@in.png", "--rate", "1", "--out", "@folder")},
		{"file as folder", "--out: ", args("--image", "@in.png", "--rate", "1", "--out", "@in.png/o.png")},
		{"over the image", "is an input, refusing to replace it", args("--image", "@in.png", "--rate", "1", "--out", "@in.png")},
		{"over the model", "is an input", args("--image", "@in.png", "--rate", "1", "--out", "@o.png", "--mean-out", "@m.safetensors")},
		{"over the mask by another path", "is an input", args("--image", "@in.png", "--mask", "@mask.png", "--out", "@folder/../mask.png")},
		{"one file twice", "is also the file of --out", args("--image", "@in.png", "--rate", "1", "--out", "@o.png", "--mean-out",
			"@./o.png")},
	} {
		t.Run(c.name, func(t *testing.T) { b.fails(1, c.want, c.args...) })
	}
}

// An interrupt during the work leaves no file, and the old output as it was.
func TestCompleteInterrupted(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", imageConfig("T(2)", 1))
	b.writeImage("in.png", gradient(8, 8))
	b.write("out.png", "the old one")
	before := b.files()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	status, out, errs := b.runContext(ctx, "complete", "--model", "@m.safetensors", "--image", "@in.png", "--rate", "0.5",
		"--out", "@out.png")
	require.Equal(t, 1, status)
	require.Empty(t, out)
	require.Equal(t, "equivcnp: complete: interrupted, nothing was written\n", errs)
	require.Equal(t, before, b.files())
}

// The mask's threshold and the picture's colours do not depend on how the mask is stored.
func TestCompleteMaskKinds(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", imageConfig("T(2)", 1))
	b.writeImage("in.png", gradient(4, 4))
	grey, alpha := image.NewGray(image.Rect(0, 0, 4, 4)), image.NewNRGBA(image.Rect(0, 0, 4, 4))
	for i := range 16 {
		if i%3 == 0 {
			grey.SetGray(i%4, i/4, white)
			alpha.SetNRGBA(i%4, i/4, color.NRGBA{255, 255, 255, 255})
		} else {
			grey.SetGray(i%4, i/4, black)
			alpha.SetNRGBA(i%4, i/4, color.NRGBA{255, 255, 255, 0}) // white, but transparent
		}
	}
	b.writeImage("grey.png", grey)
	b.writeImage("alpha.png", alpha)
	for _, name := range []string{"grey", "alpha"} {
		out := b.ok("complete", "--model", "@m.safetensors", "--image", "@in.png", "--mask", "@"+name+".png", "--out", "@"+name+"-out.png")
		require.True(t, strings.Contains(out, "context         6 pixels"), out)
	}
	require.Equal(t, b.files()["grey-out.png"], b.files()["alpha-out.png"])
}

// TestCompleteScale: the values between the pixels come in the images that are asked for, and the likelihood stays the pixels'.
func TestCompleteScale(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", imageConfig("T(2)", 1))
	b.writeImage("in.png", gradient(9, 6))
	args := []string{"complete", "--model", "@m.safetensors", "--image", "@in.png", "--rate", "0.5", "--json", "--mean-out", "@mean.png"}
	whole := decode[completeResult](t, b.ok(append(args, "--out", "@a.png")...))
	got := decode[completeResult](t, b.ok(append(args, "--out", "@a.png", "--scale", "3", "--std-out", "@std.png")...))
	require.InDelta(t, float64(whole.LogLikelihood), float64(got.LogLikelihood), 1e-5)
	require.Equal(t, 3, got.Scale)
	for _, name := range []string{"mean.png", "std.png"} {
		im, err := raster.Read(b.path(name))
		require.NoError(t, err)
		require.Equal(t, []int{27, 18}, []int{im.W, im.H})
	}
	args = []string{"complete", "--image", "@in.png", "--rate", "0.5", "--out", "@b.png"}
	b.fails(2, "--scale 17: need 1 to 16", append(args, "--model", "@m.safetensors", "--scale", "17")...)
	b.save("cnp.safetensors", cnp.Default(cnp.CNPImage, "", 1))
	b.fails(2, "predicts at the pixels only", append(args, "--model", "@cnp.safetensors", "--scale", "2")...)
}

// TestPlansFolder: what is kept in a folder is used, by complete and predict, and a file that is no plan is refused by its name.
func TestPlansFolder(t *testing.T) {
	b := newBench(t)
	b.save("m.safetensors", imageConfig("SO(2)", 1))
	b.writeImage("in.png", gradient(12, 8))
	args := []string{"complete", "--model", "@m.safetensors", "--image", "@in.png", "--rate", "0.5", "--out", "@out.png", "--json"}
	want := decode[completeResult](t, b.ok(args...))
	args = append(args, "--plans", "@plans/of/images")
	for range 2 {
		got := decode[completeResult](t, b.ok(args...))
		require.Equal(t, want.LogLikelihood, got.LogLikelihood)
	}
	files, err := os.ReadDir(b.path("plans/of/images"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	name := b.path("plans/of/images/" + files[0].Name())
	require.NoError(t, os.WriteFile(name, make([]byte, 300), 0o644))
	got := decode[completeResult](t, b.ok(args...)) // which makes it anew
	require.Equal(t, want.LogLikelihood, got.LogLikelihood)
	now, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Greater(t, len(now), 300)
	args[len(args)-1] = "@in.png"
	b.fails(1, "--plans: ", args...)
}
