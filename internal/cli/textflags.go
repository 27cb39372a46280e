package cli

import "github.com/spf13/pflag"

// TextFlags adds the flags that say how tables of text write numbers and dates.
func TextFlags(fl *pflag.FlagSet, decimal, dates *string) {
	fl.StringVar(decimal, "decimal", "", "tables of text: the decimal separator, \".\" or \",\" (default: what the numbers tell)")
	fl.StringVar(dates, "dates", "", "tables of text: the order in dates like 8/7/2016, dmy or mdy (default: what a day above 12 tells)")
}
