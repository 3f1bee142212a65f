package deploy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/test/harness"
	"ringback/test/markdown"
	"ringback/test/must"
	"ringback/test/rig"
)

// shipped returns a file of deploy/.
func shipped(t *testing.T, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join("../../deploy", name)))(t))
}

// howTo is the document about deploy/.
func howTo(t *testing.T) markdown.Document {
	t.Helper()
	return must.Get(markdown.Documents("../.."))(t)["docs/how-to/deploy.md"]
}

// systemdAnalyze runs systemd's checks of a unit that starts this test's server.
func systemdAnalyze(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd is not installed")
	}
	unit := filepath.Join(t.TempDir(), "ringback.service")
	text := strings.Replace(shipped(t, "ringback.service"), "ExecStart=ringback ", "ExecStart="+harness.Binary()+" ", 1)
	must.OK(t, os.WriteFile(unit, []byte(text), 0o600))
	said, err := exec.Command("systemd-analyze", append(args, unit)...).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze says %s, %v", said, err)
	}
	return string(said)
}

func TestTheUnitIsOneForSystemd(t *testing.T) {
	t.Parallel()
	must.NotContain(t, systemdAnalyze(t, "verify", "--man=no"), "ringback.service")
}

// The documented figure is the one that systemd reports.
func TestTheUnitIsAsHardenedAsDocumented(t *testing.T) {
	t.Parallel()
	said := systemdAnalyze(t, "security", "--offline=true", "--no-pager")
	found := regexp.MustCompile(`exposure level for ringback.service: ([0-9.]+)`).FindStringSubmatch(said)
	if found == nil {
		t.Fatalf("systemd-analyze says %s", said)
	}
	must.Contain(t, string(must.Get(os.ReadFile("../../docs/how-to/deploy.md"))(t)), "rates its exposure at "+found[1]+" of 10")
}

// A server that ends immediately after its start, for example because the disk is full, is restarted until it
// can run. By default, systemd would give up after a few starts in a row.
func TestTheUnitNeverGivesUp(t *testing.T) {
	t.Parallel()
	settings := unitSettings(shipped(t, "ringback.service"))
	must.Equal(t, "always", settings["[Service] Restart"], "Restart: the server is not started again after every end")
	must.Equal(t, "0", settings["[Unit] StartLimitIntervalSec"], "StartLimitIntervalSec: systemd gives up after a few starts in a row")
	if pause, err := strconv.Atoi(settings["[Service] RestartSec"]); err != nil || pause < 1 || pause > 10 {
		t.Errorf("RestartSec=%s: want between 1 and 10 s between starts", settings["[Service] RestartSec"])
	}
}

// Settings of the document can be copied into the file that the package's service reads: systemd takes all of a line
// after its equals sign, also what the program and a shell take for a comment.
func TestTheDocumentedSettingsAreTheSameForSystemd(t *testing.T) {
	t.Parallel()
	files := map[string]string{".env.example": string(must.Get(os.ReadFile("../../.env.example"))(t))}
	for name, document := range must.Get(markdown.Documents("../.."))(t) {
		for _, b := range document.Blocks {
			if strings.HasPrefix(b.File, ".env") {
				files[name] += b.Text
			}
		}
	}
	for name, text := range files {
		for line := range strings.Lines(text) {
			if setting, comment, _ := strings.Cut(strings.TrimSpace(line), " #"); setting != "" && setting[0] != '#' {
				must.Equal(t, "", comment, name, "has a comment after", setting)
			}
		}
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

// The server as configured in the docs, behind the proxy of compose.yaml: people and back ends connect by TLS
// and keep their own addresses, and callbacks do not pass it.
func TestTheProxyPassesOnWhatItShould(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("caddy"); err != nil && os.Getenv("CI") == "" {
		t.Skip("caddy is not installed: run make deps")
	}
	dir := t.TempDir()
	for _, b := range howTo(t).Blocks {
		if b.File == ".env" {
			rig.WriteFiles(t, dir, map[string]string{".env": strings.Replace(b.Text, "jobs.example.com", "localhost", 1)})
		}
	}
	made := exec.Command(harness.Binary(), "key", "shop", "--file", "api-keys")
	made.Dir = dir
	key := strings.TrimSpace(string(must.Get(made.Output())(t)))
	behind, callbacks := harness.FreePorts(t)
	n := rig.StartIn(t, dir, vars{"DATA_DIR": "data", "CLAUDE_BIN": "simulate", "LISTEN_ADDR": "127.0.0.1:" + behind, "CALLBACK_LISTEN_ADDR": "127.0.0.1:" + callbacks})
	proxy := "127.0.0.1:" + harness.FreePort(t)
	site := "https://localhost:" + strings.TrimPrefix(proxy, "127.0.0.1:")
	authority := startCaddy(t, site, "127.0.0.1:"+behind)

	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 9)}}).DialContext(ctx, network, proxy)
	}
	trusted := &tls.Config{RootCAs: x509.NewCertPool()}
	must.Eventually(t, "the authority of the proxy", func() bool {
		text, err := os.ReadFile(authority)
		return err == nil && trusted.RootCAs.AppendCertsFromPEM(text)
	})
	auth := "Bearer " + key
	browser := &http.Client{Transport: &http.Transport{DialContext: dial, TLSClientConfig: trusted}, Timeout: must.Patience}
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

	conn, resp, err := (&websocket.Dialer{NetDialContext: dial, TLSClientConfig: trusted}).Dial("wss"+strings.TrimPrefix(site, "https")+"/ws?userId=u1", http.Header{"Authorization": {auth}})
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

	n.Stop(t, syscall.SIGTERM)
	resp = must.Get(browser.Get(site + "/api/jobs"))(t)
	resp.Body.Close()
	must.Equal(t, "5", resp.Header.Get("Retry-After"), "while no node can answer, clients are to try again", resp.Status)
}

// startCaddy starts the proxy for two nodes, of which the second one is not there. It returns the certificate of the
// authority that signs the site's.
func startCaddy(t *testing.T, site, node string) (authority string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "Caddyfile")
	text := strings.NewReplacer("node1:3001", node, "node2:3001", "127.0.0.1:1").Replace(shipped(t, "Caddyfile"))
	must.OK(t, os.WriteFile(file, []byte("{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n"+text), 0o600))
	log := harness.NewLog(t)
	caddy := exec.Command("caddy", "run", "--config", file, "--adapter", "caddyfile")
	caddy.Env, caddy.Stdout, caddy.Stderr = []string{"HOME=" + dir, "DOMAIN=" + site}, log.File, log.File
	must.OK(t, caddy.Start())
	t.Cleanup(func() {
		_ = caddy.Process.Kill()
		_ = caddy.Wait()
		if t.Failed() {
			t.Logf("the proxy's log:\n%s", log)
		}
	})
	return filepath.Join(dir, ".local/share/caddy/pki/authorities/local/root.crt")
}
