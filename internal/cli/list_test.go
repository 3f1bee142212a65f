package cli_test

import (
	"strings"
	"testing"
)

func TestListSinceAndQuiet(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"1h": "2026-03-01T09%3A03%3A07Z", "2d": "2026-02-27T10%3A03%3A07Z", "2026-02-28T12:00:00%2B01:00": "",
		"2026-02-28T12:00:00+01:00": "2026-02-28T11%3A00%3A00Z",
	} {
		f := newStub(t)
		got := newConsole(t, f.URL).run(t, "list", "-q", "--since", given)
		if want == "" {
			got.exits(t, 2, "--since must be a time span such as 90s, 1h or 2d", given)
			continue
		}
		if got.stdout != jobID+"\n"+jobID+"\n" || !f.was("GET /api/jobs?createdSince="+want+"&limit=20") {
			t.Errorf("%s: prints %q, asked %v", given, got.stdout, f.asked)
		}
	}
	for _, given := range []string{"-1h", "yesterday", "5", "-3d", "1.5d"} {
		newConsole(t, newStub(t).URL).run(t, "list", "--since", given).exits(t, 2, "", given)
	}
}

func TestListKeepsTheStatusOnNarrowTerminals(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	f.answers["GET /api/jobs"] = `{"jobs":[` + strings.Replace(waiting, `"userId":"u1"`, `"userId":"`+strings.Repeat("long", 10)+`"`, 1) + `,` + expired + `]}`
	got := newConsole(t, f.URL).onTerminal(60)
	got.defaults.NoColor = true
	lines := strings.Split(got.run(t, "list").stdout, "\n")
	if !strings.HasPrefix(lines[1], "abcdefgh  awaiting_input  3 min") || !strings.HasPrefix(lines[2], "abcdefgh  expired         3 min  5 min  note") {
		t.Errorf("prints %q", lines)
	}
	for _, line := range lines {
		if len([]rune(line)) > 60 {
			t.Errorf("%q would wrap", line)
		}
	}
	if wide := newConsole(t, f.URL).run(t, "list").stdout; !strings.Contains(wide, "The ratio 5:3") || !strings.Contains(wide, "Claude did not respond in time (callback_timeout)") {
		t.Errorf("does not say what is asked and what was wrong: %q", wide)
	}
}

func TestListFilters(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	f.answers["GET /api/jobs"] = `{"jobs":[` + strings.Replace(received, `"userId"`, `"title":"Meals for two","tags":["nightly"],"userId"`, 1) + `],"nextCursor":"c2","searchedTo":"2026-02-27T08:00:00Z"}`
	got := newConsole(t, f.URL).run(t, "list", "--tag", "nightly", "--search", "two meals", "--until", "1h")
	if !f.was("GET /api/jobs?createdUntil=2026-03-01T09%3A03%3A07Z&limit=20&q=two+meals&tag=nightly") {
		t.Errorf("asked %v", f.asked)
	}
	if !strings.Contains(got.stdout, "\tmeal-suggestions\tMeals for two\tu1\t") || !strings.Contains(got.stderr, `Searched back to 2026-02-27T08:00:00Z. More with: ringback list --all, or --cursor c2`) {
		t.Errorf("prints %q, says %q", got.stdout, got.stderr)
	}
	newConsole(t, f.URL).run(t, "list", "--until", "tomorrow").exits(t, 2, "--until must be a time span")
}

// Several states are listed as one list, however they are given.
func TestListTakesSeveralStates(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"list --status failed,expired", "list --status failed --status expired", "list --status=failed,expired"} {
		f := newStub(t)
		newConsole(t, f.URL).run(t, strings.Fields(line)...).exits(t, 0, "", line)
		if !f.was("GET /api/jobs?limit=20&status=failed%2Cexpired") {
			t.Errorf("%s: asked %v", line, f.asked)
		}
	}
}

func TestWatchedListShowsEachChangeOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, until string
		args        []string
		want        []string
	}{
		{"lines", "otheroth", nil, []string{"JOB\tSTATUS", "abcdefgh\trunning", "abcdefgh\treceived"}},
		{"quiet", otherID, []string{"-q"}, []string{jobID, otherID}},
		{"json", otherID, []string{"-o", "json"}, []string{`{"requestId":"` + jobID + `"`, `{"requestId":"` + jobID + `"`, `{"requestId":"` + otherID}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newStub(t)
			other := strings.ReplaceAll(running, jobID, otherID)
			f.lists = []string{
				`{"jobs":[` + running + `]}`, `{"jobs":[` + running + `]}`, `503 {"error":"The store is not reachable"}`,
				`{"jobs":[` + received + `]}`, `{"jobs":[` + other + `,` + received + `]}`,
			}
			got := leaveAt(t, f, c.until, append([]string{"list", "--watch"}, c.args...)...)
			lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
			for i, want := range c.want {
				if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
					t.Fatalf("prints %q, want %q", lines, c.want)
				}
			}
			if got.code != 0 || strings.Count(got.stderr, "The server is unreachable") != 1 {
				t.Errorf("exit code %d, says %q", got.code, got.stderr)
			}
		})
	}
}

func TestListSaysWhichResultsAreMadeUp(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	f.answers["GET /api/jobs"] = `{"jobs":[` + strings.Replace(received, `"kind":`, `"simulated":true,"kind":`, 1) + `,` + received + `]}`
	lines := strings.Split(newConsole(t, f.URL).run(t, "list").stdout, "\n")
	if !strings.Contains(lines[1], "meal-suggestions (simulated)") || strings.Contains(lines[2], "simulated") {
		t.Errorf("prints %q", lines)
	}
}

// A list cut at the terminal's width is marked, with the command that shows all.
func TestACutListSaysSo(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	for columns, cut := range map[int]bool{60: true, 100: false} {
		got := newConsole(t, f.URL).onTerminal(columns).run(t, "list")
		if strings.Contains(got.stdout, "…") != cut || strings.Contains(got.stderr, "Read what is cut off here with: ringback status abcdefgh") != cut {
			t.Errorf("%d columns: prints %q, %q", columns, got.stdout, got.stderr)
		}
	}
}

func TestListAllReadsEveryPage(t *testing.T) {
	t.Parallel()
	other := strings.ReplaceAll(running, jobID, otherID)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-q"}, jobID + "\n" + otherID + "\n"},
		{[]string{"--jq", ".jobs[].requestId"}, jobID + "\n" + otherID + "\n"},
	} {
		f := newStub(t)
		f.lists = []string{`{"jobs":[` + received + `],"nextCursor":"c2"}`, `{"jobs":[` + other + `]}`}
		got := newConsole(t, f.URL).run(t, append([]string{"list", "--all"}, c.args...)...)
		if got.stdout != c.want || !f.was("GET /api/jobs?cursor=c2&limit=500") {
			t.Errorf("%v: prints %q, says %q, asked %v", c.args, got.stdout, got.stderr, f.asked)
		}
	}
	for _, line := range []string{"list --all --limit 3", "list --all --watch", "list --limit 0", "inbox --limit -1", "messages s1 --limit 501", "help runn"} {
		if got := newConsole(t, newStub(t).URL).run(t, strings.Fields(line)...); got.code != 2 || got.stdout != "" {
			t.Errorf("%s: exit code %d, prints %q, says %q", line, got.code, got.stdout, got.stderr)
		}
	}
	if got := newConsole(t, newStub(t).URL).run(t, "help", "run"); got.code != 0 || !strings.Contains(got.stdout, "--input") {
		t.Errorf("help run: %q, %q", got.stdout, got.stderr)
	}
}
