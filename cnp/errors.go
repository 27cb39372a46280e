package cnp

import (
	"errors"
	"fmt"

	"github.com/equivcnp/equivcnp/cnp/internal/failure"
)

// Errors that callers may want to tell apart. All are wrapped with the names and numbers of the case at hand.
var (
	ErrConfig = failure.ErrConfig
	ErrShape  = failure.ErrShape
	ErrValue  = failure.ErrValue
	ErrRange  = failure.ErrRange
)

// ErrNoPlan is wrapped by Model.Plan's error where there can be no plan: for another kind of shape than the model's, or
// where what a model computes differs from task to task.
var ErrNoPlan = errors.New("there is no plan")

// What functions return that are given no model, or no configuration.
var (
	errNoModel  = fmt.Errorf("%w: no model", ErrConfig)
	errNoConfig = fmt.Errorf("%w: no configuration", ErrConfig)
)
