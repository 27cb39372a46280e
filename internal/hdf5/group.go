package hdf5

import (
	"cmp"
	"fmt"
	"slices"
)

// link is a name in a group and the address of the object that has it.
type link struct {
	name    string
	order   uint64 // of creation, where the group keeps it
	address uint64
}

// mostGroups bounds groups within groups.
const mostGroups = 64

// Datasets returns all datasets below the root, in the order of their creation where the file has it and else by name, and the attributes
// of the root. Names of groups stand before those of what they hold, with slashes between. Links to other files, and links by name, which
// only repeat what is there, are left out.
func (f *File) Datasets() (all []*Dataset, root []Attr, err error) {
	f.refill()
	m, err := f.header(f.root, 0)
	if err != nil {
		return nil, nil, err
	}
	if root, err = f.attributes(m); err != nil {
		return nil, nil, err
	}
	seen := map[uint64]bool{f.root: true}
	all, err = f.group(m, "", seen, 0)
	return all, root, err
}

// group returns the datasets of a group, whose header has those messages, and of the groups in it.
func (f *File) group(m messages, prefix string, seen map[uint64]bool, depth int) (all []*Dataset, err error) {
	links, err := f.links(m)
	if err != nil {
		return nil, err
	}
	if depth > mostGroups {
		return nil, fmt.Errorf("%w: group %q: groups within groups", ErrFormat, prefix)
	}
	slices.SortStableFunc(links, func(a, b link) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.name, b.name))
	})
	for _, l := range links {
		if seen[l.address] { // another name of an object
			continue
		}
		seen[l.address] = true
		if f.left -= len(prefix); f.left < 0 { // long names of groups, again before each of what they hold
			return nil, fmt.Errorf("%w: the names in group %.40q are too long in all", ErrFormat, prefix)
		}
		own, err := f.header(l.address, 0)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", prefix+l.name, err)
		}
		switch {
		case own.one(msgLayout) != nil:
			d, err := f.dataset(own, prefix+l.name, l.address)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", prefix+l.name, err)
			}
			all = append(all, d)
		case own.one(msgLinkInfo) != nil || own.one(msgSymbolTable) != nil:
			inner, err := f.group(own, prefix+l.name+"/", seen, depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, inner...)
		}
	}
	return all, nil
}

// links returns the hard links of a group.
func (f *File) links(m messages) (all []link, err error) {
	if r := m.one(msgSymbolTable); r != nil {
		tree, heap := r.address(), r.address()
		if r.err != nil {
			return nil, r.err
		}
		return f.symbols(tree, heap)
	}
	add := func(r *reader) {
		if l := r.link(); r.err == nil && l.address != undefined {
			all = append(all, l)
		}
	}
	for _, x := range m {
		if x.kind == msgLink {
			if add(x.r); x.r.err != nil {
				return nil, x.r.err
			}
		}
	}
	r := m.one(msgLinkInfo)
	if r == nil {
		return all, nil
	}
	err = f.dense(r, 8, func(kind int, r *reader) int {
		switch kind {
		case 5:
			return 4
		case 6:
			return 8
		}
		return -1
	}, func(b []byte) error {
		r := &reader{f: f, what: "a link", b: b}
		add(r)
		return r.err
	})
	return all, err
}

// dense visits what an object keeps in a fractal heap, as the message r says, whose number of creation has that many bytes. A tree has the
// names of the heap's objects, at the offset in its records that named says.
func (f *File) dense(r *reader, order int, named func(kind int, r *reader) int, visit func(b []byte) error) error {
	r.skip(1)
	if r.byte()&1 != 0 {
		r.skip(order)
	}
	heapAt, tree := r.address(), r.address()
	if r.err != nil || heapAt == undefined || tree == undefined {
		return r.err
	}
	heap, err := f.fractalHeap(heapAt)
	if err != nil {
		return err
	}
	return f.tree2(tree, func(kind int, r *reader) error {
		at := named(kind, r)
		if at < 0 {
			r.fail("a tree of kind %d", kind)
		}
		r.skip(max(0, at))
		if r.err != nil {
			return r.err
		}
		b, err := heap.object(r.b[r.at:])
		if err != nil {
			return err
		}
		return visit(b)
	})
}

// link reads a link; one that is not hard has no address.
func (r *reader) link() link {
	l := link{address: undefined}
	if version := r.byte(); version != 1 {
		r.fail("version %d", version)
	}
	flags, kind := r.byte(), byte(0)
	if flags&8 != 0 {
		kind = r.byte()
	}
	if flags&4 != 0 {
		l.order = r.number(8)
	}
	if flags&16 != 0 {
		r.skip(1)
	}
	l.name = string(r.take(r.small(1 << (flags & 3))))
	if kind == 0 {
		l.address = r.address()
	}
	return l
}

// symbols returns the links of a symbol table.
func (f *File) symbols(tree, heap uint64) (all []link, err error) {
	names, err := f.localHeap(heap)
	if err != nil {
		return nil, err
	}
	err = f.tree1(tree, 0, f.length, func(_ *reader, child uint64) error {
		r := f.open("a symbol table", "SNOD", child)
		r.skip(2)
		for range int(r.number(2)) {
			at, address, kind := r.size(), r.address(), r.number(4)
			r.skip(20)
			if r.err == nil && at >= uint64(len(names)) {
				r.fail("a name at %d of %d bytes", at, len(names))
			}
			if f.left -= 40; f.left < 0 {
				r.fail("the file's structures are read again and again")
			}
			if r.err != nil {
				return r.err
			}
			if kind != 2 { // a link by name
				all = append(all, link{name: text(names[at:]), address: address})
			}
		}
		return r.err
	})
	return all, err
}
