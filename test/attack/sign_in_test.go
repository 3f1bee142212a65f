package attack

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/scan"
)

// signIn signs in to the console with a key or token, as a browser does.
func signIn(t *testing.T, s *harness.Server, credential string) stranger {
	t.Helper()
	cookie, pathID := newSession(t, s, credential, nil)
	return stranger{cookie: cookie.Value, pathID: pathID}
}

// newSession returns the cookie of a new sign-in, and its private path.
func newSession(t *testing.T, s *harness.Server, credential string, header map[string]string) (*http.Cookie, string) {
	t.Helper()
	form := url.Values{"token": {credential}, "next": {"/jobs"}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/sign-in", strings.NewReader(form.Encode()))
	must.OK(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	must.OK(t, err)
	resp.Body.Close()
	found := regexp.MustCompile(`^/~([A-Z2-7]{26})/jobs$`).FindStringSubmatch(resp.Header.Get("Location"))
	if resp.StatusCode != http.StatusSeeOther || found == nil || len(resp.Cookies()) != 1 {
		t.Fatalf("the sign-in was answered %d %q %v", resp.StatusCode, resp.Header.Get("Location"), resp.Cookies())
	}
	return resp.Cookies()[0], found[1]
}

// wantSignedIn fails the test unless a page is shown, or is not, as wanted.
func wantSignedIn(t *testing.T, s *harness.Server, who stranger, want bool, when string) {
	t.Helper()
	if status, to, _ := visit(t, s, "GET", "/jobs", who, nil); (status == 200) != want || !want && (status != 303 || !strings.HasPrefix(to, "/sign-in?next=")) {
		t.Errorf("%s: the page was answered %d %s", when, status, to)
	}
}

// The cookie contains no part of a key or token, and the store contains it only encrypted.
func TestACookieHoldsNoCredential(t *testing.T) {
	t.Parallel()
	address, client := harness.Redis(t)
	s := harness.Start(t, harness.Vars{"JWT_SECRET": consoleSecret, "API_KEYS": backendKey, "REDIS_URL": address}, nil)
	for _, credential := range []string{backendKey, tokenOf(t, "ada", consoleSecret, time.Hour)} {
		first, again := signIn(t, s, credential), signIn(t, s, credential)
		if first.cookie == again.cookie || first.pathID == again.pathID || len(first.cookie) != 43 || strings.Contains(credential, first.cookie) {
			t.Errorf("two sign-ins have the cookies %s and %s", first.cookie, again.cookie)
		}
		wantSignedIn(t, s, first, true, "the first sign-in")
		wantSignedIn(t, s, again, true, "the second sign-in")
		wantSignedIn(t, s, stranger{cookie: first.cookie, pathID: again.pathID}, false, "a cookie at another path")
		keys, err := client.Keys(t.Context(), "rb:*:sign-in:*").Result()
		if err != nil || len(keys) == 0 {
			t.Fatalf("the store keeps %v, %v", keys, err)
		}
		for _, key := range keys {
			value, err := client.Get(t.Context(), key).Result()
			must.OK(t, err)
			for _, secret := range []string{credential, first.cookie, again.cookie, first.pathID, again.pathID} {
				if strings.Contains(key+value, secret) {
					t.Errorf("%s holds %q: %q", key, secret, value)
				}
			}
			if ttl := client.TTL(t.Context(), key).Val(); ttl < 6*24*time.Hour || ttl > 7*24*time.Hour {
				t.Errorf("%s is kept for %v", key, ttl)
			}
		}
	}
	// A user who is away for a week must sign in again; each page restarts the period.
	idle := signIn(t, s, backendKey)
	keys, err := client.Keys(t.Context(), "rb:*:sign-in:*").Result()
	must.OK(t, err)
	for _, key := range keys {
		client.Expire(t.Context(), key, time.Hour)
	}
	wantSignedIn(t, s, idle, true, "after days")
	var kept []string
	for _, key := range keys {
		if client.TTL(t.Context(), key).Val() > time.Hour {
			kept = append(kept, key)
		}
	}
	if len(kept) != 1 {
		t.Errorf("a page has put off the end of %v", kept)
	}
}

// A copy of the cookie is useless once its owner has signed out, or their key or token is
// no longer valid.
func TestWhatEndsASession(t *testing.T) {
	t.Parallel()
	address, _ := harness.Redis(t)
	file := keyFile(t, shop, night)
	vars := harness.Vars{"JWT_SECRET": consoleSecret, "API_KEYS_FILE": file, "REDIS_URL": address}
	s := harness.Start(t, vars, nil)
	ada := tokenOf(t, "ada", consoleSecret, time.Hour)
	left, stays, byKey := signIn(t, s, ada), signIn(t, s, ada), signIn(t, s, shopKey)
	if status, to, _ := visit(t, s, "POST", "/sign-out", left, nil); status != 303 || to != "/sign-in?next=%2F&ended=1" {
		t.Errorf("the sign-out was answered %d %s", status, to)
	}
	wantSignedIn(t, s, left, false, "after the sign-out")
	wantSignedIn(t, s, stays, true, "another sign-in, after the sign-out")
	wantSignedIn(t, s, byKey, true, "a sign-in with a key")

	writeKeys(t, file, night)
	harness.Eventually(t, "a removed key to end the session", func() bool {
		status, _, _ := visit(t, s, "GET", "/jobs", byKey, nil)
		return status == 303
	})
	expiring := tokenOf(t, "ada", consoleSecret, 3*time.Second)
	short := signIn(t, s, expiring)
	wantSignedIn(t, s, short, true, "before the token expires")
	harness.Eventually(t, "an expired token to end the session", func() bool {
		status, _, _ := visit(t, s, "GET", "/jobs", short, nil)
		return status == 303
	})

	other := harness.Start(t, vars, nil)
	wantSignedIn(t, other, stays, true, "on another node")
	wantSignedIn(t, other, left, false, "after the sign-out, on another node")
	s.Stop(t, syscall.SIGKILL)
	s = harness.Start(t, vars, nil)
	wantSignedIn(t, s, stays, true, "after a restart")
	if status, _, _ := visit(t, other, "POST", "/sign-out", stays, nil); status != 303 {
		t.Errorf("the sign-out on another node was answered %d", status)
	}
	wantSignedIn(t, s, stays, false, "after the sign-out on another node")

	again := signIn(t, s, ada)
	vars["JWT_SECRET"] = "another-secret-of-32-characters-or-more"
	wantSignedIn(t, harness.Start(t, vars, nil), again, false, "with another secret")
}

// With the embedded store, sessions survive a restart.
func TestASessionOutlivesARestart(t *testing.T) {
	t.Parallel()
	vars := harness.Vars{"JWT_SECRET": consoleSecret, "DATA_DIR": filepath.Join(t.TempDir(), "data")}
	s := harness.Start(t, vars, nil)
	ada := signIn(t, s, tokenOf(t, "ada", consoleSecret, time.Hour))
	s.Stop(t, syscall.SIGKILL)
	wantSignedIn(t, harness.Start(t, vars, nil), ada, true, "after a restart")
}

// While the store is unavailable, pages say so: no user is signed out, and no sign-out
// appears to succeed.
func TestASessionWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	redis := harness.StartRedis(t, scan.Suite, nil)
	s := harness.Start(t, harness.Vars{"JWT_SECRET": consoleSecret, "REDIS_URL": redis.URL}, nil)
	token := tokenOf(t, "ada", consoleSecret, time.Hour)
	browser, pathID := signedIn(t, s, "ada")
	own := s.URL + "/~" + pathID
	redis.Kill()
	if status, text := page(t, browser, own+"/jobs"); status != 503 || !strings.Contains(text, "The store is not reachable") || !strings.Contains(text, "data-again") || strings.Contains(text, `name="token"`) {
		t.Errorf("the page was answered %d %s", status, text)
	}
	for path, form := range map[string]url.Values{own + "/sign-out": nil, s.URL + "/sign-in": {"token": {token}}} {
		resp, err := browser.PostForm(path, form)
		must.OK(t, err)
		resp.Body.Close()
		if resp.StatusCode != 503 || len(resp.Cookies()) != 0 {
			t.Errorf("%s was answered %d %v", path, resp.StatusCode, resp.Cookies())
		}
	}
	if status, text := page(t, browser, own+"/client.js"); status != 200 {
		t.Errorf("a file for all was answered %d %s", status, text)
	}
	redis.Start(t)
	harness.Eventually(t, "the page", func() bool {
		status, text := page(t, browser, own+"/jobs")
		return status == 200 && strings.Contains(text, `data-user="ada"`)
	})
}

// If the connection uses TLS, the cookie has the prefix that browsers accept only over TLS,
// and no other is accepted.
func TestTheCookieOverTLS(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Vars{"JWT_SECRET": consoleSecret}, nil)
	behindTLS := map[string]string{"X-Forwarded-Proto": "https"}
	cookie, pathID := newSession(t, s, tokenOf(t, "ada", consoleSecret, time.Hour), behindTLS)
	if cookie.Name != "__Secure-"+pathCookie(pathID) || !cookie.Secure || !cookie.HttpOnly || cookie.Path != "/~"+pathID+"/" {
		t.Errorf("the cookie is %v", cookie)
	}
	for _, c := range []struct {
		name, scheme string
		want         bool
	}{{cookie.Name, "https", true}, {pathCookie(pathID), "https", false}, {cookie.Name, "http", false}} {
		jar, _ := cookiejar.New(nil)
		browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		status, _, who := get(t, browser, s.URL+"/~"+pathID+"/jobs", map[string]string{"X-Forwarded-Proto": c.scheme, "Cookie": c.name + "=" + cookie.Value})
		if (status == 200) != c.want || (who == "ada") != c.want {
			t.Errorf("%s over %s was answered %d for %q", c.name, c.scheme, status, who)
		}
	}
}

// page requests a page like a browser.
func page(t *testing.T, browser *http.Client, address string) (int, string) {
	t.Helper()
	asPage := map[string]string{"Accept": "text/html"}
	resp := harness.Exchange(t, address, harness.Request{Method: http.MethodGet, Header: asPage, By: browser})
	return resp.Status, resp.Text
}
