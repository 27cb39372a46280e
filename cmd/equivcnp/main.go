// Command equivcnp completes images and regresses curves with trained group equivariant conditional neural processes.
//
//	equivcnp demo       complete a digit with every shipped model, in one picture
//	equivcnp complete   complete a partly observed image and draw what was found
//	equivcnp regress    regress a curve from the points of a CSV file
//	equivcnp predict    predict many tasks from one safetensors file into another
//	equivcnp raster     complete an image or raster that is larger than memory
//	equivcnp stations   predict at more places than fit into memory
//	equivcnp merge      check and collect what the shards of a manifest wrote
//	equivcnp eval       measure a model on many tasks
//	equivcnp reproduce  make the paper's tables and figures anew
//	equivcnp train      train a model on curves or images
//	equivcnp select     find the symmetry of data: train models under several groups and compare them
//	equivcnp serve      answer inference requests over HTTP and gRPC
//	equivcnp health     ask a server whether it is ready
//	equivcnp convert    turn a PyTorch checkpoint into a model file that knows its configuration
//	equivcnp inspect    say what a model file holds
//	equivcnp version    say what this program was built from
//
// Each command's --help shows an example. A usage error ends with status 2, any other with 1 and a line on standard
// error; no output file is then touched. Outputs appear under their names when they are complete, never in part. The name - is
// standard input or standard output; what a command prints goes to standard error then.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	_ "github.com/equivcnp/equivcnp/internal/zstd" // TIFF and HDF5 files of that compression
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks the work to stop; after it the default is back, so a second one ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
