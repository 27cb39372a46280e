package cnp

// instances are the two instances of a generic function, for float32 and for float64.
//
// A package that calls a generic function compiles a copy of it, and of everything generic that it calls: through New, of
// every model and every layer, which took the compiler seconds whenever a program that uses this package had changed.
// So what is exported is short and fetches the body from here, where both instances are compiled once.
type instances [2]any

// instance returns the one that has type F, which names the element type.
func instance[F any](of *instances) F {
	if f, ok := of[0].(F); ok {
		return f
	}
	return of[1].(F)
}
