package workspace_test

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ringback/internal/job"
	"ringback/internal/outbound"
	"ringback/internal/turn/workspace"
	"ringback/test/must"
)

// host is a host of repositories that requires a login under /private/.
type host struct {
	*httptest.Server
	mu     sync.Mutex
	logins []string
	// environ is the environment of a server whose user has logins for it in every way that git
	// supports.
	environ []string
}

func newHost(t *testing.T) *host {
	t.Helper()
	return hostOf(t, repo(t, map[string]string{"a": "a\n"}))
}

// hostOf returns a host of the repository at a path.
func hostOf(t *testing.T, bare string) *host {
	t.Helper()
	exe := must.Get(exec.Command("git", "--exec-path").Output())(t)
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(exe)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + filepath.Dir(bare), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=x", "PATH=" + os.Getenv("PATH")},
	}
	h := &host{}
	h.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, ok := r.BasicAuth()
		if ok {
			h.mu.Lock()
			h.logins = append(h.logins, user+":"+password)
			h.mu.Unlock()
		}
		if strings.HasPrefix(r.URL.Path, "/away/") {
			http.Redirect(w, r, h.URL+strings.TrimPrefix(r.URL.Path, "/away")+"?"+r.URL.RawQuery, http.StatusFound)
			return
		}
		if rest, private := strings.CutPrefix(r.URL.Path, "/private/"); private {
			if !ok {
				w.Header().Add("WWW-Authenticate", `Basic realm="x"`)
				w.Header().Add("WWW-Authenticate", `Negotiate`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			r.URL.Path = "/" + rest
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	home := t.TempDir()
	name := strings.TrimPrefix(h.URL, "https://127.0.0.1")
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw}))
	for path, text := range map[string]string{
		"ca.pem": ca, ".netrc": "machine 127.0.0.1 login netrc password hunter2\n", ".git-credentials": "https://store:hunter2@127.0.0.1" + name + "\n",
		".gitconfig": "[credential]\n\thelper = store\n[http]\n\textraHeader = X-Token: hunter2\n", "askpass": "#!/bin/sh\necho askpass\n",
	} {
		write(t, filepath.Join(home, path), text)
	}
	must.OK(t, os.Chmod(filepath.Join(home, "askpass"), 0o700))
	h.environ = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_SSL_CAINFO=" + filepath.Join(home, "ca.pem"), "GIT_ASKPASS=" + filepath.Join(home, "askpass"), "SSH_ASKPASS=" + filepath.Join(home, "askpass"),
		"GITHUB_TOKEN=hunter2", "GH_TOKEN=hunter2", "GIT_CONFIG_PARAMETERS='http.followRedirects=true'",
	}
	return h
}

func (h *host) loggedIn() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.logins
}

// prepare clones one repository of a request.
func (h *host) prepare(t *testing.T, requests outbound.Policy, r job.Repository) (*workspace.Workspace, error) {
	t.Helper()
	named, err := workspace.Named([]job.Repository{r})
	must.OK(t, err)
	w := workspace.Root{Dir: t.TempDir(), Environ: h.environ, Requests: requests}.Of("req_1", named)
	_, err = w.Prepare(t.Context(), func(string) {})
	return w, err
}

func TestLoginsAreForThoseWhoMayUseThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		requests outbound.Policy
		asked    job.Repository
		path     string
		cloned   bool
		login    bool
	}{
		"a public repository":               {outbound.Policy{Private: true}, job.Repository{FromRequest: true}, "/service.git", true, false},
		"a private one of a request":        {outbound.Policy{Private: true}, job.Repository{FromRequest: true}, "/private/service.git", false, false},
		"one that the kind lets log in":     {outbound.Policy{Private: true}, job.Repository{FromRequest: true, Logins: true}, "/private/service.git", true, true},
		"of the person at the machine":      {outbound.Policy{Private: true, Open: true}, job.Repository{FromRequest: true}, "/private/service.git", true, true},
		"one of the kind's own":             {outbound.Policy{}, job.Repository{}, "/private/service.git", true, true},
		"a redirect":                        {outbound.Policy{Private: true}, job.Repository{FromRequest: true}, "/away/service.git", false, false},
		"a redirect, with logins":           {outbound.Policy{Private: true}, job.Repository{FromRequest: true, Logins: true}, "/away/private/service.git", false, false},
		"an address that is not public":     {outbound.Policy{Open: true}, job.Repository{FromRequest: true}, "/service.git", false, false},
		"the same, though the kind logs in": {outbound.Policy{}, job.Repository{FromRequest: true, Logins: true}, "/service.git", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			c.asked.URL = h.URL + c.path
			w, err := h.prepare(t, c.requests, c.asked)
			must.Equal(t, c.cloned, err == nil, "it ended with", err)
			if _, isRemotes := errors.AsType[*workspace.CloneError](err); err != nil && !isRemotes {
				t.Errorf("this machine is blamed for %v", err)
			}
			if got := h.loggedIn(); (len(got) > 0) != c.login {
				t.Errorf("it logged in as %v", got)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error is %v", err)
			}
			if c.cloned && name == "a public repository" {
				write(t, filepath.Join(w.Dir(), "service", "b"), "b\n")
				must.NotContain(t, published(t, w, workspace.PublishOptions{MayFunc: may, Report: ignore, RequestID: "req_1", Message: "x", Commands: []string{"! env | grep -q hunter2"}})[0].Error, "hunter2")
				if got := h.loggedIn(); len(got) > 0 {
					t.Errorf("the push logged in as %v", got)
				}
			}
		})
	}
}

// Requests that may not use the server's logins have separate mirrors.
func TestOneRequestSeesNothingOfWhatAnotherMayReach(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	root := workspace.Root{Dir: t.TempDir(), Environ: h.environ, Requests: outbound.Policy{Private: true}}
	url := h.URL + "/private/service.git"
	first := root.Of("req_1", []job.Repository{{URL: url, Name: "service", FromRequest: true, Logins: true}})
	must.Get(first.Prepare(t.Context(), func(string) {}))(t)
	second := root.Of("req_2", []job.Repository{{URL: url, Name: "service", FromRequest: true}})
	if _, err := second.Prepare(t.Context(), func(string) {}); err == nil {
		t.Error("it was cloned")
	}
}

// A password in the address of a kind's repository is used, but appears in no argument and no file.
func TestPasswordsOfKindsAreNotSeen(t *testing.T) {
	h := newHost(t)
	bin, seen := t.TempDir(), filepath.Join(t.TempDir(), "arguments")
	real := must.Get(exec.LookPath("git"))(t)
	executable(t, filepath.Join(bin, "git"), fmt.Sprintf("#!/bin/sh\necho \"$*\" >> %s\nexec %s \"$@\"\n", seen, real))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH")) // git is found on the server's own PATH
	h.environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), h.environ[2]}
	root := workspace.Root{Dir: t.TempDir(), Environ: h.environ}
	for _, id := range []string{"req_1", "req_2"} { // cloned first, then fetched
		w := root.Of(id, []job.Repository{{URL: strings.Replace(h.URL, "https://", "https://kind:s3cr%2Ft@", 1) + "/private/service.git", Name: "service"}})
		must.Get(w.Prepare(t.Context(), func(string) {}))(t)
	}
	if got := h.loggedIn(); len(got) == 0 || got[0] != "kind:s3cr/t" {
		t.Errorf("it logged in as %v", got)
	}
	text, err := os.ReadFile(seen)
	if err != nil || !strings.Contains(string(text), "service.git") || strings.Contains(string(text), "s3cr") {
		t.Errorf("git was called with %s %v", text, err)
	}
	if found, _ := exec.Command("grep", "-rl", "s3cr", root.Dir).Output(); len(found) > 0 {
		t.Errorf("it stands in %s", found)
	}
}

// ssh connects to a checked address, even if its configuration defines an alias for the host.
func TestSSHIsPinned(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ address, config, want string }{
		"an address":              {"git@140.82.121.3:org/x.git", "", "-o HostName=140.82.121.3 -o HostKeyAlias=140.82.121.3"},
		"a port":                  {"ssh://git@140.82.121.3:2222/org/x.git", "", "-o HostName=140.82.121.3 -o HostKeyAlias=[140.82.121.3]:2222 "},
		"an alias":                {"git@gitlab:org/x.git", "Host gitlab\nHostName 140.82.121.4\nPort 443\n", "-o HostName=140.82.121.4 -o HostKeyAlias=[140.82.121.4]:443"},
		"an alias for a private":  {"git@prod:org/x.git", "Host prod\nHostName 10.0.0.1\n", ""},
		"a name of this machine":  {"git@ip6-localhost:org/x.git", "", ""},
		"a name that nobody has":  {"git@no-such-host.invalid:org/x.git", "", ""},
		"an alias for everything": {"git@any.example:org/x.git", "Host *\nHostName 127.0.0.1\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			write(t, filepath.Join(home, "config"), c.config)
			seen := filepath.Join(home, "seen")
			ssh := filepath.Join(home, "ssh")
			executable(t, ssh, "#!/bin/sh\ncase \" $* \" in *' -G '*) exec ssh -F "+filepath.Join(home, "config")+" \"$@\" ;; esac\necho \" $*\" >> "+seen+"\nexit 1\n")
			h := &host{environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_SSH_COMMAND=" + ssh + " -o BatchMode=yes"}}
			_, err := h.prepare(t, outbound.Policy{}, job.Repository{URL: c.address, FromRequest: true, Logins: true})
			if err == nil {
				t.Fatal("it was cloned")
			}
			text, _ := os.ReadFile(seen)
			if c.want == "" && len(text) > 0 || !strings.Contains(string(text), c.want) {
				t.Errorf("ssh was called with %q: %v", text, err)
			}
			must.NotContain(t, err.Error(), "10.0.0.1", "it says what a name stands for")
		})
	}
}
