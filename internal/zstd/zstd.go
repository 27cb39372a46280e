// Package zstd lets TIFF files (internal/raster) and files of HDF5 (internal/hdf5) that are compressed by ZSTD be read. It is apart so that
// who builds a model gets no decoder with it: programs import it for its effect.
package zstd

import (
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/equivcnp/equivcnp/internal/hdf5"
	"github.com/equivcnp/equivcnp/internal/raster"
)

func init() {
	raster.Zstd = func(in io.Reader) (io.ReadCloser, error) {
		z, err := decoder(in, 1<<27)
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	hdf5.Zstd = func(window uint64) (hdf5.Decoder, error) { return decoder(nil, window) }
}

func decoder(in io.Reader, window uint64) (*zstd.Decoder, error) {
	return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
}
