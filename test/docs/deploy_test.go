package docs

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

// deployed returns the code block of the deployment document that contains a text.
func deployed(t *testing.T, says string) string {
	t.Helper()
	for _, b := range documents(t)["docs/how-to/deploy.md"].Blocks {
		if strings.Contains(b.Text, says) {
			return b.Text
		}
	}
	t.Fatalf("docs/how-to/deploy.md has no block with %s", says)
	return ""
}

func TestTheUnitOfTheDocsIsOneForSystemd(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd is not installed")
	}
	unit := filepath.Join(t.TempDir(), "ringback.service")
	text := strings.Replace(deployed(t, "[Service]"), "/usr/local/bin/ringback", harness.Binary(), 1)
	must.OK(t, os.WriteFile(unit, []byte(text), 0o600))
	if said, err := exec.Command("systemd-analyze", "verify", "--man=no", unit).CombinedOutput(); err != nil || strings.Contains(string(said), unit) {
		t.Errorf("systemd says %s, %v", said, err)
	}
}

// A server that ends immediately after its start, for example because the disk is full, is
// restarted until it can run. By default, systemd would give up after a few starts in a
// row.
func TestTheUnitOfTheDocsNeverGivesUp(t *testing.T) {
	t.Parallel()
	settings := unitSettings(deployed(t, "[Service]"))
	must.Equal(t, "always", settings["[Service] Restart"], "Restart: the server is not started again after every end")
	must.Equal(t, "0", settings["[Unit] StartLimitIntervalSec"], "StartLimitIntervalSec: systemd gives up after a few starts in a row")
	if pause, err := strconv.Atoi(settings["[Service] RestartSec"]); err != nil || pause < 1 || pause > 10 {
		t.Errorf("RestartSec=%s: want between 1 and 10 s between starts", settings["[Service] RestartSec"])
	}
}

// unitSettings returns the settings of a systemd unit by "[Section] Name".
func unitSettings(unit string) map[string]string {
	settings, section := map[string]string{}, ""
	for line := range strings.Lines(unit) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		} else if name, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			settings[section+" "+name] = value
		}
	}
	return settings
}

// The server and the proxy as configured in the docs: people and back ends connect through
// the proxy and keep their own addresses, and callbacks do not pass it.
func TestTheProxyOfTheDocsPassesOnWhatItShould(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("caddy"); err != nil && os.Getenv("CI") == "" {
		t.Skip("caddy is not installed: run make deps")
	}
	dir := t.TempDir()
	rig.WriteFiles(t, dir, map[string]string{".env": deployed(t, "TRUSTED_PROXIES=")})
	made := exec.Command(harness.Binary(), "key", "shop", "--file", "api-keys")
	made.Dir = dir
	key := must.Get(made.Output())(t)
	auth := "Bearer " + strings.TrimSpace(string(key))
	behind, callbacks := harness.FreePorts(t)
	n := rig.StartIn(t, dir, vars{"DATA_DIR": "data", "CLAUDE_BIN": "simulate", "LISTEN_ADDR": "127.0.0.1:" + behind, "CALLBACK_LISTEN_ADDR": "127.0.0.1:" + callbacks})
	proxy := "127.0.0.1:" + harness.FreePort(t)
	startCaddy(t, strings.NewReplacer("jobs.example.com", "http://jobs.example.com:"+strings.TrimPrefix(proxy, "127.0.0.1:"), "127.0.0.1:3001", "127.0.0.1:"+behind).Replace(deployed(t, "reverse_proxy")))

	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 9)}}).DialContext(ctx, network, proxy)
	}
	browser := &http.Client{Transport: &http.Transport{DialContext: dial}, Timeout: must.Patience}
	site := "http://jobs.example.com:" + strings.TrimPrefix(proxy, "127.0.0.1:")
	send := func(method, path, credential, body string) int {
		req := must.Get(http.NewRequestWithContext(t.Context(), method, site+path, strings.NewReader(body)))(t)
		req.Header = http.Header{"Authorization": {credential}, "Content-Type": {"application/json"}}
		resp, err := browser.Do(req)
		if err != nil {
			return 0
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	must.Eventually(t, "the proxy to be there", func() bool { return send("GET", "/readyz", "", "") == http.StatusOK })

	conn, resp, err := (&websocket.Dialer{NetDialContext: dial}).Dial("ws"+strings.TrimPrefix(site, "http")+"/ws?userId=u1", http.Header{"Authorization": {auth}})
	must.OK(t, err)
	resp.Body.Close()
	defer conn.Close()
	must.Equal(t, http.StatusAccepted, send("POST", "/api/jobs", auth, `{"kind": "meal-suggestions", "userId": "u1", "input": `+rig.JSON(rig.MealInput())+`}`), "a job was answered")
	_ = conn.SetReadDeadline(time.Now().Add(must.Patience))
	for ended := false; !ended; {
		var frame object
		must.OK(t, conn.ReadJSON(&frame))
		ended = frame["event"] == "recipes:suggestions:received"
	}
	for path, want := range map[string]int{"/api/claude/progress": http.StatusNotFound, "/api/jobs": http.StatusUnauthorized} {
		must.Equal(t, want, send("POST", path, "", "{}"), path, "was answered")
	}
	must.Eventually(t, "the log to name who was turned away", func() bool { return strings.Contains(n.Log.String(), "address=127.0.0.9") })
}

func startCaddy(t *testing.T, text string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "Caddyfile")
	must.OK(t, os.WriteFile(file, []byte("{\n\tadmin off\n}\n"+text), 0o600))
	log := harness.NewLog(t)
	caddy := exec.Command("caddy", "run", "--config", file, "--adapter", "caddyfile")
	caddy.Env, caddy.Stdout, caddy.Stderr = []string{"HOME=" + dir}, log.File, log.File
	must.OK(t, caddy.Start())
	t.Cleanup(func() {
		_ = caddy.Process.Kill()
		_ = caddy.Wait()
		if t.Failed() {
			t.Logf("the proxy's log:\n%s", log)
		}
	})
}
