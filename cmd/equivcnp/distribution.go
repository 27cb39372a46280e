package main

import (
	"github.com/spf13/pflag"
)

// outputsFlag adds the flag that names what is written of a prediction.
func outputsFlag(fl *pflag.FlagSet, names *[]string) {
	fl.StringSliceVar(names, "outputs", nil, "what to write, as in mean,std,cov_target (default: all but the covariance of a whole task; a table has what is one number a value)")
}
