// Package settings has errors that name the fields of option structs. A program that fills such a struct from flags can
// tell its user which flag is wrong: it asks an error for its text with the fields' names replaced.
package settings

import (
	"errors"
	"fmt"
	"regexp"
)

// fieldName matches the name of a field in the text of an error.
var fieldName = regexp.MustCompile(`\{([A-Z][A-Za-z]*)\}`)

// Named is implemented by the errors of this package.
type Named interface {
	error
	// Named returns the text with every field's name as name gives it: --min-context where Go says MinContext.
	Named(name func(field string) string) string
}

// Error reports settings that cannot be followed, whatever the data are: a field has a value that it cannot have, or two
// fields exclude each other.
type Error struct{ text }

// Hint is an error about data whose text names fields that may help.
type Hint struct{ text }

// text is the text of an error, in which the names of fields stand in braces, and its cause.
type text struct {
	text string
	err  error
}

// Error implements error.
func (e *text) Error() string { return e.Named(func(field string) string { return field }) }

// Named implements [Named].
func (e *text) Named(name func(field string) string) string {
	return Text(e.text).Named(name)
}

// Unwrap returns the cause, nil if there is no other.
func (e *text) Unwrap() error { return e.err }

func (e *text) braced() *text { return e }

// Errorf returns an [Error]. The names of fields stand in braces, as in "{Groups}: need at least two".
func Errorf(format string, args ...any) error { return &Error{textf(format, args)} }

// Hintf returns a [Hint], whose format is that of [Errorf].
func Hintf(format string, args ...any) error { return &Hint{textf(format, args)} }

// Wrap makes an error of another package's check an [Error]; nil stays nil.
func Wrap(err error) error {
	if err == nil {
		return nil
	}
	return &Error{text{err.Error(), err}}
}

func textf(format string, args []any) text {
	args = append([]any(nil), args...)
	for i, arg := range args {
		if e, ok := arg.(interface{ braced() *text }); ok {
			args[i] = braced{e.braced(), arg.(error)}
		}
	}
	err := fmt.Errorf(format, args...)
	return text{err.Error(), errors.Unwrap(err)}
}

// braced is an error whose text keeps the braces around the names of fields, for the text of another one.
type braced struct {
	of  *text
	err error
}

func (b braced) Error() string { return b.of.text }
func (b braced) Unwrap() error { return b.err }

// Text is a sentence in which the names of fields stand in braces, for notes that say which of them would help.
type Text string

// Textf formats a text.
func Textf(format string, args ...any) Text { return Text(fmt.Sprintf(format, args...)) }

// String returns the text with the fields' names as they are.
func (t Text) String() string { return t.Named(func(field string) string { return field }) }

// Named returns the text with every field's name as name gives it.
func (t Text) Named(name func(field string) string) string {
	return fieldName.ReplaceAllStringFunc(string(t), func(in string) string { return name(in[1 : len(in)-1]) })
}
