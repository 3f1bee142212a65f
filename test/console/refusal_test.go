package console

import (
	"maps"
	"net/url"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/sample"
	"ringback/test/scan"
)

// asBrowser is the Accept header of a browser that navigates to a page.
const asBrowser = "text/html,application/xhtml+xml,*/*;q=0.8"

// answered is a response.
type answered struct {
	status      int
	contentType string
	text        string
}

// request sends a request with a form, or none, with the given Accept header.
func request(t *testing.T, s *harness.Server, method, path, accept string, form url.Values, header map[string]string) answered {
	t.Helper()
	all := map[string]string{"Accept": accept, "Content-Type": "application/x-www-form-urlencoded"}
	maps.Copy(all, header)
	resp := harness.Exchange(t, s.URL, harness.Request{
		Method: method, Path: path, Body: form.Encode(), Header: all, Host: header["Host"],
	})
	return answered{resp.Status, resp.Header.Get("Content-Type"), resp.Text}
}

// For every error, a person gets a page that explains what has happened and what to do,
// with links to continue; programs get JSON, as always.
func TestARefusalIsAPage(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	const gone = "/jobs/req_00_aaaaaaaaaaaaaaaaaaaaaaaaaa"
	large := url.Values{"v/prompt": {strings.Repeat("x", 5<<20)}}
	for name, c := range map[string]struct {
		method, path string
		form         url.Values
		header       map[string]string
		status       int
		says, link   string
	}{
		"an address with nothing":     {"GET", "/nothing/here", nil, nil, 404, "There is no page at /nothing/here", `href="/"`},
		"a job that is gone":          {"GET", gone, nil, nil, 404, "removed after its retention time", `href="/jobs"`},
		"its timeline":                {"GET", gone + "/timeline", nil, nil, 404, "No job has the requestId", `href="/jobs"`},
		"a question that is gone":     {"GET", "/inbox/chk_00_aaaaaaaaaaaaaaaaaaaaaaaaaa", nil, nil, 404, "No checkpoint has the id", `href="/inbox"`},
		"an unknown kind":             {"GET", "/jobs/new/none", nil, nil, 404, "Unknown kind", `href="/jobs/new"`},
		"a status that is none":       {"GET", "/jobs?status=lost", nil, nil, 400, "found &#34;lost&#34;", `href="/jobs"`},
		"a sort that is none":         {"GET", "/inbox?type=lost", nil, nil, 400, "found &#34;lost&#34;", `href="/inbox"`},
		"a page that is none":         {"GET", "/jobs?cursor=lost", nil, nil, 400, "cursor", `href="/jobs"`},
		"where forms are sent":        {"GET", gone + "/cancel", nil, nil, 405, "This address only accepts submitted forms", `href="` + gone + `"`},
		"a form of another site":      {"POST", gone + "/cancel", url.Values{"text": {"their words"}}, map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, 403, "sent by a page of another site", `href="/"`},
		"another name of the host":    {"GET", "/jobs", nil, map[string]string{"Host": "evil.example"}, 403, "does not answer to the host", `href="/"`},
		"too much":                    {"POST", "/jobs/new/media", large, nil, 413, "The form is too large", `href="/jobs/new"`},
		"words to a job that is gone": {"POST", gone + "/say", url.Values{"text": {"my <b>words</b>"}}, nil, 404, "my &lt;b&gt;words&lt;/b&gt;", `href="/jobs"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := request(t, s, c.method, c.path, asBrowser, c.form, c.header)
			if got.status != c.status || !strings.HasPrefix(got.contentType, "text/html") {
				t.Fatalf("the answer is %d %s: %.300s", got.status, got.contentType, got.text)
			}
			for _, want := range []string{c.says, c.link, `id="refusal"`, `class="bar"`} {
				must.Contain(t, got.text, want, "the page has no")
			}
			for _, never := range []string{"their words", "GET /api", "POST /api"} {
				must.NotContain(t, got.text, never, "the page")
			}
		})
	}
	for _, path := range []string{"/nothing/here", "/api/jobs/req_00_aaaaaaaaaaaaaaaaaaaaaaaaaa", "/api/nothing"} {
		for _, accept := range []string{"*/*", "application/json", asBrowser} {
			if accept == asBrowser && !strings.HasPrefix(path, "/api/") {
				continue
			}
			if got := request(t, s, "GET", path, accept, nil, nil); got.status != 404 || !strings.HasPrefix(got.contentType, "application/json") {
				t.Errorf("%s as %s is answered with %d %s", path, accept, got.status, got.contentType)
			}
		}
	}
}

// A user whose session has ended keeps the text they wrote, and returns to the same page.
func TestASignInThatHasEndedLosesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, harness.Vars{"JWT_SECRET": "a-secret-of-at-least-32-characters"})
	sent := url.Values{"text": {"my long answer"}, "token": {"sesame"}}
	got := request(t, s, "POST", "/inbox/chk_00_aaaaaaaaaaaaaaaaaaaaaaaaaa", asBrowser, sent, map[string]string{"Referer": s.URL + "/inbox?type=review"})
	if got.status != 401 || !strings.Contains(got.text, "my long answer") || !strings.Contains(got.text, `href="/sign-in?next=%2Finbox%3Ftype%3Dreview"`) || strings.Contains(got.text, "sesame") {
		t.Errorf("the answer is %d: %s", got.status, got.text)
	}
	if got := request(t, s, "GET", "/nothing", asBrowser, nil, nil); got.status != 404 || strings.Contains(got.text, `id="nav"`) {
		t.Errorf("the answer is %d: %s", got.status, got.text)
	}
	if got := request(t, s, "POST", "/sign-in", asBrowser, url.Values{"token": {"sesame"}}, nil); got.status != 401 || strings.Contains(got.text, "sesame") {
		t.Errorf("a wrong token is answered with %d: %s", got.status, got.text)
	}
}

// A page that cannot be shown because the store is unavailable reloads itself when the
// store is back.
func TestAPageThatIsAwayComesBack(t *testing.T) {
	t.Parallel()
	redis := harness.StartRedis(t, scan.New(), nil)
	s := start(t, harness.Vars{"REDIS_URL": redis.URL})
	b := open(t, s, "/jobs")
	b.sees("There are no jobs yet")
	redis.Kill()
	b.visit("/jobs")
	b.sees("tries again by itself", "Try again")
	redis.Start(t)
	b.sees("There are no jobs yet")
}

// Without JavaScript, rejected input is in its form again.
func TestARefusedFormIsShownAgain(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	s := start(t, nil)
	form := askForm(t, s)
	b := open(t, s, "/inbox/"+form, phone(), noScript())
	b.fill(`[name="v/title"]`, "The sea")
	b.fill(`[name="v/length"]`, "0")
	b.fill(`[name=text]`, "or something else")
	b.is(`document.querySelector("article form").noValidate = true`)
	b.press("Send")
	b.until("the fault at its field",
		`document.querySelector('[name="v/length"]')?.getAttribute("aria-invalid") === "true"`)
	for name, want := range map[string]string{"v/title": "The sea", "v/length": "0", "text": "or something else"} {
		must.Equal(t, want, b.value(`document.querySelector('[name="`+name+`"]').value`), name, "holds")
	}
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/checkpoints/" + form + "/reply", Body: harness.Object{"values": harness.Object{"title": "A wood", "length": 5}}})
	b.fill(`[name="v/length"]`, "7")
	b.press("Send")
	b.sees("Answered by", "over the API")
	must.Equal(t, "or something else,7,The sea", b.value(`[...document.querySelectorAll(".kept textarea")].map(area => area.value).join()`), "of what was written there is")
}
