package process

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// listedSocket finds a socket in the system's lists of all connections. What it does not
// find may have been passed over, for they are read in pieces while they change.
func listedSocket(local, remote netip.AddrPort) (socket, bool) {
	for _, list := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		if s, ok := inList(list, local, remote); ok {
			return s, true
		}
	}
	return socket{}, false
}

func inList(list string, local, remote netip.AddrPort) (socket, bool) {
	file, err := os.Open(list)
	if err != nil {
		return socket{}, false
	}
	defer file.Close()
	for lines := bufio.NewScanner(bufio.NewReaderSize(file, 256<<10)); lines.Scan(); {
		// sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …
		fields := strings.Fields(lines.Text())
		if len(fields) < 10 || listedAddress(fields[1]) != local || listedAddress(fields[2]) != remote {
			continue
		}
		uid, _ := strconv.Atoi(fields[7])
		inode, _ := strconv.ParseUint(fields[9], 10, 32)
		return socket{uint32(inode), uid}, true
	}
	return socket{}, false
}

// listedAddress reads an address as the lists have it: in words of four bytes, each as the
// machine keeps it, and a port.
func listedAddress(text string) netip.AddrPort {
	address, port, _ := strings.Cut(text, ":")
	number, err := strconv.ParseUint(port, 16, 16)
	raw, wrong := hex.DecodeString(address)
	if err != nil || wrong != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}
	}
	for word := range len(raw) / 4 {
		at := raw[4*word : 4*word+4]
		binary.NativeEndian.PutUint32(at, binary.BigEndian.Uint32(at))
	}
	ip, _ := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(ip.Unmap(), uint16(number))
}
