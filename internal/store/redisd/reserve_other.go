//go:build !linux

package redisd

// keepReserve does nothing: here, no disk space can be allocated behind the end of a file.
func (s *supervisor) keepReserve() {}
