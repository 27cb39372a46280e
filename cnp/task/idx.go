package task

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ReadMNIST reads a file of MNIST or its variations: .amat, or .amat.gz, with ReadAmat, any other with ReadIDX.
func ReadMNIST(path string) (*ImageSet, error) {
	if strings.EqualFold(filepath.Ext(strings.TrimSuffix(path, ".gz")), ".amat") {
		return ReadAmat(path)
	}
	return ReadIDX(path)
}

// ReadIDX reads grey images from an IDX file, the format of MNIST: 0x00000803, then the number of images, rows and columns,
// all big-endian 32-bit, then a byte per pixel, rows first; 255 becomes 1. The file may be gzipped. Source of the format:
// Y. LeCun, C. Cortes, C. Burges, The MNIST database of handwritten digits, section "file formats".
//
// Errors name the file; those about its content wrap ErrData. Memory is bounded by a multiple of what the file, inflated,
// really holds, and by 1 GiB of pixels.
func ReadIDX(path string) (*ImageSet, error) { return readSet(path, DecodeIDX) }

// ReadAmat reads square grey images from an .amat text file, the format of the variations of MNIST such as its rotated one:
// a line per image, its pixels row by row, then the digit's label, all separated by spaces. A line of n·n + 1 numbers has a
// label, one of n·n has none; all lines must have the same. Pixels must lie in [0, 1]. The file may be gzipped. Source of
// the format: H. Larochelle et al., An Empirical Evaluation of Deep Architectures on Problems with Many Factors of
// Variation, ICML 2007, its data sets.
func ReadAmat(path string) (*ImageSet, error) { return readSet(path, DecodeAmat) }

// readSet opens a file, inflates it if it is gzipped, and decodes it.
func readSet(path string, decode func(io.Reader) (*ImageSet, error)) (*ImageSet, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := inflated(f, decode)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s.Name = path
	return s, nil
}

// inflated decodes r, through gzip if it begins with gzip's magic number.
func inflated(r io.Reader, decode func(io.Reader) (*ImageSet, error)) (*ImageSet, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	if magic, _ := br.Peek(2); string(magic) != "\x1f\x8b" {
		return decode(br)
	}
	z, err := gzip.NewReader(br)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrData, err)
	}
	s, err := decode(z)
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, &corrupt) {
		err = fmt.Errorf("%w: %w", ErrData, err)
	}
	return s, err
}

// idxImages is the magic number of a file of unsigned bytes [images, rows, columns].
const idxImages = 0x00000803

// DecodeIDX is ReadIDX for bytes that are not gzipped.
func DecodeIDX(r io.Reader) (*ImageSet, error) {
	var head [4]uint32
	if err := binary.Read(r, binary.BigEndian, &head); err != nil {
		return nil, readError("the header of 16 bytes", err)
	}
	if head[0] != idxImages {
		return nil, fmt.Errorf("%w: it begins with %#08x, an IDX file of images with %#08x", ErrData, head[0], idxImages)
	}
	for _, v := range head[1:] {
		if v > maxValues {
			return nil, sized(math.MaxInt32, 1, math.MaxInt32, math.MaxInt32)
		}
	}
	s := &ImageSet{N: int(head[1]), C: 1, H: int(head[2]), W: int(head[3])}
	if err := sized(s.N, 1, s.H, s.W); err != nil {
		return nil, err
	}
	want := s.N * s.H * s.W
	buf := make([]byte, min(want, 1<<16))
	for len(s.Pix) < want {
		part := buf[:min(len(buf), want-len(s.Pix))]
		if _, err := io.ReadFull(r, part); err != nil {
			return nil, readError(fmt.Sprintf("%d images of %d x %d pixels", s.N, s.W, s.H), err)
		}
		for _, b := range part {
			s.Pix = append(s.Pix, float32(b)/255)
		}
	}
	return s, atEnd(r)
}

// atEnd refuses bytes behind the images.
func atEnd(r io.Reader) error {
	switch n, err := io.ReadFull(r, make([]byte, 1)); {
	case n > 0:
		return fmt.Errorf("%w: bytes follow the last image", ErrData)
	case err != io.EOF:
		return readError("its end", err)
	}
	return nil
}

// readError tells a file that is too short from one that cannot be read.
func readError(what string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends before %s", ErrData, what)
	}
	return fmt.Errorf("reading %s: %w", what, err)
}

// maxLine bounds a line of an .amat file: 2^18 pixels of up to 64 letters.
const maxLine = 1 << 24

// DecodeAmat is ReadAmat for bytes that are not gzipped.
func DecodeAmat(r io.Reader) (*ImageSet, error) {
	s := &ImageSet{C: 1}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	columns := 0
	var row []float32
	for line := 1; lines.Scan(); line++ {
		var err error
		if row, err = numbers(row[:0], lines.Bytes()); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrData, line, err)
		}
		if len(row) == 0 {
			continue
		}
		if columns == 0 {
			columns = len(row)
			side := int(math.Sqrt(float64(columns)))
			if side*side != columns && side*side+1 != columns {
				return nil, fmt.Errorf("%w: line %d has %d numbers, a square image has n·n, with its label n·n + 1", ErrData, line, columns)
			}
			s.H, s.W = side, side
		} else if len(row) != columns {
			return nil, fmt.Errorf("%w: line %d has %d numbers, the first %d", ErrData, line, len(row), columns)
		}
		for i, v := range row[:s.H*s.W] {
			if !(v >= 0 && v <= 1) {
				return nil, fmt.Errorf("%w: line %d: pixel %d = %g, need 0 to 1", ErrData, line, i+1, v)
			}
		}
		s.N++
		if err := sized(s.N, 1, s.H, s.W); err != nil {
			return nil, err
		}
		s.Pix = append(s.Pix, row[:s.H*s.W]...)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%w: a line is longer than %d bytes", ErrData, maxLine)
	case err != nil:
		return nil, readError("its lines", err)
	case s.N == 0:
		return nil, fmt.Errorf("%w: no image in it", ErrData)
	}
	return s, nil
}

// numbers appends the numbers of a line, separated by spaces, to dst.
func numbers(dst []float32, line []byte) ([]float32, error) {
	for len(line) > 0 {
		if c := line[0]; c == ' ' || c == '\t' || c == '\r' {
			line = line[1:]
			continue
		}
		n := 0
		for n < len(line) && line[n] != ' ' && line[n] != '\t' && line[n] != '\r' {
			n++
		}
		v, err := strconv.ParseFloat(string(line[:n]), 32)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", clip(string(line[:n])))
		}
		dst, line = append(dst, float32(v)), line[n:]
	}
	return dst, nil
}
