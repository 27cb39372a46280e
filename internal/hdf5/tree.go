package hdf5

// tree1 visits the leaves of a version 1 tree of a kind: key reads what stands before each child, and visit gets that and the child.
func (f *File) tree1(address uint64, kind byte, keyBytes int, visit func(key *reader, child uint64) error) error {
	return f.node1(address, kind, keyBytes, visit, 0)
}

func (f *File) node1(address uint64, kind byte, keyBytes int, visit func(key *reader, child uint64) error, depth int) error {
	r := f.open("a tree", "TREE", address)
	got, level, n := r.byte(), r.byte(), int(r.number(2))
	r.skip(2 * f.offsets)
	if r.err == nil && (got != kind || depth > 64) {
		r.fail("a tree of kind %d, %d levels deep", got, depth)
	}
	for range n {
		key := r.within(r.take(keyBytes))
		child := r.address()
		if r.err != nil {
			return r.err
		}
		if f.left -= keyBytes; f.left < 0 {
			r.fail("the file's structures are read again and again")
			return r.err
		}
		var err error
		if level > 0 {
			err = f.node1(child, kind, keyBytes, visit, depth+1)
		} else {
			err = visit(key, child)
		}
		if err != nil {
			return err
		}
	}
	return r.err
}

// tree2 visits the records of a version 2 tree, in order.
func (f *File) tree2(address uint64, visit func(kind int, r *reader) error) error {
	r := f.open("a tree", "BTHD", address)
	t := &tree2{f: f, visit: visit}
	if version := r.byte(); version != 0 {
		r.fail("version %d", version)
	}
	t.kind = int(r.byte())
	t.node, t.record = r.small(4), int(r.number(2))
	depth := int(r.number(2))
	r.skip(2)
	root, n := r.address(), int(r.number(2))
	r.skip(f.length)
	r.verify(0)
	if r.err == nil && (t.record < 1 || t.node < 10+t.record || depth > 16) {
		r.fail("nodes of %d bytes, records of %d, %d levels", t.node, t.record, depth)
	}
	if r.err != nil {
		return r.err
	}
	if n == 0 {
		return nil
	}
	// How many records a node has at most, and below it, is how many bytes a parent counts them in.
	const overhead = 10
	t.count = []int{0}
	most := uint64(t.node-overhead) / uint64(t.record)
	all := most
	t.few = bytesOf(most)
	for level := 1; level <= depth; level++ {
		pointer := f.offsets + t.few + t.count[level-1]
		here := uint64(max(0, t.node-overhead-pointer)) / uint64(t.record+pointer)
		if all > 1<<48 {
			r.fail("%d levels", depth)
			return r.err
		}
		all = (here+1)*all + here
		t.count = append(t.count, bytesOf(all))
	}
	return t.walk(root, n, depth)
}

// tree2 is a version 2 tree.
type tree2 struct {
	f            *File
	visit        func(kind int, r *reader) error
	kind         int
	node, record int   // bytes of a node and of a record
	few          int   // bytes of the number of a node's records
	count        []int // of each level: bytes of the number of records of a node and below it, none at the lowest
}

func (t *tree2) walk(address uint64, n, depth int) error {
	signature := "BTLF"
	if depth > 0 {
		signature = "BTIN"
	}
	r := t.f.open("a tree", signature, address)
	r.skip(2)
	records := r.take(n * t.record)
	if t.f.left -= len(records); t.f.left < 0 {
		r.fail("the file's structures are read again and again")
	}
	pointers := 0
	if depth > 0 {
		pointers = (n + 1) * (t.f.offsets + t.few + t.count[depth-1])
	}
	r.verify(pointers)
	if r.err != nil {
		return r.err
	}
	own := r.within(records)
	for k := range n + 1 {
		if depth > 0 {
			child, below := r.address(), int(r.number(t.few))
			r.skip(t.count[depth-1])
			if r.err != nil {
				return r.err
			}
			if err := t.walk(child, below, depth-1); err != nil {
				return err
			}
		}
		if k < n {
			if err := t.visit(t.kind, own.within(own.take(t.record))); err != nil {
				return err
			}
		}
	}
	return nil
}
