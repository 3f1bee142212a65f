//go:build unix && !linux

package process

import "net"

func canFetch() bool { return false }

func isFetchable(int) bool { return false }

func storedListeners(int) []net.Listener { return nil }
