// Package failure holds the errors that package cnp and the packages below it wrap. Users know them as cnp.ErrConfig and
// so on.
package failure

import "errors"

// All are wrapped with the names and numbers of the case at hand.
var (
	ErrConfig = errors.New("invalid model configuration")
	ErrShape  = errors.New("wrong shape")
	ErrValue  = errors.New("not a finite number")
	ErrRange  = errors.New("out of range")
)
