package cli_test

import (
	"testing"

	"ringback/test/must"
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
		{[]string{"list", "-o", "table", "--jq", "."}, 2, "", "--jq requires JSON"},
	} {
		got := newConsole(t, f.URL).run(t, c.args...)
		got.exits(t, c.code, c.says, c.args)
		must.Equal(t, c.out, got.stdout, c.args)
	}
	f.answers["GET /api/jobs"] = `{"jobs":[],"x":"\u001b[31mred"}`
	must.NotContain(t, newConsole(t, f.URL).onTerminal(80).run(t, "list", "--jq", ".x").stdout, "\x1b")
	must.Equal(t, "\x1b[31mred\n", newConsole(t, f.URL).run(t, "list", "--jq", ".x").stdout, "a program gets")
}
