package cli_test

import (
	"strings"
	"testing"
)

func TestJQ(t *testing.T) {
	t.Parallel()
	f := newStub(t)
	for _, c := range []struct {
		args []string
		code int
		out  string
		says string
	}{
		{[]string{"list", "--jq", ".jobs[] | .status, .turn"}, 0, "received\n2\nrunning\n1\n", ""},
		{[]string{"list", "-o", "json", "--jq", "[.jobs[].kind]"}, 0, "[\"meal-suggestions\",\"meal-suggestions\"]\n", ""},
		{[]string{"status", jobID, "--jq", ".addedLater[0]"}, 0, "1.50\n", ""}, // as the server wrote it
		{[]string{"list", "--jq", "empty"}, 0, "", ""},
		{[]string{"list", "--jq", ".jobs | foo("}, 2, "", "--jq: unexpected"},
		{[]string{"list", "--jq", ".jobs.x"}, 2, "", "--jq: expected an object"},
		{[]string{"list", "-o", "table", "--jq", "."}, 2, "", "--jq reads JSON"},
	} {
		got := newConsole(t, f.URL).run(t, c.args...)
		if got.code != c.code || got.stdout != c.out || !strings.Contains(got.stderr, c.says) {
			t.Errorf("%v: exit code %d, prints %q, says %q", c.args, got.code, got.stdout, got.stderr)
		}
	}
	f.answers["GET /api/jobs"] = `{"jobs":[],"x":"\u001b[31mred"}`
	if got := newConsole(t, f.URL).onTerminal(80).run(t, "list", "--jq", ".x").stdout; strings.Contains(got, "\x1b") {
		t.Errorf("steers the terminal: %q", got)
	}
	if got := newConsole(t, f.URL).run(t, "list", "--jq", ".x").stdout; got != "\x1b[31mred\n" {
		t.Errorf("a program gets %q", got)
	}
}
