package tabular

import (
	"bytes"
	"fmt"
	"regexp"
)

// How a layer of a map becomes a table, and data of R.
const (
	layer = "ogr2ogr -f CSV -lco GEOMETRY=AS_XY makes a table of its points"
	ofR   = "data of R: write.csv makes a table of a data frame"
)

// Foreign are files that are taken for tables, by what they begin with, and what each is. Of all of them a head of eight bytes is enough.
var Foreign = []struct{ Begin, What string }{
	{"\xd0\xcf\x11\xe0", "an old or encrypted document of Microsoft Office: save its sheet as .xlsx or CSV"},
	{"\xfd7zXZ", "compressed by xz: unpack it first"},
	{"\x89PNG\r\n", "a PNG image"}, {"\xff\xd8\xff", "a JPEG image"}, {"GIF87a", "a GIF image"}, {"GIF89a", "a GIF image"},
	{"II*\x00", tiff}, {"MM\x00*", tiff}, {"II+\x00", tiff}, {"MM\x00+", tiff},
	{"%PDF-", "a PDF document"}, {"GRIB", "a GRIB file: convert it to NetCDF"},
	{"SQLite f", "an SQLite database: export a table of it as CSV; of a GeoPackage " + layer},
	{"fgb\x03", "a FlatGeobuf file: " + layer}, {"\x00\x00\x27\x0a", "a shapefile: " + layer},
	{"ARROW1", "an Arrow or Feather file: write it as Parquet or CSV"},
	{"\xff\xff\xff\xff", "a stream of Arrow: write it as Parquet or CSV"},
	{"FEA1", "an old Feather file: write it as Parquet or CSV"}, {"Obj\x01", "an Avro file: write it as Parquet or CSV"},
	{"RDX2\n", ofR}, {"RDX3\n", ofR}, {"RDA2\n", ofR}, {"RDA3\n", ofR}, {"X\n\x00\x00\x00", ofR},
	{"\x80\x04\x95", "a pickle of Python: to_csv or to_parquet of pandas makes a table"},
	{"\x80\x05\x95", "a pickle of Python: to_csv or to_parquet of pandas makes a table"},
	{"$FL2@(#)", "a file of SPSS: save it as .xlsx or CSV"}, {"$FL3@(#)", "a file of SPSS: save it as .xlsx or CSV"},
	{"<stata_d", "a file of Stata: export it as .xlsx or CSV"}, {"HEADER R", "a transport file of SAS: export it as CSV"},
	{"MATLAB 5", "a file of MATLAB before version 7.3: save it with -v7.3, or by writetable as CSV"},
	{"<!DOCTYP", "a page of HTML"}, {"<!doctyp", "a page of HTML"}, {"<html", "a page of HTML"}, {"<table", "a page of HTML"},
	{"PROJCS[\"", ofProjection}, {"GEOGCS[\"", ofProjection}, {"PROJCRS[", ofProjection}, {"GEOGCRS[", ofProjection},
	{"<?xml", "an XML document; of a layer of a map, such as KML or GML, " + layer},
}

// tiff is what a TIFF file is; the coordinates of a map's cells are columns of the NetCDF file.
const tiff = "a TIFF image; of a map, gdal_translate -of netCDF makes a table of its cells"

// ofProjection is what a .prj file is.
const ofProjection = "a coordinate system, as .prj files hold it: the points are in the file beside it"

// longer are files that more bytes tell, and what each is.
var longer = []struct {
	begin *regexp.Regexp
	what  string
}{
	{regexp.MustCompile(`(?i)^\s*ncols\s+\d+\s+nrows\s+\d+\s`), "a grid of Esri: gdal_translate -of netCDF makes a table of its cells"},
	{regexp.MustCompile(`^DSAA\s+\d+\s+\d+\s`), "a grid of Surfer: gdal_translate -of netCDF makes a table of its cells"},
	{regexp.MustCompile(`^(structure\(|list\([\w.]+ = )`), "data of R, as dput writes them: write.csv makes a table of a data frame"},
}

// CheckForeign is an error that says what a file is, by what it begins with, if no table is read from files of that kind.
func CheckForeign(head []byte, name string) error {
	for _, f := range Foreign {
		if bytes.HasPrefix(head, []byte(f.Begin)) {
			return fmt.Errorf("%s: %w: it is %s", name, ErrCell, f.What)
		}
	}
	if len(head) >= 8 && string(head[:4]) == "PARE" && head[7] == 0 { // the length of a part of less than 16 MiB follows, and no text
		return fmt.Errorf("%s: %w: it is an encrypted Parquet file: write it without encryption", name, ErrCell)
	}
	if bytes.HasPrefix(head, append(make([]byte, 12), "\xc2\xea\x81\x60"...)) {
		return fmt.Errorf("%s: %w: it is a data set of SAS: export it as .xlsx or CSV", name, ErrCell)
	}
	for _, f := range longer {
		if f.begin.Match(head[:min(len(head), 256)]) {
			return fmt.Errorf("%s: %w: it is %s", name, ErrCell, f.what)
		}
	}
	if isBinary(head) {
		return fmt.Errorf("%s: %w: it is no text, nor of another kind that is read: write it as CSV", name, ErrCell)
	}
	return nil
}

// isBinary reports whether bytes are no text, of which UTF-16 alone has zeros, but for those where a program stopped.
func isBinary(b []byte) bool {
	zeros := bytes.IndexByte(b, 0) >= 0
	if b = bytes.TrimRight(b, "\x00\x1a\r\n"); len(b) < 2 {
		return zeros && len(b) == 0
	}
	marked := string(b[:2]) == "\xff\xfe" || string(b[:2]) == "\xfe\xff"
	if marked || len(b) > 3 && (b[0] == 0) != (b[1] == 0) && (b[0] == 0) == (b[2] == 0) && (b[1] == 0) == (b[3] == 0) {
		return false
	}
	const looked, few = 4096, 50
	controls := 0
	b = b[:min(len(b), looked)]
	for _, c := range b {
		if c == 0 {
			return true
		} else if c < '\t' || c > '\r' && c < ' ' && c != '\x1a' {
			controls++
		}
	}
	return controls > len(b)/few
}
