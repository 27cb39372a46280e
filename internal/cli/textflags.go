package cli

import "github.com/spf13/pflag"

// TextFlags adds the flags that say how tables of text write numbers, dates and missing values.
func TextFlags(fl *pflag.FlagSet, decimal, dates *string, missing *[]string) {
	fl.StringVar(decimal, "decimal", "", "tables of text: the decimal separator, \".\" or \",\" (default: what the numbers tell)")
	fl.StringVar(dates, "dates", "", "tables of text: the order in dates like 8/7/2016, dmy or mdy (default: what a day above 12 tells)")
	fl.StringSliceVar(missing, "missing", nil, "tables: numbers and texts that stand for no value in columns of outputs and --aux, such "+
		"as -9999 (empty cells, NaN, NA and texts such as ? always do)")
}
