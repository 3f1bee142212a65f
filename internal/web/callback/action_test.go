package callback_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/web/callback"
	"ringback/test/must"
)

var shop = object{"name": "shop"}

// step is one call of the action deploy, and its outcome.
type step struct {
	says      string
	before    func(*turn)
	input     object
	confirmed bool
	// status is the answer's status, ran the number of runs so far.
	status string
	ran    int32
}

func TestWhenAnActionRuns(t *testing.T) {
	t.Parallel()
	yes := func(turn *turn) { turn.reply(checkpoint.Reply{Decision: job.Approve}); turn.resume() }
	no := func(turn *turn) { turn.reply(checkpoint.Reply{Decision: job.Deny}); turn.resume() }
	change := func(turn *turn) {
		turn.reply(checkpoint.Reply{Decision: job.Steer, Text: "Not on a Friday"})
		turn.resume()
	}
	askedBack := func(turn *turn) {
		turn.reply(checkpoint.Reply{Text: "yes, but only on staging"})
		yes(turn)
	}
	noThenWrites := func(turn *turn) {
		turn.reply(checkpoint.Reply{Decision: job.Deny})
		must.Get(turn.jobs.AppendMessage(turn.t.Context(), "u1", "s1", job.Text(job.FromUser, "All right, deploy it now."), new(lifecycle.Addressee)))(turn.t)
		turn.resume()
	}
	for name, steps := range map[string][]step{
		"on a yes, once": {
			{"the user is asked first", nil, shop, false, "pending_confirmation", 0},
			{"then it runs", yes, shop, true, "success", 1},
			{"the yes is used up", nil, shop, true, "pending_confirmation", 1},
		},
		"not because Claude says so": {
			{"the user is asked", nil, shop, true, "pending_confirmation", 0},
			{"and is asked once", nil, shop, false, "pending_confirmation", 0},
		},
		"with exactly what was allowed": {
			{"the user is asked", nil, shop, false, "pending_confirmation", 0},
			{"another input is asked anew", yes, object{"name": "bank"}, true, "pending_confirmation", 0},
			{"what was allowed may still run", no, shop, true, "success", 1},
		},
		"with the number that was allowed, which a float rounds": {
			{"the user is asked", nil, object{"name": "shop", "account": json.Number("9007199254740993")}, false, "pending_confirmation", 0},
			{"another number is asked anew", yes, object{"name": "shop", "account": json.Number("9007199254740992")}, true, "pending_confirmation", 0},
			{"what was allowed may still run", no, object{"name": "shop", "account": json.Number("9007199254740993")}, true, "success", 1},
		},
		"on a yes that the input states, as the seed has it": {
			{"the user is asked", nil, object{"name": "shop", "confirmed": false}, false, "pending_confirmation", 0},
			{"then it runs", yes, object{"name": "shop", "confirmed": true}, false, "success", 1},
		},
		"not on a no": {
			{"the user is asked", nil, shop, false, "pending_confirmation", 0},
			{"told of the no", no, shop, false, "denied", 0},
			{"it does not run", nil, shop, true, "pending_confirmation", 0},
		},
		"not on a yes that is used up, after a yes that was asked back": {
			{"the user is asked", nil, shop, false, "pending_confirmation", 0},
			{"then it runs", askedBack, shop, true, "success", 1},
			{"the yes is used up", nil, shop, true, "pending_confirmation", 1},
		},
		"asked about anew, if the user writes after a no": {
			{"the user is asked", nil, shop, false, "pending_confirmation", 0},
			{"then again", noThenWrites, shop, false, "pending_confirmation", 0},
		},
		"not where they want something else": {
			{"the user is asked", nil, shop, false, "pending_confirmation", 0},
			{"told what they want", change, shop, false, "denied", 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := startServer(t, callback.Options{}).start("release")
			for _, step := range steps {
				if step.before != nil {
					step.before(turn)
				}
				payload := object{"input": step.input}
				if step.confirmed {
					payload["confirmed"] = true
				}
				a := turn.want(200, "actions/deploy", payload)
				if a.text("status") != step.status || turn.ran.Load() != step.ran {
					t.Fatalf("%s: answered %v after %d runs", step.says, a.Body, turn.ran.Load())
				}
				if a.text("status") == "pending_confirmation" && a.Body["decision"] != nil {
					t.Errorf("%s: an old decision is given again: %v", step.says, a.Body)
				}
				if a.text("status") == "pending_confirmation" && a.Body["name"] != step.input["name"] {
					t.Errorf("%s: the input does not stand beside the answer: %v", step.says, a.Body)
				}
			}
		})
	}
}

// An approval for one run lets one run, also of calls at the same moment.
func TestAYesForOnceLetsOneActionRun(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("release")
	turn.want(200, "actions/deploy", object{"input": shop})
	turn.reply(checkpoint.Reply{Decision: job.Approve})
	turn.resume()
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() { turn.call("actions/deploy", object{"input": shop, "confirmed": true}) })
	}
	calls.Wait()
	must.Equal(t, 1, turn.ran.Load(), "one yes let … calls run")
}

// A command runs where the files of the job are. If they are on another node, the call is refused before
// anyone is asked and before a yes is used up.
func TestACommandRunsOnlyWhereTheFilesAre(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("release")
	turn.want(200, "actions/write", object{"input": object{"text": "x"}})
	turn.reply(checkpoint.Reply{Decision: job.Approve})
	turn.exit()
	turn.takeOn("another node")
	for name, payload := range map[string]object{
		"write":  {"input": object{"text": "x"}, "confirmed": true},
		"switch": {"input": object{"file": "notes.md"}}, // its preview is a command
	} {
		must.Contain(t, turn.want(503, "actions/"+name, payload).text("hint"), "Make the same call again")
	}
	turn.want(200, "actions/deploy", object{"input": shop}) // a webhook needs no files
	if log := turn.audit(); !slices.Equal(log, []string{"asked", "approve", "asked"}) {
		t.Errorf("the audit log says %v", log)
	}
}

func TestAnActionThatNeedsNobody(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("release")
	a := turn.want(200, "actions/look", object{"input": object{"at": "x"}})
	want := object{"status": "success", "success": true, "message": "Done", "number": 7.0}
	for name, value := range want {
		must.Equal(t, value, a.Body[name], name)
	}
	turn.want(200, "actions/look", object{"input": object{"at": "x"}})
	must.Equal(t, 2, turn.ran.Load(), "two calls ran it … times")
	if !slices.Equal(turn.audit(), []string{"started", "finished", "started", "finished"}) {
		t.Errorf("the audit log says %v", turn.audit())
	}
	turn.webhook = func(string) ([]byte, error) { return nil, errors.New("the server answered 503") }
	if a := turn.want(200, "actions/look", object{"input": object{}}); a.text("status") != "error" || a.text("message") != "the server answered 503" {
		t.Errorf("one that fails was answered %v", a.Body)
	}
}

func TestCallsThatAreNoAction(t *testing.T) {
	t.Parallel()
	s := startServer(t, callback.Options{})
	release, note := s.start("release"), s.start("note")
	for name, row := range map[string]struct {
		turn     *turn
		endpoint string
		payload  object
		status   int
		says     string
	}{
		"an unknown action":          {release, "actions/destroy", object{"input": object{}}, 404, "There are: deploy, look, write, switch."},
		"a kind without actions":     {note, "actions/deploy", object{"input": shop}, 404, "This kind of job has no actions."},
		"no input":                   {release, "actions/deploy", object{}, 400, "/input"},
		"an input that is no object": {release, "actions/deploy", object{"input": "shop"}, 400, "/input"},
		"an input of its own schema": {release, "actions/deploy", object{"input": object{"name": 5}}, 400, "/input/name"},
		"a field that is none":       {release, "actions/deploy", object{"input": shop, "approved": true}, 400, "/approved"},
		"one of a report":            {note, "progress", object{"message": "x", "progres": 5}, 400, "/progres"},
		"one of a failure":           {note, "failure", object{"error": "x", "retry": true}, 400, "/retry"},
	} {
		t.Run(name, func(t *testing.T) {
			a := row.turn.want(row.status, row.endpoint, row.payload)
			_, named := a.details()[row.says]
			if !named && a.text("hint") != row.says {
				t.Errorf("answered %v, want %s", a.Body, row.says)
			}
		})
	}
	must.Equal(t, 0, s.ran.Load(), "something ran")
}

// If Claude has not received the end of an action, the same call asks again and does
// not run it again.
func TestAnAnswerThatIsLost(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("release")
	turn.lose("actions/look", object{"input": object{"at": "x"}})
	must.Equal(t, 1, turn.ran.Load(), "runs")
	if a := turn.want(200, "actions/look", object{"input": object{"at": "x"}}); a.text("status") != "success" || turn.ran.Load() != 1 {
		t.Errorf("asked again, it was answered %v after %d runs", a.Body, turn.ran.Load())
	}
	turn.want(200, "actions/look", object{"input": object{"at": "x"}})
	must.Equal(t, 2, turn.ran.Load(), "once heard, the same call is another run: there were")
}

// lose makes a call whose answer is lost.
func (t *turn) lose(endpoint string, payload object) {
	t.t.Helper()
	body := must.Get(json.Marshal(t.signed(payload)))(t.t)
	r := httptest.NewRequestWithContext(t.t.Context(), http.MethodPost, "/api/claude/"+endpoint, strings.NewReader(string(body)))
	r.Header.Set("Content-Type", "application/json")
	t.http.ServeHTTP(lost{httptest.NewRecorder()}, r)
}

// open returns the question at which the turn's job waits.
func (t *turn) open() job.Checkpoint {
	t.t.Helper()
	list, _, err := t.store.Checkpoints.List(t.t.Context(), store.CheckpointQuery{Status: job.Open, UserID: "u1", Limit: 10})
	if err != nil || len(list) != 1 {
		t.t.Fatalf("%d questions are open: %v", len(list), err)
	}
	return list[0]
}

// The world changes after each approval and before the action runs.
func TestWhatHasChangedSinceTheYesDoesNotRun(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "world")
	set := func(text string) {
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
	}
	set("0")
	turn := startServer(t, callback.Options{}).start("release")
	call := func(confirmed bool) answer {
		payload := object{"input": object{"file": file}}
		if confirmed {
			payload["confirmed"] = true
		}
		return turn.want(200, "actions/switch", payload)
	}
	yes := func() { turn.reply(checkpoint.Reply{Decision: job.Approve}); turn.resume() }
	call(false)
	changes := 100
	if os.Getenv("LONG_TESTS") != "" {
		changes = 1000
	}
	for i := range changes {
		yes()
		set(strconv.Itoa(i + 1))
		must.Equal(t, "pending_confirmation", call(true).text("status"), "a change was answered")
		shown := job.PreviewIn(turn.open().Props)
		if shown == nil || shown.Before == nil || shown.Text != strconv.Itoa(i+1) || shown.Before.Text != strconv.Itoa(i) {
			t.Fatalf("people are shown %+v", shown)
		}
	}
	must.Equal(t, 0, turn.ran.Load(), "runs")
	yes()
	must.OK(t, os.Remove(file))
	if a := call(true); a.text("status") != "error" || !strings.Contains(a.text("message"), "nothing ran") {
		t.Errorf("a preview that fails was answered %v", a.Body)
	}
	set(strconv.Itoa(changes))
	if a := call(true); a.text("status") != "success" || turn.ran.Load() != 1 {
		t.Errorf("what was allowed was answered %v and ran %d times", a.Body, turn.ran.Load())
	}
}
