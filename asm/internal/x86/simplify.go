package x86

import (
	"fmt"
	"slices"
)

// simplifyReach is how many operations may lie between an operation and one that repeats it: a value that is kept for longer would take
// the register of another.
const simplifyReach = 24

// simplify removes operations that repeat an earlier one, and those whose results nobody reads. The kernel's bits stay the same.
func (b *Block) simplify() {
	type first struct{ dst, at int }
	seen, same := map[string]first{}, map[int]int{}
	current := func(id int) int {
		if s, ok := same[id]; ok {
			return s
		}
		return id
	}
	rename := func(v Value) Value {
		v.id = current(v.id)
		return v
	}
	var ops []op
	for i, o := range b.ops {
		args := make([]Value, len(o.args))
		key := fmt.Sprint(o.code, o.imm, o.mask, current(o.m.id), current(o.m2.id))
		for j, a := range o.args {
			args[j] = rename(a)
			if a.c != nil {
				key += " " + a.c.name
			} else {
				key += fmt.Sprint(" ", args[j].id)
			}
		}
		o.args, o.m.id, o.m2.id = args, current(o.m.id), current(o.m2.id)
		if f, ok := seen[key]; ok && !o.stores() && i-f.at <= simplifyReach {
			same[o.dst], seen[key] = f.dst, first{f.dst, i}
			continue
		}
		seen[key] = first{o.dst, i}
		ops = append(ops, o)
	}
	for i, v := range b.outputs {
		b.outputs[i] = rename(v)
	}
	for i, s := range b.sets {
		b.sets[i].v = rename(s.v)
	}
	b.hard.id, b.while.id, b.again.id = current(b.hard.id), current(b.while.id), current(b.again.id)

	read := map[int]bool{b.while.id: true}
	for _, id := range b.endReads() {
		read[id] = true
	}
	b.ops = nil
	for i := len(ops) - 1; i >= 0; i-- {
		o := ops[i]
		if !o.stores() && !read[o.dst] {
			continue
		}
		b.ops = append(b.ops, o)
		for _, a := range o.args {
			read[a.id] = true
		}
		read[o.m.id], read[o.m2.id] = true, true
	}
	slices.Reverse(b.ops)
}
