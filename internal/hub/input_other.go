//go:build !linux

package hub

// await returns false: each client has a goroutine that waits.
func (*client) await() bool { return false }

// wake does nothing: the goroutine notices that the connection was closed.
func (*client) wake() {}
