package console

import (
	"net/url"
	"testing"

	"ringback/test/must"
)

// The page of a link shows its target in ASCII, as browsers send it, and whether that is on the
// host of this server.
func TestWhereALinkLeads(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]leaveView{
		"https://a.example/x?y=1#z": {Before: "https://", Host: "a.example", Behind: "/x?y=1#z", Address: "https://a.example/x?y=1#z"},
		"http://A.example:8080":     {Before: "http://", Host: "a.example:8080", Address: "http://a.example:8080", Plain: true},
		"https://аррle.example/":    {Before: "https://", Host: "xn--le-5cd2c6a.example", Behind: "/", Address: "https://xn--le-5cd2c6a.example/", Written: "аррle.example"},
		"https://a.example@b.example/a.example": {
			Before: "https://a.example@", Host: "b.example", Behind: "/a.example", Address: "https://a.example@b.example/a.example", User: "a.example",
		},
		"https://a.example/\u202egnp.exe": {Before: "https://", Host: "a.example", Behind: "/%E2%80%AEgnp.exe", Address: "https://a.example/%E2%80%AEgnp.exe"},
	} {
		to := must.Get(url.Parse(address))(t)
		got, _ := newLeave(to, "localhost:3001")
		if want.Written != "" { // any ASCII form is accepted
			want.Host, want.Address = got.Host, want.Before+got.Host+want.Behind
			for _, r := range got.Host {
				if r > 127 {
					t.Errorf("%s: the host is %q", address, got.Host)
				}
			}
		}
		must.Equal(t, want, got, address)
	}
	for host, own := range map[string]string{
		"http://localhost:9999/": "localhost:3001", "http://LOCALHOST.:1/": "localhost", "http://127.0.0.1/": "localhost:3001", "http://[::1]:5/": "127.0.0.1:3001",
		"http://x.localhost/": "localhost:3001", "http://2130706433/": "localhost:3001", "http://0x7f.1/": "localhost:3001", "http://0.0.0.0:1/": "localhost:3001",
		"https://ringback.example:8443/": "ringback.example", "http://10.0.0.7:81/": "10.0.0.7:3001",
		"http://167772167/": "10.0.0.7:3001", "http://１２７.0.0.1/": "localhost:3001", "http://ⓛocalhost/": "localhost", "http://[::ffff:10.0.0.7]/": "10.0.0.7", "http://[0:0:0:0:0:0:0:1]/": "[::1]:3001",
	} {
		to := must.Get(url.Parse(host))(t)
		if got, ok := newLeave(to, own); !ok || !got.Own {
			t.Errorf("%s is not taken for one of %s", host, own)
		}
	}
	for _, address := range []string{"", "/jobs", "javascript:alert(1)", "ftp://a.example/", "http:///x", "http://:80", "https://a\u202eb.example", "//a.example"} {
		to, err := url.Parse(address)
		if err != nil {
			continue
		}
		if got, ok := newLeave(to, "localhost"); ok {
			t.Errorf("%q is shown as %+v", address, got)
		}
	}
}
