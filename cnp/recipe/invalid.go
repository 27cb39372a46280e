package recipe

import (
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/internal/words"
)

// Error reports a recipe that no training can follow, whatever the data are: a field has a value that it cannot have, or
// two fields exclude each other.
type Error = settings.Error

// Errorf returns an [Error] for another package's settings. The names of fields stand in braces, as in "{Groups}: need at
// least two".
func Errorf(format string, args ...any) error { return settings.Errorf(format, args...) }

// invalid makes an error of a configuration's check an Error.
func invalid(err error) error { return settings.Wrap(err) }

// worded is plural with a word for one.
func worded(n int, noun string) string {
	if n == 1 {
		return "one " + noun
	}
	return words.Plural(n, noun)
}
