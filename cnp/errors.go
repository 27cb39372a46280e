package cnp

import "errors"

// Errors that callers may want to tell apart. All are wrapped with the names and numbers of the case at hand.
var (
	ErrConfig = errors.New("invalid model configuration")
	ErrShape  = errors.New("wrong shape")
	ErrValue  = errors.New("not a finite number")
	ErrRange  = errors.New("out of range")
)

// ErrNoPlan is what Model.Plan's error wraps where there can be no plan: for another kind of shape than the model's, or
// where what a model computes differs from task to task.
var ErrNoPlan = errors.New("there is no plan")
