package cli_test

import (
	"strings"
	"testing"

	"ringback/test/must"
)

const jobID = "req_01_abcdefghijklmnopqrstuvwxyz"

func TestAJobIsNamedByTheBeginningOfItsID(t *testing.T) {
	t.Parallel()
	for _, name := range []string{jobID, "01_abcdefghijklmnopqrstuvwxyz", "abcdef", "ABCDEFGH", "req_abcdefg", "req_01_abcdef"} {
		for _, command := range []string{"status", "diff", "logs", "watch", "cancel", "approve --no-wait --yes", "audit", "transcript", "callback", "steer -p x", "status --request-id", "status --workflow-id"} {
			f := newStub(t)
			f.answers["GET /api/jobs"] = `{"jobs":[` + received + `]}`
			newConsole(t, f.URL).run(t, append(strings.Fields(command), name)...).exits(t, 0, "", command, name)
		}
	}
}

func TestAnIDThatNamesNoJobOrSeveral(t *testing.T) {
	t.Parallel()
	second := strings.ReplaceAll(running, jobID, "req_02_abcdefzzzzzzzzzzzzzzzzzzzz")
	for _, c := range []struct {
		name, id, found string
		code            int
		says            []string
	}{
		{"too short", "abcde", listed, 2, []string{"too short", "6 characters"}},
		{"too short behind its partition", "req_01_abcde", listed, 2, []string{"too short"}},
		{"none", "zzzzzz", `{"jobs":[]}`, 1, []string{"No job has an id that begins with zzzzzz", "ringback list"}},
		{"two", "abcdef", `{"jobs":[` + received + `,` + second + `]}`, 1, []string{jobID + "  meal-suggestions, received, 3 min old", "req_02_abcdefzzzzzzzzzzzzzzzzzzzz  meal-suggestions, running"}},
		{"no id at all", "what's up", listed, 1, []string{"Unknown job"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newStub(t)
			f.answers["GET /api/jobs"] = c.found
			got := newConsole(t, f.URL).run(t, "cancel", c.id)
			if got.code != c.code || got.stdout != "" || f.was("POST /api/jobs/"+jobID+"/cancel") {
				t.Errorf("exit code %d, prints %q, asked %v", got.code, got.stdout, f.asked)
			}
			for _, want := range c.says {
				must.Contain(t, got.stderr, want)
			}
		})
	}
}

func TestOtherIDsByTheirBeginning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		asks string
	}{
		{[]string{"reply", "chk_questions", "Use", "16:9"}, replies},
		{[]string{"reply", "chk_03_questi", "--approve"}, replies},
		{[]string{"revoke", "apr_approval"}, "DELETE /api/approvals/apr_03_approvalapprovalapprovalap"},
		{[]string{"revoke", "approva"}, "DELETE /api/approvals/apr_03_approvalapprovalapprovalap"},
		{[]string{"messages", "ses_abcdefg"}, "GET /api/sessions/s1/messages?after=0&limit=200&userId=u1"},
		{[]string{"messages", "ses_01_abcdefg"}, "GET /api/sessions/s1/messages?after=0&limit=200&userId=u1"},
		{[]string{"messages", "abcdefg"}, "GET /api/sessions/abcdefg/messages?after=0&limit=200"},
	} {
		f := newStub(t)
		f.answers["GET /api/jobs"] = `{"jobs":[` + received + `]}`
		f.answers["GET /api/checkpoints/chk_03_questionsquestionsquestion"] = question
		if got := newConsole(t, f.URL).run(t, c.args...); !f.was(c.asks) {
			t.Errorf("%v: asked %v, says %q", c.args, f.asked, got.stderr)
		}
	}
}

func TestTheFirstWordOfAReplyIsNoID(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	f.answers["GET /api/jobs/"+jobID] = waiting
	s := newConsole(t, f.URL)
	s.run(t, "run", "media", "--no-wait")
	s.atKeyboard("y\n").run(t, "reply", "questions", "remain")
	must.Equal(t, `{"text":"questions remain"}`, f.replied())
}
