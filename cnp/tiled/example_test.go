package tiled_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log"
	"os"
	"path/filepath"

	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/tiled"
)

// Example completes a picture of which three pixels in ten are known. A picture of any size takes Memory at most.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	picture := image.NewGray(image.Rect(0, 0, 64, 48))
	for i := range picture.Pix {
		if x, y := i%64-32, i/64-24; x*x+y*y < 300 {
			picture.SetGray(i%64, i/64, color.Gray{Y: 220})
		}
	}
	o := tiled.Options{In: filepath.Join(dir, "in.png"), Rate: 0.3, Seed: 1,
		Out: filepath.Join(dir, "out.png"), StdOut: filepath.Join(dir, "std.png"), Memory: 1 << 28}
	f, err := os.Create(o.In)
	if err != nil {
		log.Fatal(err)
	}
	if err := png.Encode(f, picture); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
	model, err := pretrained.Load("digits-T2-small")
	if err != nil {
		log.Fatal(err)
	}
	report, err := tiled.Run(context.Background(), model, o)
	if err != nil {
		log.Fatal(err)
	}
	f, err = os.Open(o.Out)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	completed, err := png.Decode(f)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.H, report.W, report.C, completed.Bounds().Size())
	// Output: 48 64 1 (64,48)
}
