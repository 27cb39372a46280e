package hdf5

import "fmt"

// The types of messages that object headers have.
const (
	msgDataspace     = 0x01
	msgLinkInfo      = 0x02
	msgDatatype      = 0x03
	msgOldFill       = 0x04
	msgFill          = 0x05
	msgLink          = 0x06
	msgExternal      = 0x07
	msgLayout        = 0x08
	msgFilters       = 0x0b
	msgAttribute     = 0x0c
	msgContinuation  = 0x10
	msgSymbolTable   = 0x11
	msgAttributeInfo = 0x15
)

// message is a message of an object header.
type message struct {
	kind int
	r    *reader
}

// messages are those of an object, in their order.
type messages []message

// one returns the first message of a kind, nil without one.
func (m messages) one(kind int) *reader {
	for _, x := range m {
		if x.kind == kind {
			return x.r
		}
	}
	return nil
}

// blocks reads the parts of an object header: version 1 aligns messages, version 2 has flags and checksums.
type blocks struct {
	f       *File
	second  bool
	ordered bool // version 2: messages have a number of their order
	shared  int  // how many shared messages led here
	out     messages
	next    []*reader
}

// header reads the messages of the object at an address. Those that are shared are read where they are, which must not lead on and on.
func (f *File) header(address uint64, shared int) (messages, error) {
	h := &blocks{f: f, shared: shared}
	r := f.open("an object header", "", address)
	first := 0
	if r.err == nil && len(r.b) >= 4 && string(r.b[:4]) == "OHDR" {
		h.second = true
		r.skip(4)
		if version := r.byte(); version != 2 {
			r.fail("version %d", version)
		}
		flags := r.byte()
		h.ordered = flags&4 != 0
		if flags&0x20 != 0 { // times
			r.skip(16)
		}
		if flags&0x10 != 0 { // how many attributes are kept here
			r.skip(4)
		}
		first = r.small(1 << (flags & 3))
		r.verify(first)
	} else {
		if version := r.byte(); version != 1 {
			r.fail("version %d", version)
		}
		r.skip(7)
		first = r.small(4)
		r.skip(4)
	}
	h.next = []*reader{r.within(r.take(first))}
	if r.err != nil {
		return nil, r.err
	}
	for len(h.next) > 0 {
		block := h.next[0]
		h.next = h.next[1:]
		if err := h.read(block); err != nil {
			return nil, err
		}
	}
	return h.out, nil
}

// read reads the messages of a block.
func (h *blocks) read(r *reader) error {
	prefix := 8
	if h.second {
		prefix = 4
		if h.ordered {
			prefix = 6
		}
	}
	for r.err == nil && len(r.b)-r.at >= prefix {
		kind, size, flags := 0, 0, byte(0)
		if h.second {
			kind, size, flags = int(r.byte()), int(r.number(2)), r.byte()
			if h.ordered {
				r.skip(2)
			}
		} else {
			kind, size, flags = int(r.number(2)), int(r.number(2)), r.byte()
			r.skip(3)
		}
		m := r.within(r.take(size))
		m.what = fmt.Sprintf("%s, message %#x", r.what, kind)
		if h.f.left -= prefix + size; h.f.left < 0 {
			m.fail("the file's structures are read again and again")
		}
		switch {
		case kind == msgContinuation:
			h.continued(m)
		case flags&2 != 0 && kind != 0:
			m = h.elsewhere(m, kind)
			fallthrough
		default:
			h.out = append(h.out, message{kind, m})
		}
		if m.err != nil {
			return m.err
		}
	}
	return r.err
}

// continued adds the block that a message points to.
func (h *blocks) continued(m *reader) {
	address, size := m.address(), m.size()
	if m.err != nil {
		return
	}
	if size > uint64(len(h.f.b)) {
		m.fail("a block of %d bytes", size)
		return
	}
	r := h.f.reader("a continued object header", address, int(size))
	if h.second {
		if r.err == nil && (len(r.b) < 8 || string(r.b[:4]) != "OCHK") {
			r.fail("it does not begin with OCHK")
		}
		if r.err == nil {
			r.verify(len(r.b) - 4)
			r = r.within(r.take(len(r.b) - 4))
			r.skip(4)
		}
	}
	if m.err = r.err; m.err == nil {
		h.next = append(h.next, r)
	}
}

// elsewhere returns the message that a shared one stands for: that of the same kind of another object.
func (h *blocks) elsewhere(m *reader, kind int) *reader {
	version, where := m.byte(), m.byte()
	switch {
	case version == 1:
		m.skip(6)
	case version == 3 && where == 1:
		m.fail("it is in the table of shared messages, which is not read")
	}
	address := m.address()
	if m.err == nil && h.shared > 8 {
		m.fail("shared messages that lead on and on")
	}
	if m.err != nil {
		return m
	}
	if r, ok := h.f.shared[place{address, kind}]; ok { // a type may be that of all datasets
		return &r
	}
	all, err := h.f.header(address, h.shared+1)
	if err != nil {
		m.err = err
		return m
	}
	if r := all.one(kind); r != nil {
		h.f.shared[place{address, kind}] = *r
		return r
	}
	m.fail("the object at %d lacks the message that is shared", address)
	return m
}
