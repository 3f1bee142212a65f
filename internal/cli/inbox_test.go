package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ringback/test/must"
)

func TestInboxIsEmpty(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	f.answers["GET /api/checkpoints"] = `{"checkpoints":[]}`
	got := newConsole(t, f.URL).run(t, "inbox", "--all", "--type", "review", "--limit", "7", "--user", "u1")
	if got.stdout != "Nothing waits for an answer.\n" || !f.was("GET /api/checkpoints?limit=7&type=review&userId=u1") {
		t.Errorf("prints %q, asked %v", got.stdout, f.asked)
	}
}

// hostile is a text that would draw over the terminal and fill it.
var hostile = "\x1b[2J\a\u009b31mboo\r\nchk_9 approved\u202e" + strings.Repeat("long ", 10_000)

func TestInboxOfHostileText(t *testing.T) {
	t.Parallel()
	evil, err := json.Marshal(hostile)
	must.OK(t, err)
	f := newStub(t)
	f.answers["GET /api/checkpoints"] = `{"checkpoints":[{"id":"chk_03_questionsquestionsquestion","type":"review","status":"open","message":` + string(evil) +
		`,"props":{"suggested_replies":[` + string(evil) + `]},"createdAt":"2026-02-01T10:00:02Z"}],"nextCursor":"a b"}`
	for _, columns := range []int{0, 80} {
		got := newConsole(t, f.URL).onTerminal(columns)
		got.defaults.NoColor = true
		both := got.run(t, "inbox")
		printed := both.stdout + both.stderr
		if strings.ContainsAny(printed, "\x1b\a\r\u009b\u202e") || strings.Contains(printed, "\nchk_9") || !strings.Contains(printed, "--cursor 'a b'") {
			t.Errorf("prints %q", printed)
		}
		for line := range strings.Lines(printed) {
			if columns > 0 && len([]rune(line)) > columns+1 {
				t.Errorf("%q would wrap", line)
			}
		}
	}
}

func TestWaitingIsToldInWords(t *testing.T) {
	t.Parallel()
	for since, want := range map[string]string{
		"2026-03-01T10:02:59Z": "8 s", "2026-03-01T09:10:00Z": "53 min", "2026-02-28T09:10:00Z": "24 h",
		"2026-02-01T10:00:00Z": "28 days", "2026-03-01T10:04:00Z": "0 s",
	} {
		f := newStub(t)
		f.answers["GET /api/checkpoints"] = strings.Replace(`{"checkpoints":[`+question+`]}`, "2026-03-01T10:00:02Z", since, 1)
		must.Contain(t, newConsole(t, f.URL).run(t, "inbox").stdout, "\t"+want+"\t", since)
	}
}

// A question cut in a list shows how much is missing and how to read it.
func TestACutQuestionSaysSo(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	f.answers["GET /api/checkpoints"] = `{"checkpoints":[` + strings.Replace(question, "Available options", strings.Repeat("x", 940)+" Available options", 1) + `]}`
	for columns, want := range map[int]string{0: "… 911 more characters\t", 80: "… 955 more characters\n", 30: "… 1005 more characters\n", 5000: "are: 16:9, 1:1.\n"} {
		s := newConsole(t, f.URL).onTerminal(columns)
		s.defaults.NoColor = true
		got := s.run(t, "inbox")
		if !strings.Contains(got.stdout, want) || columns > 0 && !strings.Contains(got.stderr, "Read one in full, and answer it, with: ringback reply chk_question") {
			t.Errorf("%d columns: prints %q, %q", columns, got.stdout, got.stderr)
		}
	}
}

func TestTheTitleOfAnActionHeadsItsQuestion(t *testing.T) {
	t.Parallel()
	asked := `{"id":"chk_03_questionsquestionsquestion","type":"confirmation","status":"open","message":"Bring \"web\" out now?","props":{"action":"deploy","title":"Deploy to production?",` +
		`"input":{"name":"web"},"asked":{"segments":[{"from":"kind","text":"Bring "},{"from":"value","text":"\"web\""},{"from":"kind","text":" out now?"}]}},"createdAt":"2026-02-01T10:00:02Z"}`
	f := newStub(t)
	f.answers["GET /api/checkpoints"] = `{"checkpoints":[` + asked + `]}`
	must.Contain(t, newConsole(t, f.URL).run(t, "inbox").stdout, "\tDeploy to production: Bring \"web\" out now?\t")
	f.answers["GET /api/jobs/req_1"] = `{"requestId":"req_1","status":"awaiting_approval","checkpoint":` + asked + `}`
	must.Contain(t, newConsole(t, f.URL).run(t, "status", "req_1").stdout, "\n  Deploy to production\n  Bring \"web\" out now?\n")
}

// A review begins with the words of the person who asked for it. Failed checks and files to look at twice
// are not cut off by Claude's words, however long or hostile these are.
func TestAReviewInTheInboxNamesWhatFailed(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	f.answers["GET /api/checkpoints"] = `{"checkpoints":[` + checkpointOf(underReview) + `]}`
	f.answers["GET /api/jobs/"+jobID] = strings.Replace(underReview, "A fix", strings.Repeat(`\u001b[2J\u0085[PASS] all checks\n`, 300), 1)
	s := newConsole(t, f.URL)
	must.Contain(t, s.run(t, "inbox").stdout, "\tFix it properly · FAILED service:lint (exit code: -1) timed out · CAUTION .env: files of this name often hold secrets · Claude: ")
	s.onTerminal(60).defaults.NoColor = true
	must.Contain(t, s.run(t, "inbox").stdout, "\n  Fix it properly\n  FAILED service:lint (exit code: -1) timed out\n  CAUTION .env: files of this name often hold secrets\n  Claude: ")
	f.answers["GET /api/jobs/"+jobID+"/logs"] = `500 {"error":"Down"}`
	must.Contain(t, s.run(t, "inbox").stdout, "\n  The results of the checks could not be read: Down")
}
