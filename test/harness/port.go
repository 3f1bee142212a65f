package harness

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// Ports that tests choose are below the ephemeral range, so that no outgoing connection and
// no server on port 0 takes one before the test does.
const firstPort, lastPort = 10_000, 32_000

// given contains the ports that tests of this process have been given: none is given twice.
var given sync.Map

// FreePort returns a free port.
func FreePort(t testing.TB) string {
	t.Helper()
	return freeFrom(t, 1)[0]
}

// FreePorts returns two consecutive free ports.
func FreePorts(t testing.TB) (one, next string) {
	t.Helper()
	ports := freeFrom(t, 2)
	return ports[0], ports[1]
}

func freeFrom(t testing.TB, n int) []string {
	t.Helper()
	for range 1000 {
		first := firstPort + rand.IntN(lastPort-firstPort-n)
		var ports []string
		for port := first; port < first+n && isFree(port); port++ {
			ports = append(ports, strconv.Itoa(port))
		}
		if len(ports) == n {
			return ports
		}
	}
	t.Fatal("no port is free")
	return nil
}

func isFree(port int) bool {
	if _, taken := given.LoadOrStore(port, true); taken {
		return false
	}
	l, err := net.Listen("tcp", ":"+strconv.Itoa(port)) // on every address
	if err != nil {
		return false
	}
	l.Close()
	return true
}
