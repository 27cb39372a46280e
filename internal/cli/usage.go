package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// UsageError is an error of the command line that only an action can find, such as a rate above 1.
type UsageError struct{ Err error }

// Error implements error.
func (e UsageError) Error() string { return e.Err.Error() }

// Usage makes an error one of usage.
func Usage(err error) error { return UsageError{Err: err} }

// Usagef returns an error of usage.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// kinds says what the values of flags are, by the name of their type.
var kinds = map[string]string{
	"bool": "true or false", "int": "a whole number of at most 18 digits", "uint64": "a whole number of 0 or more", "float64": "a number",
	"intSlice": "whole numbers separated by commas", "float64Slice": "numbers separated by commas, as in 0.05,0.5",
	"duration": "a time such as 90s or 10m",
}

// FlagWords says of a flag's value what it should be, instead of which function could not read it.
func FlagWords(_ *cobra.Command, err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	if kinds[bad.GetFlag().Value.Type()] == "" { // a type of this package, which says itself what it needs
		return fmt.Errorf("--%s %q: %w", bad.GetFlag().Name, bad.GetValue(), bad.Unwrap())
	}
	return fmt.Errorf("--%s %q: need %s", bad.GetFlag().Name, bad.GetValue(), kinds[bad.GetFlag().Value.Type()])
}

// Required refuses a command line without these flags, as cobra does where they are always required.
func Required(fl *pflag.FlagSet, names ...string) error {
	var missing []string
	for _, name := range names {
		if fl.Lookup(name).Value.String() == "" {
			missing = append(missing, strconv.Quote(name))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return Usagef("required flag(s) %s not set", strings.Join(missing, ", "))
}
