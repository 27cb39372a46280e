// Package reuse sizes memory that is kept between calls, so that calls in the steady state allocate nothing.
package reuse

// Sized returns a slice of n elements, which may be anything: x itself if it has room for them, else new memory.
func Sized[E any](x []E, n int) []E {
	if cap(x) < n {
		return make([]E, n)
	}
	return x[:n]
}

// Roomy is Sized, but new memory has room for that many elements, at least n.
func Roomy[E any](x []E, n, room int) []E {
	if cap(x) < n {
		return make([]E, n, room)
	}
	return x[:n]
}
