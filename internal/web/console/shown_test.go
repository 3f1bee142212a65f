package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/test/must"
)

// Pages name jobs by their titles, questions and answers by their words, and whose jobs they show.
func TestPagesNameWhatPeopleKnow(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.asked = job.Checkpoint{ID: "chk", Type: job.InformationRequest, RequestID: "x", UserID: "ada", Status: job.Answered, Message: "Which **colour**?", Reply: &job.Reply{Values: map[string]any{"colour": "red\u200b"}}}
	x := job.Job{ID: "x", Kind: "k", Title: `Paint "it"`, UserID: "ada", SessionID: "s", State: job.Running, Checkpoint: &s.asked}
	asked := job.Message{MessageBody: job.Text(job.FromAssistant, s.asked.Message)}
	asked.MessageType, asked.RequestID = job.CheckpointMessage, "x"
	s.answers = map[string]any{
		"/api/jobs/x": x, "/api/sessions/s/messages": map[string]any{"messages": []job.Message{asked}},
		"/api/jobs/x/audit": job.AuditEntry{Event: "answered", CheckpointID: "chk", By: &job.Actor{UserID: "ada"}},
		"/api/checkpoints":  map[string]any{"checkpoints": []job.Checkpoint{s.asked}}, "/api/readiness": job.Readiness{}, "/api/stats": map[string]any{"jobs": map[string]any{"byStatus": map[string]int{"running": 1234, "failed": 1}}},
	}
	for path, wants := range map[string][]string{
		"/jobs/x":       {`<h1><code>Paint &#34;it&#34;</code> <span`, "<title>Paint &#34;it&#34; x", "<strong>colour</strong>"},
		"/jobs/x/audit": {`answered: <code class="given">{&#34;colour&#34;:&#34;red\u200b&#34;}</code>`},
		"/inbox":        {`><code>Paint &#34;it&#34;</code> <code>x</code></a>`, `Claude asks:</p><div class="prose asked"><p>Which <strong>colour</strong>?</p>`, `<b>{&#34;colour&#34;:&#34;red\u200b&#34;}</b>`},
		"/inbox/chk":    {`Claude asks:</p><div class="prose asked"><p>Which <strong>colour</strong>?</p>`, `Answered by ada: <b>{&#34;colour&#34;:&#34;red\u200b&#34;}</b>`},
		"/":             {`<a href="/jobs">All jobs</a> of all users`, "<span>for ada</span>", `<a href="/jobs?status=failed"><b>1</b> failed</a>`},
	} {
		page := s.get(path)
		for _, want := range wants {
			must.Contain(t, page, want, path)
		}
	}
}

// The text of a page has the contrast that WCAG AA asks for, in both colour schemes: also on a mark, which
// the line below it shows.
func TestColoursHaveContrast(t *testing.T) {
	t.Parallel()
	css := string(must.Get(staticFiles.ReadFile("static/style.css"))(t))
	schemes := regexp.MustCompile(`(?s):root \{.*?\}`).FindAllString(css, 2)
	must.Equal(t, 2, len(schemes), "the colour schemes are")
	for i, scheme := range schemes {
		colours := map[string]float64{}
		for _, found := range regexp.MustCompile(`--([a-z0-9-]+): #([0-9a-f]{3,6});`).FindAllStringSubmatch(scheme, -1) {
			colours[found[1]] = luminance(t, found[2])
		}
		for _, pair := range []struct {
			least    float64
			on, text []string
		}{
			{4.5, []string{"ground", "panel", "still-ground"}, []string{"ink", "quiet", "accent", "bad", "good"}},
			{4.5, []string{"add", "del", "add-word", "del-word"}, []string{"ink"}},
			{4.5, []string{"add", "del", "busy-ground"}, []string{"quiet"}},
			{4.5, []string{"accent"}, []string{"on-accent"}},
			{4.5, []string{"good-ground"}, []string{"good"}},
			{4.5, []string{"asks-ground"}, []string{"asks"}},
			{4.5, []string{"bad-ground"}, []string{"bad"}},
			{4.5, []string{"busy-ground"}, []string{"busy"}},
			{4.5, []string{"still-ground"}, []string{"still"}},
			{3, []string{"add", "add-word"}, []string{"good"}},
			{3, []string{"del", "del-word"}, []string{"bad"}},
		} {
			for _, ground := range pair.on {
				for _, text := range pair.text {
					a, b := colours[ground]+.05, colours[text]+.05
					if got := max(a, b) / min(a, b); got < pair.least || colours[ground] == colours[text] {
						t.Errorf("scheme %d: %s on %s has a contrast of %.2f", i, text, ground, got)
					}
				}
			}
		}
	}
}

// luminance returns the relative luminance of a colour, see WCAG.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	if len(hex) == 3 {
		hex = fmt.Sprintf("%c%c%c%c%c%c", hex[0], hex[0], hex[1], hex[1], hex[2], hex[2])
	}
	sum := 0.0
	for i, weight := range []float64{.2126, .7152, .0722} {
		part := float64(must.Get(strconv.ParseUint(hex[2*i:2*i+2], 16, 8))(t)) / 255
		if part <= .04045 {
			sum += weight * part / 12.92
		} else {
			sum += weight * math.Pow((part+.055)/1.055, 2.4)
		}
	}
	return sum
}

// A job that is started with a key needs a user: the form asks for it where it is seen.
func TestTheFormAsksForWhatItNeeds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		form startForm
		who  job.Identity
		open bool
		want string
	}{
		"with a key":       {startForm{}, job.Identity{Key: "ops"}, false, `</div>\s*<div class="field"><label for="userId">For which user</label><input id="userId" name="userId" value="" required></div>\s*<details class="more" id="more">`},
		"with a token":     {startForm{}, job.Identity{UserID: "ada"}, false, `</div>\s*<details class="more" id="more"><summary>More</summary>\s*<div class="field"><label for="tags">`},
		"without sign-in":  {startForm{}, job.Identity{}, true, `<details class="more" id="more"><summary>More</summary>\s*<div class="field"><label for="userId">For which user <span`},
		"that was refused": {startForm{Faults: []string{"tags/0: no"}}, job.Identity{}, true, `<details class="more" id="more" open>`},
	} {
		form := c.form
		form.Sent = map[string][]string{}
		must.OK(t, json.Unmarshal([]byte(stageKind), &form.Kind))
		form.Form.Control, form.Form.Name = "input", "v"
		var text bytes.Buffer
		must.OK(t, pagesOf(loadStatic(), markdown)()["new_job"].ExecuteTemplate(&text, "layout", page{Data: form, Who: c.who, Open: c.open}))
		if !regexp.MustCompile(c.want).MatchString(text.String()) {
			t.Errorf("%s, the form is\n%s", name, text.String())
		}
	}
}

// The page for an internal error contains an ID to look for in the log, and does not reveal the
// error.
func TestAFaultOfOursIsAPage(t *testing.T) {
	t.Parallel()
	c := New(Options{API: http.NotFoundHandler(), Open: true, MarkFunc: func(ctx context.Context) context.Context { return ctx }}, slog.New(slog.DiscardHandler))
	e := echo.New()
	e.GET("/jobs", c.page(func(*visit) error { return errors.New("the password is sesame") }))
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/jobs?status=failed", nil))
	text := w.Body.String()
	if w.Code != http.StatusInternalServerError || strings.Contains(text, "sesame") {
		t.Errorf("the answer is %d: %s", w.Code, text)
	}
	for _, want := range []string{"Internal server error", "search it for fault", `href="/jobs?status=failed">Try again`, `id="refusal"`} {
		must.Contain(t, text, want, "the page has no")
	}
}

// A chart's summary and table contain the same information as its bars.
func TestChartsOfDays(t *testing.T) {
	t.Parallel()
	five := 5
	classes := func(short, long int64) []job.Class {
		return []job.Class{{UpToSeconds: &five, Count: short}, {Count: long}}
	}
	days := []job.Day{
		{Date: "2026-01-02", CostUSD: map[string]float64{"a": 1, "b": 3}, FirstCallback: classes(18, 1), Approvals: classes(0, 0)},
		{Date: "2026-01-03", CostUSD: map[string]float64{"b": 1}, FirstCallback: classes(1, 0), Approvals: classes(0, 0)},
		{Date: "2026-01-04"},
	}
	charts := chartsOf(days)
	if len(charts) != 2 {
		t.Fatalf("there are %d charts: nothing was decided", len(charts))
	}
	cost, callbacks := charts[0], charts[1]
	must.Equal(t, "$5.00 in 3 days, at most $4.00 on one", cost.Summary)
	must.Equal(t, []chartKey{{"c1", "b", "$4.00"}, {"c2", "a", "$1.00"}}, cost.Legend)
	must.Equal(t, [][]string{{"2026-01-02", "$3.00", "$1.00"}, {"2026-01-03", "$1.00", "$0"}}, cost.Rows)
	if first := cost.Bars[0]; len(cost.Bars) != 3 || first.Height != 75 || first.Y != 25 || cost.Bars[1].Y != 0 || first.Title != "2 Jan, b: $3.00" {
		t.Errorf("the bars are %+v", cost.Bars)
	}
	must.Equal(t, "20 turns: 50 % up to 5 s, 95 % up to 5 s", callbacks.Summary)
	days[2].FirstCallback = classes(0, 4)
	must.Equal(t, "24 turns: 50 % up to 5 s, 5 longer than 5 s", chartsOf(days)[1].Summary)
	days[2].FirstCallback = classes(0, 40)
	must.Equal(t, "60 turns: 41 longer than 5 s", chartsOf(days)[1].Summary)
	must.Equal(t, 18, days[0].FirstCallback[0].Count, "drawing a chart has changed the numbers")
}
