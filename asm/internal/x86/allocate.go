package x86

import (
	"slices"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// allocateVectors assigns machine registers to the virtual vector registers of the function just written. Apart from loops its code runs
// from top to bottom. So a register is in use from its first to its last instruction, or to the end of a loop before which it was
// set. Handing out the lowest free register in that order needs the fewest registers; avo's general search would take minutes for
// thousands of instructions.
func (f *Func) allocateVectors(registers int) {
	file, err := f.Result()
	check(err == nil, "%v", err)
	functions := file.Functions()
	fn := functions[len(functions)-1]
	first, last := lifetimes(fn)

	var free []reg.ID
	for i := registers - 1; i >= 0; i-- {
		free = append(free, reg.Vector.Lookup(reg.Index(i), reg.S256).ID())
	}
	given := reg.NewEmptyAllocation()
	release := func(id reg.ID) { free = append(free, given[id]) }
	ends := map[int][]reg.ID{} // what a loop keeps until its end
	for id, at := range last {
		ends[at] = append(ends[at], id)
	}
	for at, i := range fn.Instructions() {
		ids := vectors(i)
		for _, id := range ids { // an operand that is read for the last time frees its register for the result
			if first[id] < at && last[id] == at {
				release(id)
			}
		}
		for _, id := range ids {
			if first[id] == at {
				check(len(free) > 0, "%s: no vector register left", fn.Name)
				given[id], free = free[len(free)-1], free[:len(free)-1]
			}
		}
		for _, id := range ids {
			if first[id] == at && last[id] == at {
				release(id)
			}
		}
		kept := slices.DeleteFunc(ends[at], func(id reg.ID) bool { return slices.Contains(ids, id) })
		slices.Sort(kept)
		for _, id := range kept {
			release(id)
		}
		for _, list := range [][]operand.Op{i.Operands, i.Inputs, i.Outputs} {
			for k, o := range list {
				list[k] = operand.ApplyAllocation(o, given)
			}
		}
	}
}

// vectors lists the virtual vector registers of an instruction, each once.
func vectors(i *ir.Instruction) (ids []reg.ID) {
	seen := map[reg.ID]bool{}
	for _, r := range i.Registers() {
		if id := r.ID(); r.Kind() == reg.KindVector && id.IsVirtual() && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// lifetimes returns the first and last instruction that each virtual vector register must keep its place for.
func lifetimes(fn *ir.Function) (first, last map[reg.ID]int) {
	first, last = map[reg.ID]int{}, map[reg.ID]int{}
	labels := map[ir.Label]int{}
	var loops []struct{ start, end int }
	at := 0
	for _, node := range fn.Nodes {
		switch node := node.(type) {
		case ir.Label:
			labels[node] = at
		case *ir.Instruction:
			for _, id := range vectors(node) {
				if _, ok := first[id]; !ok {
					first[id] = at
				}
				last[id] = at
			}
			if target := node.TargetLabel(); target != nil {
				if start, ok := labels[*target]; ok {
					loops = append(loops, struct{ start, end int }{start, at})
				}
			}
			at++
		}
	}
	for changed := true; changed; {
		changed = false
		for id, end := range last {
			for _, l := range loops {
				if first[id] < l.start && end >= l.start && end < l.end {
					last[id], end, changed = l.end, l.end, true
				}
			}
		}
	}
	return first, last
}
