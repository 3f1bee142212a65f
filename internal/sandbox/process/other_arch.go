//go:build unix && !(linux && (amd64 || arm64))

package process

import (
	"errors"
	"net"
)

func listenIn(int, []uint16) ([]net.Listener, error) { return nil, errors.ErrUnsupported }

func makePrivate(int) error { return errors.ErrUnsupported }

// systemCallFilter returns no filter: the system call numbers of this architecture have not
// been reviewed.
func systemCallFilter() []byte { return nil }
