package console

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"ringback/test/harness"
	"ringback/test/must"
)

func start(t testing.TB, env harness.Vars) *harness.Server {
	t.Helper()
	all := harness.Vars{"SANDBOX": "off", "RINGBACK_SIMULATE_PACE": "20ms"}
	maps.Copy(all, env)
	return harness.Start(t, all, nil)
}

// create creates a job over the API and returns its id.
func create(t testing.TB, s *harness.Server, body harness.Object) string {
	t.Helper()
	id, _ := s.Want(t, 202, harness.Request{Method: "POST", Path: "/api/jobs", Body: body})["requestId"].(string)
	return id
}

func record(t testing.TB, s *harness.Server, id string) harness.Object {
	t.Helper()
	return s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id})
}

var (
	lake = harness.Object{"kind": "media", "userId": "u1", "input": harness.Object{"prompt": "a lake", "aspect_ratio": "5:3"}}
	ship = harness.Object{"kind": "ship", "userId": "u1", "input": harness.Object{"prompt": "Ship it as blog"}}
)

func TestAJobIsStartedFromItsFormAndItsResultAppears(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	b := open(t, s, "/")
	b.sees("Nothing runs")
	b.press("Start a job")
	b.press("meal-suggestions")
	b.sees("First date")
	b.fill(`[name="v/dateRangeStart"]`, "2026-03-02")
	b.fill(`[name="v/dateRangeEnd"]`, "2026-03-04")
	b.press("Start")
	b.sees("Baked salmon on fennel", "2026-03-03", "done")
	b.press("As JSON")
	b.press("Timeline")
	b.sees("the result was accepted", "Where the time went")
	b.visit("/")
	b.sees("Time to Claude's first callback", "1 turn: 50 % up to")
}

func TestAnActionIsConfirmedOrDenied(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	b := open(t, s, "/inbox")
	b.sees("Nothing waits for an answer")
	first := create(t, s, ship)
	b.sees("A yes runs deployToShipperCloud with exactly this", "projectName")
	b.press("Yes, Deploy")
	b.sees("Answered lately")
	harness.Eventually(t, "the project to be deployed", func() bool {
		return record(t, s, first)["status"] == "received" || record(t, s, first)["status"] == "awaiting_approval"
	})
	second := create(t, s, harness.Object{"kind": "ship", "userId": "u2", "input": harness.Object{"prompt": "Ship it as shop"}})
	b.visit("/jobs/" + second)
	b.sees("No, Cancel")
	small := open(t, s, "/jobs/"+second, phone())
	small.sees("No, Cancel")
	small.must(`[...document.querySelectorAll(".question .buttons button")].every((button) => {
		scrollBy({ top: button.getBoundingClientRect().bottom - innerHeight, behavior: "instant" });
		const { x, y, width, height } = button.getBoundingClientRect();
		return document.elementFromPoint(x + width / 2, y + height - 2) === button;
	})`, "something covers a button of the decision")
	b.fill(`textarea[name=text]`, "not today")
	b.press("No, Cancel")
	harness.Eventually(t, "the job to end", func() bool { return record(t, s, second)["status"] == "received" })
	b.sees("done")
	b.press("Audit log")
	b.until("the audit log", `location.pathname.endsWith("/audit")`)
	b.sees("deny", "in the console")
}

func TestAFormIsWrongThenRight(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	b := open(t, s, "/jobs/new/meal-suggestions")
	b.fill(`[name="v/dateRangeStart"]`, "2026-03-02")
	b.fill(`[name="v/dateRangeEnd"]`, "2026-03-03")
	b.press("Add to Recipe history")
	b.sees("Last cooked")
	b.must(`document.querySelector('[name="v/dateRangeStart"]').value === "2026-03-02"`,
		"what was filled in is lost when a row is added")
	b.fill(`[name="v/recipeHistory/0/name"]`, strings.Repeat("x", 201))
	b.is(`document.querySelector("form.panel").noValidate = true`)
	b.press("Start")
	b.sees("200")
	b.must(`document.querySelector('[name="v/recipeHistory/0/name"]').getAttribute("aria-invalid") === "true"`,
		"the fault does not stand at its field")
	b.fill(`[name="v/recipeHistory/0/name"]`, "Soup")
	b.press("Start")
	b.sees("What was asked for", "Soup")
}

func TestAToolCallIsApprovedWithAnotherInput(t *testing.T) {
	t.Parallel()
	s := start(t, harness.Vars{"PROMPTS_DIR": kinds(t, map[string]string{"careful.md": carefulKind})})
	question, answered := ask(t, s)
	b := open(t, s, "/inbox/"+question)
	b.sees("go vet ./...", "once", "Bash")
	b.press("Change the input")
	b.fill(`textarea[name=input]`, `{"command": "go vet`)
	b.press("Approve with my changes")
	b.sees("not a valid JSON")
	say(t, s, jobOf(t, s, question), "Meanwhile")
	b.until("the message to have reached the page",
		`performance.getEntriesByType("resource").filter(one => one.initiatorType === "fetch").length > 2`)
	b.sees("not a valid JSON")
	b.fill(`textarea[name=input]`, `{"command": "go test ./..."}`)
	b.press("Approve with my changes")
	b.awaits("the approval", func() bool {
		answered := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/checkpoints/" + question})
		reply, _ := answered["reply"].(harness.Object)
		values, _ := reply["values"].(harness.Object)
		return answered["status"] == "answered" && values["command"] == "go test ./..."
	})
	<-answered
}

// An input that was edited is approved by the button below it, where it is seen: after a reload, too.
func TestApproveRunsNoInputThatIsFoldedAway(t *testing.T) {
	t.Parallel()
	s := start(t, harness.Vars{"PROMPTS_DIR": kinds(t, map[string]string{"careful.md": carefulKind})})
	question, answered := ask(t, s)
	isOpen := func() {
		t.Helper()
		must.Equal(t, "open", s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/checkpoints/" + question})["status"], "the question is")
	}
	const area, unfolded = `textarea[name=input]`, `document.querySelector("textarea[name=input]").closest("details").open`
	b := open(t, s, "/inbox/"+question)
	b.press("Change the input")
	b.do(chromedp.SendKeys(area, " \n,"))
	b.do(chromedp.Reload())
	b.until("the edited input to be seen", unfolded)
	b.press("Change the input")
	b.until("the input to be folded away", `!`+unfolded)
	b.do(chromedp.Click(`[data-yes]`))
	b.sees("Look at it, and press “Approve with my changes”")
	b.must(unfolded, "the edited input is folded away")
	isOpen()

	plain := open(t, s, "/inbox/"+question, noScript())
	plain.fill(area, `{"command": "rm -rf /"}`) // as a browser restores it
	plain.do(chromedp.Click(`[data-yes]`))
	plain.sees("Look at it, and press “Approve with my changes”")
	isOpen()
	plain.press("Approve with my changes")
	<-answered
}

func TestTwoBrowsersSeeTheSame(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	create(t, s, lake)
	one, two := open(t, s, "/inbox"), open(t, s, "/inbox")
	one.sees("16:9")
	two.sees("16:9")
	two.do(chromedp.Click(`article a.go`))
	two.sees("To the inbox")
	one.press("16:9")
	two.sees("Answered by", "in the console")
	one.sees("Answered lately")
}

// The server is killed and restarted: a page that stayed open shows what has happened.
func TestAPageCatchesUpByItself(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	var s *harness.Server
	env := harness.Vars{"DATA_DIR": data, "SANDBOX": "off"}
	s = harness.Start(t, env, nil)
	b := open(t, s, "/jobs")
	b.sees("There are no jobs yet")
	_ = s.Cmd.Process.Signal(syscall.SIGKILL)
	b.sees("The server is away")
	env["LISTEN_ADDR"] = strings.TrimPrefix(s.URL, "http://")
	again := harness.Start(t, env, nil)
	id := create(t, again, lake)
	b.awaits("the job's row", func() bool { return b.is(`!!document.getElementById("row-` + id + `")`) })
	b.loses("The server is away")
}

// On a phone, without JavaScript, a question can still be answered.
func TestAnswerOnAPhoneWithoutJavaScript(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	id := create(t, s, lake)
	harness.Eventually(t, "the question", func() bool { return record(t, s, id)["status"] == "awaiting_input" })
	b := open(t, s, "/inbox", phone(), noScript())
	b.do(chromedp.Click(`button[value="16:9"]`))
	harness.Eventually(t, "the job to go on", func() bool { return record(t, s, id)["status"] == "received" })
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	s := start(t, harness.Vars{"JWT_SECRET": "a-secret-of-at-least-32-characters"})
	b := open(t, s, "/jobs?status=running")
	b.sees("Sign in")
	b.fill("#token", "nonsense")
	b.press("Sign in")
	b.sees("Sign-in failed")
	token := mint(t, s, "ada")
	b.fill("#token", token)
	b.press("Sign in")
	b.sees("ada", "Sign out")
	if address := b.address(); !strings.HasSuffix(address, "/jobs?status=running") {
		t.Errorf("after the sign-in the page is %s", address)
	}
	header := map[string]string{"Authorization": "Bearer " + token}
	s.Want(t, 202, harness.Request{Method: "POST", Path: "/api/jobs", Header: header, Body: harness.Object{"kind": "media", "input": harness.Object{"prompt": "a lake", "aspect_ratio": "5:3"}}})
	b.visit("/inbox")
	b.sees("16:9")
	b.mustNot(`document.cookie !== ""`, "a script can read the cookie")
	b.press("Sign out")
	b.sees("Sign in")
	other := open(t, s, "/sign-in")
	other.fill("#token", mint(t, s, "bob"))
	other.press("Sign in")
	other.sees("Overview")
	other.visit("/inbox")
	other.sees("Nothing waits for an answer")
}

// A job whose every field is an attack is shown as text.
func TestWhatOthersWroteIsText(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	const image = `<img src=x onerror="window.attacked=1"><script>window.attacked=2</script>`
	attacks := image + ` [link](javascript:window.attacked=3) <a href="javascript:window.attacked=4">x</a> ![i](https://evil.example/x.png) ` + "\u202eabc\u2066 " + `<svg/onload=window.attacked=5> {{.}} '"` + "`" + `<style>*{display:none}</style>`
	id, envelope := s.Manual(t, nil, harness.Object{"kind": "media", "userId": "u1", "input": harness.Object{"prompt": attacks, "audio_file": image}})
	send := func(path string, more harness.Object) {
		body := maps.Clone(envelope)
		maps.Copy(body, more)
		if status, answer := harness.Send(t, s.URL, harness.Request{Method: "POST", Path: path, Body: body}); status >= 300 {
			t.Logf("%s answered %d %v", path, status, answer)
		}
	}
	send("/api/claude/progress", harness.Object{"message": attacks[:min(len(attacks), 400)], "progress": 50})
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/from-llm", Body: harness.Object{"sessionId": record(t, s, id)["sessionId"], "userId": "u1", "content": attacks + strings.Repeat("w", 60<<10)}})
	b := open(t, s, "/jobs/"+id)
	b.sees("onerror")
	for _, path := range []string{"", "/timeline", "/transcript", "/audit", "/files"} {
		b.visit("/jobs/" + id + path)
		b.sees("media")
		b.mustNot(`window.attacked !== undefined || document.querySelector("main img:not(.shown), main script, main style, main svg[onload], main [onerror], main a[href^='javascript']") !== null`,
			"%s: what somebody wrote has become part of the page", path)
		b.mustNot(`document.documentElement.scrollWidth > innerWidth`, "%s: the page is wider than the window", path)
		b.mustNot(`/[\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText)`,
			"%s: the page holds characters that turn the text around", path)
	}
	b.visit("/jobs")
	b.mustNot(`window.attacked !== undefined || /[\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText)`,
		"the list is attacked")
}

// HTML, links and images written by people and models are shown as text.
func TestHTMLIsShownAsItWasWritten(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	id, _ := s.Manual(t, nil, harness.Object{"kind": "media", "userId": "u1", "input": harness.Object{"prompt": "Replace <b>x</b> by <strong>x</strong>"}})
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/from-llm", Body: harness.Object{
		"sessionId": record(t, s, id)["sessionId"], "userId": "u1",
		"content": "Done <i>so</i>. [https://bank.example](https://other.example/login) ![a chart](https://other.example/x.png)\n\n<div>\nhidden\n</div>",
	}})
	b := open(t, s, "/jobs/"+id)
	b.sees("Replace <b>x</b> by <strong>x</strong>", "Done <i>so</i>.", "https://bank.example (https://other.example/login)",
		"[image: a chart (https://other.example/x.png)]", "<div>", "hidden")
}

// A page on another port of the same host that the user opens gets no part of their session
// and cannot replace it; and a URL without a private path redirects to the user's own.
func TestASessionIsNotSharedWithOtherPorts(t *testing.T) {
	t.Parallel()
	s := start(t, harness.Vars{"JWT_SECRET": "a-secret-of-at-least-32-characters"})
	bob := mint(t, s, "bob")
	var mu sync.Mutex
	var got strings.Builder
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(&got, r.URL, r.Header.Get("Cookie"), r.Header.Get("Referer"))
		http.SetCookie(w, &http.Cookie{Name: "ringback_token", Value: bob, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<p id="there">Here I am</p><script>fetch('/again').then(() => { document.title = 'fetched'; })</script>`)
	}))
	defer other.Close()
	b := open(t, s, "/jobs?status=running")
	b.fill("#token", mint(t, s, "ada"))
	b.press("Sign in")
	b.sees("ada", "Sign out")
	pathID := regexp.MustCompile(`/~[A-Z2-7]{26}/`).FindString(b.address())
	if pathID == "" {
		t.Fatalf("the page is %s", b.address())
	}
	b.do(chromedp.Navigate(other.URL + "/"))
	b.until("the other port", `document.title === 'fetched'`)
	b.visit("/inbox")
	b.sees("ada", "Sign out")
	must.Contain(t, b.address(), pathID+"inbox", "an address without a private path leads to")
	b.key("g")
	b.key("j")
	b.awaits("the list", func() bool { return strings.HasSuffix(b.address(), pathID+"jobs") })
	b.mustNot(`[...document.querySelectorAll('a[href], form[action]')].some((one) => !(one.getAttribute('href') ?? one.getAttribute('action')).match(/^(#|\?|https?:|mailto:|\/~[A-Z2-7]{26}\/)/))`,
		"something on the page leads out of the private path")
	b.press("Sign out")
	b.sees("Sign in")
	b.visit("/inbox")
	b.sees("Sign in")
	mu.Lock()
	defer mu.Unlock()
	if text := got.String(); !strings.Contains(text, "/again") || strings.Count(text, "ringback_") != strings.Count(text, "ringback_token="+bob) || strings.Contains(text, strings.Trim(pathID, "/")) {
		t.Errorf("the other port got\n%s", text)
	}
}

// approve approves a job's question over the API.
func approve(t *testing.T, s *harness.Server, id string, header map[string]string) {
	t.Helper()
	asked, _ := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id, Header: header})["checkpoint"].(harness.Object)
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/jobs/" + id + "/approve", Header: header, Body: harness.Object{"checkpointId": asked["id"]}})
}
