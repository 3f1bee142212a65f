package attack

import (
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/test/harness"
	"ringback/test/must"
)

// signedIn returns a browser in which a user has signed in, and the private path.
func signedIn(t *testing.T, s *harness.Server, user string) (browser *http.Client, pathID string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must.OK(t, err)
	browser = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := browser.PostForm(s.URL+"/sign-in", url.Values{"token": {tokenOf(t, user, consoleSecret, time.Hour)}, "next": {"/jobs"}})
	must.OK(t, err)
	resp.Body.Close()
	found := regexp.MustCompile(`^/~([A-Z2-7]{26})/jobs$`).FindStringSubmatch(resp.Header.Get("Location"))
	if resp.StatusCode != http.StatusSeeOther || found == nil || len(resp.Cookies()) != 1 {
		t.Fatalf("the sign-in was answered %d %q %v", resp.StatusCode, resp.Header.Get("Location"), resp.Cookies())
	}
	if c := resp.Cookies()[0]; c.Path != "/~"+found[1]+"/" || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Domain != "" || strings.Contains(c.Name, found[1]) {
		t.Errorf("the cookie is %v", c)
	}
	return browser, found[1]
}

// get requests a page in a browser, and returns the response and the user that the page is
// for.
func get(t *testing.T, browser *http.Client, address string, header map[string]string) (status int, to, who string) {
	t.Helper()
	all := map[string]string{"Accept": "text/html"}
	maps.Copy(all, header)
	resp := harness.Exchange(t, address, harness.Request{Method: http.MethodGet, Header: all, By: browser})
	if found := regexp.MustCompile(`data-user="([^"]*)"`).FindStringSubmatch(resp.Text); found != nil {
		who = found[1]
	}
	return resp.Status, resp.Header.Get("Location"), who
}

// A server on another port of the console's host, such as a job's, gets nothing of a user's
// session when the user opens its pages, and cannot replace it.
func TestAnotherPortHasNoPartInASession(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Vars{"JWT_SECRET": consoleSecret}, nil)
	ada, pathID := signedIn(t, s, "ada")
	bobs := signIn(t, s, tokenOf(t, "bob", consoleSecret, time.Hour))
	bob, theirs := bobs.cookie, bobs.pathID
	stolen := make(chan string, 100)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stolen <- r.Header.Get("Cookie") + r.Header.Get("Referer")
		for _, c := range []http.Cookie{
			{Name: "ringback_token", Path: "/"},
			{Name: pathCookie(theirs), Path: "/"},
			{Name: pathCookie(theirs), Path: "/~" + theirs + "/"},
			{Name: "ringback_token", Path: "/~" + theirs + "/"},
			{Name: "ringback_token", Path: "/sign-in"},
			{Name: "ringback_token", Path: "/ws"},
		} {
			c.Value = bob
			http.SetCookie(w, &c)
		}
	}))
	defer other.Close()
	if a, b := strings.Split(s.URL, ":")[1], strings.Split(other.URL, ":")[1]; a != b {
		t.Fatalf("the ports are of the hosts %s and %s", a, b)
	}
	for _, path := range []string{"/", "/jobs", "/sign-in", "/ws", "/~/", "/~" + theirs + "/", "/api/jobs"} {
		resp, err := ada.Get(other.URL + path)
		must.OK(t, err)
		resp.Body.Close()
		if got := <-stolen; strings.Contains(got, pathCookie(pathID)) || strings.Contains(got, pathID) {
			t.Errorf("another port got %q with %s", got, path)
		}
	}
	// The cookies that the other port has set do not affect her session.
	if status, _, who := get(t, ada, s.URL+"/~"+pathID+"/jobs", nil); status != 200 || who != "ada" {
		t.Errorf("her own page was answered %d for %q", status, who)
	}
	for _, path := range []string{"/", "/jobs", "/inbox"} {
		if status, to, _ := get(t, ada, s.URL+path, nil); status != 303 || !strings.HasPrefix(to, "/sign-in?next=") {
			t.Errorf("%s without a private path was answered %d %s", path, status, to)
		}
	}
	// Nor can she be led into a session that was created for her.
	for _, site := range []string{"same-site", "cross-site"} {
		led := map[string]string{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}
		for path, want := range map[string]string{"/jobs?status=failed": "/jobs?status=failed", "//evil.example/x": "/", "/": "/"} {
			if status, to, who := get(t, ada, s.URL+"/~"+theirs+path, led); status != 303 || to != want || who != "" {
				t.Errorf("a link of a %s page into a private path of its own, %s, was answered %d %q for %q", site, path, status, to, who)
			}
		}
	}
	// The private path alone, or the cookie in another private path, is not enough.
	nobody := &http.Client{CheckRedirect: ada.CheckRedirect}
	if status, to, _ := get(t, nobody, s.URL+"/~"+pathID+"/jobs", nil); status != 303 || !strings.HasPrefix(to, "/sign-in?next=%2Fjobs&ended") {
		t.Errorf("the private path alone was answered %d %s", status, to)
	}
	at, err := url.Parse(s.URL + "/~" + pathID + "/")
	must.OK(t, err)
	own := ada.Jar.Cookies(at)
	for _, path := range []string{"/jobs", "/~" + theirs + "/jobs", "/~" + strings.ToLower(pathID) + "/jobs", "/~" + pathID + "x/jobs"} {
		var sent []string
		for _, c := range own {
			if c.Value != bob {
				sent = append(sent, c.Name+"="+c.Value, "ringback_token="+c.Value)
			}
		}
		if status, _, who := get(t, nobody, s.URL+path, map[string]string{"Cookie": strings.Join(sent, "; ")}); status == 200 || who != "" {
			t.Errorf("her cookie at %s was answered %d for %q", path, status, who)
		}
	}
	// The WebSocket is in the private path, too.
	for path, want := range map[string]int{"/~" + pathID + "/ws": 101, "/ws": 401, "/~" + theirs + "/ws": 101} {
		dialer := websocket.Dialer{Jar: ada.Jar, HandshakeTimeout: 10 * time.Second}
		conn, resp, err := dialer.DialContext(t.Context(), strings.Replace(s.URL, "http", "ws", 1)+path+"?userId=ada", http.Header{"Origin": {s.URL}})
		if resp == nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if conn != nil {
			if path == "/~"+theirs+"/ws" { // it is bob's, who may not receive ada's events
				if _, _, err := conn.NextReader(); !websocket.IsCloseError(err, 4403) {
					t.Errorf("%s was answered %v", path, err)
				}
			}
			conn.Close()
		} else if resp.StatusCode != want {
			t.Errorf("%s was answered %d: %v", path, resp.StatusCode, err)
		}
	}
	// After signing out, the private path is empty.
	resp, err := ada.PostForm(s.URL+"/~"+pathID+"/sign-out", nil)
	must.OK(t, err)
	resp.Body.Close()
	if status, _, who := get(t, ada, s.URL+"/~"+pathID+"/jobs", nil); status != 303 || who != "" {
		t.Errorf("after signing out, her page was answered %d for %q", status, who)
	}
}
