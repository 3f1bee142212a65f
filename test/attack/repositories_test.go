package attack

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"ringback/test/harness"
	"ringback/test/must"
)

// trap is a listener on loopback that no request may be led to.
type trap struct {
	port  string
	calls atomic.Int32
}

func newTrap(t *testing.T) *trap {
	t.Helper()
	trap := &trap{}
	for _, address := range []string{"127.0.0.1:0", "[::1]:"} {
		l, err := net.Listen("tcp", address+strings.TrimPrefix(trap.port, ":"))
		if err != nil {
			continue // this machine does not support IPv6
		}
		_, trap.port, _ = net.SplitHostPort(l.Addr().String())
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				trap.calls.Add(1)
				_ = c.Close()
			}
		}()
	}
	return trap
}

// leads requests a change of a repository, and waits until it is rejected or has failed. It
// returns the messages.
func leads(t *testing.T, s *harness.Server, kind, address string, header map[string]string) string {
	t.Helper()
	status, answer := harness.Send(t, s.URL, harness.Request{Method: "POST", Path: "/api/jobs", Header: header, Body: harness.Object{
		"kind": kind, "userId": "u1", "input": harness.Object{"prompt": "x", "repos": []any{harness.Object{"url": address}}},
	}})
	if status != http.StatusAccepted {
		return fmt.Sprint(answer)
	}
	id, _ := answer["requestId"].(string)
	harness.Eventually(t, "the job with "+address+" to end", func() bool {
		answer = s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id, Header: header})
		if state := answer["status"]; state == "awaiting_approval" || state == "received" {
			t.Fatalf("%s was cloned", address)
		}
		return answer["status"] == "failed"
	})
	return fmt.Sprint(answer["error"])
}

// No spelling of an address leads git into the server's network.
func TestRepositoriesLeadNowhereWithin(t *testing.T) {
	t.Parallel()
	trap := newTrap(t)
	s := harness.Start(t, harness.Vars{"RETRY_BACKOFF": "1ms", "WORKERS": "8"}, nil)
	for _, host := range []string{
		"127.0.0.1", "localhost", "LOCALHOST", "localhost.", "a.localhost", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7F.0.0.1", "0177.0.0.1", "017700000001", "127.0.0.1.", "0", "0.0.0.0", "[::1]", "[::]",
		"[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::7f00:1]", "[64:ff9b::7f00:1]", "%31%32%37.0.0.1", "127。0.0.1", "①②⑦.⓪.⓪.①", "ⅼocalhost", "user@127.0.0.1", "github.com@127.0.0.1", "github.com%40127.0.0.1",
		"127.0.0.1\\@github.com", "github.com#@127.0.0.1", "ip6-localhost", "127.0.0.1%09", "169.254.169.254", "10.0.0.1", "100.64.0.1", "[fe80::1]", "[fd00::1]",
	} {
		for _, address := range []string{"https://" + host + ":" + trap.port + "/x.git", "http://" + host + ":" + trap.port + "/x.git", "git://" + host + ":" + trap.port + "/x.git", "ssh://" + host + ":" + trap.port + "/x.git"} {
			if strings.HasPrefix(address, "ssh://") && host == "ip6-localhost" {
				continue // tested with ssh below
			}
			leads(t, s, "code-change", address, nil)
		}
	}
	for _, address := range []string{
		"git@127.0.0.1:x", "git@localhost:x", "git@ip6-localhost:x", "localhost:x", "ssh://git@ip6-localhost/x", "git@2130706433:x",
	} {
		leads(t, s, "code-change", address, nil)
	}
	if n := trap.calls.Load(); n != 0 {
		t.Errorf("it was called %d times", n)
	}
}

// No spelling of an address runs a program, or reads anything but a repository that the
// caller may name.
func TestRepositoriesRunAndReadNothing(t *testing.T) {
	t.Parallel()
	ran := filepath.Join(t.TempDir(), "ran")
	const secret, key = "the secret that signs the tokens of users", "the-key-of-a-back-end"
	allowed := t.TempDir()
	s := harness.Start(t, harness.Vars{"API_KEYS": key, "JWT_SECRET": secret, "REPOSITORY_PATHS": allowed, "RETRY_BACKOFF": "1ms"}, nil)
	must.OK(t, os.Symlink("/", filepath.Join(allowed, "root")))
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": "u1", "exp": time.Now().Add(time.Hour).Unix()}).SignedString([]byte(secret))
	must.OK(t, err)
	other := t.TempDir()
	if out, err := exec.Command("git", "init", "--quiet", "--bare", filepath.Join(other, "x.git")).CombinedOutput(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	for who, credential := range map[string]string{"a back end": key, "a person": token} {
		for _, address := range []string{
			"ext::sh -c touch% " + ran, "EXT::sh -c touch% " + ran, "ext::touch " + ran, "fd::0", "https::ext::touch " + ran, "--upload-pack=touch " + ran, "-utouch " + ran, "-c core.sshCommand=touch",
			"ssh://-oProxyCommand=touch " + ran + "/x", "ssh://-oProxyCommand=touch$IFS" + ran + "@x/x", "-oProxyCommand=touch " + ran + ":x", "git@-oProxyCommand=touch:x", "ssh://git@x:-oProxyCommand/x", "git@github.com:-oProxyCommand=touch",
			"ssh://git@github.com/$(touch " + ran + ")", "git@github.com:`touch " + ran + "`", "git@github.com:x;touch " + ran, "https://github.com/x;touch", "https://$(touch " + ran + ")/x",
			other + "/x.git", "file://" + other + "/x.git", "file://localhost" + other + "/x.git", "FILE://" + other + "/x.git", "//" + other + "/x.git", allowed + "/../" + filepath.Base(other) + "/x.git", allowed + "/root" + other + "/x.git", "file://" + allowed + "/root" + other + "/x.git",
			s.Dir, filepath.Join(s.Dir, "mirrors"), allowed + "/root" + s.Dir, "/proc/self/cwd", "~/.ssh", "./x", "../x", ".", "/", "x",
			"git@github.com:org/x", "ssh://git@github.com/org/x", // callers may not use the server's key
		} {
			said := leads(t, s, "code-change", address, map[string]string{"Authorization": "Bearer " + credential})
			if said == "" {
				t.Errorf("%s: %s: nothing is said", who, address)
			}
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program ran")
	}
}

// A password in an address is never disclosed.
func TestPasswordsInAddressesAreNotKept(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Vars{"LOG_LEVEL": "DEBUG", "RETRY_BACKOFF": "1ms"}, nil)
	for _, address := range []string{
		"https://user:hunter2@github.com/org/x.git", "https://hunter2@github.com/org/x.git", "https://:hunter2@github.com/x", "https://user:hunter2@@github.com/x", "https://us%65r:hunter%32hunter2@github.com/x",
		"http://user:hunter2@github.com/x", "ssh://git:hunter2@github.com/x", "git://user:hunter2@github.com/x", "ftp://user:hunter2@github.com/x", "HTTPS://user:hunter2@github.com/x", "https:/user:hunter2@github.com/x", "https:user:hunter2@github.com/x",
		"user:hunter2@github.com:x", "https://user:hunter2@127.0.0.1/x", "https://user:hunter2@[::1]/x", "https://user:hunter2@github.com", "https://github.com/x?token=hunter2", "https://github.com/x#hunter2", "https://user:pass/hunter2@github.com/x",
	} {
		if said := leads(t, s, "code-change", address, nil); strings.Contains(said, "hunter2") {
			t.Errorf("%s is answered %s", address, said)
		}
	}
	for _, place := range []string{s.URL + "/api/jobs", s.URL + "/api/sessions/s1/messages", s.OperatorURL + "/metrics"} {
		text := harness.Exchange(t, place, harness.Request{Method: http.MethodGet}).Text
		must.NotContain(t, text, "hunter2", place)
	}
	if strings.Contains(s.Log.String(), "hunter2") {
		t.Error("it is in the log")
	}
	if found, _ := exec.Command("grep", "-rl", "hunter2", s.Dir).Output(); len(found) > 0 {
		t.Errorf("it stands in %s", found)
	}
}
