package attack

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/time/rate"

	"ringback/internal/outbound"
	"ringback/internal/sandbox/untrusted"
	"ringback/internal/turn/artifact"
	"ringback/internal/turn/model"
	"ringback/test/harness"
	"ringback/test/must"
)

// randomly plays rounds of a random attack: few, or as many as ATTACK_ROUNDS sets. ATTACK_SEED repeats
// those of an earlier test.
func randomly(t *testing.T, few int, round func(r *rand.Rand)) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("ATTACK_ROUNDS"); text != "" {
		few = must.Get(strconv.Atoi(text))(t)
	}
	if text := os.Getenv("ATTACK_SEED"); text != "" {
		seed = must.Get(strconv.ParseUint(text, 10, 64))(t)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	played := 0
	for ; played < few && !t.Failed(); played++ {
		round(r)
	}
	t.Logf("ATTACK_SEED=%d: %d rounds", seed, played)
}

// one returns one of the values.
func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// dialogue sends a request as it is to a server, and returns the response, if there is one.
func dialogue(t *testing.T, address, request string) string {
	t.Helper()
	conn := must.Get(net.Dial("tcp", address))(t)
	defer conn.Close()
	must.OK(t, conn.SetDeadline(time.Now().Add(harness.Patience)))
	_, _ = io.WriteString(conn, request)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	return response.Status + "\n" + string(text)
}

// fieldsOfGateways are beginnings of fields, by which gateways take targets, keys and settings, and those
// of the CLI.
var fieldsOfGateways = []string{
	"x-portkey-", "Helicone-", "cf-aig-", "X-Goog-", "x-amz-", "X-Litellm-", "X-Forwarded-", "Api-", "Authorization", "X-Api-Key", "Cookie",
	"Proxy-", "Via", "Connection", "Host", "Trailer", "Te", "Upgrade", "X-Http-Method-Override", "X-Envoy-", "Anthropic-", "Anthropic-Beta",
	"Anthropic-Version", "X-Stainless-", "X-Stainless", "X-Claude-Code-", "X-Claude-Code", "X-App", "User-Agent", "Accept", "Accept-", "Content-", "X-",
}

// fieldOfAttack returns a header field: one of a gateway or the CLI, changed or not.
func fieldOfAttack(r *rand.Rand) string {
	name := one(r, fieldsOfGateways...) + one(r, "", "", "Target-Url", "Custom-Host", "key", "Base", "Config", "Host", "Encoding", "Session-Id")
	switch r.IntN(9) {
	case 0:
		name = strings.ToUpper(name)
	case 1:
		name = strings.ToLower(name)
	case 2:
		name = strings.ReplaceAll(name, "-", "_")
	case 3:
		name += one(r, " ", "\t", "\x00", "é", "\r\n ", ".")
	case 4:
		name = one(r, " ", "\t", "X-Stainless-", "-") + name
	}
	return name + one(r, ":", ": ", ":\t", " : ") + one(r, "planted-host", "X-Api-Key, planted-host", "trailers", "gzip", "x\r\n folded: planted-host", "chunked", "websocket", "1")
}

// Of random header fields, only the CLI's reach the model's host, with the server's credential.
func TestRandomFieldsDoNotReachTheModel(t *testing.T) {
	t.Parallel()
	allowed := regexp.MustCompile(`^(Accept|Accept-Encoding|Content-Type|Content-Length|User-Agent|Anthropic-(Version|Beta|Dangerous-Direct-Browser-Access)|X-App|X-Api-Key|X-Client-Request-Id|X-Claude-1p-Request-Class|X-(Claude-Code|Stainless)-[!-~]*)$`)
	arrived := 0
	var host string
	api := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived++
		for name := range r.Header {
			if !allowed.MatchString(name) {
				t.Errorf("the field %q has reached the model", name)
			}
		}
		must.Equal(t, fmt.Sprint("[real] [identity] ", host, " map[]"), fmt.Sprint(r.Header["X-Api-Key"], " ", r.Header["Accept-Encoding"], " ", r.Host, " ", r.Trailer), "the model got")
		if path := r.URL.String(); path != "/base/v1/messages" && path != "/base/v1/messages?beta=true" && path != "/base/v1/messages/count_tokens" {
			t.Errorf("the model was asked for %s", path)
		}
	}))
	t.Cleanup(api.Close)
	base := must.Get(url.Parse(api.URL + "/base"))(t)
	host = base.Host
	door := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { door.Close() })
	go model.API{
		URL: base, Header: http.Header{"X-Api-Key": {"real"}}, Transport: model.NewTransport(nil), Answers: &model.Answers{}, Log: slog.New(slog.DiscardHandler),
		AdmitFunc: func(context.Context, model.Asked) (func(model.Report), error) {
			return func(model.Report) {}, nil
		},
		DeliveredFunc: func(context.Context, []string) error { return nil },
	}.Serve(door)
	randomly(t, 300, func(r *rand.Rand) {
		var request strings.Builder
		request.WriteString("POST /v1/messages" + one(r, "", "", "?beta=true", "/count_tokens", "?target=http://x", "?beta=true&key=x", "/../files", "%2fx") + " HTTP/1.1\r\nHost: door\r\n")
		for range r.IntN(8) {
			request.WriteString(fieldOfAttack(r) + "\r\n")
		}
		request.WriteString(one(r, "Content-Length: 2\r\n\r\n{}", "Content-Length: 2\r\n\r\n{}", "Transfer-Encoding: chunked\r\nTrailer: X-Portkey-Key\r\n\r\n2\r\n{}\r\n0\r\nX-Portkey-Key: planted\r\n\r\n", "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"))
		dialogue(t, door.Addr().String(), request.String())
	})
	if arrived == 0 {
		t.Error("no request has reached the model")
	}
}

// hostOfAttack returns a random spelling of a random address, or of a name.
func hostOfAttack(r *rand.Rand) string {
	n := one(r, 0x7f000001, 0xa9fea9fe, 0x0a000001, 0xc0a80101, 0, 0x08080808, 0x01010101, r.Uint32())
	number := func(v uint32) string {
		return one(r, "%d", "%d", "0%o", "0x%x", "0X%X", "00%o", "0x0000000%x", "%03d")
	}
	spell := func(v uint32) string { return fmt.Sprintf(number(v), v) }
	var host string
	switch bytes := [4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}; r.IntN(8) {
	case 0:
		host = spell(n)
	case 1:
		host = spell(n>>24) + "." + spell(n&0xffffff)
	case 2:
		host = spell(n>>24) + "." + spell(n>>16&255) + "." + spell(n&0xffff)
	case 3, 4:
		host = netip.AddrFrom4(bytes).String()
	case 5:
		host = fmt.Sprintf("[%s%s%s]", one(r, "::ffff:", "::", "64:ff9b::", "0:0:0:0:0:ffff:", "::ffff:0:"), netip.AddrFrom4(bytes), one(r, "", "", "%lo", "%25eth0"))
	case 6:
		host = one(r, "localhost", "db.internal", "metadata", "metadata.google.internal", "a.0x7f", "a.1", "example.local")
		if r.IntN(9) == 0 { // few, for the proxy asks the resolver about them
			host = one(r, "example.com", "xn--fsq.com", "0x7f.1.example.com")
		}
	default:
		host = spell(n>>24) + "." + spell(n>>16&255) + "." + spell(n>>8&255) + "." + spell(n&255)
	}
	switch r.IntN(10) {
	case 0:
		host += one(r, ".", "..", "%00", "%2e", " ", "\t", "#", "/", "\\", "@8.8.8.8", "%20")
	case 1:
		host = one(r, "8.8.8.8@", "user:pw@", " ", ".", "+", "-", "%30") + host
	case 2:
		host = strings.NewReplacer("1", "１", "0", "０", ".", "。", "a", "ａ").Replace(host)
	case 3:
		host = strings.ToUpper(host)
	}
	return host
}

// resolves prints, for each line, the address that the system's resolver reads it as without asking anybody,
// or a dash.
const resolves = `import socket, sys
for line in sys.stdin:
    try:
        print(socket.getaddrinfo(line.rstrip("\n"), 80, flags=socket.AI_NUMERICHOST)[0][4][0])
    except OSError:
        print("-")`

// Of random spellings of hosts, the operator's proxy gets public addresses in their usual form and names that
// the system's resolver does not read as an address.
func TestRandomHostsArePassedOnInOneSpelling(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	got := map[string]bool{}
	operators := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got[r.Host] = true
		if r.Method != http.MethodConnect && r.URL.Host != r.Host {
			t.Errorf("the operator's proxy is asked for %q and %q", r.URL.Host, r.Host)
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(operators.Close)
	via := must.Get(url.Parse(operators.URL))(t)
	p := &outbound.Proxy{Hosts: outbound.Public(), Via: func(*url.URL) (*url.URL, error) { return via, nil }}
	door := must.Get(p.Listen(t.Context()))(t)
	t.Cleanup(func() { door.Close() })
	randomly(t, 500, func(r *rand.Rand) {
		host := hostOfAttack(r) + one(r, "", ":80", ":443", ":080", ":+80", ":", ":65616")
		request := one(r, "CONNECT "+host, "GET http://"+host+"/", "GET HTTP://"+host+"/?x") + " HTTP/1.1\r\nHost: " + one(r, host, "example.org") + "\r\nConnection: close\r\n\r\n"
		dialogue(t, door.Addr().String(), request)
		if web := one(r, "http://", "https://") + host; outbound.IsWebAddress(web) {
			if u, err := url.Parse(web); err == nil {
				mu.Lock()
				got["web "+u.Host] = true
				mu.Unlock()
			}
		}
	})
	checkHosts(t, got)
}

// checkHosts compares the hosts that were passed on with what the system's resolver reads.
func checkHosts(t *testing.T, got map[string]bool) {
	t.Helper()
	var hosts, all []string
	for named := range got {
		whole, isWeb := strings.CutPrefix(named, "web ")
		host, port, err := net.SplitHostPort(whole)
		if err != nil {
			host, port = strings.Trim(whole, "[]"), "80"
		}
		if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0 && !isWeb) {
			t.Errorf("%q was passed on, with such a port", named)
		}
		hosts, all = append(hosts, host), append(all, named)
	}
	cmd := exec.CommandContext(t.Context(), "python3", "-c", resolves)
	cmd.Stdin = strings.NewReader(strings.Join(hosts, "\n") + "\n")
	read := strings.Split(strings.TrimSpace(string(must.Get(cmd.Output())(t))), "\n")
	if len(read) != len(hosts) {
		t.Fatalf("%d hosts, %d readings", len(hosts), len(read))
	}
	addresses := 0
	for i, host := range hosts {
		isWeb := strings.HasPrefix(all[i], "web ")
		ip, err := netip.ParseAddr(host)
		switch {
		case err != nil && read[i] != "-":
			t.Errorf("%q was passed on, which the resolver reads as %s", all[i], read[i])
		case err != nil && !isWeb && regexp.MustCompile(`(^|\.)(localhost|internal|local|metadata)$|^[^.]*$|[^a-z0-9._-]`).MatchString(host):
			t.Errorf("%q was passed on, which is private or has another spelling", all[i])
		case err == nil && !isWeb && (ip.String() != host || ip.Is4In6() || !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.String() == "169.254.169.254"):
			t.Errorf("%q was passed on, which is not public or has another spelling", all[i])
		case err == nil && netip.MustParseAddr(read[i]) != ip:
			t.Errorf("%q was passed on, which the resolver reads as %s", all[i], read[i])
		case err == nil:
			addresses++
		}
	}
	if addresses == 0 || addresses == len(hosts) {
		t.Errorf("of %d hosts that were passed on, %d were addresses", len(hosts), addresses)
	}
	t.Logf("%d hosts were passed on", len(hosts))
}

// mostRead bounds what the server reads of a file in this test, and outsideText is in no file of a job.
const (
	mostRead    = 4 << 10
	outsideText = "planted-outside"
)

// put puts something into a job's directory in place of what has this name there.
func put(r *rand.Rand, dir, outside, name string) {
	place, next := filepath.Join(dir, name), filepath.Join(dir, "next"+strconv.Itoa(r.IntN(4)))
	kind := r.IntN(13)
	if kind != 8 {
		_ = os.RemoveAll(next) // it might be a pipe, and nothing opens it
	}
	switch kind {
	case 0:
		_ = syscall.Mkfifo(next, 0o600)
	case 1: // only root may
		_ = unix.Mknod(next, unix.S_IFCHR|0o600, int(unix.Mkdev(1, one[uint32](r, 5, 3, 7))))
	case 2:
		_ = os.Symlink(one(r, outside, outside+"/file", "/dev/zero", "/proc/self/mem", ".", "..", "next1", "a/a/a", "/"), next)
	case 3:
		_ = os.Link(filepath.Join(outside, "file"), next)
	case 4: // sparse and huge
		_ = os.WriteFile(next, []byte("x"), 0o600)
		_ = os.Truncate(next, 1<<40)
	case 5:
		_ = os.MkdirAll(filepath.Join(next, strings.Repeat("a/", r.IntN(150))), 0o700)
	case 6:
		_ = os.Mkdir(next, one[os.FileMode](r, 0o700, 0o700, 0))
	case 7:
		if l, err := net.Listen("unix", next); err == nil {
			defer l.Close()
		}
	case 8:
		_ = unix.Renameat2(unix.AT_FDCWD, place, unix.AT_FDCWD, next, unix.RENAME_EXCHANGE)
	case 9:
		_ = os.Remove(place)
	default:
		_ = os.WriteFile(next, []byte(strings.Repeat("own ", r.IntN(3000))), 0o600)
	}
	_ = os.Rename(next, place)
}

// readAll reads a job's directory in each way that the server has.
func readAll(t *testing.T, base, dir string, names []string) {
	t.Helper()
	judge := func(text []byte, how string) {
		if len(text) > mostRead || how != "read" && strings.Contains(string(text), outsideText) {
			t.Errorf("%d bytes were %s, with %.40q", len(text), how, text)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	_ = untrusted.Walk(ctx, dir, 3000, func(e untrusted.Entry, err error) error {
		if err == nil && e.IsRegular() && e.HasOneName() {
			text, _ := e.Dir.Read(e.Name, mostRead-1)
			judge(text, "read")
		}
		return nil
	})
	d, err := untrusted.Open(dir)
	must.OK(t, err)
	defer d.Close()
	for _, name := range names {
		text, _ := d.Read(name, mostRead-1) // one more byte shows that it is larger
		judge(text, "read")
	}
	files := artifact.Dir{Base: base, Path: filepath.Base(dir)}
	listed, _, _ := files.List()
	for _, file := range append(listed, artifact.File{Path: names[0]}) {
		f, _, err := files.Open(file.Path)
		if err != nil {
			continue
		}
		text, _ := io.ReadAll(io.LimitReader(f, mostRead))
		judge(text, "offered")
		f.Close()
	}
}

// Random files, links, pipes, devices and directories take each other's places while the server reads a
// job's directory and removes it. Nothing outside is read or removed, and nothing holds it.
func TestRandomTreesAreReadAndRemoved(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "a/a", "a/b", "b/a", "a/a/a", "b/a/b"}
	randomly(t, 5, func(r *rand.Rand) {
		begin, base, outside := time.Now(), t.TempDir(), t.TempDir()
		must.OK(t, os.WriteFile(filepath.Join(outside, "file"), []byte(outsideText), 0o600))
		dir := filepath.Join(base, "job")
		must.OK(t, os.Mkdir(dir, 0o700))
		for range 30 {
			put(r, dir, outside, one(r, names...))
		}
		jobs := rand.New(rand.NewPCG(r.Uint64(), 0))
		stop := whileRunning(t, func(int) { put(jobs, dir, outside, one(jobs, names...)) })
		for range 20 {
			readAll(t, base, dir, names)
		}
		_ = untrusted.Remove(dir) // the job may add files until the end
		stop()
		must.OK(t, untrusted.Remove(dir), "removing it")
		if took := time.Since(begin); took > harness.Patience {
			t.Errorf("it took %v", took)
		}
		text, err := os.ReadFile(filepath.Join(outside, "file"))
		must.OK(t, err)
		must.Equal(t, outsideText, string(text), "the file outside")
	})
}

// strangersCall returns a callback that nobody has signed: for a job that there is or is not.
func strangersCall(r *rand.Rand, id string) harness.Request {
	body := harness.Object{"requestId": one(r, id, id, id+"x", strings.ToUpper(id), fmt.Sprint("guess-", r.Uint32()), "", "../"+id), "message": "x"}
	switch r.IntN(5) {
	case 0:
	case 1:
		body["hmac"] = strings.Repeat("0", 64)
	default:
		body["hmac"] = fmt.Sprintf("%064x", r.Uint64())
	}
	return harness.Request{
		Method: "POST", Path: one(r, "/api/claude/progress", "/progress", "/api/claude/result", "/api/claude/checkpoints", "/api/claude/suggestions/batch", "/api/claude/tool-calls"), Body: body,
		Header: map[string]string{"X-Forwarded-For": fmt.Sprintf("10.0.0.%d", r.IntN(3)), "X-Ringback-Request-Id": one(r, "", id)},
	}
}

// Strangers who know the ids of jobs send callbacks as fast as they can, in a random mix with the signed ones
// of the jobs, none of which is too many.
func TestStrangersDoNotUseUpAJobsCallbacks(t *testing.T) {
	t.Parallel()
	const callbacks = 50
	honest := rate.NewLimiter(callbacks/2, callbacks/2) // so that no job sends more than it may
	s := harness.Start(t, harness.Vars{"CALLBACK_RATE": strconv.Itoa(callbacks)}, nil)
	jobs := map[string]harness.Object{}
	for range 3 {
		id, envelope := s.Manual(t, nil, harness.Object{})
		jobs[id] = envelope
	}
	ids := slices.Sorted(func(yield func(string) bool) {
		for id := range jobs {
			if !yield(id) {
				return
			}
		}
	})
	refused := 0
	randomly(t, 400, func(r *rand.Rand) {
		if id := one(r, ids...); r.IntN(8) == 0 && honest.Allow() {
			body := harness.Object{"message": fmt.Sprint("honest ", r.Uint32())}
			maps.Copy(body, jobs[id])
			got := harness.Exchange(t, s.URL, harness.Request{Method: "POST", Path: "/api/claude/progress", Body: body})
			must.Equal(t, http.StatusOK, got.Status, "a signed callback was answered", got.Text)
		} else if harness.Exchange(t, s.URL, strangersCall(r, id)).Status == http.StatusTooManyRequests {
			refused++
		}
	})
	if refused == 0 {
		t.Error("no stranger was refused")
	}
}
