package cli_test

import (
	"os"
	"strings"
	"testing"

	"ringback/test/must"
)

// asksInPlace returns a run that asks a question while it continues.
func asksInPlace(t *testing.T, typed string) (*stub, *console) {
	t.Helper()
	f := newStub(t)
	f.events = []string{happened(1, "running", `{}`), happened(2, "checkpoint", question)}
	s := newConsole(t, f.URL).onTerminal(80).atKeyboard(typed)
	s.defaults.NoColor = true
	return f, s
}

func TestRunIsAnsweredInPlace(t *testing.T) {
	t.Parallel()
	f, s := asksInPlace(t, "\nUse 16:9\n")
	f.after = map[string][]string{replies: {
		happened(3, "checkpoint:resolved", strings.Replace(question, `"open"`, `"answered"`, 1)), happened(4, "received", `{}`),
	}}
	got := s.run(t, "run", "media")
	if sent := f.replied(); sent != `{"text":"Use 16:9"}` || got.code != 0 {
		t.Errorf("exit code %d, sent %q, says %q", got.code, sent, got.stderr)
	}
	if strings.Count(got.stderr, "Your reply: ") != 2 || !strings.Contains(got.stdout, "received after") {
		t.Errorf("says %q, prints %q", got.stderr, got.stdout)
	}
}

func TestAQuestionAnsweredElsewhereIsTakenBack(t *testing.T) {
	t.Parallel()
	f, s := asksInPlace(t, "")
	f.events = append(f.events, happened(3, "checkpoint:resolved", strings.Replace(question, `"open"`, `"answered"`, 1)), happened(4, "received", `{}`))
	keys, silent, err := os.Pipe() // no input arrives
	must.OK(t, err)
	defer keys.Close()
	defer silent.Close()
	s.keys = keys
	got := s.run(t, "run", "media")
	if got.code != 0 || f.was(replies) {
		t.Errorf("exit code %d, asked %v", got.code, f.asked)
	}
}

func TestARefusedReplyIsAskedAgain(t *testing.T) {
	t.Parallel()
	f, s := asksInPlace(t, "5:3\n16:9\n")
	f.refusals = map[string]string{replies: `400 {"error":"5:3 is none of them","hint":"GET /api/checkpoints?status=open lists them."}`}
	f.after = map[string][]string{replies: {happened(3, "checkpoint:resolved", strings.Replace(question, `"open"`, `"answered"`, 1)), happened(4, "received", `{}`)}}
	got := s.run(t, "run", "media")
	if sent := f.replied(); sent != `{"text":"16:9"}` || got.code != 0 || !strings.Contains(got.stderr, "Error: 5:3 is none of them\nringback inbox lists them.") {
		t.Errorf("exit code %d, sent %q, says %q", got.code, sent, got.stderr)
	}
}

func TestAReviewIsDecidedInPlace(t *testing.T) {
	t.Parallel()
	const (
		reply   = "POST /api/checkpoints/chk_03_secondsecondsecondsecondse/reply"
		again   = "POST /api/checkpoints/chk_03_questionsquestionsquestion/reply"
		unclear = `{"id":"chk_03_secondsecondsecondsecondse","status":"clarified","next":"chk_03_questionsquestionsquestion"}`
	)
	for _, c := range []struct{ name, typed, sentTo, sent string }{
		{"approve", "a\n", reply, `{"decision":"approve","shown":"link"}`},
		{"approve the diff", "d\na\n", reply, `{"decision":"approve","shown":"whole"}`},
		{"reject", "reject\n", reply, `{"decision":"deny"}`},
		{"approve in words, which the server reads", "approve it\n", reply, `{"text":"approve it","shown":"link"}`},
		{"reject in words", "no thanks\n", reply, `{"text":"no thanks","shown":"link"}`},
		{"steer", "Also the payments handler\ny\n", again, `{"decision":"steer","text":"Also the payments handler"}`},
		{"steer in one word of another language", "还有支付\ny\n", again, `{"decision":"steer","text":"还有支付"}`},
		{"steer by an order", "steer: the payments handler\ny\n", reply, `{"decision":"steer","text":"steer: the payments handler"}`},
		{"an order that is taken back", "change: the payments handler\nn\n\n", "", ""},
		{"an order that is left unfinished", "Change： the payments handler\n", "", ""},
		{"a typo, then approve", "oops\nn\na\n", again, `{"decision":"approve","shown":"link"}`},
		{"later", "\n", "", ""},
		{"no more input", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, s := asksInPlace(t, c.typed)
			s.defaults.Pager = "cat"
			f.events[1] = happened(2, "checkpoint", underReview[strings.Index(underReview, `{"id"`):strings.Index(underReview, `,"turn":1`)])
			f.records = []string{underReview}
			f.answers[reply], f.answers[again] = question, question
			if c.sentTo == again {
				f.answers[reply] = unclear
			}
			f.after = map[string][]string{c.sentTo: {happened(9, "received", `{}`)}}
			got := s.run(t, "run", "code-change")
			if got.code != 0 || c.sentTo != "" && f.sent(c.sentTo) != c.sent || c.sentTo == "" && (f.was(reply) || f.was(again) || f.was("POST /api/jobs/"+jobID+"/steer")) {
				t.Errorf("exit code %d, sent %q, says %q, asked %v", got.code, f.sent(c.sentTo), got.stderr, f.asked)
			}
			if !strings.Contains(got.stdout, "Repository: service\n  Summary: 3 files changed") || strings.Contains(got.stdout, "Changes:") {
				t.Errorf("does not show the change: %q", got.stdout)
			}
		})
	}
}

func TestNobodyIsAskedInPlaceWhereNobodyTypes(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*console){
		"no terminal": func(s *console) { s.onTerminal(0) }, "no keyboard": func(s *console) { s.defaults.TypedFunc = nil },
	} {
		f, s := asksInPlace(t, "yes\n")
		f.events = append(f.events, happened(3, "received", `{}`))
		set(s)
		if got := s.run(t, "run", "media"); got.code != 0 || strings.Contains(got.stderr, "Your reply") {
			t.Errorf("%s: exit code %d, says %q", name, got.code, got.stderr)
		}
	}
}
