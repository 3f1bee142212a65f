package process

import (
	"net"
	"net/netip"
)

// Origin says who is at the other end of a connection that a server has accepted.
type Origin string

// The origins.
const (
	// OfOthers is another machine, or a program of this one that belongs to no job.
	OfOthers Origin = "others"
	// OfJob is a program that was started for a job, or one that such a program started.
	OfJob Origin = "job"
	// OfNobody is a program of this machine that is gone, or has closed its end.
	OfNobody Origin = "nobody"
	// OfUnknown is a program of the server's own user that cannot be found, while a program
	// of a job runs which may hide that it has the connection.
	OfUnknown Origin = "unknown"
)

// Caller is who is at the other end of a connection.
type Caller struct {
	Origin Origin
	// PID is the program's, and Marker that of the program of a job that has the connection,
	// or may have it; as far as they are known.
	PID    int
	Marker string
}

// endsOf are the two ends of a connection; false where they are no internet addresses.
func endsOf(c net.Conn) (remote, local netip.AddrPort, ok bool) {
	remote, fromInternet := addressOf(c.RemoteAddr())
	local, toInternet := addressOf(c.LocalAddr())
	return remote, local, fromInternet && toInternet
}

func addressOf(a net.Addr) (netip.AddrPort, bool) {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, false
	}
	addr := tcp.AddrPort()
	return netip.AddrPortFrom(addr.Addr().Unmap().WithZone(""), addr.Port()), addr.IsValid()
}
