package safetensors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// metadataKey is the only key of the header that does not name a tensor.
const metadataKey = "__metadata__"

// byteRange is where a tensor lies in the data, end exclusive.
type byteRange struct{ begin, end uint64 }

// decodeHeader reads the JSON header token by token. encoding/json's own decoding into structs would accept what the
// format does not: repeated keys, keys in another case, null for a list, numbers beyond their type cut silently. It also
// never descends into a value that is not expected, so nesting costs nothing.
func decodeHeader(head []byte) (*File, []byteRange, error) {
	if len(head) == 0 || head[0] != '{' || !utf8.Valid(head) {
		return nil, nil, fmt.Errorf("%w: the header is not a JSON object", ErrFormat)
	}
	h := &headerReader{json.NewDecoder(bytes.NewReader(head))}
	h.UseNumber()
	f := &File{Metadata: map[string]string{}}
	var ranges []byteRange
	seen := map[string]bool{}
	err := h.object(func(name string) error {
		if seen[name] {
			return fmt.Errorf("%q appears twice", name)
		}
		seen[name] = true
		if name == metadataKey {
			return h.metadata(f.Metadata)
		}
		t, r, err := h.entry()
		if err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		t.Name = name
		f.Tensors, ranges = append(f.Tensors, t), append(ranges, r)
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%w: header: %w", ErrFormat, err)
	}
	if rest := head[h.InputOffset():]; len(bytes.Trim(rest, " \t\r\n")) > 0 {
		return nil, nil, fmt.Errorf("%w: the header goes on after its end", ErrFormat)
	}
	return f, ranges, nil
}

type headerReader struct{ *json.Decoder }

// delim reads the next token, which must be d.
func (h *headerReader) delim(d json.Delim) error {
	tok, err := h.Token()
	if err != nil {
		return err
	}
	if tok != d {
		return fmt.Errorf("%v where %q was expected", tok, d)
	}
	return nil
}

// object reads an object; value reads the value after each key.
func (h *headerReader) object(value func(key string) error) error {
	if err := h.delim('{'); err != nil {
		return err
	}
	for h.More() {
		tok, err := h.Token()
		if err != nil {
			return err
		}
		key, ok := tok.(string)
		if !ok {
			return fmt.Errorf("%v where a name was expected", tok)
		}
		if err := value(key); err != nil {
			return err
		}
	}
	return h.delim('}')
}

func (h *headerReader) metadata(m map[string]string) error {
	return h.object(func(key string) error {
		if _, ok := m[key]; ok {
			return fmt.Errorf("%s: %q appears twice", metadataKey, key)
		}
		v, err := h.text()
		if err != nil {
			return fmt.Errorf("%s: %q: %w", metadataKey, key, err)
		}
		m[key] = v
		return nil
	})
}

// entry reads {"dtype": .., "shape": [..], "data_offsets": [begin, end]}, all three and nothing else.
func (h *headerReader) entry() (t Tensor, r byteRange, err error) {
	var offsets []uint64
	seen := map[string]bool{}
	err = h.object(func(key string) error {
		if seen[key] {
			return fmt.Errorf("%q appears twice", key)
		}
		seen[key] = true
		switch key {
		case "dtype":
			s, err := h.text()
			t.DType = DType(s)
			return err
		case "shape":
			t.Shape = []int{}
			return h.list(strconv.IntSize-1, func(v uint64) { t.Shape = append(t.Shape, int(v)) })
		case "data_offsets":
			return h.list(64, func(v uint64) { offsets = append(offsets, v) })
		}
		return fmt.Errorf("unknown field %q", key)
	})
	if err != nil {
		return t, r, err
	}
	for _, key := range []string{"dtype", "shape", "data_offsets"} {
		if !seen[key] {
			return t, r, fmt.Errorf("%q is missing", key)
		}
	}
	if len(offsets) != 2 {
		return t, r, fmt.Errorf("data_offsets has %d entries, need 2", len(offsets))
	}
	return t, byteRange{offsets[0], offsets[1]}, nil
}

func (h *headerReader) text() (string, error) {
	tok, err := h.Token()
	if err != nil {
		return "", err
	}
	s, ok := tok.(string)
	if !ok {
		return "", fmt.Errorf("%v where a string was expected", tok)
	}
	return s, nil
}

// list reads a list of non-negative whole numbers of at most bits bits.
func (h *headerReader) list(bits int, add func(uint64)) error {
	if err := h.delim('['); err != nil {
		return err
	}
	for h.More() {
		tok, err := h.Token()
		if err != nil {
			return err
		}
		n, ok := tok.(json.Number)
		if !ok {
			return fmt.Errorf("%v where a number was expected", tok)
		}
		v, err := strconv.ParseUint(n.String(), 10, bits)
		if err != nil {
			return fmt.Errorf("%s is not a whole number from 0 to 2^%d - 1", n, bits)
		}
		add(v)
	}
	return h.delim(']')
}
