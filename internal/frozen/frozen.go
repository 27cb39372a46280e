// Package frozen keeps arrays of numbers in files that are used as they are read. A file is read and not mapped into memory: a mapping of
// a file that somebody cuts short ends the program that looks at it.
//
// A file is written from beginning to end, and read in the same order, mostly by the same functions: a [File] says which of both it is
// for. Numbers stand as they do in memory, so a file is for machines of one byte order and word size. It begins with a key, a digest of
// what it was made from, and has checksums of every part.
//
// Checksums find damage and not malice: who reads a file checks every number that a kernel will trust. Files must not change while they
// are in use; [Create] replaces a file as a whole, which leaves those who have opened it with the old one.
package frozen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/atomicfile"
)

// ErrFile is wrapped by errors about a file's contents: it is none of these files, damaged, too old or new, or made from something else.
var ErrFile = errors.New("not usable")

// Key is a digest of what a file was made from.
type Key [32]byte

// The header is a line of the caches, and another that is free. Its numbers stand as in memory.
//
//	0 magic  16 version  20 word size  24 key  56 length of header and arrays
const (
	magic      = "equivcnp frozen\n"
	headerSize = 128
	align      = 64
	part       = 1 << 20 // bytes under one checksum
)

var (
	order = binary.NativeEndian
	table = crc32.MakeTable(crc32.Castagnoli)
)

// File is one that is being written or read.
type File struct {
	err error
	// Reading: the file's bytes, and how far they are taken. checked closes when all checksums are compared, and damage
	// is what is wrong then.
	memory  []byte
	at      int
	checked chan struct{}
	damage  error
	// Writing:
	out  *atomicfile.File
	room []byte // a part that is not full yet
	size int
	sums []byte
}

// Reading reports whether the file is read. Otherwise it is written.
func (f *File) Reading() bool { return f.out == nil }

// Err is the first error so far.
func (f *File) Err() error { return f.err }

// Fail makes f fail for a reason that its reader has found.
func (f *File) Fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf("%w: "+format, append([]any{ErrFile}, args...)...)
	}
}

// Left returns the number of bytes that can still be read.
func (f *File) Left() int { return len(f.memory) - f.at }

// Number is a type of which files hold arrays. Any bytes are one, other than of a bool: see Bools.
type Number interface {
	~int | ~int32 | ~uint8 | ~uint16 | ~float32 | ~float64
}

// Int writes *v or reads it.
func (f *File) Int(v *int) {
	if v == nil {
		panic("frozen: Int: v = nil")
	}
	n := []int{*v}
	Array(f, &n)
	if len(n) != 1 {
		f.Fail("%d numbers where one should be", len(n))
		return
	}
	*v = n[0]
}

// Bool writes *v or reads it.
func (f *File) Bool(v *bool) {
	if v == nil {
		panic("frozen: Bool: v = nil")
	}
	n := 0
	if *v {
		n = 1
	}
	f.Int(&n)
	*v = n != 0
}

// Bools writes an array or reads it; reading makes a copy.
func (f *File) Bools(v *[]bool) {
	if v == nil {
		panic("frozen: Bools: v = nil")
	}
	var b []uint8
	if !f.Reading() {
		b = make([]uint8, len(*v))
		for i, set := range *v {
			if set {
				b[i] = 1
			}
		}
	}
	Array(f, &b)
	if f.Reading() {
		*v = make([]bool, len(b))
		for i, n := range b {
			(*v)[i] = n != 0
		}
	}
}

// Array writes *v or reads it. What is read is part of the file, begins with a line of the caches, and must not be written to; no
// elements are nil. It is valid for as long as f is reachable.
func Array[E Number](f *File, v *[]E) {
	if f == nil || v == nil {
		panic("frozen: Array: the file or the array is nil")
	}
	var zero E
	size := int(unsafe.Sizeof(zero))
	var head [align]byte
	if f.Reading() {
		*v = nil
		if f.err != nil {
			return
		}
		if f.Left() < align {
			f.Fail("it ends where an array should begin")
			return
		}
		n := order.Uint64(f.memory[f.at:])
		f.at += align
		if n > uint64(f.Left()/size) {
			f.Fail("an array of %d numbers, %d bytes are left", n, f.Left())
			return
		}
		if n > 0 {
			*v = unsafe.Slice((*E)(unsafe.Pointer(&f.memory[f.at])), n)
		}
		f.at += (int(n)*size + align - 1) &^ (align - 1) // the length of arrays is a multiple of align
		return
	}
	order.PutUint64(head[:], uint64(len(*v)))
	f.put(head[:])
	if n := len(*v) * size; n > 0 {
		f.put(unsafe.Slice((*byte)(unsafe.Pointer(&(*v)[0])), n))
		f.put(make([]byte, -n&(align-1)))
	}
}

// Array is the function of that name for a pointer to a slice, of whatever type it is; it panics on types that files do
// not keep.
func (f *File) Array(v any) {
	switch v := v.(type) {
	case *[]float32:
		Array(f, v)
	case *[]float64:
		Array(f, v)
	case *[]int:
		Array(f, v)
	case *[]int32:
		Array(f, v)
	case *[]uint16:
		Array(f, v)
	default:
		panic(fmt.Sprintf("frozen: Array: %T is no slice of numbers that files keep", v))
	}
}

// Create writes a file by calling write, and gives it its name at the end. An error names the file.
func Create(path string, version uint32, key Key, write func(*File)) (err error) {
	if write == nil {
		panic("frozen: Create: write = nil")
	}
	f := &File{}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}()
	if f.out, err = atomicfile.Create(path); err != nil {
		return err
	}
	defer f.out.Discard() // a no-op if all went well
	head := make([]byte, headerSize)
	f.put(head)
	write(f)
	f.flush()
	if f.err != nil {
		return f.err
	}
	fill(head, version, key, f.size)
	if _, err := f.out.Write(append(f.sums, sumOf(head, f.sums)...)); err != nil {
		return err
	}
	if _, err := f.out.WriteAt(head, 0); err != nil {
		return err
	}
	return f.out.Commit()
}

func fill(head []byte, version uint32, key Key, size int) {
	copy(head, magic)
	order.PutUint32(head[16:], version)
	order.PutUint32(head[20:], bits.UintSize)
	copy(head[24:], key[:])
	order.PutUint64(head[56:], uint64(size))
}

// sumOf is the last checksum: of the header and all the others.
func sumOf(head, sums []byte) []byte {
	return order.AppendUint32(nil, crc32.Update(crc32.Checksum(head, table), table, sums))
}

// put writes bytes. Parts begin behind the header.
func (f *File) put(b []byte) {
	f.size += len(b)
	for len(b) > 0 && f.err == nil {
		if f.room == nil {
			f.room = make([]byte, 0, part)
		}
		n := min(len(b), cap(f.room)-len(f.room))
		f.room = append(f.room, b[:n]...)
		b = b[n:]
		if len(f.room) == cap(f.room) {
			f.flush()
		}
	}
}

// flush ends a part.
func (f *File) flush() {
	if f.err != nil || len(f.room) == 0 {
		return
	}
	sum := f.room
	if len(f.sums) == 0 {
		sum = sum[headerSize:] // which is not known yet
	}
	f.sums = order.AppendUint32(f.sums, crc32.Checksum(sum, table))
	_, f.err = f.out.Write(f.room)
	f.room = f.room[:0]
}

// stale is the age from which on an unfinished file has no writer any more: writers add to theirs all the time.
const stale = 10 * time.Minute

// Sweep removes what writers that died have left in a folder: unfinished files of those that have the ending, such as ".plan". What
// cannot be removed stays.
func Sweep(folder, ending string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		name := e.Name()
		mine := strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".tmp") && strings.Contains(name, ending+".") ||
			strings.Contains(name, ending+".tmp") // as versions before wrote them
		if info, err := e.Info(); mine && err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > stale {
			_ = os.Remove(filepath.Join(folder, name))
		}
	}
}

// Open opens a file for reading, and checks that it has that version, key and length. Its checksums are compared in the background; what
// Wait says comes before any result is trusted. Errors name the file; one without such a file is fs.ErrNotExist, and one about its
// contents [ErrFile].
func Open(path string, version uint32, key Key) (*File, error) {
	m, err := load(path)
	if err != nil {
		return nil, err
	}
	f, err := start(m, version, key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	go func() {
		f.compare(m)
		if f.damage != nil {
			f.damage = fmt.Errorf("%s: %w", path, f.damage)
		}
		close(f.checked)
	}()
	return f, nil
}

// Decode is Open for the bytes of a file, whose checksums are compared at once.
func Decode(b []byte, version uint32, key Key) (*File, error) {
	room := make([]byte, len(b)+align)
	room = room[-uintptr(unsafe.Pointer(&room[0]))%align:][:len(b)]
	copy(room, b)
	f, err := start(room, version, key)
	if err != nil {
		return nil, err
	}
	f.compare(room)
	close(f.checked)
	return f, f.damage
}

// Wait waits until all checksums are compared, and returns an error if one is wrong. A file that is being written has none yet.
func (f *File) Wait() error {
	if f.Reading() {
		<-f.checked
	}
	return f.damage
}

// Seal sets the checksums of a file whose bytes were changed, for tests of those who read files. The length in its header must be right.
func Seal(b []byte) {
	if len(b) < headerSize+4 {
		panic(fmt.Sprintf("frozen: Seal: len(b) = %d, need at least %d", len(b), headerSize+4))
	}
	size := int(order.Uint64(b[56:]))
	if size < headerSize || size > len(b)-4 || (len(b)-size)%4 != 0 || (len(b)-size)/4 != (size+part-1)/part+1 {
		panic(fmt.Sprintf("frozen: Seal: %d bytes where the header says %d", len(b), size))
	}
	sums := b[size : size : len(b)-4]
	for lo := 0; lo < size; lo += part {
		sums = order.AppendUint32(sums, crc32.Checksum(b[max(lo, headerSize):min(lo+part, size)], table))
	}
	copy(b[len(b)-4:], sumOf(b[:headerSize], sums))
}

// start checks the header, and returns a file that can be read.
func start(m []byte, version uint32, key Key) (*File, error) {
	if len(m) < headerSize+4 || string(m[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: no file of this kind", ErrFile)
	}
	if v, w := order.Uint32(m[16:]), order.Uint32(m[20:]); v != version || w != bits.UintSize {
		return nil, fmt.Errorf("%w: version %d for %d bits, this program reads version %d for %d bits", ErrFile, v, w, version,
			bits.UintSize)
	}
	n := order.Uint64(m[56:])
	if n < headerSize || n > uint64(len(m)) || n%align != 0 || uint64(len(m)) != n+4*((n+part-1)/part+1) {
		return nil, fmt.Errorf("%w: %d bytes where the header says %d", ErrFile, len(m), n)
	}
	if string(sumOf(m[:headerSize], m[n:len(m)-4])) != string(m[len(m)-4:]) {
		return nil, fmt.Errorf("%w: its checksums are damaged", ErrFile)
	}
	if Key(m[24:56]) != key {
		return nil, fmt.Errorf("%w: it was made from something else", ErrFile)
	}
	return &File{memory: m[:n:n], at: headerSize, checked: make(chan struct{})}, nil
}

// compare compares the checksums of all parts.
func (f *File) compare(m []byte) {
	size := len(f.memory)
	for i := 0; i*part < size; i++ {
		lo, hi := i*part, min((i+1)*part, size)
		if crc32.Checksum(m[max(lo, headerSize):hi], table) != order.Uint32(m[size+4*i:]) {
			f.damage = fmt.Errorf("%w: damaged between bytes %d and %d", ErrFile, lo, hi)
			return
		}
	}
}

// read returns a file's bytes, which begin with a line of the caches.
func read(f *os.File, size int) ([]byte, error) {
	room := make([]byte, size+align)
	room = room[-uintptr(unsafe.Pointer(&room[0]))%align:][:size]
	_, err := io.ReadFull(f, room)
	return room, err
}

// load reads a file.
func load(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() < headerSize || info.Size() > math.MaxInt-align {
		return nil, fmt.Errorf("%s: %w: no file of this kind", path, ErrFile)
	}
	m, err := read(f, int(info.Size()))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}
