package process

import (
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

// Peers finds out which programs are at the other ends of connections. The zero Peers is
// ready.
type Peers struct {
	// recent is the program that was found last: one that opens a connection often opens
	// another.
	recent atomic.Int64
}

// Peer is the other end of a connection.
type Peer struct {
	peers         *Peers
	remote, local netip.AddrPort

	mu sync.Mutex
	// elsewhere is whether it is on another machine, which does not change.
	elsewhere bool
	// held is where the end was found last, if that was no job's.
	held holding
}

// Of returns the other end of a connection.
func (ps *Peers) Of(c net.Conn) *Peer {
	p := &Peer{peers: ps}
	var ok bool
	p.remote, p.local, ok = endsOf(c)
	p.elsewhere = !ok
	return p
}

// looks is how often is looked before what could not be found counts as not there: the
// system's lists are read while they change.
const looks = 3

// Caller returns who is at the other end now. A program is known for a job's by what it
// cannot change: by whom it descends from. The server takes in what loses its parent, and
// everything in a sandbox descends from what keeps it.
//
// A program that is gone cannot be told from a job's, nor can one that does not show which
// connections it has.
func (p *Peer) Caller() Caller {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.elsewhere || p.held.stands() {
		return Caller{Origin: OfOthers, PID: p.held.pid}
	}
	found := Caller{Origin: OfNobody}
	for range looks {
		if found = p.look(); found.Origin == OfOthers || found.Origin == OfJob {
			break
		}
	}
	return found
}

func (p *Peer) look() Caller {
	s, ok := findSocket(p.remote, p.local)
	switch {
	case !ok && !isOwnAddress(p.remote.Addr()):
		p.elsewhere = true
		return Caller{Origin: OfOthers}
	case !ok || s.inode == 0:
		return Caller{Origin: OfNobody}
	case s.uid != os.Geteuid() && os.Geteuid() != 0: // jobs run as we do
		return Caller{Origin: OfOthers}
	}
	h, ok := p.peers.holder(s)
	if !ok {
		return p.hidden(s)
	}
	marker, ofJob := belongsToJob(h.pid)
	switch {
	case ofJob:
		return Caller{OfJob, h.pid, marker}
	case !h.stands(): // it was handed on meanwhile
		return Caller{Origin: OfUnknown, PID: h.pid}
	}
	p.held = h
	p.peers.recent.Store(int64(h.pid))
	return Caller{Origin: OfOthers, PID: h.pid}
}

// holding is a descriptor of a program's that is one end of a connection.
type holding struct {
	pid     int
	started string
	// descriptor is where the system shows it, and leads is what it shows.
	descriptor, leads string
}

// stands reports whether the same program still has the same socket.
func (h holding) stands() bool {
	if h.pid == 0 {
		return false
	}
	to, err := os.Readlink(h.descriptor)
	return err == nil && to == h.leads && StartTime(h.pid) == h.started
}

// holder finds a program that has a socket.
func (ps *Peers) holder(s socket) (holding, bool) {
	recent := int(ps.recent.Load())
	if h, ok := holds(recent, s); ok {
		return h, true
	}
	for _, pid := range pids() {
		if h, ok := holds(pid, s); ok {
			return h, true
		}
	}
	return holding{}, false
}

// holds finds a socket among the descriptors of a program.
func holds(pid int, s socket) (holding, bool) {
	if pid == 0 {
		return holding{}, false
	}
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	leads := s.link()
	for _, name := range namesIn(dir) {
		if to, err := os.Readlink(dir + "/" + name); err == nil && to == leads {
			h := holding{pid: pid, started: StartTime(pid), descriptor: dir + "/" + name, leads: leads}
			return h, h.stands()
		}
	}
	return holding{}, false
}

func namesIn(dir string) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1) // what was read until a failure
	return names
}

// pids are those of all processes, the newest first as far as they were not begun anew.
func pids() (all []int) {
	for _, name := range namesIn("/proc") {
		if pid, err := strconv.Atoi(name); err == nil {
			all = append(all, pid)
		}
	}
	slices.Reverse(all)
	return all
}

// isOwnAddress reports whether an address is one of this machine's.
func isOwnAddress(a netip.Addr) bool {
	if a.IsLoopback() {
		return true
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return true // it cannot be told
	}
	for _, one := range own {
		if network, ok := one.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(network.IP); ok && ip.Unmap() == a {
				return true
			}
		}
	}
	return false
}
