package raster

import (
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Place is what a file says of its pixels beside their values: where on the globe they are, as GeoTIFF has it, and
// GDAL's metadata. A raster of the same pixels is written with it. Tags are copied, after a look at their types and
// lengths: nothing here knows coordinate systems.
type Place struct {
	tags      []tiffEntry
	items     []metadataItem
	described bool // there was metadata, though it may be of no use here
	// A stored value v of a channel means offset + scale·v: pictures are scaled to [0, 1], and files have scales of their own.
	scale, offset []float64
}

// tiffEntry is a tag to be written. Values of kindDouble are bits.
type tiffEntry struct {
	id, kind int
	values   []int64
}

// maxPlace bounds the bytes of a tag of a Place.
const maxPlace = 1 << 20

// placeTags are the tags that say where pixels are: numbers of values are multiples of step, and at most most unless it is 0.
var placeTags = []struct{ id, kind, step, most int }{
	{tagPixelScale, kindDouble, 3, 3}, {tagTiePoints, kindDouble, 6, 0}, {tagTransformation, kindDouble, 16, 16},
	{tagGeoKeys, kindShort, 4, 0}, {tagGeoDoubles, kindDouble, 1, 0}, {tagGeoTexts, kindText, 1, 0},
	{tagPolynomials, kindDouble, 92, 92},
}

// metadataItem is an item of GDAL's metadata; one with a sample belongs to that channel.
type metadataItem struct {
	Name   string `xml:"name,attr"`
	Sample string `xml:"sample,attr,omitempty"`
	Role   string `xml:"role,attr,omitempty"`
	Domain string `xml:"domain,attr,omitempty"`
	Text   string `xml:",chardata"`
}

// metadata is the XML of GDAL's metadata.
type metadata struct {
	XMLName xml.Name       `xml:"GDALMetadata"`
	Items   []metadataItem `xml:"Item"`
}

// Place returns what a TIFF file, or the world file beside a picture, says of where the pixels are; nil if neither does.
// An error need not keep anybody from the pixels.
func (s *Strips) Place() (*Place, error) {
	p, err := newPlace(s.C), error(nil)
	if s.picture != nil {
		p, err = s.picture.place(s.C, s.own)
	}
	if err == nil && !p.Located() {
		err = p.beside(s.file.Name())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.file.Name(), err)
	}
	if len(p.tags) == 0 && !p.described {
		return nil, nil
	}
	return p, nil
}

func newPlace(c int) *Place {
	return &Place{scale: slices.Repeat([]float64{1}, c), offset: make([]float64, c)}
}

// Located reports whether tags say where pixels are.
func (p *Place) Located() bool {
	return p.has(tagPixelScale) || p.has(tagTiePoints) || p.has(tagTransformation) || p.has(tagPolynomials)
}

func (p *Place) has(id int) bool {
	return p != nil && slices.ContainsFunc(p.tags, func(t tiffEntry) bool { return t.id == id })
}

// place reads what says where pixels are, for a raster of c channels that come of own ones of the file.
func (f *tiffFile) place(c, own int) (*Place, error) {
	p := newPlace(c)
	for _, want := range placeTags {
		t, ok := f.tags[want.id]
		if !ok {
			continue
		}
		n := int(min(t.count, maxPlace+1))
		if t.kind != want.kind || n < 1 || n > maxPlace/tiffSizes[want.kind] || n%want.step != 0 || want.most > 0 && n > want.most {
			return nil, fmt.Errorf("%w: TIFF tag %d, of where pixels are, has %d values of type %d", ErrImage, want.id, t.count, t.kind)
		}
		values, err := f.numbers(t)
		if err != nil {
			return nil, err
		}
		p.tags = append(p.tags, tiffEntry{want.id, want.kind, values})
	}
	if err := f.metadata(p, c, own); err != nil {
		return nil, err
	}
	return p, nil
}

// metadata reads GDAL's metadata, without what is not true of the values that are written: statistics, and how the
// file stores its own. Items of channels are kept where the raster has the channels of the file.
func (f *tiffFile) metadata(p *Place, c, own int) error {
	var m metadata
	if t, ok := f.tags[tagMetadata]; ok && t.kind == kindText && t.count <= maxPlace {
		b, _, err := f.raw(t)
		if err != nil {
			return err
		}
		if xml.Unmarshal([]byte(strings.TrimRight(string(b), "\x00")), &m) != nil { // GDAL goes on without, too
			m.Items = nil
		}
		p.described = true
	}
	same := c == own && f.photometric != colourPalette
	meant := true // numbers of the file are as meant, or scaled in a way that is known
	for _, item := range m.Items {
		if strings.HasPrefix(item.Name, "STATISTICS_") || item.Domain == "IMAGE_STRUCTURE" {
			continue
		}
		if item.Sample == "" {
			p.items = append(p.items, item)
			continue
		}
		k, err := strconv.Atoi(item.Sample)
		ok := same && err == nil && k >= 0 && k != f.alpha
		if f.alpha >= 0 && k > f.alpha {
			k--
		}
		ok = ok && k < c
		switch item.Role {
		case "scale", "offset":
			x, err := strconv.ParseFloat(strings.TrimSpace(item.Text), 64)
			if !ok || err != nil || x-x != 0 {
				meant = false
			} else if item.Role == "scale" {
				p.scale[k] = x
			} else {
				p.offset[k] = x
			}
		default:
			if item.Sample = strconv.Itoa(k); ok {
				p.items = append(p.items, item)
			}
		}
	}
	for k := range c {
		switch most := f.most(); {
		case !meant:
			p.scale[k], p.offset[k] = 1, 0
		case f.photometric == colourPalette: // colours in [0, 1]
		case f.photometric == whiteIsZero && f.visible():
			p.offset[k] += float64(most * p.scale[k])
			p.scale[k] *= -most
		default:
			p.scale[k] *= most
		}
		if x := p.scale[k] + p.offset[k]; x-x != 0 { // beyond what a float64 holds
			p.scale[k], p.offset[k] = 1, 0
		}
	}
	return nil
}

// entries are the tags of a file of c channels.
func (p *Place) entries(c int) []tiffEntry {
	if p == nil {
		return nil
	}
	m := metadata{Items: slices.Clone(p.items)}
	for k := range min(c, len(p.scale)) {
		for _, x := range []struct {
			role         string
			value, plain float64
		}{{"offset", p.offset[k], 0}, {"scale", p.scale[k], 1}} {
			if x.value != x.plain {
				m.Items = append(m.Items, metadataItem{Name: strings.ToUpper(x.role), Sample: strconv.Itoa(k), Role: x.role,
					Text: strconv.FormatFloat(x.value, 'g', -1, 64)})
			}
		}
	}
	out := slices.Clone(p.tags)
	if b, err := xml.MarshalIndent(m, "", "  "); err == nil && len(m.Items) > 0 {
		out = append(out, tiffText(tagMetadata, string(b)+"\n"))
	}
	return out
}

// tiffText is a tag of text, which ends with a zero.
func tiffText(id int, text string) tiffEntry {
	t := tiffEntry{id: id, kind: kindText}
	for _, b := range []byte(text) {
		t.values = append(t.values, int64(b))
	}
	t.values = append(t.values, 0)
	return t
}

func tiffDoubles(id int, values ...float64) tiffEntry {
	t := tiffEntry{id: id, kind: kindDouble}
	for _, v := range values {
		t.values = append(t.values, int64(math.Float64bits(v)))
	}
	return t
}

// Deviation is the place of standard deviations: an offset of values is none of theirs.
func (p *Place) Deviation() *Place {
	if p == nil {
		return nil
	}
	d := *p
	d.scale, d.offset = slices.Clone(p.scale), make([]float64, len(p.offset))
	for k, v := range d.scale {
		d.scale[k] = math.Abs(v)
	}
	return &d
}
