// Package zstd lets TIFF files (internal/raster) and files of HDF5 (internal/hdf5) that are compressed by ZSTD be read. It is apart so that
// who builds a model gets no decoder with it: programs import it for its effect.
package zstd

import (
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/equivcnp/equivcnp/internal/hdf5"
	"github.com/equivcnp/equivcnp/internal/raster"
)

func init() { raster.Zstd, hdf5.Zstd = open, open }

func open(in io.Reader) (io.ReadCloser, error) {
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(1<<27))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}
