//go:build unix && !linux && !darwin

package store

import (
	"errors"
	"net"
)

// listenerPID is not known here.
func listenerPID(*net.UnixConn) (int, error) { return 0, errors.ErrUnsupported }
