package simd

// Float is the element type of every kernel. There is no tilde: a named float type is a compile error here instead of a
// case that no branch of the adapters handles.
type Float interface{ float32 | float64 }
