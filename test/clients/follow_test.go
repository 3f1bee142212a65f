package clients

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/golang-jwt/jwt/v5"

	"ringback/test/browser"
	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/sample"
	"ringback/test/scan"
)

const (
	secret = "a-secret-of-at-least-32-characters"
	apiKey = "a-key-of-a-back-end"
)

var backEnd = map[string]string{"Authorization": "Bearer " + apiKey}

// world is a server, a proxy in front of it that can fail, and a site with a page that uses
// the client and gets its tokens from the site.
type world struct {
	t      *testing.T
	server *harness.Server
	redis  *harness.RedisServer
	env    harness.Vars
	proxy  *harness.Proxy
	site   *httptest.Server
	// tokens counts the tokens that were issued; each is valid for a number of seconds.
	tokens  atomic.Int32
	seconds int
	script  []byte
}

func newWorld(t *testing.T, seconds int) *world {
	t.Helper()
	w := &world{t: t, seconds: seconds}
	w.site = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.site.Close)
	address := "127.0.0.1:" + harness.FreePort(t)
	w.redis = harness.StartRedis(t, scan.Suite, nil)
	w.env = harness.Vars{
		"LISTEN_ADDR": address, "REDIS_URL": w.redis.URL, "DATA_DIR": t.TempDir(), "SANDBOX": "off",
		"API_KEYS": apiKey, "JWT_SECRET": secret, "CORS_ORIGINS": w.site.URL,
	}
	w.server = harness.Start(t, w.env, nil)
	w.proxy = harness.StartProxy(t, address)
	return w
}

func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/token":
		w.tokens.Add(1)
		claims := jwt.MapClaims{"sub": "u1", "exp": time.Now().Add(time.Duration(w.seconds) * time.Second).Unix()}
		token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(secret))
		if err != nil {
			w.t.Error(err)
		}
		fmt.Fprint(rw, token)
	case "/page.js":
		rw.Header().Set("Content-Type", "text/javascript")
		_, _ = rw.Write(w.script)
	default:
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprint(rw, `<!doctype html><title>A page</title><div id="root"></div><script type="module" src="/page.js"></script>`)
	}
}

// restart kills the server, and starts it again at the same address.
func (w *world) restart() {
	w.t.Helper()
	w.server.Stop(w.t, syscall.SIGKILL)
	w.server = harness.Start(w.t, w.env, nil)
}

// callback plays Claude.
func (w *world) callback(id, endpoint string, payload harness.Object) {
	w.t.Helper()
	values := w.server.Want(w.t, http.StatusOK, harness.Request{Method: "GET", Path: "/api/jobs/" + id + "/callback", Header: backEnd})
	payload["requestId"], payload["hmac"] = id, values["hmac"]
	w.server.Want(w.t, http.StatusOK, harness.Request{Method: "POST", Path: "/api/claude/" + endpoint, Body: payload})
}

// progress makes each job report progress several times.
func (w *world) progress(ids []string, times int) {
	w.t.Helper()
	for i := range times {
		for _, id := range ids {
			w.callback(id, "progress", harness.Object{"message": fmt.Sprint("Step ", i), "progress": i})
		}
	}
}

func (w *world) finish(ids []string) {
	w.t.Helper()
	for _, id := range ids {
		w.callback(id, "result", harness.Object{"reasoning": "Quick and warm.", "suggestions": []harness.Object{
			{"date": "2026-03-02", "mealType": "dinner", "recipe": harness.Object{"name": "Lentil soup"}},
		}})
	}
}

// history returns the server's stored events of a job.
func (w *world) history(id string) []string {
	w.t.Helper()
	var ids []string
	for _, e := range w.server.Want(w.t, http.StatusOK, harness.Request{Method: "GET", Path: "/api/jobs/" + id + "/events", Header: backEnd})["events"].([]any) {
		ids = append(ids, e.(harness.Object)["id"].(string))
	}
	return ids
}

// follower runs the client.
type follower interface {
	// told returns the ids of the events that the client has reported, by job.
	told() map[string][]string
	// outcome returns "ended" once the jobs have ended, or an error; "" before.
	outcome() string
}

func (w *world) settings(ids []string) string {
	return string(must.Get(json.Marshal(harness.Object{"url": "http://" + w.proxy.Addr, "tokens": w.site.URL + "/token", "heartbeat": 4000, "requestIds": ids}))(w.t))
}

// tab is a page in chromium.
type tab struct {
	t   testing.TB
	ctx context.Context //nolint:containedctx // a tab is its context
}

func (w *world) openTab(source string) tab {
	w.t.Helper()
	w.script = bundle(w.t, source, "--format=esm")
	b := tab{w.t, browser.Open(w.t)}
	must.OK(w.t, chromedp.Do(b.ctx, chromedp.Navigate(w.site.URL)))
	return b
}

func evaluate[T any](b tab, script string) T {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, harness.Patience)
	defer stop()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
	return value
}

func (b tab) told() map[string][]string { return evaluate[map[string][]string](b, "told") }
func (b tab) outcome() string           { return evaluate[string](b, "outcome()") }

// send sends a command of the DevTools protocol to the tab.
func send[P, R any](b tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	err := chromedp.Do(b.ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, command, params)
		return err
	}))
	must.OK(b.t, err)
}

func (w *world) followInTab(ids []string) tab {
	w.t.Helper()
	b := w.openTab("test/clients/testdata/page.ts")
	harness.Eventually(w.t, "the page's script", func() bool { return evaluate[bool](b, `"begin" in globalThis`) })
	evaluate[any](b, "begin("+w.settings(ids)+")")
	return b
}

// program is a Node process.
type program struct {
	mu    sync.Mutex
	heard map[string][]string
	end   string
}

func (p *program) told() map[string][]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string][]string{}
	for id, events := range p.heard {
		all[id] = append([]string(nil), events...)
	}
	return all
}

func (p *program) outcome() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end
}

func (w *world) followInNode(ids []string) *program {
	w.t.Helper()
	script := filepath.Join(w.t.TempDir(), "follow.mjs")
	must.OK(w.t, os.WriteFile(script, bundle(w.t, "test/clients/testdata/node.ts", "--format=esm", "--platform=node"), 0o600))
	cmd := exec.CommandContext(w.t.Context(), "node", append(webSocketFlag(w.t), script, w.settings(ids))...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	must.OK(w.t, err)
	p := &program{heard: map[string][]string{}}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var line [2]string
			if json.Unmarshal(lines.Bytes(), &line) == nil {
				p.mu.Lock()
				p.heard[line[0]] = append(p.heard[line[0]], line[1])
				p.mu.Unlock()
			}
		}
		end := "ended"
		if err := cmd.Wait(); err != nil {
			end = fmt.Sprint(err, stderr.String())
		}
		p.mu.Lock()
		p.end = end
		p.mu.Unlock()
	}()
	return p
}

// webSocketFlag returns the flag that Node 20 needs for a WebSocket.
func webSocketFlag(t testing.TB) []string {
	t.Helper()
	if version := string(run(t, exec.CommandContext(t.Context(), "node", "--version"))); strings.HasPrefix(version, "v20.") {
		return []string{"--experimental-websocket"}
	}
	return nil
}

// begin makes a page and a program follow three jobs.
func (w *world) begin() (ids []string, b tab, followers map[string]follower) {
	w.t.Helper()
	for range 3 {
		id, _ := w.server.Manual(w.t, backEnd, harness.Object{"userId": "u1"})
		ids = append(ids, id)
	}
	b = w.followInTab(ids)
	followers = map[string]follower{"the page": b, "the program": w.followInNode(ids)}
	w.progress(ids, 1)
	w.awaitAll(followers, ids)
	return ids, b, followers
}

// through makes a page and a program follow three jobs through a fault during which the
// jobs continue, and checks that each event is reported once, and in order.
func (w *world) through(fault func(b tab, goOn func())) {
	w.t.Helper()
	ids, b, followers := w.begin()
	fault(b, func() { w.progress(ids, 5) })
	w.progress(ids, 2)
	w.awaitAll(followers, ids)
	w.finish(ids)
	for name, f := range followers {
		harness.Eventually(w.t, name+" to be done", func() bool { return f.outcome() != "" })
		if end := f.outcome(); end != "ended" {
			w.t.Fatalf("%s has failed: %s", name, end)
		}
		for _, id := range ids {
			must.Equal(w.t, w.history(id), f.told()[id], name, "has told other events than there were")
		}
	}
}

// awaitAll waits until all events have been reported.
func (w *world) awaitAll(followers map[string]follower, ids []string) {
	w.t.Helper()
	n := len(w.history(ids[0]))
	for name, f := range followers {
		harness.Eventually(w.t, name+" to tell of what has happened", func() bool {
			if end := f.outcome(); end != "" {
				w.t.Fatalf("%s has ended: %s", name, end)
			}
			told := f.told()
			return !slices.ContainsFunc(ids, func(id string) bool { return len(told[id]) < n })
		})
	}
}

// offline disconnects a page from the network, or reconnects it.
func offline(b tab, is bool) {
	conditions := &network.Conditions{Offline: is, DownloadThroughput: -1, UploadThroughput: -1}
	send(b, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{conditions}})
}

// lifecycle freezes a page, or wakes it.
func lifecycle(b tab, state page.SetWebLifecycleStateState) {
	send(b, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: state})
}

func TestNothingIsMissedOrDoubled(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	faults := []struct {
		name string
		// seconds is how long a token is valid.
		seconds int
		fault   func(w *world, b tab, goOn func())
	}{
		{"the token expires", 2, func(w *world, _ tab, goOn func()) {
			for before := w.tokens.Load(); w.tokens.Load() < before+4; {
				goOn()
			}
		}},
		{"the server is killed and restarts", 600, func(w *world, _ tab, goOn func()) {
			w.restart()
			goOn()
		}},
		{"connections break", 600, func(w *world, _ tab, goOn func()) {
			for range 5 {
				w.proxy.Cut()
				goOn()
			}
		}},
		{"the network is cut and nobody is told", 600, func(w *world, _ tab, goOn func()) {
			before := w.proxy.Accepted()
			w.proxy.Partition()
			goOn()
			harness.Eventually(w.t, "both to give their connections up", func() bool { return w.proxy.Accepted() >= before+2 })
			w.proxy.Heal()
		}},
		{"the tab sleeps", 600, func(w *world, b tab, goOn func()) {
			lifecycle(b, page.SetWebLifecycleStateStateFrozen)
			goOn()
			w.proxy.Cut()
			goOn()
			lifecycle(b, page.SetWebLifecycleStateStateActive)
		}},
		{"the page is offline", 600, func(_ *world, b tab, goOn func()) {
			offline(b, true)
			goOn()
			offline(b, false)
		}},
	}
	for _, c := range faults {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.seconds)
			w.through(func(b tab, goOn func()) { c.fault(w, b, goOn) })
		})
	}
}
