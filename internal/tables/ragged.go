package tables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/internal/netcdf"
)

// Ragged arrays of the conventions CF (chapter 9, discrete sampling geometries) keep the observations of all stations, profiles or
// trajectories one after the other, along one dimension, and what is known of each of these along another. Every place of the first belongs
// to one of the second, which a variable says: by how many there are of each (sample_dimension), or by the number of each
// (instance_dimension).

// link is a dimension whose places those of another belong to.
type link struct {
	of, along int
	by        *netcdf.Var
	counts    bool  // by says how many places of along each place of of has
	at        []int // the place of of that each of along belongs to, -1 if none
}

// linksOf are those of a file, without their places.
func linksOf(f *netcdf.File) (links []*link) {
	for i := range f.Vars {
		v := &f.Vars[i]
		for _, name := range []string{"sample_dimension", "instance_dimension"} {
			a := v.Attr(name)
			if a == nil || len(v.Dims) != 1 || v.IsText() {
				continue
			}
			group := v.Name[:strings.LastIndexByte(v.Name, '/')+1]
			named := slices.IndexFunc(f.Dims, func(d netcdf.Dim) bool { return d.Name == group+strings.TrimSpace(a.Text) })
			if named < 0 {
				named = slices.IndexFunc(f.Dims, func(d netcdf.Dim) bool { return d.Name == strings.TrimSpace(a.Text) })
			}
			if named < 0 || named == v.Dims[0] {
				continue
			}
			l := &link{of: named, along: v.Dims[0], by: v}
			if name == "sample_dimension" {
				l.of, l.along, l.counts = l.along, l.of, true
			}
			links = append(links, l)
		}
	}
	return links
}

// read finds the places of a link.
func (l *link) read(f *netcdf.File) error {
	if l.at != nil {
		return nil
	}
	if err := f.Check(l.by); err != nil {
		return err
	}
	n, most := f.Dims[l.of].Len, f.Dims[l.along].Len
	l.at = slices.Repeat([]int{-1}, most)
	next := 0
	for i, x := range f.Values(l.by) {
		switch {
		case x != x:
		case !l.counts:
			if x >= 0 && x < float64(n) {
				l.at[i] = int(x)
			}
		case !(x >= 0 && x <= float64(most-next)):
			return fmt.Errorf("%w: variable %q: %g places of dimension %q at %d, which has %d", netcdf.ErrFormat, l.by.Name, x,
				f.Dims[l.along].Name, next, most)
		default:
			for range int(x) {
				l.at[next] = i
				next++
			}
		}
	}
	return nil
}

// maxLinks bounds the links of a path: the conventions have two, of profiles and of stations that these belong to.
const maxLinks = 4

// pathOf are the links that lead from a dimension to one of a grid, the first at that dimension; nil if none do.
func pathOf(links []*link, from int, over []int) (path []*link) {
	seen := []int{from}
	for at := from; len(path) < maxLinks; {
		next := slices.IndexFunc(links, func(l *link) bool { return l.of == at && slices.Contains(over, l.along) && l.along != from })
		if next >= 0 {
			return append(path, links[next])
		}
		next = slices.IndexFunc(links, func(l *link) bool { return l.of == at && !slices.Contains(seen, l.along) })
		if next < 0 {
			return nil
		}
		at = links[next].along
		path, seen = append(path, links[next]), append(seen, at)
	}
	return nil
}

// along leaves out the dimensions of a grid whose places follow from those of others. A table of the whole file, not of the variables that
// are asked for, has a row for each observation. That some variables are along one dimension of observations and others along another of
// the same stations is an error: who knows which belong together?
func along(f *netcdf.File, links []*link, over []int, all bool) ([]int, error) {
	for range links {
		next := slices.IndexFunc(links, func(l *link) bool { return all && len(over) == 1 && l.of == over[0] })
		if next < 0 {
			break
		}
		over = []int{links[next].along}
	}
	for _, a := range links {
		for _, b := range links {
			if a.of == b.of && a.along != b.along && slices.Contains(over, a.along) && slices.Contains(over, b.along) {
				return nil, fmt.Errorf("%w: some of the variables are along dimension %q and others along %q, of both of which %q has "+
					"places of its own: which belong together is not known; name variables along one of them", netcdf.ErrFormat,
					f.Dims[a.along].Name, f.Dims[b.along].Name, f.Dims[a.of].Name)
			}
		}
	}
	for k := len(over) - 1; k >= 0; k-- {
		if pathOf(links, over[k], over) != nil {
			over = slices.Delete(slices.Clone(over), k, k+1)
		}
	}
	return over, nil
}

// places is where the rows of a table are in the dimensions of variables.
type places struct {
	f       *netcdf.File
	over    []int
	strides map[int]int // of the dimensions of over, in rows
	paths   map[int][]*link
	left    int // places that links may still have, which take memory though the file may hold few numbers
}

// placesOf are those of a table over some dimensions, the last of which is fastest; its links may have most places.
func placesOf(f *netcdf.File, over []int, most int) *places {
	p := &places{f: f, over: over, strides: map[int]int{}, paths: map[int][]*link{}, left: most}
	for k, step := len(over)-1, 1; k >= 0; k-- {
		p.strides[over[k]] = step
		step *= f.Dims[over[k]].Len
	}
	return p
}

// find prepares the dimensions of a variable; false: the rows do not tell where they are in one of them.
func (p *places) find(links []*link, v *netcdf.Var) (bool, error) {
	for _, d := range v.TextDims() {
		if p.strides[d] > 0 || p.paths[d] != nil {
			continue
		}
		path := pathOf(links, d, p.over)
		if path == nil {
			return false, nil
		}
		for _, l := range path {
			if n := p.f.Dims[l.along].Len; l.at == nil && n > p.left {
				return false, fmt.Errorf("%w: dimension %q has more than %d places", netcdf.ErrFormat, p.f.Dims[l.along].Name, p.left)
			} else if l.at == nil {
				p.left -= n
			}
			if err := l.read(p.f); err != nil {
				return false, err
			}
		}
		p.paths[d] = path
	}
	return true, nil
}

// at is the place of a row among the values of a variable, -1 if it has none.
func (p *places) at(row int, v *netcdf.Var) int {
	at := 0
	for _, d := range v.TextDims() {
		path, from := p.paths[d], d
		if path != nil {
			from = path[len(path)-1].along
		}
		k := row / p.strides[from] % p.f.Dims[from].Len
		for i := len(path) - 1; i >= 0 && k >= 0; i-- {
			k = path[i].at[k]
		}
		if k < 0 {
			return -1
		}
		at = at*p.f.Dims[d].Len + k
	}
	return at
}
