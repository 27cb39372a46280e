package x86

import "slices"

// A plan is the order in which a block's operations are written, and the values that go to the stack in between because there are too few
// registers. When a register is needed, the value whose next use is farthest away is spilled, after L. A. Belady, A study of
// replacement algorithms for a virtual-storage computer, IBM Systems Journal 5 (1966), 78-101.
type plan struct {
	body, end []step
	slots     int
}

type step struct {
	kind stepKind
	at   int  // the operation, output or local
	id   int  // the value to spill or fill
	slot int  // where it goes
	load *op  // how to get it instead, if it came from memory
	mask bool // it is a mask
}

type stepKind int

const (
	doOp stepKind = iota
	spill
	drop // the value's register is free, as it need not be spilled or has been
	fill
	output
	local
)

// reads lists the values that an operation reads, among them, on AVX2, masks: on AVX-512 these have registers of their own.
func (o op) reads(l Level) (ids []int) {
	for _, a := range o.args {
		if a.c == nil {
			ids = append(ids, a.id)
		}
	}
	if l == AVX2 {
		for _, m := range []Mask{o.m, o.m2} {
			if m.id != 0 {
				ids = append(ids, m.id)
			}
		}
	}
	return ids
}

// planner is a plan under construction.
type planner struct {
	plan
	b        *Block
	capacity int
	copies   int
	uses     map[int][]int // positions of the reads still to come
	resident map[int]bool
	slot     map[int]int
	from     map[int]*op // values in memory
	isMask   map[int]bool
	free     []int
}

// plan makes a plan for that many copies and registers.
func (b *Block) plan(copies, registers int) plan {
	p := &planner{b: b, capacity: registers / copies, copies: copies, uses: map[int][]int{}, resident: map[int]bool{},
		slot: map[int]int{}, from: map[int]*op{}, isMask: map[int]bool{}}
	for i, o := range b.ops {
		for _, id := range o.reads(b.Level) {
			p.uses[id] = append(p.uses[id], i)
		}
		if o.code == opLoad || o.code == opLocal {
			p.from[o.dst] = &b.ops[i]
		}
		p.isMask[o.dst] = o.mask
	}
	at := len(b.ops)
	for _, v := range b.outputs {
		p.addUse(v, at)
		at++
	}
	for _, s := range b.sets {
		p.addUse(s.v, at)
		at++
	}
	if b.Level == AVX2 {
		for _, m := range []Mask{b.hard, b.again} {
			if m.id != 0 {
				p.uses[m.id] = append(p.uses[m.id], len(b.ops)-1, at)
			}
		}
	}
	for i, o := range b.ops {
		if o.code == opLoad || o.code == opLocal {
			if b.overwritten(o) {
				p.need(&p.body, []int{o.dst})
				delete(p.from, o.dst) // from now on a value like any other
			}
			continue
		}
		args := o.reads(b.Level)
		p.need(&p.body, args)
		for _, id := range args {
			p.used(id, i)
		}
		if !o.stores() && (!o.mask || b.Level == AVX2) {
			p.room(&p.body, args, 1)
			p.resident[o.dst] = true
		}
		p.body = append(p.body, step{kind: doOp, at: i})
		if o.code == opKeep && p.from[args[0]] == nil {
			p.from[args[0]] = &op{code: opLocal, imm: o.imm}
		}
		if len(p.uses[o.dst]) == 0 {
			delete(p.resident, o.dst)
		}
	}
	if b.Level == AVX2 {
		for _, m := range []Mask{b.hard, b.again} {
			if m.id != 0 {
				p.need(&p.body, []int{m.id})
				p.used(m.id, at)
				delete(p.resident, m.id)
				p.capacity -= 2 // it and its complement stay until the end
			}
		}
	}
	at = len(b.ops)
	for i, v := range b.outputs {
		p.last(step{kind: output, at: i}, v, at)
		at++
	}
	for i, s := range b.sets {
		p.last(step{kind: local, at: i}, s.v, at)
		at++
	}
	return p.plan
}

// overwritten reports whether an operation loads an entry that is a result of its own after the result that may overwrite it,
// where the result stands in place of the input.
func (b *Block) overwritten(o op) bool {
	for i, v := range b.outputs {
		if o.code == opLoad && v.c == nil && v.id == o.dst && i > int(o.imm&0xff) {
			return true
		}
	}
	return false
}

func (p *planner) addUse(v Value, at int) {
	if v.c == nil {
		p.uses[v.id] = append(p.uses[v.id], at)
	}
}

// last plans a store at the end.
func (p *planner) last(s step, v Value, at int) {
	if v.c == nil {
		p.need(&p.end, []int{v.id})
	}
	p.end = append(p.end, s)
	if v.c == nil {
		p.used(v.id, at)
	}
}

// used forgets the reads up to position at. A value that is not read again leaves its register.
func (p *planner) used(id, at int) {
	u := p.uses[id]
	for len(u) > 0 && u[0] <= at {
		u = u[1:]
	}
	p.uses[id] = u
	if len(u) == 0 {
		delete(p.resident, id)
		if s, ok := p.slot[id]; ok {
			p.free = append(p.free, s)
			delete(p.slot, id)
		}
	}
}

// need brings values into registers.
func (p *planner) need(to *[]step, ids []int) {
	for _, id := range ids {
		if p.resident[id] {
			continue
		}
		p.room(to, ids, 1)
		s := step{kind: fill, id: id, load: p.from[id], mask: p.isMask[id]}
		if s.load == nil {
			slot, ok := p.slot[id]
			check(ok, "value %d is nowhere", id)
			s.slot = slot
		}
		*to = append(*to, s)
		p.resident[id] = true
	}
}

// room makes room for n more values beside those in keep.
func (p *planner) room(to *[]step, keep []int, n int) {
	for len(p.resident)+n > p.capacity {
		victim, far := 0, -1
		for id := range p.resident {
			if slices.Contains(keep, id) {
				continue
			}
			if next := p.uses[id][0]; next > far || (next == far && id < victim) {
				victim, far = id, next
			}
		}
		check(far >= 0, "%d registers are too few", p.capacity)
		delete(p.resident, victim)
		_, saved := p.slot[victim]
		if p.from[victim] != nil || saved {
			*to = append(*to, step{kind: drop, id: victim})
			continue
		}
		slot := p.slots
		if k := len(p.free); k > 0 {
			slot, p.free = p.free[k-1], p.free[:k-1]
		} else {
			p.slots++
		}
		p.slot[victim] = slot
		*to = append(*to, step{kind: spill, id: victim, slot: slot})
	}
}
