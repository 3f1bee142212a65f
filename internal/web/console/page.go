package console

import (
	"cmp"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/text/lazy"
	"ringback/internal/text/literal"
	"ringback/internal/web/httpjson"
)

//go:embed templates
var templates embed.FS

// page is the data from which every page is rendered.
type page struct {
	Title string
	// Tab is the current entry of the navigation: overview, jobs, inbox or docs.
	Tab string
	// Watch selects the events that the page follows.
	Watch watch
	// Follow is set for a list that is kept in view: as long as the page is not scrolled, it shows
	// new entries at once, at the top.
	Follow bool
	Data   any

	// render fills in the rest.
	Who     job.Identity
	Open    bool
	Waiting int64
	Now     time.Time
	// AsText is set if texts are shown unrendered.
	AsText bool
}

// watch selects the events that make a page fetch itself again.
type watch struct {
	// UserID and RequestID select the events of a user and of one job; if RequestID is empty, all
	// events of the user count. A page without a UserID follows no events.
	UserID    string
	RequestID job.ID
}

func (v *visit) follow() watch {
	if v.Who.UserID != "" {
		return watch{UserID: v.Who.UserID}
	}
	return watch{UserID: "*"}
}

// pagesOf returns a function that parses the pages when it is first called: each with the layout and the
// parts. prose renders texts that may be Markdown.
func pagesOf(files static, prose func(string) template.HTML) func() map[string]*template.Template {
	return sync.OnceValue(func() map[string]*template.Template {
		base := template.Must(template.New("").Funcs(functions(files)).Funcs(template.FuncMap{"markdown": prose}).ParseFS(
			templates, "templates/layout.html", "templates/parts/*.html",
		))
		pages := map[string]*template.Template{}
		names, err := fs.Glob(templates, "templates/*.html")
		if err != nil {
			panic("console: " + err.Error()) // only a malformed pattern fails
		}
		for _, name := range names {
			if short := strings.TrimSuffix(path.Base(name), ".html"); short != "layout" {
				pages[short] = template.Must(template.Must(base.Clone()).ParseFS(templates, name))
			}
		}
		return pages
	})
}

func (v *visit) render(status int, name string, p page) error {
	p.Who, p.Open, p.Now = v.Who, v.console.opts.Open, time.Now()
	if p.Open || p.Who != (job.Identity{}) {
		// If it cannot be counted, the page itself shows what is wrong.
		p.Waiting, _ = v.api().CountCheckpoints(v.Request().Context(), client.CheckpointFilter{Status: job.Open})
	}
	pages := v.console.pages()
	if p.AsText = v.QueryParam("as") == "text"; p.AsText {
		pages = v.console.pagesAsText()
	}
	text := boundedBuffer{limit: mostPage}
	if err := pages[name].ExecuteTemplate(&text, "layout", p); errors.Is(err, errTooLong) {
		return job.Errorf(job.TooLarge, "This page would be longer than %d MiB", mostPage>>20).WithHint(
			"Read it in a terminal: ringback status, messages, diff and logs show the same.",
		)
	} else if err != nil {
		return err
	}
	return v.HTML(status, withPrefix(visible(text.String()), base(v.Request())))
}

// sentBack matches the parts of a page that the browser sends back: text from elsewhere contains no
// unescaped < and no unescaped quotation mark.
var sentBack = lazy.Regexp(` (?:value|name|data-[a-z]+)="[^"]*"|<textarea[^>]*>[^<]*`)

// visible returns a page on which no text can pose as another: each character that cannot be seen is
// replaced. Only what the browser sends back stays as it is, because it is what was asked about; next to
// values of others, the page shows such characters in another way.
func visible(page string) string {
	shown := literal.Text(page)
	if shown == page {
		return page
	}
	var out strings.Builder
	end := 0
	for _, at := range sentBack().FindAllStringIndex(page, -1) {
		out.WriteString(literal.Text(page[end:at[0]]) + strings.ReplaceAll(page[at[0]:at[1]], "\r\n", "\n"))
		end = at[1]
	}
	return out.String() + literal.Text(page[end:])
}

func (v *visit) asError(err error) *job.Error {
	e, _ := httpjson.AsError(err, v.Request())
	return e
}

func statusOf(e *job.Error) int { return job.HTTPStatus(e.Kind) }

func functions(files static) template.FuncMap {
	return template.FuncMap{
		"stamp":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"clock":   func(t time.Time) string { return t.UTC().Format("15:04:05") },
		"seconds": func(n *float64) string { return span(time.Duration(*n * float64(time.Second))) },
		"percent": func(share *float64) string { return fmt.Sprintf("%.0f%%", *share*100) },
		"base64":  base64.StdEncoding.EncodeToString, "round": job.RoundWords, "static": files.path, "ago": ago, "until": untilText,
		"span": span, "usd": usd, "count": thousands,
		"stateWords": stateWords, "fileName": func(parts ...string) string { return job.FileName(strings.Join(parts, "/")) },
		"tone": tone, "shortID": shortID, "jobPath": here.Job, "jobFile": here.File, "leavePath": leavePath,
		"pretty": pretty, "indented": literal.Indented,
		"detail": detailText, "linkAttributes": func() template.HTMLAttr { return linkAttributes },
		"typeWords": typeWords, "callWords": callWords, "heading": heading, "gist": gist, "askedIn": askedIn,
		"outcomeTone": outcomeTone, "plural": plural, "dict": dict,
		"actor": actorWords,
		"bare":  job.Bare, "upper": strings.ToUpper, "attempt": attemptText,
		"took": tookText, "answer": replyText, "line": literal.Line,
	}
}

// stateTexts are the states that people know by other words, and tones the states with another
// colour class than still.
var (
	stateTexts = map[job.State]string{
		job.AwaitingApproval: "needs approval", job.AwaitingInput: "needs an answer", job.Received: "done",
	}
	tones = map[job.State]string{
		job.Running: "busy", job.AwaitingApproval: "asks", job.AwaitingInput: "asks", job.Received: "good",
		job.Failed: "bad", job.Expired: "bad",
	}
)

func stateWords(s job.State) string { return cmp.Or(stateTexts[s], string(s)) }

// tone returns the colour class of a state: still, busy, asks, good or bad.
func tone(s job.State) string { return cmp.Or(tones[s], "still") }

// heading returns the heading of a question: the title from its kind, or else its type.
func heading(c job.Checkpoint) string { return cmp.Or(c.Question().Title, typeWords(c.Type)) }

// askedIn returns a question as one line of a list. Text by Claude is Markdown; text put together
// from a kind's words and values is not.
func askedIn(asked job.Checkpoint) string {
	switch {
	case asked.Type == job.Review:
		if said, _ := reviewGist(asked.Message); said != "" {
			return "Claude: " + said
		}
		return gist(asked.Message)
	case asked.Question().OwnWords():
		return gist(asked.Message)
	}
	return asked.Message
}

var typeTexts = map[job.CheckpointType]string{
	job.Review: "Review of a change", job.Confirmation: "Confirmation", job.ToolApproval: "Tool call",
	job.ErrorRecovery: "Another value", job.InformationRequest: "Question", job.FormRequirements: "Form",
}

func typeWords(t job.CheckpointType) string { return cmp.Or(typeTexts[t], string(t)) }

// shortID returns the part of an ID that people recognize: the start of its random part.
func shortID(id any) string {
	text := fmt.Sprint(id)
	if at := strings.LastIndexByte(text, '_'); at >= 0 {
		text = text[at+1:]
	}
	return text[:min(8, len(text))]
}

// ago formats how long ago a time is, in the largest unit that fits. live.js keeps it up to date.
func ago(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	if now.Sub(t) < 5*time.Second {
		return "just now"
	}
	return span(now.Sub(t)) + " ago"
}

func untilText(t, now time.Time) string {
	if !t.After(now) {
		return "now"
	}
	return span(t.Sub(now))
}

// span formats a duration in its largest unit; from 1 to 10 hours, in hours and minutes.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		if rest := int(d.Minutes()) % 60; rest > 0 && d < 10*time.Hour {
			return fmt.Sprintf("%d h %d min", int(d.Hours()), rest)
		}
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// usd formats an amount of money. Small amounts get four decimals.
func usd(amount float64) string {
	switch {
	case amount == 0:
		return "$0"
	case amount < 0.01:
		return fmt.Sprintf("$%.4f", amount)
	}
	return fmt.Sprintf("$%.2f", amount)
}

func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

func tookText(j job.Job) string {
	if j.FinishedAt.IsZero() {
		return "–"
	}
	return span(j.FinishedAt.Sub(j.CreatedAt))
}

func attemptText(j job.Job) string {
	n := j.Attempt // the number of failed attempts
	if !j.State.Terminal() || n == 0 {
		n++
	}
	if j.MaxAttempts == 0 || j.Turn == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d", min(n, j.MaxAttempts), j.MaxAttempts)
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(int64(n)) + " " + one + "s"
}

// forPrograms are words that occur only in hints for programs.
var forPrograms = []string{
	"GET /", "POST /", "DELETE /", "Bearer", "endpoints", "curl", "nextCursor", "?userId=", "Idempotency-Key",
	"CORS_ORIGINS",
}

// hint returns the hint of an error without the sentences for programs.
func hint(text string) string {
	var kept []string
	for sentence := range strings.SplitAfterSeq(text, ". ") {
		if !slices.ContainsFunc(forPrograms, func(word string) bool { return strings.Contains(sentence, word) }) {
			kept = append(kept, strings.TrimSpace(sentence))
		}
	}
	return strings.Join(kept, " ")
}

func faultText(e *job.Error) string { return strings.TrimSpace(e.Message + ". " + hint(e.Hint)) }

func faultsOf(e *job.Error) []string {
	faults := []string{faultText(e)}
	for _, detail := range e.Details {
		faults = append(faults, detailText(detail))
	}
	return faults
}

// splitFaults returns the details of an error that are below a path, with their paths from there,
// and the texts of the others. If the path is empty, no detail is below it.
func splitFaults(e *job.Error, below string) (inside []job.Detail, others []string) {
	for _, detail := range e.Details {
		if path, isBelow := strings.CutPrefix(detail.Path, below); isBelow && below != "" {
			inside = append(inside, job.Detail{Path: path, Message: detail.Message})
		} else {
			others = append(others, detailText(detail))
		}
	}
	if len(e.Details) == 0 {
		others = []string{faultText(e)}
	}
	return inside, others
}

// detailText returns the text of a detail, after the name of its field.
func detailText(d job.Detail) string {
	return strings.TrimPrefix(strings.TrimPrefix(d.Path, "/")+": "+d.Message, ": ")
}

// replyText formats the answer to a question: the decision, the words, or else the values.
func replyText(r job.Reply) string {
	if r.Decision == "" && r.Text == "" {
		return literal.Value(r.Values)
	}
	return cmp.Or(string(r.Decision), r.Text)
}

func dict(pairs ...any) map[string]any {
	all := map[string]any{}
	for pair := range slices.Chunk(pairs, 2) {
		all[fmt.Sprint(pair[0])] = pair[1]
	}
	return all
}
