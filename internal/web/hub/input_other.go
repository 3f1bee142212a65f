//go:build !linux

package hub

func (*client) await() bool { return false }

// wake does nothing: the goroutine notices that the connection was closed.
func (*client) wake() {}
