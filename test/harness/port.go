package harness

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// Ports that tests choose lie below those that the system hands out by itself, so that no
// outgoing connection and no server on port 0 takes one before the test does.
const firstPort, lastPort = 10_000, 32_000

// given are the ports that tests of this process have got: none gets one twice.
var given sync.Map

// FreePort is a port that nobody listens on.
func FreePort(t testing.TB) string {
	t.Helper()
	return freeFrom(t, 1)[0]
}

// FreePorts are two ports, one after the other, that nobody listens on.
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
