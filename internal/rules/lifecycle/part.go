package lifecycle

import "fmt"

// Part is a part of a state that is loaded only if the query asks for it. A rule that reads one that was
// not loaded fails its command, so it never mistakes what was not loaded for what does not exist.
type Part[T any] struct {
	value  T
	loaded bool
}

// Set sets the part, by the store when it is loaded, or by a rule that creates or replaces it.
func (p *Part[T]) Set(value T) { p.value, p.loaded = value, true }

// Get returns the part. If it was not loaded, it panics with a notLoaded, which Service.decideOn turns
// into an error.
func (p *Part[T]) Get() T {
	if !p.loaded {
		panic(notLoaded(fmt.Sprintf("%T", p)))
	}
	return p.value
}

// IfLoaded returns the part, or the zero value if it was not loaded: for the store, which writes back
// what was loaded.
func (p *Part[T]) IfLoaded() T { return p.value }

// notLoaded is the type of a part that a rule read and that was not loaded.
type notLoaded string
