package attack

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/must"
)

// listeners are services that a program could call on this machine, and count the calls.
type listeners struct {
	calls atomic.Int64
	// redirector redirects its callers to another of these listeners.
	redirector string
	// fill replaces TCP, SIX, OUT, UDP and ABSTRACT in scripts by their addresses.
	fill *strings.Replacer
}

func listen(t *testing.T) *listeners {
	t.Helper()
	l := &listeners{}
	names := []string{"ABSTRACT", "ringback-attack-" + strconv.Itoa(len(t.Name())) + t.Name()[strings.LastIndex(t.Name(), "/")+1:]}
	for _, at := range [][3]string{{"TCP", "tcp", "127.0.0.1:0"}, {"SIX", "tcp", "[::1]:0"}, {"OUT", "tcp", outside(t) + ":0"}, {"", "unix", "@" + names[1]}} {
		listener, err := net.Listen(at[1], at[2])
		must.OK(t, err)
		t.Cleanup(func() { listener.Close() })
		if at[0] != "" {
			_, port, _ := net.SplitHostPort(listener.Addr().String())
			names = append(names, at[0], port)
		}
		go l.count(listener)
	}
	datagrams, err := net.ListenPacket("udp", "127.0.0.1:0")
	must.OK(t, err)
	t.Cleanup(func() { datagrams.Close() })
	go func() {
		for {
			if _, _, err := datagrams.ReadFrom(make([]byte, 9)); err != nil {
				return
			}
			l.calls.Add(1)
		}
	}()
	_, port, _ := net.SplitHostPort(datagrams.LocalAddr().String())
	l.fill = strings.NewReplacer(append(names, "UDP", port, "HOST", outside(t), "UNIX", l.unix(t), "REDIRECTOR", l.redirect(t, names[3]))...)
	return l
}

// unix listens on a socket in a directory that every user can enter.
func (l *listeners) unix(t *testing.T) (name string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ringback-attack-") //nolint:usetesting // an ordinary user may enter it
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	must.OK(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	name = filepath.Join(dir, "socket")
	listener, err := net.Listen("unix", name)
	if err == nil {
		err = os.Chmod(name, 0o777)
	}
	must.OK(t, err)
	t.Cleanup(func() { listener.Close() })
	go l.count(listener)
	return name
}

// redirect listens on an address that the kind may call, and redirects to one that it may
// not.
func (l *listeners) redirect(t *testing.T, port string) string {
	t.Helper()
	server := httptest.NewServer(http.RedirectHandler("http://127.0.0.1:"+port+"/", http.StatusFound))
	t.Cleanup(server.Close)
	l.redirector = server.Listener.Addr().String()
	return l.redirector
}

func (l *listeners) count(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		l.calls.Add(1)
		go func() {
			defer conn.Close()
			begin := make([]byte, 10)
			_ = conn.SetReadDeadline(time.Now().Add(harness.Patience))
			if n, _ := io.ReadFull(conn, begin); string(begin[:n]) == "POST /api/" {
				// Another test's CLI calls its server, which had this port and has ended.
				l.calls.Add(-1)
			}
		}()
	}
}

// outside returns an address of this machine other than loopback; loopback if it has none.
func outside(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	must.OK(t, err)
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			return ip.IP.String()
		}
	}
	return "127.0.0.1"
}

// calls are ways to call the listeners on this machine; each works if nothing prevents it.
var calls = []string{
	"bash -c 'echo x > /dev/tcp/127.0.0.1/TCP'", "bash -c 'echo x > /dev/tcp/localhost/TCP'", "bash -c 'echo x > /dev/tcp/::1/SIX'", "bash -c 'echo x > /dev/udp/127.0.0.1/UDP'",
	"bash -c 'echo x > /dev/tcp/HOST/OUT'", "curl -s -m 5 'http://[::1]:SIX/'", "curl -s -m 5 http://HOST:OUT/", "curl -s -m 5 http://127.1:TCP/", "curl -s -m 5 http://0:TCP/",
	"curl -s -m 5 --abstract-unix-socket ABSTRACT http://x/", "env -i setsid curl -s -m 5 http://127.0.0.1:TCP/", "git ls-remote http://127.0.0.1:TCP/x",
	"python3 PLACE/uring.py 127.0.0.1 TCP x", "python3 PLACE/uring.py HOST OUT x", "curl -s -m 5 --unix-socket UNIX http://x/",
}

// escapes are ways that must not lead out of a network namespace, or through a proxy to
// addresses that it does not allow.
var escapes = []string{
	"nsenter -t 1 -n curl -s -m 5 http://127.0.0.1:TCP/", "nsenter --net=/proc/$UP/ns/net curl -s -m 5 http://127.0.0.1:TCP/",
	"unshare -Urn sh -c 'ip link set lo up; curl -s -m 5 http://127.0.0.1:TCP/'", "unshare -Ur nsenter --net=/proc/1/ns/net curl -s -m 5 http://127.0.0.1:TCP/",
	"for n in /proc/[0-9]*/ns/net /var/run/netns/* /run/netns/*; do nsenter --net=$n curl -s -m 5 http://127.0.0.1:TCP/; done",
	"ip link add v0 type veth peer name v1; ip addr add HOST/24 dev v0; curl -s -m 5 http://HOST:OUT/",
	"for h in 127.0.0.1 127.1 2130706433 0x7f000001 0177.0.0.1 localhost localhost. localtest.me [::1] [::ffff:127.0.0.1] [::ffff:7f00:1] 0 0.0.0.0 [::]; do for p in TCP SIX OUT; do for o in '' -p; do curl -s -m 5 $o --noproxy '' -x http://127.0.0.1:302 http://$h:$p/; done; done; done",
	"for o in '' -p; do curl -s -m 5 $o --noproxy '' -x http://127.0.0.1:302 http://HOST:OUT/; curl -s -m 5 -L $o --noproxy '' -x http://127.0.0.1:302 http://REDIRECTOR/; done",
	`printf 'GET http://REDIRECTOR/ HTTP/1.1\r\nHost: 127.0.0.1:TCP\r\n\r\nGET http://127.0.0.1:TCP/ HTTP/1.1\r\nHost: REDIRECTOR\r\n\r\n' | timeout 2 bash -c 'exec 3<>/dev/tcp/127.0.0.1/302; cat >&3; cat <&3'`,
	"for fd in 3 4 5 6 7 8 9 10; do echo x >&$fd; done",
	"bash -c 'for d in 1.1 0.2 0.53 0.254 255.254; do echo x > /dev/tcp/127.0.$d/TCP; done'",
}

// outward are ways to reach other machines; each prints "reached" if it succeeds.
var outward = []string{
	"curl -s -m 3 --noproxy '*' http://169.254.169.254/latest/meta-data/ -o /dev/null && echo reached", "curl -s -m 3 --noproxy '*' 'http://[fd00:ec2::254]/' -o /dev/null && echo reached", "curl -s -m 3 --noproxy '*' http://100.100.100.200/ -o /dev/null && echo reached",
	"for h in 169.254.169.254 169.254.170.2 '[fd00:ec2::254]' '[::ffff:169.254.169.254]' 2852039166 0xa9fea9fe 100.100.100.200; do curl -s -m 3 --noproxy '' -x http://127.0.0.1:302 -o /dev/null -w '%{http_code}' http://$h/ | grep -qv 403 && echo reached $h; done",
	// refused with 403 if the name resolves, with 502 if it does not
	"curl -s -m 3 --noproxy '' -x http://127.0.0.1:302 -o /dev/null -w '%{http_code}' http://metadata.google.internal/ | grep -qvE '403|502' && echo reached",
	"for h in 169.254.169.254 metadata.google.internal '[fd00:ec2::254]'; do curl -s -m 3 -p --noproxy '' -x http://127.0.0.1:302 -o /dev/null http://$h:80/ && echo reached $h; done",
	"getent hosts example.com && echo reached", "getent ahosts localhost.localdomain.example && echo reached", "python3 -c 'import socket; socket.getaddrinfo(\"example.com\", 80)' && echo reached",
	// a query to each of the machine's name servers, and to the one that most machines run
	`python3 - <<'EOF'
import socket, re
q = b'\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x07example\x03com\x00\x00\x01\x00\x01'
try: servers = re.findall(r'nameserver\s+(\S+)', open('/etc/resolv.conf').read())
except OSError: servers = []
for at in servers + ['127.0.0.53', '1.1.1.1', '2606:4700:4700::1111']:
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        try:
            s = socket.socket(socket.AF_INET6 if ':' in at else socket.AF_INET, kind); s.settimeout(1); s.connect((at, 53))
            s.send(q if kind == socket.SOCK_DGRAM else bytes([0, len(q)]) + q)
            if s.recv(9): print('reached', at)
        except OSError: pass
EOF`,
	`gateway=$(awk '$2 == "00000000" {print $3}' /proc/net/route); test -z "$gateway" || echo reached a way out $gateway`,
	"awk 'NR > 2 && $1 != \"lo:\" {print \"reached\", $1}' /proc/net/dev", "grep -v '^Num' /proc/net/unix | awk '$8 ~ /^@/ {print \"reached\", $8}'",
	"ip neigh 2>/dev/null | grep . && echo reached", "ping -c1 -W1 127.0.0.1 >/dev/null 2>&1; ping -c1 -W1 1.1.1.1 >/dev/null 2>&1 && echo reached", "python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)' 2>/dev/null && echo reached",
	"python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1); s.sendto(b\"x\", (\"255.255.255.255\", 9))' 2>/dev/null && echo reached",
	"python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b\"x\", (\"224.0.0.251\", 5353))' 2>/dev/null && echo reached",
}

// What runs for a job in a sandbox cannot call anything on this machine, by any name or
// method; if it is not confined, all of these methods work.
func TestNothingLeavesTheRoom(t *testing.T) {
	t.Parallel()
	type networked struct {
		setup
		network string
	}
	cases := map[string]networked{"no sandbox": {setup{unconfined["ordinary, no sandbox"], inAction}, "listed"}}
	for name, s := range setups(sandboxed) {
		cases[name+", listed"] = networked{s, "listed"}
		if s.place == inAction {
			cases[name+", full"] = networked{s, "full"}
		}
	}
	for name, c := range chosen(t, cases) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := listen(t)
			allowed := "network: full\n"
			if c.network == "listed" {
				allowed = "network: ['" + l.redirector + "', localhost]\n"
			}
			a := attackFrom(t, c.place, c.ordinary, rules{kind: allowed, action: "  " + allowed, change: allowed}, harness.Vars{"SANDBOX": c.sandbox})
			if c.sandbox == "off" { // one is enough to show that the attacks work
				a.runAll(l.filled(a, calls))
				harness.Eventually(t, "all calls to arrive", func() bool { return int(l.calls.Load()) >= len(calls) })
				return
			}
			scripts := append(slices.Concat(escapes, calls), outward...)
			for i, said := range a.runAll(l.filled(a, scripts)) {
				if i >= len(scripts)-len(outward) && strings.Contains(said, "reached") {
					t.Errorf("%s: %s", scripts[i], said)
				}
			}
			if n := l.calls.Load(); n > 0 {
				t.Errorf("%d calls have arrived", n)
			}
		})
	}
}

// filled returns scripts with the addresses of the listeners. A script with PLACE first
// writes testdata/uring.py to /tmp.
func (l *listeners) filled(a *attacked, scripts []string) []string {
	a.t.Helper()
	program, err := os.ReadFile("testdata/uring.py")
	must.OK(a.t, err)
	place := "cat > /tmp/uring.py <<'EOF'\n" + string(program) + "\nEOF\n"
	var all []string
	for _, script := range scripts {
		if strings.Contains(script, "PLACE") {
			script = place + strings.ReplaceAll(script, "PLACE", "/tmp")
		}
		all = append(all, l.fill.Replace(script))
	}
	return all
}

// own are ways in which a turn may misuse its own doors: JOB is another user's job, PATH
// its question's path, MINE the turn's, API the server's.
var own = []string{
	"curl -sS http://127.0.0.1:301/api/jobs/JOB", "curl -sS http://127.0.0.1:301PATH -d '{\"text\":\"yes\"}' -H 'Content-Type: application/json'",
	"curl -sS http://127.0.0.1:301/api/jobs/JOB/approve -d '{}' -H 'Content-Type: application/json'", "curl -sS http://127.0.0.1:301/api/jobs/JOB/callback", "curl -sS http://127.0.0.1:301/",
	"curl -sS --path-as-is http://127.0.0.1:301/api/claude/progress/../../..PATH -d '{\"text\":\"yes\"}' -H 'Content-Type: application/json'",
	"curl -sS http://127.0.0.1:301/api/claude/progress -H 'Content-Type: application/json' -d '{\"requestId\":\"JOB\",\"message\":\"Mine\"}'",
	"curl -sS http://127.0.0.1:301/progress -H 'Content-Type: application/json' -H 'X-Ringback-Request-Id: JOB' -d '{\"requestId\":\"MINE\",\"message\":\"Mine\"}'",
	"curl -sS http://127.0.0.1:301/api/claude/result -H 'Content-Type: application/json' -d '{\"requestId\":\"JOB\",\"hmac\":\"HMAC\",\"x\":1}'",
	"curl -sS http://127.0.0.1:301/api/claude/mcp -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' -H 'X-Ringback-Request-Id: JOB' -H 'X-Ringback-Signature: HMAC' -d '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}'",
	"curl -sS --noproxy '' -x http://127.0.0.1:302 APIPATH -d '{\"text\":\"yes\"}' -H 'Content-Type: application/json'",
}

// Through its own doors a turn may call back for its own job, and nothing else, not even
// with a signature that it has learned.
func TestTheDoorsOfATurnAreItsOwn(t *testing.T) {
	t.Parallel()
	for name, mode := range sandboxed {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := attackFrom(t, inTurn, mode.ordinary, rules{kind: "network: full\n"}, harness.Vars{"SANDBOX": mode.sandbox, "API_KEYS": "", "JWT_SECRET": "", "HOLD": "0s"})
			asker, envelope := a.Manual(t, nil, harness.Object{"userId": "u1"})
			hmac := fmt.Sprint(envelope["hmac"])
			envelope["type"], envelope["message"] = "information_request", "May I?"
			a.Want(t, 200, harness.Request{Method: "POST", Path: "/api/claude/checkpoints", Body: envelope})
			before := a.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + asker})
			question, _ := before["checkpoint"].(harness.Object)
			path := fmt.Sprint("/api/checkpoints/", question["id"])
			fill := strings.NewReplacer("JOB", asker, "PATH", path+"/reply", "HMAC", hmac, "API", a.URL, "MINE", a.id)
			var scripts []string
			for _, script := range own {
				scripts = append(scripts, fill.Replace(script))
			}
			for i, said := range a.runAll(scripts) {
				if !strings.Contains(said, "cannot call this") && !strings.Contains(said, "another job's request") && !strings.Contains(said, "not public, or to this machine") && !strings.Contains(said, "/hmac") {
					t.Errorf("%s was told %s", scripts[i], said)
				}
			}
			if now := a.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + asker}); fmt.Sprint(now) != fmt.Sprint(before) {
				t.Errorf("the job of somebody else was %v, and is %v", before, now)
			}
		})
	}
}
