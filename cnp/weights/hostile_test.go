package weights_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/weights"
)

// Pieces of pickles, written as Python's pickle writes them.
const (
	magicPickle   = "\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
	versionPickle = "\x80\x02M\xe9\x03."
	machinePickle = "\x80\x02}(X\x0d\x00\x00\x00little_endian\x88u."
	keysPickle    = "\x80\x02]X\x01\x00\x00\x000a." // ["0"]

	orderedDict = "ccollections\nOrderedDict\n)R"
)

// str is BINUNICODE.
func str(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

// i32 is BININT.
func i32(n int32) string {
	return "J" + string(binary.LittleEndian.AppendUint32(nil, uint32(n)))
}

// i64 is LONG1 of eight bytes.
func i64(n uint64) string { return "\x8a\x08" + string(binary.LittleEndian.AppendUint64(nil, n)) }

// tensor is the pickle of _rebuild_tensor_v2 on storage "0" of n floats; the last entry of an id is the view of the old
// format.
func tensor(n, offset, size, stride string) string {
	return "ctorch._utils\n_rebuild_tensor_v2\n((" + str("storage") + "ctorch\nFloatStorage\n" + str("0") + str("cpu") + n +
		"tQ" + offset + size + stride + "\x89" + orderedDict + "tR"
}

// dictOf is a state_dict of one entry.
func dictOf(value string) string { return "\x80\x02" + orderedDict + str("a") + value + "s." }

// legacyFile is a file of the old format around an object's pickle, with storage "0" of these floats.
func legacyFile(object string, floats int) []byte {
	b := []byte(magicPickle + versionPickle + machinePickle + object + keysPickle)
	b = binary.LittleEndian.AppendUint64(b, uint64(floats))
	return append(b, make([]byte, 4*floats)...)
}

// zipFile is a file of the new format around an object's pickle.
func zipFile(t testing.TB, object string, floats int, more ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	names := append([]string{"x/data.pkl", "x/data/0"}, more...)
	for i, name := range names {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		require.NoError(t, err)
		switch i {
		case 0:
			_, err = f.Write([]byte(object))
		case 1:
			_, err = f.Write(make([]byte, 4*floats))
		}
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// decode is DecodeState, watched: no error may leave the sentinel out and no small file may take much memory.
func decode(t *testing.T, b []byte) (*weights.State, error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := weights.DecodeState(b)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 2<<20+1000*uint64(len(b)) {
		t.Errorf("%d bytes allocated for a file of %d", got, len(b))
	}
	if err != nil {
		require.ErrorIs(t, err, weights.ErrFormat)
		require.Nil(t, s)
	}
	return s, err
}

func TestHandmadeFiles(t *testing.T) {
	for _, c := range []struct {
		name   string
		object string
		shape  []int
	}{
		{"matrix", dictOf(tensor(i32(6), i32(0), i32(2)+i32(3)+"\x86", i32(3)+i32(1)+"\x86")), []int{2, 3}},
		{"plain dictionary", "\x80\x02}" + str("a") + tensor(i32(6), i32(2), i32(4)+"\x85", i32(1)+"\x85") + "s.", []int{4}},
		{"stride of a size of 1 does not matter", dictOf(tensor(i32(6), i32(0), i32(1)+i32(6)+"\x86", i32(77)+i32(1)+"\x86")), []int{1, 6}},
		{"empty with any stride", dictOf(tensor(i32(6), i32(6), i32(0)+i32(9)+"\x86", i32(9)+i32(1)+"\x86")), []int{0, 9}},
		{"as a parameter", dictOf("ctorch._utils\n_rebuild_parameter\n(" + tensor(i32(6), i32(0), i32(6)+"\x85", i32(1)+"\x85") +
			"\x88" + orderedDict + "tR"), []int{6}},
		{"strings of Python 2", "\x80\x02}U\x01a" + tensor(i32(6), i32(0), i32(6)+"\x85", i32(1)+"\x85") + "s.", []int{6}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, b := range [][]byte{legacyFile(c.object, 6), zipFile(t, c.object, 6)} {
				s, err := decode(t, b)
				require.NoError(t, err)
				require.Len(t, s.Tensors, 1)
				assert.Equal(t, "a", s.Tensors[0].Name)
				assert.Equal(t, c.shape, s.Tensors[0].Shape)
				assert.Len(t, s.Tensors[0].Data, 4*s.Tensors[0].Len())
			}
		})
	}
}

func TestHostilePickles(t *testing.T) {
	good := tensor(i32(6), i32(0), i32(6)+"\x85", i32(1)+"\x85")
	global := func(name string) string { return "c" + strings.ReplaceAll(name, " ", "\n") + "\n" }
	arg := str("touch executed") + "\x85"
	u64 := func(n uint64) string { return string(binary.LittleEndian.AppendUint64(nil, n)) }
	u32 := func(n uint32) string { return string(binary.LittleEndian.AppendUint32(nil, n)) }
	sized := func(n, offset, size, stride string) string { return dictOf(tensor(n, offset, size, stride)) }
	for _, c := range []struct{ name, object, want string }{
		// Classes, by every opcode that can name or call one.
		{"GLOBAL os.system", dictOf(global("os system") + arg + "R"), `"os.system"`},
		{"GLOBAL posix.system", "\x80\x02" + global("posix system") + arg + "R.", `"posix.system"`},
		{"GLOBAL eval", dictOf(global("__builtin__ eval") + arg + "R"), `"__builtin__.eval"`},
		{"GLOBAL object", dictOf(global("__builtin__ object") + arg + "R"), `"__builtin__.object"`},
		{"GLOBAL _reconstructor", dictOf(global("copy_reg _reconstructor") + arg + "R"), `"copy_reg._reconstructor"`},
		{"GLOBAL torch.load", dictOf(global("torch load") + arg + "R"), `"torch.load"`},
		{"GLOBAL near miss", dictOf(global("torch FloatStorage.__class__") + arg + "R"), `"torch.FloatStorage.__class__"`},
		{"GLOBAL empty", dictOf("c\n\n" + arg + "R"), `"."`},
		{"GLOBAL without an end", "\x80\x02c" + strings.Repeat("a", 5000) + ".", "without an end"},
		{"STACK_GLOBAL os.system", "\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x02ls\x85R.", `"os.system"`},
		{"STACK_GLOBAL through the memo", "\x80\x04\x8c\x02os\x94\x8c\x06system\x94" + "h\x00h\x01\x93\x8c\x02ls\x85R.", `"os.system"`},
		{"STACK_GLOBAL of bytes", "\x80\x04N\x8c\x06system\x93.", `".system"`},
		{"STACK_GLOBAL object", "\x80\x04\x8c\x0b__builtin__\x8c\x06object\x93.", `"__builtin__.object"`},
		{"STACK_GLOBAL without names", "\x80\x04\x93.", "two names"},
		{"INST os.system", "\x80\x02(" + str("ls") + "ios\nsystem\n.", `"os.system" (opcode INST)`},
		{"OBJ", "\x80\x02(" + "ccollections\nOrderedDict\n" + "o.", "opcode OBJ"},
		{"OBJ os.system", "\x80\x02(" + global("os system") + arg + "o.", `"os.system"`},
		{"NEWOBJ", "\x80\x02ccollections\nOrderedDict\n)\x81.", "opcode NEWOBJ"},
		{"NEWOBJ_EX", "\x80\x04ccollections\nOrderedDict\n)}\x92.", "opcode NEWOBJ_EX"},
		{"BUILD on a class", "\x80\x02ctorch\nFloatStorage\n}" + str("__setstate__") + global("os system") + "sb.", `"os.system"`},
		{"BUILD with attributes on a class", "\x80\x02ctorch\nFloatStorage\n}" + str("a") + str("b") + "sb.", "BUILD requires"},
		{"EXT1", "\x80\x02\x82\x01.", "opcode EXT1"},
		{"PERSID", "\x80\x02Pos.system\n.", "opcode PERSID"},
		{"REDUCE a string", dictOf(str("os.system") + arg + "R"), "REDUCE requires"},
		{"REDUCE a storage", dictOf("ctorch\nFloatStorage\n" + arg + "R"), "REDUCE requires"},
		{"REDUCE without a tuple", dictOf("ccollections\nOrderedDict\n" + str("x") + "R"), "REDUCE args"},
		{"OrderedDict of arguments", dictOf("ccollections\nOrderedDict\n]\x85R"), "not supported"},

		// Lengths beyond the stream.
		{"LONG4 of 2 GB", "\x80\x02\x8b\xff\xff\xff\x7f.", "opcode LONG4"},
		{"LONG4 of -1", "\x80\x02\x8b\xff\xff\xff\xff.", "opcode LONG4"},
		{"BINUNICODE of 4 GB", "\x80\x02X\xff\xff\xff\xffabc.", "too early"},
		{"BINSTRING of 2 GB", "\x80\x02T\xff\xff\xff\x7fabc.", "too early"},
		{"BINSTRING of -1", "\x80\x02T\xff\xff\xff\xffabc.", "too early"},
		{"BINUNICODE8 of 2^63-1", "\x80\x04\x8d" + u64(1<<63-1) + ".", "opcode BINUNICODE8"},
		{"BINUNICODE8 of 2^64-1", "\x80\x04\x8d" + u64(1<<64-1) + ".", "opcode BINUNICODE8"},
		{"BINBYTES8", "\x80\x04\x8e" + u64(1<<40) + ".", "opcode BINBYTES8"},
		{"BYTEARRAY8", "\x80\x05\x96" + u64(1<<40) + ".", "opcode BYTEARRAY8"},
		{"BINBYTES of 4 GB", "\x80\x03B\xff\xff\xff\xff.", "opcode BINBYTES"},
		{"FRAME of 2^40", "\x80\x04\x95" + u64(1<<40) + "N.", "a frame of"},
		{"FRAME of 2^64-1", "\x80\x04\x95" + u64(1<<64-1) + "N.", "a frame of"},
		{"FRAME within a frame", "\x80\x04\x95" + u64(11) + "\x95" + u64(2) + "N.", "frame"},
		{"FRAME ends within an opcode", "\x80\x04\x95" + u64(2) + i32(5) + ".", "end of frame"},
		{"LONG1 of nothing", "\x80\x02\x8a\x00.", "no bytes"},

		// The stack, the marks and the memo.
		{"unknown opcode 0xff", "\x80\x02\xff.", "unknown opcode 0xff"},
		{"protocol 6", "\x80\x06N.", "protocol 6"},
		{"pop below the bottom", "\x80\x02\x86.", "the stack holds 0"},
		{"pop below a mark", "\x80\x02NN(\x86.", "the stack holds 0"},
		{"no mark", "\x80\x02Nt.", "no mark"},
		{"key without a value", "\x80\x02}(Nu.", "without a value"},
		{"items for nothing", "\x80\x02(NNu.", "stack is empty"},
		{"items for a number", "\x80\x02K\x01(NNu.", "SETITEMS requires"},
		{"append to a dictionary", "\x80\x02}Na.", "APPEND requires"},
		{"two values at the end", "\x80\x02NN.", "2 values"},
		{"open mark at the end", "\x80\x02N(.", "1 marks"},
		{"nothing at the end", "\x80\x02.", "0 values"},
		{"memo 2^31 never written", "\x80\x02j" + u32(1<<31) + ".", "memo entry 2147483648"},
		{"memo 2^31 written", "\x80\x02]r" + u32(1<<31) + "j" + u32(1<<31) + "a.", "no dictionary"},
		{"memo of nothing", "\x80\x02q\x00.", "stack is empty"},
		{"deep marks", "\x80\x02" + strings.Repeat("(", 1<<16) + ".", "marks within each other"},
		{"deep lists", "\x80\x02" + strings.Repeat("]", 1<<10) + strings.Repeat("a", 1<<10-1) + ".", "no dictionary"},
		{"deep tuples", "\x80\x02N" + strings.Repeat("\x85", 1<<16) + ".", "no dictionary"},
		{"list in itself", "\x80\x02]q\x00h\x00a.", "no dictionary"},
		{"dictionary in itself", "\x80\x02}q\x00" + str("a") + "h\x00s.", `"a" is no tensor`},
		{"dictionary as its own key", "\x80\x02}q\x00h\x00Ns.", "not a string"},
		{"tuple of itself, doubled", "\x80\x02N" + strings.Repeat("q\x00h\x00\x86", 1<<10) + ".", "no dictionary"},
		{"half a million opcodes", "\x80\x02]" + strings.Repeat("Na", 1<<18) + ".", "more than"},
		{"unhashable key", "\x80\x02" + orderedDict + "]Ns.", "not a string"},

		// The state_dict.
		{"a number", "\x80\x02K\x01.", "no dictionary"},
		{"a storage", dictOf("(" + str("storage") + "ctorch\nFloatStorage\n" + str("0") + str("cpu") + i32(6) + "tQ"), "is no tensor"},
		{"name twice", "\x80\x02}(" + str("a") + good + str("a") + good + "u.", `"a" appears twice`},
		{"id that is no tuple", dictOf(str("0") + "Q"), "no storage"},
		{"id of a module", dictOf("(" + str("module") + "NNNNtQ"), "no storage"},
		{"id without class", dictOf("(" + str("storage") + "N" + str("0") + str("cpu") + i32(6) + "tQ"), "without class"},
		{"id of negative size", sized(i32(-6), i32(0), i32(6)+"\x85", i32(1)+"\x85"), "without class"},
		{"size of 2^70", sized("\x8a\x09"+u64(0)+"\x01", i32(0), i32(6)+"\x85", i32(1)+"\x85"), "without class"},
		{"storage view", dictOf("ctorch._utils\n_rebuild_tensor_v2\n((" + str("storage") + "ctorch\nFloatStorage\n" + str("0") +
			str("cpu") + i32(6) + "(" + str("1") + i32(0) + i32(6) + "ttQ" + i32(0) + i32(6) + "\x85" + i32(1) + "\x85\x89NtR"),
			"view of a storage"},
		{"storage of two sizes", "\x80\x02}(" + str("a") + good + str("b") + tensor(i32(7), i32(0), i32(6)+"\x85",
			i32(1)+"\x85") + "u.", "and then"},
		{"tensor of no storage", dictOf("ctorch._utils\n_rebuild_tensor_v2\n(NK\x00))\x89NtR"), "without a storage"},
		{"tensor of two arguments", dictOf("ctorch._utils\n_rebuild_tensor_v2\nNN\x86R"), "arguments"},
		{"parameter of no tensor", dictOf("ctorch._utils\n_rebuild_parameter\nNNN\x87R"), "no tensor"},

		// Shapes.
		{"storage larger than the file", sized(i32(1<<30), i32(0), i32(1<<30)+"\x85", i32(1)+"\x85"), "elements"},
		{"beyond the storage", sized(i32(6), i32(0), i32(7)+"\x85", i32(1)+"\x85"), "reaches element 6"},
		{"offset beyond the storage", sized(i32(6), i32(1), i32(6)+"\x85", i32(1)+"\x85"), "reaches element 6"},
		{"stride beyond the storage", sized(i32(6), i32(0), i32(2)+"\x85", i32(6)+"\x85"), "reaches element 6"},
		{"negative offset", sized(i32(6), i32(-1), i32(6)+"\x85", i32(1)+"\x85"), "offset -1"},
		{"negative size", sized(i32(6), i32(0), i32(-6)+"\x85", i32(1)+"\x85"), "size [-6]"},
		{"negative stride", sized(i32(6), i32(5), i32(6)+"\x85", i32(-1)+"\x85"), "stride [-1]"},
		{"expanded to 2^31-1", sized(i32(6), i32(0), i32(1<<31-1)+"\x85", i32(0)+"\x85"), "file's bytes"},
		{"expanded to 2^62", sized(i32(6), i32(0), i32(1<<31-1)+i32(1<<31-1)+"\x86", i32(0)+i32(0)+"\x86"), ""},
		{"expanded to 2^93", sized(i32(6), i32(0), i32(1<<31-1)+i32(1<<31-1)+i32(1<<31-1)+"\x87", i32(0)+i32(0)+i32(0)+"\x87"), "overflow"},
		{"empty with an impossible shape", sized(i32(6), i32(0), "("+strings.Repeat(i32(1<<31-1), 3)+i32(0)+"t",
			"("+strings.Repeat(i32(0), 4)+"t"), "overflow"},
		{"overflowing stride", sized(i32(6), i32(0), i64(3)+"\x85", i64(1<<63-1)+"\x85"), ""},
		{"overflowing offset", sized(i32(6), i64(1<<63-1), i64(2)+"\x85", i64(1)+"\x85"), ""},
		{"sizes without strides", sized(i32(6), i32(0), i32(6)+"\x85", ")"), "1 sizes and 0 strides"},
		{"65 dimensions", sized(i32(6), i32(0), "("+strings.Repeat("K\x01", 65)+"t", "("+strings.Repeat("K\x01", 65)+"t"), "65 sizes"},
		{"size that is no number", sized(i32(6), i32(0), "N\x85", i32(1)+"\x85"), "whole numbers"},
		{"stride that is no tuple", sized(i32(6), i32(0), i32(6)+"\x85", "]"), "whole numbers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for format, b := range map[string][]byte{"legacy": legacyFile(c.object, 6), "zip": zipFile(t, c.object, 6)} {
				_, err := decode(t, b)
				require.Error(t, err, format)
				assert.ErrorContains(t, err, c.want, format)
				assert.Less(t, len(err.Error()), 1000, "an error that fits a screen")
			}
			assert.NoFileExists(t, "executed")
		})
	}
}

func TestHostileLegacyFiles(t *testing.T) {
	object := dictOf(tensor(i32(6), i32(0), i32(6)+"\x85", i32(1)+"\x85"))
	join := func(parts ...string) []byte { return []byte(strings.Join(parts, "")) }
	data := string(binary.LittleEndian.AppendUint64(nil, 6)) + strings.Repeat("\x00", 24)
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"another magic number", join(strings.Replace(magicPickle, "l\xfc", "l\xfd", 1), versionPickle, machinePickle, object,
			keysPickle, data), "magic number"},
		{"magic number is a string", join("\x80\x02"+str("x")+".", versionPickle, machinePickle, object, keysPickle, data), "magic number"},
		{"another protocol", join(magicPickle, "\x80\x02M\xea\x03.", machinePickle, object, keysPickle, data), "protocol is 1002"},
		{"big-endian", join(magicPickle, versionPickle, strings.Replace(machinePickle, "\x88", "\x89", 1), object, keysPickle,
			data), "big-endian"},
		{"keys are no list", join(magicPickle, versionPickle, machinePickle, object, "\x80\x02}.", data), "no list"},
		{"no keys", join(magicPickle, versionPickle, machinePickle, object, "\x80\x02].", data), "0 storages are listed"},
		{"key that nothing uses", join(magicPickle, versionPickle, machinePickle, object,
			strings.Replace(keysPickle, "0a", "1a", 1), data), `"1" is listed`},
		{"key that is a number", join(magicPickle, versionPickle, machinePickle, object, "\x80\x02]K\x00a.", data), "is listed"},
		{"storage in the list of keys", join(magicPickle, versionPickle, machinePickle, object,
			"\x80\x02]("+str("storage")+"ctorch\nFloatStorage\n"+str("0")+str("cpu")+i32(6)+"tQa.", data), "where none belongs"},
		{"another number of elements", join(magicPickle, versionPickle, machinePickle, object, keysPickle,
			strings.Replace(data, "\x06", "\x05", 1)), "has 5 elements"},
		{"2^62 elements", join(magicPickle, versionPickle, machinePickle,
			dictOf(tensor(i64(1<<62), i32(0), i32(6)+"\x85", i32(1)+"\x85")), keysPickle,
			string(binary.LittleEndian.AppendUint64(nil, 1<<62)), strings.Repeat("\x00", 24)), ""},
		{"bytes at the end", join(magicPickle, versionPickle, machinePickle, object, keysPickle, data, "x"), "1 bytes after"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := decode(t, c.file)
			require.Error(t, err)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestHostileArchives(t *testing.T) {
	object := dictOf(tensor(i32(6), i32(0), i32(6)+"\x85", i32(1)+"\x85"))
	good := zipFile(t, object, 6)
	_, err := decode(t, good)
	require.NoError(t, err)

	entries := func(method uint16, names ...string) []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, name := range names {
			f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
			require.NoError(t, err)
			_, err = f.Write(make([]byte, 1<<20))
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		return b.Bytes()
	}
	// patch replaces what follows the n-th signature of the central directory at an offset.
	patch := func(entry, at int, with string) []byte {
		b := bytes.Clone(good)
		i := 0
		for range entry + 1 {
			i += bytes.Index(b[i:], []byte("PK\x01\x02")) + 4
		}
		copy(b[i-4+at:], with)
		return b
	}
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"bomb", entries(zip.Deflate, "x/data.pkl"), "is compressed"},
		{"compressed storage", patch(1, 10, "\x08\x00"), "is compressed"},
		{"absolute path", zipFile(t, object, 6, "/etc/passwd"), "in no folder"},
		{"no folder", zipFile(t, object, 6, "data.pkl"), "in no folder"},
		{"another folder", zipFile(t, object, 6, "y/data.pkl"), "outside the folder"},
		{"parent folder", zipFile(t, object, 6, "x/../../etc/passwd"), "leaves its folder"},
		{"starts in the parent folder", zipFile(t, object, 6, "../x"), "leaves its folder"},
		{"Windows path", zipFile(t, object, 6, `x\..\y`), "in no folder"},
		{"name twice", zipFile(t, object, 6, "x/data/0"), "appears twice"},
		{"TorchScript", zipFile(t, object, 6, "x/constants.pkl"), "TorchScript"},
		{"without a pickle", entries(zip.Store, "x/data/0"), `no entry "data.pkl"`},
		{"without the storage", zipFile(t, strings.Replace(object, str("0")+str("cpu"), str("1")+str("cpu"), 1), 6), `no entry "data/1"`},
		{"storage too short", zipFile(t, object, 5), "has 20 bytes"},
		{"storage too long", zipFile(t, object, 7), "has 28 bytes"},
		{"key that climbs", zipFile(t, strings.Replace(object, str("0")+str("cpu"), str("../data.pkl")+str("cpu"), 1), 6), "no entry"},
		{"two pickles", zipFile(t, object+object, 6), "after the pickle's end"},
		{"wrong checksum", patch(1, 16, "\x01\x02\x03\x04"), "damaged"},
		{"encrypted", patch(1, 8, "\x01\x00"), "encrypted"},
		{"size beyond the file", patch(1, 20, "\xff\xff\xff\x7f\xff\xff\xff\x7f"), "outside the file"},
		{"offset beyond the file", patch(1, 42, "\xff\xff\xff\x7f"), ""},
		{"byte order", func() []byte {
			var b bytes.Buffer
			w := zip.NewWriter(&b)
			f, err := w.CreateHeader(&zip.FileHeader{Name: "x/byteorder", Method: zip.Store})
			require.NoError(t, err)
			_, err = f.Write([]byte("big"))
			require.NoError(t, err)
			require.NoError(t, w.Close())
			return b.Bytes()
		}(), `byte order "big"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := decode(t, c.file)
			require.Error(t, err)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

// No prefix of a good file is a good file, and no flipped bit is more than an error or other numbers.
func TestTruncatedAndFlipped(t *testing.T) {
	for _, name := range []string{"small_legacy.pth", "small_zip.pth", "small.safetensors"} {
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join("testdata", name))
			require.NoError(t, err)
			for n := range len(b) {
				_, err := weights.DecodeState(b[:n:n])
				require.ErrorIs(t, err, weights.ErrFormat, "the first %d bytes of %d", n, len(b))
			}
			for i := range 8 * len(b) {
				c := bytes.Clone(b)
				c[i/8] ^= 1 << (i % 8)
				s, err := weights.DecodeState(c)
				if err != nil {
					require.ErrorIs(t, err, weights.ErrFormat, "bit %d", i)
					continue
				}
				for _, x := range s.Tensors {
					require.Len(t, x.Data, x.Len()*x.DType.Size(), "bit %d", i)
				}
			}
		})
	}
}

// Many tensors that share one storage must not stand for more than the file could hold.
func TestSharedStorageIsBounded(t *testing.T) {
	const floats = 1000
	var b strings.Builder
	b.WriteString("\x80\x02}(")
	for i := range 20 {
		b.WriteString(str(fmt.Sprint(i)) + tensor(i32(floats), i32(0), i32(floats)+"\x85", i32(1)+"\x85"))
	}
	b.WriteString("u.")
	_, err := decode(t, legacyFile(b.String(), floats))
	assert.ErrorContains(t, err, "file's bytes")
}

// What the cheapest opcodes make of a long pickle stays within the half kilobyte per opcode that vet promises.
func TestMemoryPerOpcode(t *testing.T) {
	const opcodes = 200_000
	for _, c := range []struct {
		name, unit string
		opcodes    int
	}{
		{"None", "N", 1},
		{"empty tuples", ")", 1},
		{"empty lists", "]", 1},
		{"empty dictionaries", "}", 1},
		{"tuples by mark", "(t", 2},
		{"tuples of one", "N\x85", 2},
		{"ordered dictionaries", "h\x00)R", 3},
		{"ordered dictionaries with an attribute", "h\x00)R}h\x01Nsb", 7},
		{"ordered dictionaries with an item", "h\x00)Rh\x01Ns", 6},
		{"memo", "N\x94", 2},
		{"numbers", "K\x01", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			pickle := "\x80\x04(ccollections\nOrderedDict\n\x94" + str("x") + "\x94" + strings.Repeat(c.unit, opcodes/c.opcodes) + "t."
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := weights.DecodeState(legacyFile(pickle, 0))
			runtime.ReadMemStats(&after)
			require.ErrorContains(t, err, "no dictionary", "it was run to its end")
			// A stack that grows by appending is allocated about five times over.
			per := float64(after.TotalAlloc-before.TotalAlloc) / opcodes
			t.Logf("%.0f bytes per opcode", per)
			assert.Less(t, per, 512.0)
		})
	}
}

// TestEnsembleEndless: the length of a list of models is not known where it is a device, and bounded all the same.
func TestEnsembleEndless(t *testing.T) {
	list := filepath.Join(t.TempDir(), "all.ensemble")
	require.NoError(t, os.WriteFile(list, bytes.Repeat([]byte("# a comment\n"), 1<<17), 0o600))
	_, err := weights.Members(list)
	require.ErrorContains(t, err, list+": 1572864 bytes, this reader takes up to 1048576")
	require.NoError(t, os.Remove(list))
	if _, err := os.Stat("/dev/zero"); err != nil || os.Symlink("/dev/zero", list) != nil {
		t.Skip("skipped: no endless file here")
	}
	_, err = weights.Members(list)
	require.ErrorContains(t, err, list+": this reader takes up to 1048576 bytes")
}
