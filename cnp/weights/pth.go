package weights

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/nlpodyssey/gopickle/types"
)

// What a file of the old format begins with: two pickles of these numbers (torch/serialization.py).
const (
	legacyMagic    = "1950a86a20f9469cfc6c"
	legacyProtocol = 1001
)

// decodeLegacy reads torch.save's old format: five pickles (magic number, protocol version, facts about the machine,
// the object, the keys of its storages), then for each key an int64 number of elements and the elements.
func decodeLegacy(file []byte) (*State, error) {
	magic, b, err := unpickle(file, nil)
	if err != nil {
		return nil, err
	}
	if n, ok := magic.(*big.Int); !ok || n.Text(16) != legacyMagic {
		return nil, fmt.Errorf("%w: a pickle, but not one by torch.save: it does not begin with the magic number", ErrFormat)
	}
	protocol, b, err := unpickle(b, nil)
	if err != nil {
		return nil, err
	}
	if protocol != legacyProtocol {
		return nil, fmt.Errorf("%w: PyTorch's file protocol is %v, need %d", ErrFormat, short(fmt.Sprint(protocol)), legacyProtocol)
	}
	machine, b, err := unpickle(b, nil)
	if err != nil {
		return nil, err
	}
	if d, ok := machine.(*types.Dict); ok {
		for _, e := range *d {
			if e.Key == "little_endian" && e.Value != true {
				return nil, fmt.Errorf("%w: written on a big-endian machine", ErrFormat)
			}
		}
	}
	storages := map[string]*storage{}
	object, b, err := unpickle(b, storages)
	if err != nil {
		return nil, err
	}
	items, err := entries(object)
	if err != nil {
		return nil, err
	}
	keys, b, err := unpickle(b, nil)
	if err != nil {
		return nil, err
	}
	list, ok := keys.(*types.List)
	if !ok {
		return nil, fmt.Errorf("%w: no list of storages", ErrFormat)
	}
	if list.Len() != len(storages) {
		return nil, fmt.Errorf("%w: %d storages are listed, %d are used", ErrFormat, list.Len(), len(storages))
	}
	for _, key := range *list {
		name, _ := key.(string)
		s := storages[name]
		if s == nil || s.data != nil {
			return nil, fmt.Errorf("%w: storage %q is listed twice or used by no tensor", ErrFormat, short(name))
		}
		if b, err = s.read(name, b); err != nil {
			return nil, err
		}
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("%w: %d bytes after the last storage", ErrFormat, len(b))
	}
	return materialize(PyTorchLegacy, items, len(file))
}

// read takes the storage's bytes from the front of b and returns what follows them.
func (s *storage) read(key string, b []byte) ([]byte, error) {
	if len(b) < 8 {
		return nil, fmt.Errorf("%w: the file ends before storage %q", ErrFormat, short(key))
	}
	if n := binary.LittleEndian.Uint64(b); n != uint64(s.n) {
		return nil, fmt.Errorf("%w: storage %q has %d elements, its tensors say %d", ErrFormat, short(key), n, s.n)
	}
	b = b[8:]
	if uint64(s.n) > uint64(len(b)/s.dtype.Size()) {
		return nil, fmt.Errorf("%w: the file ends within storage %q: %d elements of %s, %d bytes", ErrFormat, short(key), s.n,
			s.dtype, len(b))
	}
	n := s.n * s.dtype.Size()
	s.data = b[:n:n]
	return b[n:], nil
}

// shareFactor bounds the bytes of all tensors together by a multiple of the file's: tied weights share a storage, and a
// stride of 0 lets few bytes stand for many, but a small file must not become a large model that way.
const shareFactor = 4

// materialize makes row-major tensors of the views. Contiguous ones alias the bytes of the file, which has size bytes.
func materialize(format Format, items []entry, size int) (*State, error) {
	out := &State{Format: format, Metadata: map[string]string{}, Tensors: make([]Tensor, 0, len(items))}
	budget := shareFactor * uint64(size)
	for _, it := range items {
		data, err := it.view.rowMajor(budget)
		if err != nil {
			return nil, fmt.Errorf("%w: tensor %q: %w", ErrFormat, short(it.name), err)
		}
		budget -= uint64(len(data))
		out.Tensors = append(out.Tensors, Tensor{Name: it.name, DType: it.view.storage.dtype, Shape: it.view.size, Data: data})
	}
	return out, nil
}

// maxDims is the most dimensions that a tensor of PyTorch can have.
const maxDims = 64

// rowMajor returns the view's elements in row-major order, at most budget bytes of them.
func (v *view) rowMajor(budget uint64) ([]byte, error) {
	if len(v.size) != len(v.stride) || len(v.size) > maxDims {
		return nil, fmt.Errorf("%d sizes and %d strides", len(v.size), len(v.stride))
	}
	elems, last, contiguous, err := v.extent()
	if err != nil {
		return nil, err
	}
	w := v.storage.dtype.Size()
	if elems == 0 {
		return []byte{}, nil
	}
	if last >= uint64(v.storage.n) {
		return nil, fmt.Errorf("reaches element %d of a storage of %d", last, v.storage.n)
	}
	if elems > budget/uint64(w) || elems > math.MaxInt/uint64(w) {
		return nil, fmt.Errorf("shape %v takes more than %d times the file's bytes, with the tensors before it", v.size, shareFactor)
	}
	if contiguous { // elems ≤ last+1 ≤ n, so the bytes are there
		lo, hi := v.offset*w, (v.offset+int(elems))*w
		return v.storage.data[lo:hi:hi], nil
	}
	data := make([]byte, 0, int(elems)*w)
	index := make([]int, len(v.size))
	at := v.offset
	for {
		data = append(data, v.storage.data[at*w:(at+1)*w]...)
		d := len(index) - 1
		for ; d >= 0; d-- { // the odometer, last index fastest
			if index[d]++; index[d] < v.size[d] {
				at += v.stride[d]
				break
			}
			at -= (v.size[d] - 1) * v.stride[d]
			index[d] = 0
		}
		if d < 0 {
			return data, nil
		}
	}
}

// extent returns the number of elements, the storage index of the last one (of no meaning when there is none) and
// whether they lie row-major without gaps, all without overflow.
func (v *view) extent() (elems, last uint64, contiguous bool, err error) {
	if v.offset < 0 {
		return 0, 0, false, fmt.Errorf("offset %d", v.offset)
	}
	const most = 1 << 62
	elems, last, contiguous = 1, uint64(v.offset), true
	empty := false
	for d := len(v.size) - 1; d >= 0; d-- {
		size, stride := v.size[d], v.stride[d]
		if size < 0 || stride < 0 {
			return 0, 0, false, fmt.Errorf("size %v, stride %v", v.size, v.stride)
		}
		if size == 0 { // the product of the others must still be a number
			empty = true
			continue
		}
		if size > 1 && uint64(stride) != elems {
			contiguous = false
		}
		hi, step := bits.Mul64(uint64(size-1), uint64(stride))
		over, product := bits.Mul64(elems, uint64(size))
		if hi != 0 || over != 0 || step > most || product > most || last > most-step {
			return 0, 0, false, fmt.Errorf("size %v, stride %v overflow", v.size, v.stride)
		}
		last += step
		elems = product
	}
	if empty {
		return 0, 0, true, nil
	}
	return elems, last, contiguous, nil
}
