// Package weights reads and writes model files.
//
// Three formats are read, told apart by their content: safetensors, which this package also writes, and PyTorch's
// torch.save in its old format (a row of pickles, then the storages) and its new one (a zip archive). A file written by
// Save holds the model's configuration and its group's digest in its metadata; for any other file Recognize finds the architecture from the
// names and shapes of its tensors, and where they leave a choice of group, the caller names it.
//
//	m, err := weights.Load[float32]("model.pth", weights.Options{Group: "SO(2)"})
//
// # Files are not trusted
//
// A pickle is a program. The reader runs it with github.com/nlpodyssey/gopickle, whose machine calls nothing but what
// it is handed, and hands it an ordered dictionary, a tensor, a parameter and PyTorch's typed storages. That machine
// believes the lengths in the stream, though, and takes it for well-formed: four bytes can ask it for gigabytes, and an
// odd number of dictionary items or an opcode of 255 makes it panic. So each stream is first walked without being run
// (vet.go): only the opcodes of a state_dict, every argument within the bytes at hand, the stack never below its marks,
// no memo entry read before it was written, every class on the list, all of it bounded. What passes is run, and a panic
// would still come back as an error.
//
// The pytorch package of that library is not used: it allocates storages by the size that the pickle claims, does not
// terminate on an empty file, and takes a short read from a compressed archive for a full one.
//
// Sizes, strides and offsets of tensors are checked against their storages before anything is made from them; entries
// of an archive must be stored, so nothing inflates; a configuration must fit the tensors beside it before a model is
// built from it. Memory is bounded by a multiple of the file's size.
package weights
