package tabular

import (
	"bytes"
	"fmt"
)

// Foreign are files that are taken for tables, by what they begin with, and what each is. Of all of them a head of eight bytes is enough.
var Foreign = []struct{ Begin, What string }{
	{"\xd0\xcf\x11\xe0", "an old or encrypted document of Microsoft Office: save its sheet as .xlsx or CSV"},
	{"\x1f\x8b", "compressed by gzip: unpack it first"},
	{"\xfd7zXZ", "compressed by xz: unpack it first"},
	{"\x28\xb5\x2f\xfd", "compressed by zstd: unpack it first"},
	{"\x89PNG\r\n", "a PNG image"}, {"\xff\xd8\xff", "a JPEG image"}, {"GIF87a", "a GIF image"}, {"GIF89a", "a GIF image"},
	{"II*\x00", "a TIFF image"}, {"MM\x00*", "a TIFF image"},
	{"%PDF-", "a PDF document"}, {"GRIB", "a GRIB file: convert it to NetCDF"},
	{"SQLite f", "an SQLite database: export a table of it as CSV"},
	{"{\"", "JSON: write its records as CSV"}, {"[{\"", "JSON: write its records as CSV"}, {"[[", "JSON: write its records as CSV"},
	{"<!DOCTYP", "a page of HTML"}, {"<html", "a page of HTML"}, {"<?xml", "an XML document"},
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
	return nil
}
