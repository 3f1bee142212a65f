package intent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/intent"
	"ringback/test/must"
)

// questions are the questions for the replies in testdata, by section.
var questions = map[string]intent.Context{
	"deploy": {
		Type: job.Confirmation, Message: "Deploy shop-api 1.4.0 to production?", Orders: []string{"Deploy ", "Yes, Deploy"},
		YesPhrases: []string{"Yes, Deploy", `Yes, please proceed with deploying "shop-api" to production.`},
		NoPhrases:  []string{"No, I don't want to deploy right now."},
	},
	"review": {Type: job.Review, Message: "3 files changed. Approve, reject or steer?"},
	// own is Claude's own question, and budget one of Ringback's.
	"own":      {Type: job.Confirmation, Message: "Delete the backups and deploy?"},
	"budget":   {Type: job.Confirmation, Message: "1.00 USD used, continue with 1.00 USD more?", NoChange: true},
	"captions": {Type: job.InformationRequest, Fields: []intent.Field{{Name: "captions", Type: "boolean", Required: true}}},
	"note":     {Type: job.InformationRequest, Message: "Anything else?"},
	"offered":  {Type: job.Confirmation, Message: "Deploy shop-api 1.4.0 to production?", Offered: "yes but only the replica"},
	"ratio": {
		Type: job.ErrorRecovery, Message: "The aspect ratio 5:3 is not supported.", Fields: oneOf("aspect_ratio", "16:9", "9:16", "1:1"),
	},
	"words":    {Type: job.ErrorRecovery, Fields: oneOf("orientation", "landscape", "portrait", "none", "cancel")},
	"places":   {Type: job.ErrorRecovery, Fields: oneOf("city", "New York", "New York City")},
	"versions": {Type: job.ErrorRecovery, Fields: oneOf("version", "v2", "v1", "latest")},
	"levels":   {Type: job.ErrorRecovery, Fields: oneOf("gain", "-5 dB", "0 dB", "+10%", "-10%", "1.5 MW", "15 MW", "5-10 W", "1/2")},
	"names":    {Type: job.ErrorRecovery, Fields: oneOf("name", "C#", "A-", "!draft", ".NET", "--force", "pre-built", "Yes, Deploy", "résumé", "720p (HD)")},
	"marks":    {Type: job.ErrorRecovery, Fields: oneOf("language", "C", "C#", "Objective C")},
	"count":    {Type: job.ErrorRecovery, Fields: oneOf("count", json.Number("3"), json.Number("5"))},
	"retries":  {Type: job.ErrorRecovery, Fields: []intent.Field{{Name: "retries", Type: "number", Required: true}}},
	"title":    {Type: job.InformationRequest, Fields: []intent.Field{{Name: "title", Type: "string", Required: true}}},
	"audio":    {Type: job.InformationRequest, Fields: []intent.Field{{Name: "audio_file", Type: "string", Required: true}}},
	"form": {Type: job.FormRequirements, Fields: []intent.Field{
		{Name: "duration", Type: "integer", Required: true},
		{Name: "format", Type: "string", Enum: []any{"mp4", "webm"}, Required: true},
		{Name: "title", Type: "string", Required: true},
		{Name: "captions", Type: "boolean"},
	}},
	"refund": {Type: job.FormRequirements, Fields: []intent.Field{
		{Name: "action", Type: "string", Enum: []any{"cancel", "refund"}, Required: true},
		{Name: "why", Type: "string", Required: true},
		{Name: "then", Type: "string", Enum: []any{"Stop", "Quit", "QUIT", "Continue"}},
		{Name: "else", Type: "string", Enum: []any{"Stop", "Continue"}},
	}},
	// asked is two questions of the CLI's own tool, and answered is the same after the first was answered.
	"asked":    {Type: job.InformationRequest, Labels: []string{"Stop", "Continue", "Never mind", "Abort"}, Fields: answers},
	"answered": {Type: job.InformationRequest, Labels: []string{"Stop", "Continue"}, Fields: answers, Known: map[string]any{"answer_1": "Continue"}},
	"errand": {Type: job.FormRequirements, Fields: []intent.Field{
		{Name: "note", Type: "string", Required: true}, {Name: "to", Type: "string"}, {Name: "send_at", Type: "string"},
	}},
	"contact": {Type: job.InformationRequest, Fields: []intent.Field{{Name: "email", Type: "string", Required: true}}},
}

var answers = []intent.Field{{Name: "answer_1", Type: "string", Required: true}, {Name: "answer_2", Type: "string", Required: true}}

// oneOf returns the field of a question with options.
func oneOf(name string, options ...any) []intent.Field {
	return []intent.Field{{Name: name, Enum: options, Required: true}}
}

// line is one line of the table.
type line struct {
	file                 string
	number               int
	section, text, means string
}

func table(tb testing.TB) []line {
	tb.Helper()
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) < 2 {
		tb.Fatalf("found %v, %v", names, err)
	}
	var lines []line
	for _, name := range names {
		lines = append(lines, read(tb, name)...)
	}
	return lines
}

// read reads a file of the table.
func read(tb testing.TB, name string) (lines []line) {
	tb.Helper()
	source, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	var section string
	for i, text := range strings.Split(string(source), "\n") {
		switch {
		case strings.HasPrefix(text, "== "):
			section = text[3:]
		case text == "" || strings.HasPrefix(text, "# ") || text == "#":
		default:
			words, means, ok := strings.Cut(text, " => ")
			if !ok {
				tb.Fatalf("line %d has no reading: %q", i+1, text)
			}
			if strings.Contains(words, `\`) {
				if words, err = strconv.Unquote(`"` + strings.ReplaceAll(words, `"`, `\"`) + `"`); err != nil {
					tb.Fatalf("line %d: %v", i+1, err)
				}
			}
			lines = append(lines, line{name, i + 1, section, words, means})
		}
	}
	return lines
}

func TestPeopleAreUnderstoodOrAskedAgain(t *testing.T) {
	t.Parallel()
	lines := table(t)
	if len(lines) < 900 {
		t.Fatalf("the table has %d replies; at least 900 are wanted", len(lines))
	}
	for _, l := range lines {
		q, ok := questions[l.section]
		if !ok {
			t.Fatalf("%s, line %d: no question is named %q", l.file, l.number, l.section)
		}
		got := describe(intent.Read(q, l.text))
		want := l.means
		if strings.HasPrefix(want, "{") {
			want = canonical(t, want)
		}
		if got != want {
			t.Errorf("%s, line %d, %s: %q was read as\n%s\nwant\n%s", l.file, l.number, l.section, l.text, got, want)
		}
	}
}

func canonical(t *testing.T, want string) string {
	t.Helper()
	var values map[string]any
	must.OK(t, json.Unmarshal([]byte(want), &values))
	out, err := json.Marshal(values)
	must.OK(t, err)
	return string(out)
}

func describe(r intent.Reading) string {
	switch {
	case r.Outcome == intent.Values:
		text, err := json.Marshal(r.Values)
		if err != nil {
			return err.Error()
		}
		return string(text)
	case r.Outcome == intent.Deny && r.Reason != "":
		return "deny because " + r.Reason
	}
	return string(r.Outcome)
}

// A yes with any addition does not approve anything.
func TestAYesWithAnythingElseIsNoYes(t *testing.T) {
	t.Parallel()
	for _, l := range table(t) {
		if l.means != "approve" {
			continue
		}
		for _, more := range []string{"zorp", "tomorrow", "if", "not", "don't", "but", "?", "...", "maybe", "Marie", "42", "\u200b", "нет", `"no"`} {
			for _, text := range []string{more + " " + l.text, l.text + " " + more, l.text + ", " + more} {
				if r := intent.Read(questions[l.section], text); r.Outcome == intent.Approve {
					t.Errorf("%q was read as a yes", text)
				}
			}
		}
	}
}

func TestWhatIsSuggestedIsUnderstood(t *testing.T) {
	t.Parallel()
	for name, q := range questions {
		for _, text := range intent.Suggest(q) {
			if r := intent.Read(q, text); r.Outcome == intent.Unclear {
				t.Errorf("%s: the suggested %q is not understood", name, text)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, l := range table(f) {
		f.Add(l.section, l.text)
	}
	f.Fuzz(func(t *testing.T, section, text string) {
		q, ok := questions[section]
		if !ok {
			t.Skip()
		}
		r := intent.Read(q, text)
		if q.Type.Binding() && r.Outcome == intent.Unclear && r.Question == "" {
			t.Errorf("%q is unclear, and nothing is asked", text)
		}
		if r.Outcome == intent.Approve {
			for _, more := range []string{"zorp", "?", "nicht", "pas", "pero", "não", "但是", "吗", "ない", "か", "🙃"} {
				if intent.Read(q, text+" "+more).Outcome == intent.Approve || intent.Read(q, more+" "+text).Outcome == intent.Approve {
					t.Errorf("%q is a yes though %q was added", text, more)
				}
			}
		}
		if _, err := json.Marshal(r.Values); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	lines := table(b)
	for b.Loop() {
		for _, l := range lines {
			intent.Read(questions[l.section], l.text)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(lines)), "ns/reply")
}
