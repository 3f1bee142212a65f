//go:build unix && !linux

package process

// Protect does nothing here: only Linux can close a process to its own user.
func Protect() error { return nil }
