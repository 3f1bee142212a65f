package outbound_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/outbound"
	"ringback/test/must"
)

func TestRepositoriesAreRead(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]outbound.Repository{
		"https://github.com/org/service.git":        {Transport: outbound.HTTPS, Host: "github.com", Port: 443, Path: "/org/service.git"},
		"https://GitHub.com:8443/org/service":       {Transport: outbound.HTTPS, Host: "github.com", Port: 8443, Path: "/org/service"},
		"https://dev.azure.com/o/My%20Project/_git": {Transport: outbound.HTTPS, Host: "dev.azure.com", Port: 443, Path: "/o/My Project/_git"},
		"https://[2606:4700::1111]/x":               {Transport: outbound.HTTPS, Host: "2606:4700::1111", Port: 443, Path: "/x"},
		"git@github.com:org/service.git":            {Transport: outbound.SSH, Host: "github.com", Port: 22, Path: "/org/service.git"},
		"github.com:org/service.git":                {Transport: outbound.SSH, Host: "github.com", Port: 22, Path: "/org/service.git"},
		"ssh://git@gitlab.com:2222/group/sub/x.git": {Transport: outbound.SSH, Host: "gitlab.com", Port: 2222, Path: "/group/sub/x.git"},
		"/srv/git/service.git":                      {Transport: outbound.Path, Path: "/srv/git/service.git"},
		"file:///srv/git/service.git":               {Transport: outbound.Path, Path: "/srv/git/service.git"},
		"../service.git":                            {Transport: outbound.Path, Path: "../service.git"},
		"/srv/a:b/ü":                                {Transport: outbound.Path, Path: "/srv/a:b/ü"},
	} {
		got, err := outbound.ParseRepository(address)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v %s", address, err, d)
		}
	}
}

// An address that two programs could read differently is rejected.
func TestAmbiguousRepositoriesAreRefused(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"ext::sh -c id", "EXT::sh -c id", "fd::17", "transport::https://github.com/x", "git://github.com/x", "ftp://github.com/x", "git+ssh://github.com/x", "HTTPS://github.com/x", "Http://github.com/x",
		"file://host/etc", "file:///%65tc", "file://", "https:///x", "https://", "https:github.com/x", "https:/github.com/x", "https:\\\\github.com\\x", "https://github.com\\@127.0.0.1/x",
		"https://user:hunter2@github.com/x", "https://token@github.com/x", "https://:x@github.com/x", "https://a@b@github.com/x", "ssh://git:hunter2@github.com/x", "https://@github.com/x",
		"ssh://-oProxyCommand=id/x", "ssh://-oProxyCommand=id@github.com/x", "-oProxyCommand=id:x", "git@-oProxyCommand=id:x", "ssh://git@github.com:-1/x", "git@github.com:-x",
		"https://127.1/x", "https://2130706433/x", "https://0x7f000001/x", "https://0x7f.1/x", "https://0177.0.0.1/x", "https://127.0.0.01/x", "https://127.0.0.1./x", "https://localhost./x", "https://1.0x1/x",
		"https://%31%32%37.0.0.1/x", "https://127%2e0.0.1/x", "https://①②⑦.0.0.1/x", "https://127。0.0.1/x", "https://loc\u00adalhost/x", "https://ⅼocalhost/x", "https://github.com%00.evil/x",
		"https://[::ffff:127.0.0.1%25lo]/x", "https://[0:0:0:0:0:0:0:1]/x", "https://[::FFFF:7f00:1]/x", "https://[127.0.0.1]/x", "https://::1/x", "https://[::1/x", "https://github..com/x", "https://.github.com/x",
		"https://github.com:0/x", "https://github.com:00443/x", "https://github.com:99999/x", "https://github.com:443:22/x", "https://github.com:/x",
		"https://github.com/org/../evil", "https://github.com/org/%2e%2e/evil", "https://github.com/org/.%2E/evil", "https://github.com/org/%252e%252e/evil", "https://github.com/x?y=z", "https://github.com/x#y", "https://github.com/a\\b",
		"git@github.com:../../evil", "https://github.com/x\ny", "https://github.com/\x00", "git@github.com:x\r", "https://github.com", "git@[::1]:x", "git@host:",
	} {
		if r, err := outbound.ParseRepository(address); err == nil {
			t.Errorf("%q is read as %+v", address, r)
		}
	}
}

func TestPolicyOfRepositories(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	data, repos := filepath.Join(top, "data"), filepath.Join(top, "repos")
	for _, dir := range []string{data, filepath.Join(repos, "service.git"), repos + "-beside"} {
		must.OK(t, os.MkdirAll(dir, 0o700))
	}
	for link, to := range map[string]string{"out": top, "data": data, "etc": "/etc"} {
		must.OK(t, os.Symlink(to, filepath.Join(repos, link)))
	}
	open := outbound.Policy{Open: true, Data: data}
	closed := outbound.Policy{Data: data}
	pathed := outbound.Policy{Data: data, Paths: []string{repos}}
	private := outbound.Policy{Data: data, Private: true}
	for _, c := range []struct {
		name    string
		policy  outbound.Policy
		address string
		logins  bool
		allowed bool
	}{
		{"a public host", closed, "https://github.com/org/x", false, true},
		{"a public address", closed, "https://140.82.121.3/org/x", false, true},
		{"loopback", open, "https://127.0.0.1/x", false, false},
		{"loopback, allowed", private, "https://127.0.0.1/x", false, true},
		{"localhost", open, "https://LocalHost:3001/x", false, false},
		{"a name below localhost", open, "https://a.localhost/x", false, false},
		{"a private network", open, "https://10.1.2.3/x", false, false},
		{"link-local", open, "https://169.254.169.254/x", false, false},
		{"an IPv4 address within IPv6", open, "https://[::ffff:127.0.0.1]/x", false, false},
		{"another within IPv6", open, "https://[::7f00:1]/x", false, false},
		{"NAT64", open, "https://[64:ff9b::7f00:1]/x", false, false},
		{"unique local", open, "https://[fd00::1]/x", false, false},
		{"everything", open, "https://0.0.0.0/x", false, false},
		{"the named kind does not help it", closed, "https://127.0.0.1/x", true, false},
		{"http", open, "http://github.com/x", false, false},
		{"http, allowed", private, "http://github.com/x", false, true},
		{"ssh by whoever is at the machine", open, "git@github.com:org/x", false, true},
		{"ssh", closed, "git@github.com:org/x", false, false},
		{"ssh, named by the kind", closed, "ssh://git@github.com/org/x", true, true},
		{"ssh to loopback", open, "git@127.0.0.1:x", true, false},
		{"a path", open, filepath.Join(repos, "service.git"), false, true},
		{"a path as an URL", open, "file://" + filepath.Join(repos, "service.git"), false, true},
		{"a path of the server's data", open, filepath.Join(data, "mirrors", "x"), false, false},
		{"the same by dots", open, filepath.Join(repos, "service.git") + "/../../data/mirrors", false, false},
		{"the same by a link", open, filepath.Join(repos, "data", "mirrors"), false, false},
		{"a repository that the server was started in", open, top, false, true},
		{"a path where none are allowed", closed, filepath.Join(repos, "service.git"), false, false},
		{"nor by a kind", closed, filepath.Join(repos, "service.git"), true, false},
		{"a path where such are allowed", pathed, filepath.Join(repos, "service.git"), false, true},
		{"a path beside it", pathed, repos + "-beside", false, false},
		{"a path that a link leads to", pathed, filepath.Join(repos, "etc", "x"), false, false},
		{"dots out of it", pathed, repos + "/../repos-beside", false, false},
		{"a path from nowhere", pathed, "service.git", false, false},
	} {
		if fault := c.policy.Fault(c.address, c.logins); (fault == "") != c.allowed {
			t.Errorf("%s: %s: %q", c.name, c.address, fault)
		}
	}
}

func TestHostsOfCredentials(t *testing.T) {
	t.Parallel()
	hosts := []string{"github.com/org", "git.example.com", "git.example.com:8443/a"}
	for address, want := range map[string]bool{
		"https://github.com/org/x": true, "git@GitHub.com:org/x.git": true, "ssh://git@github.com:22/org/x": true, "https://github.com/org": true, "https://git.example.com/any/x": true, "https://git.example.com:8443/a/x": true,
		"https://github.com/organisation/x": false, "https://github.com/ORG/x": false, "https://github.com/other/x": false, "https://github.com:8443/org/x": false, "https://git.example.com:8443/b/x": false,
		"https://github.com.evil.example/org/x": false, "https://evil.example/github.com/org/x": false, "https://github.com/org/../other/x": false, "http://github.com/org/x": false, "/github.com/org/x": false,
		"https://github.com//org/x": true, "https://notgithub.com/org/x": false, "https://www.github.com/org/x": false,
	} {
		must.Equal(t, want, outbound.Covers(hosts, address), address)
	}
	for named, good := range map[string]bool{
		"github.com": true, "github.com/org": true, "git.example.com:8443/a": true, "": false, "*": false, "https://github.com": false, "*.example.com": false, "user@github.com": false, "github.com/org/..": false,
	} {
		must.Equal(t, good, outbound.HostFault(named) == "", named)
	}
}
