package weights

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// What a pickle may ask for. A state_dict takes about 40 opcodes per tensor and five open marks.
const (
	maxOpcodes = 1 << 18
	maxMarks   = 64
	maxGlobal  = 256 // bytes of a class's module and name
)

// vet walks the pickle at the start of b without running it and returns its length. It simulates the stack as far as
// it must: each entry is the text that a string opcode pushed, or "" for anything else, which is what STACK_GLOBAL
// needs. A stream that passes makes the library allocate less than half a kilobyte per opcode beside its own bytes.
func vet(b []byte) (int, error) {
	v := vetter{b: b, memo: map[uint32]string{}}
	for range maxOpcodes {
		v.start = v.at
		arg, err := v.bytes(1)
		if err != nil {
			return 0, err
		}
		done, err := v.step(arg[0])
		if err != nil {
			return 0, err
		}
		if done {
			return v.at, nil
		}
	}
	return 0, v.errorf("more than %d opcodes", maxOpcodes)
}

type vetter struct {
	b         []byte
	at, start int // the next byte, and the byte where this opcode began
	stack     []string
	marks     []int // stack heights
	memo      map[uint32]string
}

func (v *vetter) errorf(format string, args ...any) error {
	return fmt.Errorf("%w: pickle, byte %d: %s", ErrFormat, v.start, fmt.Sprintf(format, args...))
}

// bytes takes the next n bytes of the stream.
func (v *vetter) bytes(n uint64) ([]byte, error) {
	if n > uint64(len(v.b)-v.at) {
		return nil, v.errorf("the stream ends %d bytes too early", n-uint64(len(v.b)-v.at))
	}
	s := v.b[v.at : v.at+int(n)]
	v.at += int(n)
	return s, nil
}

// counted takes a little-endian length of size bytes and then as many bytes.
func (v *vetter) counted(size uint64) ([]byte, error) {
	n, err := v.uint(size)
	if err != nil {
		return nil, err
	}
	return v.bytes(n)
}

func (v *vetter) uint(size uint64) (uint64, error) {
	b, err := v.bytes(size)
	if err != nil {
		return 0, err
	}
	var buf [8]byte
	copy(buf[:], b)
	return binary.LittleEndian.Uint64(buf[:]), nil
}

// line takes the bytes up to a line feed, and drops it.
func (v *vetter) line() (string, error) {
	rest := v.b[v.at:]
	n := bytes.IndexByte(rest[:min(len(rest), maxGlobal+1)], '\n')
	if n < 0 {
		return "", v.errorf("a name without an end within %d bytes", maxGlobal)
	}
	v.at += n + 1
	return string(rest[:n]), nil
}

// height is the number of entries above the innermost mark: what an opcode may pop.
func (v *vetter) height() int {
	if len(v.marks) == 0 {
		return len(v.stack)
	}
	return len(v.stack) - v.marks[len(v.marks)-1]
}

// pop removes n entries and returns the lowest of them.
func (v *vetter) pop(n int) (string, error) {
	if v.height() < n {
		return "", v.errorf("the stack holds %d entries of %d", v.height(), n)
	}
	low := v.stack[len(v.stack)-n]
	v.stack = v.stack[:len(v.stack)-n]
	return low, nil
}

// popMark removes the innermost mark and the n entries above it.
func (v *vetter) popMark() (n int, err error) {
	if len(v.marks) == 0 {
		return 0, v.errorf("no mark on the stack")
	}
	n = v.height()
	v.stack = v.stack[:len(v.stack)-n]
	v.marks = v.marks[:len(v.marks)-1]
	return n, nil
}

// replace pops n entries and pushes one.
func (v *vetter) replace(n int) error {
	if _, err := v.pop(n); err != nil {
		return err
	}
	v.stack = append(v.stack, "")
	return nil
}

// top checks that there is an entry for the opcode to work on.
func (v *vetter) top() error {
	if v.height() < 1 {
		return v.errorf("the stack is empty")
	}
	return nil
}

// push puts an entry on the stack, unless there is an error, which it returns.
func (v *vetter) push(s string, err error) error {
	if err == nil {
		v.stack = append(v.stack, s)
	}
	return err
}

// fixed takes a value of n bytes.
func (v *vetter) fixed(n uint64) error {
	_, err := v.bytes(n)
	return v.push("", err)
}

// text takes a string, behind its length of size bytes.
func (v *vetter) text(size uint64) error {
	s, err := v.counted(size)
	return v.push(string(s), err)
}

// step takes an opcode, and reports whether it is the last one.
func (v *vetter) step(op byte) (done bool, err error) {
	switch op {
	case opProto:
		return false, v.protocol()
	case opFrame:
		return false, v.frame()
	case opStop:
		if len(v.stack) != 1 || len(v.marks) != 0 {
			return false, v.errorf("ends with %d values and %d marks on the stack, need one value", len(v.stack), len(v.marks))
		}
		return true, nil

	case opNone, opNewTrue, opNewFalse, opEmptyTuple, opEmptyList, opEmptyDict:
		return false, v.push("", nil)
	case opBinInt:
		return false, v.fixed(4)
	case opBinInt1:
		return false, v.fixed(1)
	case opBinInt2:
		return false, v.fixed(2)
	case opBinFloat:
		return false, v.fixed(8)
	case opLong1:
		return false, v.long()
	case opShortBinString, opShortBinUnicode:
		return false, v.text(1)
	case opBinString, opBinUnicode:
		return false, v.text(4)

	case opMark:
		if len(v.marks) == maxMarks {
			return false, v.errorf("more than %d marks within each other", maxMarks)
		}
		v.marks = append(v.marks, len(v.stack))
		return false, nil
	case opTuple1:
		return false, v.replace(1)
	case opTuple2:
		return false, v.replace(2)
	case opTuple3:
		return false, v.replace(3)
	case opTuple:
		_, err := v.popMark()
		return false, v.push("", err)
	case opAppend, opBuild: // the container stays
		return false, v.replace(2)
	case opSetItem:
		return false, v.replace(3)
	case opAppends, opSetItems:
		return false, v.fill(op == opSetItems)

	case opBinPut, opLongBinPut, opMemoize:
		return false, v.store(op)
	case opBinGet, opLongBinGet:
		return false, v.load(op)

	case opGlobal:
		return false, v.global()
	case opStackGlobal:
		return false, v.stackGlobal()
	case opReduce:
		return false, v.replace(2)
	case opBinPersID:
		return false, v.replace(1)
	}
	return false, v.refuse(op)
}

// protocol checks the version of pickles that the stream is written in.
func (v *vetter) protocol() error {
	n, err := v.uint(1)
	if err != nil {
		return err
	}
	if n > 5 {
		return v.errorf("pickle protocol %d, this reader knows 0 to 5", n)
	}
	return nil
}

// frame checks that the stream is as long as a frame says.
func (v *vetter) frame() error {
	n, err := v.uint(8)
	if err != nil {
		return err
	}
	if n > uint64(len(v.b)-v.at) {
		return v.errorf("a frame of %d bytes, the stream has %d", n, len(v.b)-v.at)
	}
	return nil
}

// fill takes what stands above the innermost mark into the container below it, in pairs of a key and a value or one by one.
func (v *vetter) fill(pairs bool) error {
	n, err := v.popMark()
	if err != nil {
		return err
	}
	if pairs && n%2 != 0 {
		return v.errorf("a key without a value")
	}
	return v.top()
}

// global takes a class, named in the stream.
func (v *vetter) global() error {
	module, err := v.line()
	if err != nil {
		return err
	}
	name, err := v.line()
	if err != nil {
		return err
	}
	return v.push("", v.class(module, name))
}

// stackGlobal takes a class, named by the two last entries.
func (v *vetter) stackGlobal() error {
	if v.height() < 2 {
		return v.errorf("STACK_GLOBAL needs two names on the stack")
	}
	if err := v.class(v.stack[len(v.stack)-2], v.stack[len(v.stack)-1]); err != nil {
		return err
	}
	return v.replace(2)
}

// argSize is the number of bytes of a memo opcode's index.
func argSize(op byte) uint64 {
	if op == opLongBinGet || op == opLongBinPut {
		return 4
	}
	return 1
}

// store notes what PUT and MEMOIZE write.
func (v *vetter) store(op byte) error {
	if err := v.top(); err != nil {
		return err
	}
	i := uint64(len(v.memo))
	if op != opMemoize {
		var err error
		if i, err = v.uint(argSize(op)); err != nil {
			return err
		}
	}
	v.memo[uint32(i)] = v.stack[len(v.stack)-1]
	return nil
}

// load pushes what GET reads.
func (v *vetter) load(op byte) error {
	i, err := v.uint(argSize(op))
	if err != nil {
		return err
	}
	s, ok := v.memo[uint32(i)]
	if !ok {
		return v.errorf("memo entry %d was never written", i)
	}
	return v.push(s, nil)
}

// long checks LONG1, two's complement, little-endian. A value that an int can hold must fit in one; longer ones (the
// magic number of the old format has ten bytes) become big numbers. The library fails on an empty one.
func (v *vetter) long() error {
	b, err := v.counted(1)
	if err != nil {
		return err
	}
	if len(b) == 0 {
		return v.errorf("a whole number of no bytes")
	}
	if len(b) <= 8 {
		var buf [8]byte
		if b[len(b)-1]&0x80 != 0 {
			binary.LittleEndian.PutUint64(buf[:], math.MaxUint64)
		}
		copy(buf[:], b)
		if n := int64(binary.LittleEndian.Uint64(buf[:])); int64(int(n)) != n {
			return v.errorf("the number %d is too large for this machine", n)
		}
	}
	v.stack = append(v.stack, "")
	return nil
}

func (v *vetter) class(module, name string) error {
	if resolve(module, name) == nil {
		return v.errorf("refused the class %s; %s", quoteClass(module, name), onlyClasses)
	}
	return nil
}

// refuse explains an opcode that is on no list.
func (v *vetter) refuse(op byte) error {
	name, ok := refusedOpcodes[op]
	if !ok {
		return v.errorf("unknown opcode 0x%02x", op)
	}
	if op == opInst { // INST names its class in the stream
		if module, err := v.line(); err == nil {
			if class, err := v.line(); err == nil {
				return v.errorf("refused the class %s (opcode INST); %s", quoteClass(module, class), onlyClasses)
			}
		}
	}
	return v.errorf("refused the opcode %s: no state_dict has it", name)
}
