package recipe

import (
	"errors"
	"fmt"
	"regexp"
)

// Error reports a recipe that no training can follow, whatever the data are: a field has a value that it cannot have, or two fields
// exclude each other.
type Error struct {
	text string // field names stand in braces
	err  error
}

// fieldName matches the name of a field in the text of an Error.
var fieldName = regexp.MustCompile(`\{([A-Z][A-Za-z]*)\}`)

// Error implements error.
func (e *Error) Error() string { return e.Named(func(field string) string { return field }) }

// Named returns the text of the error with the names of fields as name gives them. A program says --min-context where Go says
// MinContext.
func (e *Error) Named(name func(field string) string) string {
	return fieldName.ReplaceAllStringFunc(e.text, func(in string) string { return name(in[1 : len(in)-1]) })
}

// Unwrap returns the cause, nil if there is no other.
func (e *Error) Unwrap() error { return e.err }

// Errorf returns an [Error] for another package's settings. The names of fields stand in braces, as in "{Groups}: need at least two".
func Errorf(format string, args ...any) error {
	for i, arg := range args {
		if e, ok := arg.(*Error); ok {
			args[i] = braced{e}
		}
	}
	err := fmt.Errorf(format, args...)
	return &Error{err.Error(), errors.Unwrap(err)}
}

// braced is an Error whose text keeps the braces around the names of fields, for the text of another one.
type braced struct{ of *Error }

func (b braced) Error() string { return b.of.text }
func (b braced) Unwrap() error { return b.of }

// invalid makes an error of a configuration's check an Error.
func invalid(err error) error {
	if err == nil {
		return nil
	}
	return &Error{err.Error(), err}
}

// plural returns "1 image" or "2 images".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// worded is plural with a word for one.
func worded(n int, noun string) string {
	if n == 1 {
		return "one " + noun
	}
	return plural(n, noun)
}
