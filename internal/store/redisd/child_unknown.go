//go:build unix && !linux && !darwin

package redisd

import (
	"errors"
	"net"
)

// listenerPID is not supported on this system.
func listenerPID(*net.UnixConn) (int, error) { return 0, errors.ErrUnsupported }
