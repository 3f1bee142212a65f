package process

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"
)

// socket is the end of a TCP connection on this machine.
type socket struct {
	// inode is how the system names it among the descriptors of programs; 0 when no
	// program has it any more.
	inode uint32
	// uid is whose it is.
	uid int
}

// link is what a descriptor of it shows.
func (s socket) link() string { return "socket:[" + strconv.FormatUint(uint64(s.inode), 10) + "]" }

// findSocket returns the socket of this machine that has local for its own end and remote
// for the other; false where there is none.
func findSocket(local, remote netip.AddrPort) (socket, bool) {
	s, ok, err := askForSocket(local, remote)
	switch {
	case err == nil:
		return s, ok
	case !isOwnAddress(local.Addr()):
		return socket{}, false
	}
	return listedSocket(local, remote) // there is none, or a kernel without this service
}

// sockDiagByFamily, diagRequest and diagAnswer are SOCK_DIAG_BY_FAMILY, inet_diag_req_v2
// and inet_diag_msg of the kernel.
const sockDiagByFamily = 20

type diagEnds struct {
	LocalPort, RemotePort [2]byte
	Local, Remote         [16]byte
	Device                uint32
	Cookie                [2]uint32
}

type diagRequest struct {
	unix.NlMsghdr
	Family, Protocol, Extensions, Padding uint8
	States                                uint32
	Ends                                  diagEnds
}

type diagAnswer struct {
	Family, State, Timer, Retransmits   uint8
	Ends                                diagEnds
	Expires, Received, Sent, UID, Inode uint32
}

// whatever stands for all states, or for any cookie.
const whatever = 0xffffffff

var errAnswer = errors.New("the kernel does not name the socket")

// askForSocket asks the kernel for one socket. That there is none, and that it cannot
// answer, is the same error.
func askForSocket(local, remote netip.AddrPort) (s socket, found bool, err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return s, false, err
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2}); err != nil {
		return s, false, err
	}
	question, err := askFor(local, remote)
	if err != nil {
		return s, false, err
	}
	if err := unix.Sendto(fd, question, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return s, false, err
	}
	var text [4096]byte
	n, _, err := unix.Recvfrom(fd, text[:], 0)
	if err != nil {
		return s, false, err
	}
	return readSocket(text[:n], local, remote)
}

func askFor(local, remote netip.AddrPort) ([]byte, error) {
	r := diagRequest{Family: unix.AF_INET, Protocol: unix.IPPROTO_TCP, States: whatever}
	if local.Addr().Is6() {
		r.Family = unix.AF_INET6
	}
	r.Len, r.Type, r.Flags = uint32(binary.Size(r)), sockDiagByFamily, unix.NLM_F_REQUEST //nolint:gosec // 72 bytes
	binary.BigEndian.PutUint16(r.Ends.LocalPort[:], local.Port())
	binary.BigEndian.PutUint16(r.Ends.RemotePort[:], remote.Port())
	copy(r.Ends.Local[:], local.Addr().AsSlice())
	copy(r.Ends.Remote[:], remote.Addr().AsSlice())
	r.Ends.Cookie = [2]uint32{whatever, whatever}
	return binary.Append(nil, binary.NativeEndian, r)
}

func readSocket(text []byte, local, remote netip.AddrPort) (s socket, found bool, err error) {
	var header unix.NlMsghdr
	n, err := binary.Decode(text, binary.NativeEndian, &header)
	if err != nil {
		return s, false, err
	}
	var a diagAnswer
	if header.Type != sockDiagByFamily {
		return s, false, errAnswer
	}
	if _, err := binary.Decode(text[n:], binary.NativeEndian, &a); err != nil {
		return s, false, err
	}
	// Where there is no connection, the system names a listener.
	if binary.BigEndian.Uint16(a.Ends.LocalPort[:]) != local.Port() || binary.BigEndian.Uint16(a.Ends.RemotePort[:]) != remote.Port() {
		return s, false, nil
	}
	return socket{a.Inode, int(a.UID)}, true, nil
}
