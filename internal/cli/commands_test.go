package cli_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/cli"
	"ringback/internal/job"
)

// fullFake answers everything.
func fullFake(t *testing.T) *fake {
	t.Helper()
	f := withJob(newFake(t), "running", `,"activity":{"message":"Browsing","type":"querying","progress":30},"deadline":"2026-03-01T10:05:00Z"`)
	for _, action := range []string{"cancel", "retry"} {
		f.answers["POST /api/jobs/"+sampleID+"/"+action] = sampleJob("pending", "")
	}
	f.answers["GET /api/jobs/"+sampleID+"/callback"] = `{"requestId":"` + sampleID + `","callbackBaseUrl":"http://localhost:3001","hmac":"0a1b2c"}`
	f.answers["GET /api/jobs"] = `{"jobs":[` + sampleJob("running", "") + `,` + sampleJob("failed", "") + `],"nextCursor":"next-1"}`
	f.answers["GET /api/kinds"] = `{"kinds":[{"name":"meal-suggestions","description":"Suggests meals","events":"recipes:suggestions"}]}`
	kind := `{"name":"meal-suggestions","description":"Suggests meals","events":"recipes:suggestions",` +
		`"inputSchema":{"type":"object"},"resultSchema":{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}}`
	f.answers["GET /api/kinds/meal-suggestions"] = kind
	return f
}

func TestCommandsForPeopleAndPrograms(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, api string
		args      []string
	}{
		{"status", "GET /api/jobs/" + sampleID, []string{"status", sampleID}},
		{"cancel", "POST /api/jobs/" + sampleID + "/cancel", []string{"cancel", "--request-id", sampleID}},
		{"retry", "POST /api/jobs/" + sampleID + "/retry", []string{"retry", "--workflow-id", sampleID}},
		{"callback", "GET /api/jobs/" + sampleID + "/callback", []string{"callback", sampleID}},
		{"list", "GET /api/jobs", []string{"list"}},
		{"kinds", "GET /api/kinds", []string{"kinds"}},
		{"kind", "GET /api/kinds/meal-suggestions", []string{"kinds", "meal-suggestions"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := fullFake(t)
			pipe := newShell(t, f).run(t.Context(), tt.args...)
			terminal := newShell(t, f).terminal(72).run(t.Context(), tt.args...)
			programs := newShell(t, f).terminal(72).run(t.Context(), append(tt.args, "--output", "json")...)
			for _, got := range []outcome{pipe, terminal, programs} {
				if got.Exit != 0 || got.Stderr != "" {
					t.Fatalf("got %+v", got)
				}
			}
			golden(t, tt.name+"-pipe.txt", pipe.Stdout)
			golden(t, tt.name+"-terminal.txt", visible(terminal.Stdout))
			golden(t, tt.name+".json", programs.Stdout)
			if diff := cmp.Diff(values(t, f.answers[tt.api]), values(t, programs.Stdout)); diff != "" {
				t.Errorf("not the API's JSON (-API +printed):\n%s", diff)
			}
		})
	}
}

func TestStatusBeginsWithTheState(t *testing.T) {
	t.Parallel()
	for _, state := range job.States {
		f := withJob(newFake(t), string(state), "")
		got := newShell(t, f).run(t.Context(), "status", sampleID)
		if first, _, _ := strings.Cut(got.Stdout, "\n"); first != "Status: "+string(state) {
			t.Errorf("first line %q", first)
		}
	}
}

func TestTheLastRunIsMeantByDefault(t *testing.T) {
	t.Parallel()
	f := fullFake(t)
	s := newShell(t, f)
	if got := s.run(t.Context(), "status"); got.Exit != 2 || !strings.Contains(got.Stderr, "Which job?") {
		t.Errorf("without a run: %+v", got)
	}
	if got := s.run(t.Context(), "run", "k", "--no-wait"); got.Exit != 0 {
		t.Fatalf("got %+v", got)
	}
	for _, command := range []string{"status", "cancel", "retry", "callback"} {
		if got := s.run(t.Context(), command); got.Exit != 0 || !strings.Contains(got.Stdout, sampleID) {
			t.Errorf("%s: %+v", command, got)
		}
	}
}

func TestListAsksForWhatTheFlagsSay(t *testing.T) {
	t.Parallel()
	f := fullFake(t)
	newShell(t, f).run(t.Context(), "list", "--kind", "k", "--status", "failed", "--limit", "3", "--cursor", "c", "--user", "u9")
	want := []string{"GET /api/jobs?cursor=c&kind=k&limit=3&status=failed&userId=u9"}
	if diff := cmp.Diff(want, f.requests()); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestWatchShowsAJobToItsEnd(t *testing.T) {
	t.Parallel()
	f := withJob(newFake(t), "received", finished+`,"result":`+mealsJSON, goodRun()...)
	got := newShell(t, f).run(t.Context(), "watch", sampleID, "-o", "json")
	if diff := cmp.Diff(outcome{strings.Join(f.frames, "\n") + "\n", "", 0}, got); diff != "" {
		t.Errorf("not the frames as they came (-want +got):\n%s", diff)
	}
	people := newShell(t, f).run(t.Context(), "watch", sampleID)
	if people.Exit != 0 || !strings.Contains(people.Stdout, "Browsing Italian recipes...") {
		t.Errorf("got %+v", people)
	}
}

func TestWatchIsNotFooledByTheEndingBeforeARetry(t *testing.T) {
	t.Parallel()
	f := withJob(newFake(t), "running", "",
		sampleEvent(1, "error", `{}`), sampleEvent(2, "pending", `{}`), sampleEvent(3, "running", `{}`))
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out := &notify{on: "suggestions:running", do: interrupt}
	newShell(t, f).runTo(ctx, out, out, "watch", sampleID, "-o", "json")
	if n := strings.Count(out.String(), `"event"`); n != 3 {
		t.Errorf("showed %d of 3 events: an old ending was taken for the end\n%s", n, out.String())
	}
}

func TestMistakesInTheCommandLine(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		says string
	}{
		"no kind":          {[]string{"run"}, "ringback kinds"},
		"two kinds":        {[]string{"run", "a", "b"}, "one kind"},
		"input not JSON":   {[]string{"run", "k", "-i", "{a"}, "JSON object"},
		"input a list":     {[]string{"run", "k", "-i", "[1]"}, "JSON object"},
		"input null":       {[]string{"run", "k", "-i", "null"}, "JSON object"},
		"missing file":     {[]string{"run", "k", "-i", "@/no/such/file"}, "no such file"},
		"field without =":  {[]string{"run", "k", "-f", "a"}, "name=value"},
		"field of no name": {[]string{"run", "k", "-f", "=a"}, "name=value"},
		"simulation":       {[]string{"run", "k", "--simulate", "magic"}, "repair"},
		"output":           {[]string{"status", "r", "-o", "yaml"}, "table or json"},
		"unknown flag":     {[]string{"status", "--nope"}, "--help"},
		"two ids":          {[]string{"status", "a", "b"}, "requestId"},
		"status":           {[]string{"list", "--status", "done"}, "received"},
		"list takes none":  {[]string{"list", "x"}, "takes no argument"},
		"unknown command":  {[]string{"rnu"}, "rnu"},
		"server":           {[]string{"list", "--server", "ftp://x"}, "--server"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fullFake(t)
			got := newShell(t, f).run(t.Context(), tt.args...)
			if got.Exit != 2 || !strings.Contains(got.Stderr, tt.says) || got.Stdout != "" {
				t.Errorf("got %+v, want exit 2 and %q", got, tt.says)
			}
			if r := f.requests(); len(r) != 0 {
				t.Errorf("the server was asked: %v", r)
			}
		})
	}
}

func TestRefusalsAreToldInFull(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.statuses["POST /api/jobs"] = http.StatusBadRequest
	f.answers["POST /api/jobs"] = `{"error":"Invalid input for kind \"k\"","details":[{"path":"/input/a","message":"is required but missing"},` +
		`{"path":"","message":"too many fields"}],"hint":"GET /api/kinds/k shows its input schema."}`
	got := newShell(t, f).run(t.Context(), "run", "k")
	golden(t, "refusal.txt", fmt.Sprintf("%sexit not 0: %v\n", got.Stderr, got.Exit != 0))
}

func TestServerThatIsNotRunning(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, args := range [][]string{{"run", "k"}, {"status", "r"}, {"watch"}, {"watch", "r"}, {"list"}, {"kinds"}, {"cancel", "r"}, {"callback", "r"}} {
		got := newShell(t, &fake{URL: gone.URL}).run(t.Context(), args...)
		if got.Exit != 1 || !strings.Contains(got.Stderr, "running at "+gone.URL) || !strings.Contains(got.Stderr, "ringback serve") {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

func TestTheTokenIsSentAndNeverShown(t *testing.T) {
	t.Parallel()
	var tokens []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tokens = append(tokens, r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	s := newShell(t, &fake{URL: server.URL})
	for _, args := range [][]string{{"list"}, {"list", "--token", "other"}, {"list", "--help"}, {"run", "k", "--token", "x", "--nope"}} {
		got := s.run(t.Context(), args...)
		if strings.Contains(got.Stdout+got.Stderr, "very-secret") {
			t.Errorf("%v shows the token: %+v", args, got)
		}
	}
	if want := []string{"Bearer very-secret", "Bearer other"}; !slices.Equal(tokens, want) {
		t.Errorf("sent %q, want %q", tokens, want)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		err  error
		want int
	}{
		"success":         {nil, 0},
		"the server's no": {job.Errorf(job.NotFound, "Unknown request"), 1},
		"a check failed":  {cli.Problems(2), 1},
		"anything else":   {errors.New("no"), 1},
	}
	for name, tt := range tests {
		if got := cli.ExitCode(tt.err); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}
