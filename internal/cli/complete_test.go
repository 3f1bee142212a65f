package cli_test

import (
	"strings"
	"testing"

	"ringback/test/must"
)

func TestCompletion(t *testing.T) {
	t.Parallel()
	const kinds = "note\tWrites a note\nmeal-suggestions\tSuggests meals\n:36\n"
	for _, c := range []struct{ line, want string }{
		{"status ", "abcdefgh\tmeal-suggestions, received, 3 min old\nabcdefgh\tmeal-suggestions, running, 3 min old\n:36\n"},
		{"watch abc", "abcdefgh\tmeal-suggestions, received, 3 min old\nabcdefgh\tmeal-suggestions, running, 3 min old\n:36\n"},
		{"logs req_01", jobID + "\tmeal-suggestions, received, 3 min old\n" + jobID + "\tmeal-suggestions, running, 3 min old\n:36\n"},
		{"cancel ", "abcdefgh\tmeal-suggestions, running, 3 min old\n:36\n"},
		{"approve ", ":36\n"},
		{"status --request-id abc", "abcdefgh\tmeal-suggestions, received, 3 min old\nabcdefgh\tmeal-suggestions, running, 3 min old\n:36\n"},
		{"status zzz", ":36\n"},
		{"status abcdefgh ", ":4\n"},
		{"run ", kinds},
		{"kinds ", "reload\tHave the server load the files of its kinds again\n" + kinds},
		{"list --kind ", kinds},
		{"list --status ", "pending\nrunning\nawaiting_approval\nawaiting_input\nreceived\ncancelled\nrejected\nexpired\nfailed\n:4\n"},
		{"status -o ", "table\njson\n:4\n"},
		{"list --output ", "table\njson\n:4\n"},
		{"run --simulate ", "manual\nsuccess\nrepair\nfailure\nsilence\n:4\n"},
		{"help k", "kinds\tList the kinds of jobs, or show one with its schemas\n:4\n"},
		{"reply ", "chk_question\t3 min: The ratio 5:3\ufffd[31m is not supported. Available options are: 16:9, 1:1.\n:36\n"},
		{"revoke ", "apr_approval\tcareful: Bash\n:36\n"},
	} {
		got := newConsole(t, newStub(t).URL).run(t, append([]string{"__complete"}, strings.Split(c.line, " ")...)...)
		must.Equal(t, c.want, got.stdout, c.line, "is completed by")
		away := newConsole(t, "http://127.0.0.1:1").run(t, append([]string{"__complete"}, strings.Split(c.line, " ")...)...)
		if strings.Contains(away.stderr, "server") || away.code != 0 {
			t.Errorf("%q without a server: exit code %d, says %q", c.line, away.code, away.stderr)
		}
	}
}

func TestOpenPrintsTheJobsPage(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	s := newConsole(t, f.URL)
	if got := s.run(t, "open", jobID); got.stdout != f.URL+"/jobs/"+jobID+"\n" || got.code != 0 {
		t.Errorf("prints %q, says %q", got.stdout, got.stderr)
	}
	must.Equal(t, "{\n  \"url\": \""+f.URL+"/jobs/"+jobID+"\"\n}\n", s.run(t, "open", jobID, "-o", "json").stdout)
	s.onTerminal(80).defaults.Browser = "no-such-browser"
	if got := s.run(t, "open", jobID); got.code != 0 || !strings.HasPrefix(got.stdout, f.URL) {
		t.Errorf("without a browser: exit code %d, prints %q", got.code, got.stdout)
	}
}
