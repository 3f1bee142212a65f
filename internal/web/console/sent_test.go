package console

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/test/must"
)

// What a form sends is the answer that its page showed, or is refused.
func TestAFormSendsWhatItSays(t *testing.T) {
	t.Parallel()
	tool := job.Checkpoint{Type: job.ToolApproval, Props: json.RawMessage(`{"tool_name":"Bash","tool_input":{"command":"go vet","n":1.0}}`)}
	value := job.Checkpoint{Type: job.InformationRequest, Props: json.RawMessage(`{"valid_values":["red",2]}`)}
	lines := job.Checkpoint{Type: job.InformationRequest, Props: json.RawMessage(`{"valid_values":["a\r\u200eb"]}`)}
	trip := job.Checkpoint{Type: job.FormRequirements, Props: json.RawMessage(
		`{"current_values":{"city":"Rome","note":"a\nb","hidden":"x"},"schema":{"type":"object","properties":{"city":{"type":"string"},"note":{"type":"string"}}}}`,
	)}
	s := newStage(t)
	for name, c := range map[string]struct {
		to         job.Checkpoint
		sent, want string
	}{
		"approve runs the input as it was shown":              {tool, "decision=approve&scope=once&input={\"command\": \"go vet\",\r\n \"n\":1.0}", `{"decision":"approve","scope":"once"}`},
		"an input that was changed is sent by its own button": {tool, `decision=approve-changed&input={"command":"go test"}`, `{"decision":"approve","values":{"command":"go test"}}`},
		"the plain button does not send it":                   {tool, `decision=approve&scope=job&input={"command":"go test"}`, "was changed"},
		"nor does it run the original":                        {tool, `decision=approve&input=`, "was changed"},
		"its own button approves an unchanged one":            {tool, `decision=approve-changed&input={"command":"go+vet","n":1.0}`, `{"decision":"approve"}`},
		"an input of {} is not an unchanged one":              {tool, "decision=approve-changed&scope=always&input={}", "is empty"},
		"nor is null":                                         {tool, "decision=approve-changed&input=null", "is empty"},
		"nor is one that was emptied":                         {tool, "decision=approve-changed&input=", "is not a valid JSON object"},
		"nor are blanks":                                      {tool, "decision=approve-changed&input=+%0D%0A+", "is not a valid JSON object"},
		"two values of one field are none":                    {tool, `decision=approve-changed&input={"command":"ls","command":"rm"}`, "in the same object twice"},
		"nor is the last, if it is the same":                  {tool, `decision=approve-changed&input={"command":"ls","command":"go+vet","n":1.0}`, "in the same object twice"},
		"a list is no input":                                  {tool, "decision=approve-changed&input=[]", "is not a valid JSON object"},
		"two objects are no input":                            {tool, "decision=approve-changed&input={}{}", "is not a valid JSON object"},
		"Enter decides nothing":                               {tool, `scope=always&input={"command":"go+vet","n":1.0}`, "Nothing was decided"},
		"words next to the buttons decide nothing":            {tool, "text=yes&scope=job", "Nothing was decided"},
		"a suggestion decides nothing":                        {tool, "suggested=Approve", "Nothing was decided"},
		"deny needs no input":                                 {tool, "decision=deny&input=&text=+no+", `{"decision":"deny","text":"no"}`},
		"a value's button sends the value":                    {value, "choice=red&text=", `{"values":{"value":"red"},"text":"red"}`},
		"that is none of them sends words":                    {value, "choice=reddish", `{"text":"reddish"}`},
		"of several lines sends these":                        {lines, "choice=a%0D%0A%E2%80%8Eb", "{\"values\":{\"value\":\"a\\r\u200eb\"},\"text\":\"a\\r\u200eb\"}"},
		"a number's button does, too":                         {value, "choice=2", `{"values":{"value":2},"text":"2"}`},
		"words are words":                                     {value, "text=the+blue+one", `{"text":"the blue one"}`},
		"a form sends its values":                             {trip, "values=1&v/city=Milan&v/note=a%0D%0Ab", `{"values":{"city":"Milan","note":"a\nb"}}`},
		"a value that was cleared is not sent":                {trip, "values=1&v/city=Milan&v/note=", `{"values":{"city":"Milan"}}`},
		"all values may be cleared":                           {trip, "values=1&v/city=&v/note=", `{"values":{}}`},
		"Reply sends the words":                               {trip, "text=Rome+again&v/city=Rome&v/note=a%0D%0Ab", `{"text":"Rome again"}`},
		"Reply sends the words when values were cleared":      {trip, "text=Rome+again&v/city=&v/note=", `{"text":"Rome again"}`},
		"Reply drops no value that was filled in":             {trip, "text=Rome+again&v/city=Milan", "press Send to send both"},
		"Send sends both":                                     {trip, "values=1&text=Rome+again&v/city=Milan", `{"values":{"city":"Milan"},"text":"Rome again"}`},
		"what the form does not show is not answered":         {trip, "values=1&v/city=Rome&v/hidden=y&v/other=z", `{"values":{"city":"Rome"}}`},
	} {
		_, got := s.post(c.to, "/inbox/chk", c.sent)
		if strings.HasPrefix(c.want, "{") {
			must.Equal(t, c.want, strings.Join(s.replies, " "), name)
			continue
		}
		must.Equal(t, 0, len(s.replies), name, "is sent to the API")
		must.Contain(t, got, c.want, name)
	}
}

// stage is a console whose API has one question, one kind and nothing else.
type stage struct {
	t     *testing.T
	asked job.Checkpoint
	// replies are those that the API has got.
	replies []string
	// answers are those of other endpoints, by path.
	answers map[string]any
	// keys are the idempotency keys of the jobs that were created. used is true if the next was used.
	keys    []string
	used    bool
	console *echo.Echo
}

const stageKind = `{"name":"k","inputSchema":{"properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"string"}}}},` +
	`"u":{"oneOf":[{"properties":{"x":{}}},{"properties":{"y":{"const":1}}}]}}}}`

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, console: echo.New()}
	mark := func(ctx context.Context) context.Context { return ctx }
	New(Options{API: http.HandlerFunc(s.api), Open: true, MarkFunc: mark}, slog.New(slog.DiscardHandler)).Register(s.console)
	return s
}

func (s *stage) api(w http.ResponseWriter, r *http.Request) {
	var answer any = s.asked
	switch r.URL.Path {
	case "/api/checkpoints/chk":
	case "/api/checkpoints/chk/reply":
		var reply json.RawMessage
		must.OK(s.t, json.NewDecoder(r.Body).Decode(&reply))
		s.replies = append(s.replies, strings.Replace(string(reply), `,"shown":"whole"`, "", 1))
	case "/api/jobs":
		if answer = map[string]any{}; r.Method == http.MethodGet {
			break
		}
		var created struct{ IdempotencyKey string }
		must.OK(s.t, json.NewDecoder(r.Body).Decode(&created))
		s.keys = append(s.keys, created.IdempotencyKey)
		if answer = map[string]string{"requestId": "req"}; s.used {
			w.WriteHeader(http.StatusConflict)
			answer = map[string]string{"error": "The idempotency key was already used for another request"}
		}
	case "/api/jobs/before":
		answer = json.RawMessage(`{"userId":"ada","tags":["t1"],"input":{"a":[{"b":"c"}],"more":"of it"}}`)
	case "/api/kinds/k":
		answer = json.RawMessage(stageKind)
	default:
		var known bool
		if answer, known = s.answers[r.URL.Path]; !known {
			w.WriteHeader(http.StatusNotFound)
			answer = map[string]string{"error": "not here"}
		}
	}
	must.OK(s.t, json.NewEncoder(w).Encode(answer))
}

// get returns a page.
func (s *stage) get(path string) string {
	w := httptest.NewRecorder()
	s.console.ServeHTTP(w, httptest.NewRequestWithContext(s.t.Context(), http.MethodGet, path, nil))
	return w.Body.String()
}

// A job that is asked for again with changes is for the same user, with all of the input.
func TestAskedForAgainWhole(t *testing.T) {
	t.Parallel()
	page := newStage(t).get("/jobs/new/k?from=before")
	for _, want := range []string{`name="userId" value="ada"`, `name="tags" value="t1"`, `<details class="more" id="more" open>`, "&#34;more&#34;: &#34;of it&#34;"} {
		must.Contain(t, page, want)
	}
}

// post sends a form while a question is open. It returns the status and the page.
func (s *stage) post(asked job.Checkpoint, to, form string) (status int, text string) {
	s.asked, s.replies = asked, nil
	s.asked.ID, s.asked.Status, s.asked.UserID = "chk", job.Open, "u1"
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, to, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	s.console.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// However often a form is sent, it starts one job. One that is opened again starts another.
func TestAFormStartsOneJob(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	key := regexp.MustCompile(`name="idempotencyKey" value="([^"]+)"`)
	keyIn := func(page string) string {
		t.Helper()
		found := key.FindStringSubmatch(page)
		if found == nil {
			t.Fatalf("the form has no key: %s", page)
		}
		return found[1]
	}
	open := func() string { return s.get("/jobs/new/k") }
	first := keyIn(open())
	if again := keyIn(open()); again == first {
		t.Error("a form that is opened again has the same key")
	}
	for range 2 {
		s.post(job.Checkpoint{}, "/jobs/new/k", "idempotencyKey="+first)
	}
	must.Equal(t, []string{first, first}, s.keys, "the keys of the jobs are")
	_, added := s.post(job.Checkpoint{}, "/jobs/new/k", "add=/a&idempotencyKey="+first)
	must.Equal(t, first, keyIn(added), "with another row, the key is")
	s.used = true
	status, page := s.post(job.Checkpoint{}, "/jobs/new/k", "idempotencyKey="+first)
	must.Equal(t, http.StatusConflict, status)
	must.Contain(t, page, "This form has started a job already, from other input")
	if keyIn(page) == first {
		t.Error("the form cannot be sent again")
	}
}

// Whatever is sent to the address of a form gets a page.
func TestOddFormsGetAPage(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(all []string) string { return all[random.IntN(len(all))] }
	names := []string{"", "/", "v", "v/", "v/a", "v/a/0", "v/a/0/b", "v/a/1/b", "n", "n/a", "na", "u/u", "u/u/x", "v/u/x", "json", "add", "remove", "choose", "values", "é/a/0", "decision", "scope", "input", "text", "choice", "iteration", "tree:", "question", "interrupt", "back", "\x00", "v/a/-1/b"}
	texts := []string{"", "x", "/a/0", "/a", "/a/9", "/a/-1", "a/0", "0", "/0", "1", "3", "-1", "99999999999999999999", "9223372036854775807", "{}", "null", "[1", "approve", "always", "\x00", "é", "~1~0", "/a/0/b/0"}
	paths := []string{"/inbox/chk", "/jobs/new/k", "/jobs/x/say", "/jobs/x/steer", "/jobs/x/viewed", "/jobs/bulk", "/approvals/x/revoke"}
	questions := []job.Checkpoint{
		{Type: job.ToolApproval, Props: json.RawMessage(`{"tool_input":{"a":1}}`)},
		{Type: job.Review, RequestID: "x"},
		{Type: job.FormRequirements, Props: json.RawMessage(`{"schema":{"properties":{"a":{"type":"array","items":{"type":"string"}}}}}`)},
	}
	s := newStage(t)
	for range 3000 {
		form := url.Values{}
		for range random.IntN(6) {
			form.Add(pick(names), pick(texts))
		}
		to := pick(paths)
		if status, _ := s.post(questions[random.IntN(len(questions))], to, form.Encode()); status >= 500 {
			t.Errorf("%s %v is answered with %d", to, form, status)
		}
	}
}

// Browsers press the first button of a form on Enter in one of its fields: it is no button that
// decides, adds or removes something.
func TestTheFirstButtonOfAFormOnlySendsIt(t *testing.T) {
	t.Parallel()
	first := regexp.MustCompile(`\{\{template "(?:enter|field)"|<button[^>]*>|<input type="submit"[^>]*>`)
	must.OK(t, fs.WalkDir(templates, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".html" {
			return err
		}
		text, err := fs.ReadFile(templates, name)
		for _, form := range strings.Split(string(text), "<form")[1:] {
			button := first.FindString(form)
			if fieldless := !regexp.MustCompile(`<(textarea|select|input type="(?:radio|checkbox)|input id)`).MatchString(form); !fieldless && (strings.Contains(button, "name=") || strings.Contains(button, "field")) {
				t.Errorf("%s: the first button of %.80q is %s", name, form, button)
			}
		}
		return err
	}))
}

// After a message that answered no question, the page says so.
func TestAMessageThatAnswersNothingIsNoted(t *testing.T) {
	t.Parallel()
	said := func(id int64, props string) message {
		return message{Mine: true, Message: job.Message{ID: id, MessageBody: job.MessageBody{Props: json.RawMessage(props)}}}
	}
	for name, c := range map[string]struct {
		all  []message
		open int64
		want string
	}{
		"nothing was written":                    {nil, 3, ""},
		"it answered its question":               {[]message{said(4, `{"checkpoint_message_id":3,"resolves_checkpoint":true}`)}, 0, ""},
		"its question was closed":                {[]message{said(4, `{"checkpoint_message_id":3}`)}, 0, "no longer open"},
		"its question was replaced":              {[]message{said(6, `{"checkpoint_message_id":3}`)}, 5, "no longer open"},
		"a question was open and it named none":  {[]message{said(6, `{"checkpoint_message_id":0}`)}, 5, "without seeing"},
		"the question came later":                {[]message{said(4, `{"checkpoint_message_id":0}`)}, 5, ""},
		"nothing was asked":                      {[]message{said(4, `{"checkpoint_message_id":0}`)}, 0, ""},
		"a later message did answer":             {[]message{said(4, `{"checkpoint_message_id":3}`), said(6, `{"checkpoint_message_id":5,"resolves_checkpoint":true}`)}, 0, ""},
		"Claude has written since, which is not": {[]message{said(4, `{"checkpoint_message_id":3}`), {}}, 0, "no longer open"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := unanswered(c.all, c.open); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
				t.Errorf("the note is %q", got)
			}
		})
	}
}

// What would not be pushed is shown with every part of a change, also if nothing else has changed.
func TestAReviewShowsWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	left := []job.LeftOut{{Path: "lib/", Reason: "it is a git repository of its own, without a commit"}, {Path: "b", Reason: "it could not be read"}}
	changed := []job.FileDiff{{Path: "a", Diff: "@@ -0,0 +1 @@\n+x\n", Additions: 1, Digest: "d"}}
	for name, c := range map[string]struct {
		query string
		diff  job.DiffOutput
		want  []string
	}{
		"next to a change":            {"", job.DiffOutput{Files: changed, LeftOut: left}, []string{"1 file", "2 left out", "lib/", "could not be read"}},
		"without any change":          {"", job.DiffOutput{LeftOut: left}, []string{"Nothing that would be pushed has been changed", "2 paths", "lib/", "could not be read"}},
		"since a round":               {"?since=0", job.DiffOutput{LeftOut: left}, []string{"Nothing has changed since that round", "2 paths", "lib/"}},
		"next to one file of several": {"?file=r/a", job.DiffOutput{Files: changed, LeftOut: left}, []string{"2 left out", "lib/"}},
		"if nothing is":               {"", job.DiffOutput{}, []string{"Nothing has been changed yet"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			c.diff.Repository, c.diff.Tree = "r", "t"
			s.answers = map[string]any{
				"/api/jobs/x": job.Job{ID: "x", Kind: "k", State: job.AwaitingApproval}, "/api/jobs/x/diff": []job.DiffOutput{c.diff}, "/api/jobs/x/logs": []job.VerifierOutput{},
				"/api/jobs/x/steering": job.SteeringState{History: []job.SteeringIteration{{IterationNumber: 1}}}, "/api/jobs/x/viewed": job.Viewed{},
			}
			page := s.get("/jobs/x/review" + c.query)
			for _, want := range c.want {
				must.Contain(t, page, want)
			}
			must.Equal(t, len(c.diff.LeftOut) > 0, strings.Contains(page, "Not part of the change"), "the page names what is left out")
			must.Equal(t, min(1, len(c.diff.LeftOut)), strings.Count(page, "<code>r/lib/</code>"), "it is named … times")
		})
	}
}

// A message that was refused is shown again next to what is open by then. It belongs to that, and the page
// says so.
func TestARefusedMessageBelongsToWhatThePageShows(t *testing.T) {
	t.Parallel()
	const another, closed = "You wrote this before the question on this page was asked", "The question that you saw is no longer open"
	for name, c := range map[string]struct {
		written string
		open    int64
		want    string
	}{
		"the question is still open":          {"3", 3, ""},
		"another question has replaced it":    {"3", 5, another},
		"a question has been asked since":     {"0", 5, another},
		"the question has been closed":        {"3", 0, closed},
		"no question was open, and none is":   {"0", 0, ""},
		"the page's question cannot be known": {"x", 5, another},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			x := job.Job{ID: "x", Kind: "k", SessionID: "s", State: job.Running}
			if c.open != 0 {
				x.State = job.AwaitingApproval
				x.Checkpoint = &job.Checkpoint{
					ID: "chk_now", RequestID: "x", Type: job.ToolApproval, Status: job.Open, MessageID: c.open, Props: json.RawMessage(`{"tool_name":"Bash","tool_input":{"command":"rm -rf /srv"}}`),
				}
			}
			s.answers = map[string]any{"/api/jobs/x": x} // nothing can be written to its chat
			_, page := s.post(job.Checkpoint{}, "/jobs/x/say", "text=go+on&question="+c.written)
			must.Contain(t, page, ">go on</textarea>")
			must.Contain(t, page, fmt.Sprintf(`name="question" value="%d" id="say-beside"`, c.open))
			must.Equal(t, c.open != 0, strings.Contains(page, "rm -rf /srv"), "the page shows the question")
			for _, note := range []string{another, closed} {
				must.Equal(t, c.want == note, strings.Contains(page, note), note)
			}
		})
	}
}
