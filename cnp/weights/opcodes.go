package weights

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nlpodyssey/gopickle/types"
)

// The opcodes of the pickle machine that matter here, named as in Python's pickletools.
const (
	opMark            = '('
	opStop            = '.'
	opBinInt          = 'J'
	opBinInt1         = 'K'
	opBinInt2         = 'M'
	opNone            = 'N'
	opBinPersID       = 'Q'
	opReduce          = 'R'
	opBinString       = 'T'
	opShortBinString  = 'U'
	opBinUnicode      = 'X'
	opEmptyList       = ']'
	opAppend          = 'a'
	opBuild           = 'b'
	opGlobal          = 'c'
	opAppends         = 'e'
	opBinGet          = 'h'
	opInst            = 'i'
	opLongBinGet      = 'j'
	opBinPut          = 'q'
	opLongBinPut      = 'r'
	opSetItem         = 's'
	opTuple           = 't'
	opEmptyTuple      = ')'
	opSetItems        = 'u'
	opEmptyDict       = '}'
	opBinFloat        = 'G'
	opProto           = 0x80
	opTuple1          = 0x85
	opTuple2          = 0x86
	opTuple3          = 0x87
	opNewTrue         = 0x88
	opNewFalse        = 0x89
	opLong1           = 0x8a
	opShortBinUnicode = 0x8c
	opStackGlobal     = 0x93
	opMemoize         = 0x94
	opFrame           = 0x95
)

// Opcodes that pickles have and state_dicts do not, for the error to call them by name.
var refusedOpcodes = map[byte]string{
	'0': "POP", '1': "POP_MARK", '2': "DUP", 'F': "FLOAT", 'I': "INT", 'L': "LONG", 'P': "PERSID", 'S': "STRING",
	'V': "UNICODE", 'd': "DICT", 'g': "GET", opInst: "INST", 'l': "LIST", 'o': "OBJ", 'p': "PUT", 0x81: "NEWOBJ",
	0x82: "EXT1", 0x83: "EXT2", 0x84: "EXT4", 0x8b: "LONG4", 'B': "BINBYTES", 'C': "SHORT_BINBYTES",
	0x8d: "BINUNICODE8", 0x8e: "BINBYTES8", 0x8f: "EMPTY_SET", 0x90: "ADDITEMS", 0x91: "FROZENSET", 0x92: "NEWOBJ_EX",
	0x96: "BYTEARRAY8", 0x97: "NEXT_BUFFER", 0x98: "READONLY_BUFFER",
}

// onlyClasses ends the errors about classes.
const onlyClasses = "a state_dict needs only ordered dictionaries, tensors, parameters and storages, and nothing else is loaded"

// quoteClass quotes a class's name, cut where a hostile one would fill the screen.
func quoteClass(module, name string) string {
	s := module + "." + name
	if len(s) > maxGlobal {
		s = strings.ToValidUTF8(s[:maxGlobal], "") + "..."
	}
	return fmt.Sprintf("%q", s)
}

// storageClasses are PyTorch's typed storages, from the module torch (or torch.cuda, in files of the first versions).
var storageClasses = map[string]DType{
	"DoubleStorage": F64, "FloatStorage": F32, "HalfStorage": F16, "BFloat16Storage": BF16, "LongStorage": I64,
	"IntStorage": I32, "ShortStorage": I16, "CharStorage": I8, "ByteStorage": U8, "BoolStorage": Bool,
}

// resolve returns what stands for a class in the machine, or nil for a class that no state_dict has.
func resolve(module, name string) any {
	switch {
	case module == "collections" && name == "OrderedDict":
		return &types.OrderedDictClass{} // the machine has its own; this one is never asked
	case module == "torch._utils" && name == "_rebuild_tensor_v2":
		return rebuildTensor{}
	case module == "torch._utils" && name == "_rebuild_parameter":
		return rebuildParameter{}
	case slices.Contains([]string{"torch", "torch.cuda"}, module):
		if d, ok := storageClasses[name]; ok {
			return storageClass{d}
		}
	}
	return nil
}
