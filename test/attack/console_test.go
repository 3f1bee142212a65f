package attack

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"ringback/test/harness"
	"ringback/test/must"
)

const consoleSecret = "a-secret-of-at-least-32-characters"

func tokenOf(t *testing.T, user, secret string, ttl time.Duration) string {
	t.Helper()
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{Subject: user, ExpiresAt: jwt.NewNumericDate(time.Now().Add(ttl))}).SignedString([]byte(secret))
	must.OK(t, err)
	return token
}

// stranger visits a page without permission to see it, or to do what it does.
type stranger struct {
	cookie string
	// pathID is the stranger's private path; ownPathID if it is empty and there is a
	// cookie.
	pathID string
	header map[string]string
}

// ownPathID is a private path of the console, which can be chosen by a browser as well as
// by the server.
const ownPathID = "AAAAAAAAAAAAAAAAAAAAAAAAAA"

// pathCookie returns the name of a private path's cookie.
func pathCookie(pathID string) string {
	sum := sha256.Sum256([]byte("ringback private path " + pathID))
	return "ringback_" + hex.EncodeToString(sum[:8])
}

// visit requests a page as a browser would, without following redirects.
func visit(t *testing.T, s *harness.Server, method, path string, who stranger, form url.Values) (int, string, string) {
	t.Helper()
	pathID := cmp.Or(who.pathID, ownPathID)
	if who.cookie != "" {
		path = "/~" + pathID + path
	}
	header := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	if who.cookie != "" {
		header["Cookie"] = pathCookie(pathID) + "=" + who.cookie
	}
	maps.Copy(header, who.header)
	resp := harness.Exchange(t, s.URL, harness.Request{
		Method: method, Path: path, Body: form.Encode(), Host: who.header["Host"], Header: header,
	})
	return resp.Status, resp.Header.Get("Location"), resp.Header.Get("Content-Security-Policy")
}

// No one can see a page of the console, or do anything there, without the same permission
// in the API; and no page of another site can do it in their name.
func TestEveryPageOfTheConsoleToEveryStranger(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Vars{"JWT_SECRET": consoleSecret}, nil)
	owner := map[string]string{"Authorization": "Bearer " + tokenOf(t, "ada", consoleSecret, time.Hour)}
	job, _ := s.Want(t, 202, harness.Request{Method: "POST", Path: "/api/jobs", Header: owner, Body: harness.Object{"kind": "media", "input": harness.Object{"prompt": "a lake", "aspect_ratio": "5:3"}}})["requestId"].(string)
	var question string
	harness.Eventually(t, "the question", func() bool {
		open, _ := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + job, Header: owner})["checkpoint"].(harness.Object)
		question, _ = open["id"].(string)
		return question != ""
	})
	pages := []string{"/jobs/" + job, "/jobs/" + job + "/timeline", "/jobs/" + job + "/files", "/jobs/" + job + "/files/x", "/jobs/" + job + "/transcript", "/jobs/" + job + "/audit", "/inbox/" + question}
	posts := map[string]url.Values{
		"/jobs/" + job + "/cancel": nil, "/jobs/" + job + "/retry": nil, "/jobs/" + job + "/steer": {"prompt": {"x"}}, "/jobs/" + job + "/say": {"text": {"Use 16:9"}},
		"/inbox/" + question: {"choice": {"16:9"}},
	}
	ada := tokenOf(t, "ada", consoleSecret, time.Hour)
	hers := signIn(t, s, ada)
	nobody := map[string]stranger{
		"no cookie": {}, "an empty one": {cookie: " "}, "nonsense": {cookie: "x.y.z"}, "another secret": {cookie: tokenOf(t, "ada", strings.Repeat("x", 33), time.Hour)},
		"expired": {cookie: tokenOf(t, "ada", consoleSecret, -time.Hour)}, "reserved": {cookie: tokenOf(t, "slack:ada", consoleSecret, time.Hour)},
		"a token itself": {cookie: ada}, "her cookie elsewhere": {cookie: hers.cookie}, "her path alone": {cookie: strings.Repeat("A", 43), pathID: hers.pathID},
		"a header": {header: map[string]string{"Cookie2": "ringback_token=" + ada}}, "in the address": {header: map[string]string{"Referer": s.URL + "/?token=" + ada}},
	}
	for name, who := range nobody {
		for _, path := range append(pages, "/", "/jobs", "/jobs/new", "/jobs/new/media", "/inbox", "/approvals", "/jobs?token="+ada) {
			if status, to, policy := visit(t, s, "GET", path, who, nil); status != 303 || !strings.HasPrefix(to, "/sign-in?next=") || !strings.Contains(policy, "script-src 'self'") {
				t.Errorf("%s: GET %s was answered %d %s, policy %q", name, path, status, to, policy)
			}
		}
		for path, form := range posts {
			if status, _, _ := visit(t, s, "POST", path, who, form); status != 401 {
				t.Errorf("%s: POST %s was answered %d", name, path, status)
			}
		}
	}
	bob := signIn(t, s, tokenOf(t, "bob", consoleSecret, time.Hour))
	for _, path := range pages {
		if status, _, _ := visit(t, s, "GET", path, bob, nil); status != 404 {
			t.Errorf("another user: GET %s was answered %d", path, status)
		}
	}
	for path, form := range posts {
		if status, _, _ := visit(t, s, "POST", path, bob, form); status != 404 {
			t.Errorf("another user: POST %s was answered %d", path, status)
		}
	}
	foreign := map[string]map[string]string{
		"another site": {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, "a neighbour": {"Sec-Fetch-Site": "same-site", "Origin": "https://evil.localhost"},
		"no origin": {"Origin": "null"}, "only an origin": {"Origin": "http://127.0.0.1:1"}, "another host": {"Host": "evil.example"},
	}
	for name, header := range foreign {
		for path, form := range posts {
			if status, _, _ := visit(t, s, "POST", path, stranger{hers.cookie, hers.pathID, header}, form); status != 403 {
				t.Errorf("%s: POST %s was answered %d", name, path, status)
			}
		}
	}
	if status := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + job, Header: owner})["status"]; status != "awaiting_input" {
		t.Errorf("the job is %v", status)
	}
	// The API accepts no cookie, so that no page can use it secretly.
	if status, _, _ := visit(t, s, "POST", "/api/jobs/"+job+"/cancel", hers, nil); status != 401 {
		t.Errorf("the API answered %d to a cookie", status)
	}
}

// After the sign-in, the browser returns to a page of this server, and of no other.
func TestWhereTheSignInLeads(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Vars{"JWT_SECRET": consoleSecret}, nil)
	for _, next := range []string{
		"https://evil.example", "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "http:evil.example", "javascript:alert(1)", "/\t/evil.example", "/%09/evil.example/..//",
		"http://user@127.0.0.1", "evil.example", "", "?x", "#x", "/\n/evil.example",
	} {
		status, to, _ := visit(t, s, "POST", "/sign-in", stranger{}, url.Values{"token": {tokenOf(t, "ada", consoleSecret, time.Hour)}, "next": {next}})
		if status != 303 || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.HasPrefix(to, "/\\") {
			t.Errorf("%q leads to %d %q", next, status, to)
		}
	}
	if _, to, _ := visit(t, s, "POST", "/sign-in", stranger{}, url.Values{"token": {tokenOf(t, "ada", consoleSecret, time.Hour)}, "next": {"/jobs?status=failed"}}); !regexp.MustCompile(`^/~[A-Z2-7]{26}/jobs\?status=failed$`).MatchString(to) {
		t.Errorf("it leads to %q", to)
	}
}
