package weights

import (
	"archive/zip"
	"bytes"
	"fmt"
	"hash/crc32"
	"strings"
)

// decodeZip reads torch.save's new format: an archive "name/data.pkl" (the object), "name/data/<key>" (its storages) and
// small facts beside them. Entries lie uncompressed, as PyTorch writes them to map them into memory, so every entry is
// a piece of b, nothing is inflated and no entry can be larger than the file.
func decodeZip(b []byte) (*State, error) {
	a, err := openArchive(b)
	if err != nil {
		return nil, err
	}
	if _, ok := a.files["constants.pkl"]; ok {
		return nil, fmt.Errorf("%w: a TorchScript archive: need a state_dict, as torch.save(model.state_dict(), path) writes it", ErrFormat)
	}
	if order, err := a.read("byteorder"); err == nil && strings.TrimSpace(string(order)) != "little" {
		return nil, fmt.Errorf("%w: written on a machine of byte order %q", ErrFormat, short(string(order)))
	}
	pkl, err := a.read("data.pkl")
	if err != nil {
		return nil, err
	}
	storages := map[string]*storage{}
	object, rest, err := unpickle(pkl, storages)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%w: %d bytes after the pickle's end", ErrFormat, len(rest))
	}
	items, err := entries(object)
	if err != nil {
		return nil, err
	}
	for key, s := range storages {
		data, err := a.read("data/" + key)
		if err != nil {
			return nil, err
		}
		if w := s.dtype.Size(); len(data)%w != 0 || len(data)/w != s.n {
			return nil, fmt.Errorf("%w: storage %q has %d bytes, its tensors say %d elements of %s", ErrFormat, short(key),
				len(data), s.n, s.dtype)
		}
		s.data = data
	}
	return materialize(PyTorchZip, items, len(b))
}

// archive maps an entry's name, its first folder removed, to the entry.
type archive struct {
	b     []byte
	files map[string]*zip.File
}

// openArchive reads the directory and refuses what PyTorch does not write and an attacker might.
func openArchive(b []byte) (*archive, error) {
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, fmt.Errorf("%w: archive: %v", ErrFormat, err)
	}
	a := &archive{b, make(map[string]*zip.File, len(r.File))}
	folder := ""
	for i, f := range r.File {
		bad := func(why string) error {
			return fmt.Errorf("%w: archive: entry %q %s", ErrFormat, short(f.Name), why)
		}
		top, name, ok := strings.Cut(f.Name, "/")
		switch {
		case !ok || top == "" || name == "" || strings.Contains(f.Name, "\\"):
			return nil, bad("lies in no folder")
		case top == ".." || strings.Contains("/"+name+"/", "/../"):
			return nil, bad("leaves its folder")
		case i > 0 && top != folder:
			return nil, bad(fmt.Sprintf("is outside the folder %q", short(folder)))
		case a.files[name] != nil:
			return nil, bad("appears twice")
		case f.Method != zip.Store || f.CompressedSize64 != f.UncompressedSize64:
			return nil, bad("is compressed, PyTorch stores")
		case f.Flags&1 != 0:
			return nil, bad("is encrypted")
		}
		folder = top
		a.files[name] = f
	}
	return a, nil
}

// read returns an entry's bytes, which alias the archive.
func (a *archive) read(name string) ([]byte, error) {
	f := a.files[name]
	if f == nil {
		return nil, fmt.Errorf("%w: the archive has no entry %q", ErrFormat, short(name))
	}
	at, err := f.DataOffset()
	if err != nil {
		return nil, fmt.Errorf("%w: archive: entry %q: %v", ErrFormat, short(name), err)
	}
	n := uint64(len(a.b))
	if at < 0 || uint64(at) > n || f.UncompressedSize64 > n-uint64(at) {
		return nil, fmt.Errorf("%w: archive: entry %q ends outside the file", ErrFormat, short(name))
	}
	data := a.b[at : uint64(at)+f.UncompressedSize64]
	if crc32.ChecksumIEEE(data) != f.CRC32 {
		return nil, fmt.Errorf("%w: archive: entry %q is damaged: its checksum differs", ErrFormat, short(name))
	}
	return data, nil
}
