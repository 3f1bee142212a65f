package callback_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/web/callback"
	"ringback/test/must"
)

// say writes to the chat, as from a page that shows the question at which the job waits.
func (t *turn) say(text string) {
	t.t.Helper()
	must.Get(t.checkpoints.ToLLM(t.t.Context(), checkpoint.Incoming{
		UserID: "u1", SessionID: "s1", Content: text, Props: job.MustJSON(object{"checkpoint_message_id": t.job().Checkpoint.MessageID}),
	}))(t.t)
}

// A yes in words is worth something only if the sentence names all of the input.
func TestAYesInWordsIsToWhatTheSentenceNames(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		input object
		// unseen is a part of the input that the first question does not show; empty if there is none.
		unseen string
	}{
		"all of it":                    {object{"name": "shop"}, ""},
		"not a field beside":           {object{"name": "shop", "to": "attacker"}, "attacker"},
		"not a field that is not text": {object{"name": "shop", "amount": 1000000}, "1000000"},
		"not an empty field":           {object{"name": "shop", "all": object{}}, `"all": {}`},
		"not null":                     {object{"name": "shop", "limit": nil}, `"limit": null`},
		"not what is deep inside":      {object{"name": "shop", "a": object{"b": []any{object{"c": "deep"}}}}, "deep"},
		"not a namesake of the field":  {object{"name": "shop", "input.name": "other"}, "other"},
		"not the end of a long field":  {object{"name": strings.Repeat("x", 600) + "end"}, "end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := startServer(t, callback.Options{}).start("release")
			turn.want(200, "actions/deploy", object{"input": row.input})
			asked := func() (text string, omitted int) {
				c := turn.job().Checkpoint
				var props job.Props
				must.OK(t, json.Unmarshal(c.Props, &props))
				must.Equal(t, c.Message, job.Sentence(props.Asked.Segments), "the segments are")
				return c.Message, props.Asked.Omitted
			}
			text, omitted := asked()
			if row.unseen != "" {
				if strings.Contains(text, row.unseen) || omitted == 0 {
					t.Errorf("%d bytes are left out of %q", omitted, text)
				}
				turn.say("yes")
				if text, omitted = asked(); !strings.Contains(text, row.unseen) {
					t.Errorf("it is asked again as %q", text)
				}
			}
			must.Equal(t, 0, omitted, "left out")
			turn.say("yes")
			turn.resume()
			turn.want(200, "actions/deploy", object{"input": row.input, "confirmed": true})
			must.Equal(t, 1, turn.ran.Load(), "runs")
			shown := job.Shown("")
			for _, e := range turn.auditEntries() {
				if e.Event == "approve" {
					shown = e.Shown
				} else if e.Shown != "" {
					t.Errorf("%s: shown %s", e.Event, e.Shown)
				}
			}
			must.Equal(t, job.ShownWhole, shown, "the approval was shown")
		})
	}
}

// Asked again with the whole input, a question stays whole, whatever the person answers.
func TestAQuestionThatWasAskedAgainStaysWhole(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("release")
	turn.want(200, "actions/deploy", object{"input": object{"name": "shop", "to": "attacker"}})
	for _, words := range []string{"yes", "yes, but only on staging", "hm"} {
		turn.say(words)
		must.Contain(t, turn.job().Checkpoint.Message, "attacker", "after "+words)
	}
}

// A client that has shown the whole input may send words: it says so, as for a decision.
func TestAYesToTheWholeInput(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("release")
	turn.want(200, "actions/deploy", object{"input": object{"name": "shop", "to": "u2"}})
	turn.reply(checkpoint.Reply{Text: "yes", Seen: checkpoint.Seen{Shown: job.ShownWhole}})
	turn.resume()
	must.Equal(t, "success", turn.want(200, "actions/deploy", object{"input": object{"name": "shop", "to": "u2"}, "confirmed": true}).text("status"))
}

// However Claude writes a number, what is shown is what runs.
func TestOneNotationOfANumberRuns(t *testing.T) {
	t.Parallel()
	for asked, called := range map[string]string{"1000": "1e3", "1e3": "1000.0", "-0": "0.0", "10E+2": "1000", "0.0000001": "1e-7", "9007199254740993": "9007199254740993.0"} {
		t.Run(asked+" and "+called, func(t *testing.T) {
			t.Parallel()
			turn := startServer(t, callback.Options{}).start("release")
			turn.want(200, "actions/deploy", object{"input": object{"name": "shop", "n": json.Number(asked)}})
			var props job.Props
			must.OK(t, json.Unmarshal(turn.job().Checkpoint.Props, &props))
			turn.reply(checkpoint.Reply{Decision: job.Approve})
			turn.resume()
			turn.want(200, "actions/deploy", object{"input": object{"name": "shop", "n": json.Number(called)}, "confirmed": true})
			must.Equal(t, string(props.Input), string(*turn.input.Load()))
		})
	}
}

// A shell command does something else in another directory.
func TestAYesToACallIsForItsDirectory(t *testing.T) {
	t.Parallel()
	const work = "/data/jobs/ID/work"
	for name, row := range map[string]struct{ asked, called, shown, decides string }{
		"the same":                {work + "/sub", work + "/sub", "sub", "allow"},
		"the same on a new node":  {work + "/sub", "/elsewhere/jobs/ID/work/sub/", "sub", "allow"},
		"the job's own":           {work, work + "/", "", "allow"},
		"not another":             {work + "/sub", work, "sub", "defer"},
		"not another of the same": {work + "/sub", work + "/sub/sub", "sub", "defer"},
		"not one outside":         {work, "/", "", "defer"},
		"not another one outside": {"/", "/tmp", "/", "defer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := startServer(t, callback.Options{}).start("careful")
			clean := func(dir string) string {
				return turn.decides(object{
					"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": object{"command": "make clean"},
					"cwd": strings.ReplaceAll(dir, "ID", string(turn.id)),
				})
			}
			must.Equal(t, "defer", clean(row.asked))
			says := "Claude wants to use Bash:"
			if row.shown != "" {
				says = `Claude wants to use Bash in the directory "` + row.shown + `":`
			}
			must.Contain(t, turn.job().Checkpoint.Message, says)
			turn.reply(checkpoint.Reply{Decision: job.Approve})
			turn.resume()
			must.Equal(t, row.decides, clean(row.called))
		})
	}
}

// A yes for another directory, or of a version that showed none, is not used, and people learn why.
func TestPeopleLearnWhyAYesIsNotForADirectory(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("careful")
	call := uses("toolu_1", "make deploy")
	call["cwd"] = "/data/jobs/" + string(turn.id) + "/work"
	turn.want(200, "tool-calls", call)
	must.Equal(t, false, strings.Contains(turn.job().Checkpoint.Message, "asked again"), "the first question says that it is asked again")
	turn.reply(checkpoint.Reply{Decision: job.Approve})
	turn.resume()
	call["cwd"] = "/data/jobs/" + string(turn.id) + "/work/repo"
	must.Equal(t, "defer", turn.decides(call))
	must.Contain(t, turn.job().Checkpoint.Message, "You are asked again: an earlier approval of the same call was for another directory.")
}

// A directory passes for the job's own by its name only if the job's own is not on this machine.
func TestADirectoryThatIsNamedLikeTheJobsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	turn := startServer(t, callback.Options{WorkDir: func(string, job.ID) string { return dir }}).start("careful")
	clean := func(dir string) string {
		return turn.decides(object{"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": object{"command": "make clean"}, "cwd": dir})
	}
	must.Equal(t, "defer", clean(dir))
	turn.reply(checkpoint.Reply{Decision: job.Approve})
	turn.resume()
	must.Equal(t, "defer", clean("/tmp/"+string(turn.id)+"/work"), "elsewhere")
}

// An input that a person changes is one, or it is refused: it never stands for the one that was asked.
func TestAChangedInputIsOne(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		values object
		scope  job.ApprovalScope
		wrong  string
		runs   string
	}{
		"empty":                     {object{}, job.Once, "/values", ""},
		"empty, for always":         {object{}, job.Always, "/values", ""},
		"another":                   {object{"command": "id -u"}, job.Once, "", `{"command":"id -u"}`},
		"another, for always":       {object{"command": "id -u"}, job.Always, "/scope", ""},
		"the same":                  {object{"command": "id", "timeout": json.Number("1000")}, job.Once, "", ""},
		"the same, for always":      {object{"command": "id", "timeout": json.Number("1e3")}, job.Always, "", ""},
		"with another number":       {object{"command": "id", "timeout": json.Number("1e4")}, job.Once, "", `{"command":"id","timeout":10000}`},
		"what a rule of it forbids": {object{"command": "rm x"}, job.Once, "/values", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := startServer(t, callback.Options{}).start("careful")
			call := object{"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": object{"command": "id", "timeout": 1000}}
			turn.want(200, "tool-calls", call)
			_, err := turn.checkpoints.Reply(t.Context(), *turn.job().Checkpoint, checkpoint.Reply{
				Decision: job.Approve, Values: row.values, Scope: row.scope, By: job.Actor{UserID: "u1", Via: job.ViaAPI},
			})
			if row.wrong != "" {
				must.Equal(t, row.wrong, firstPath(err))
				must.Equal(t, job.AwaitingApproval, turn.job().State)
				return
			}
			must.OK(t, err)
			turn.resume()
			output, _ := turn.want(200, "tool-calls", call).Body["hookSpecificOutput"].(object)
			must.Equal(t, "allow", output["permissionDecision"])
			runs := ""
			if output["updatedInput"] != nil {
				runs = string(job.MustJSON(output["updatedInput"]))
			}
			must.Equal(t, row.runs, runs)
		})
	}
}

func firstPath(err error) string {
	e, ok := err.(*job.Error) //nolint:errorlint // a test of the error itself
	if !ok || len(e.Details) == 0 {
		return ""
	}
	return e.Details[0].Path
}

// A call whose result waits for Claude gets that result: a person is not asked, because their yes
// would be answered with the earlier run.
func TestTheResultThatWaitsComesBeforeAnotherQuestion(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("release")
	yes := func() { turn.reply(checkpoint.Reply{Decision: job.Approve}); turn.resume() }
	turn.want(200, "actions/deploy", object{"input": shop})
	yes()
	turn.lose("actions/deploy", object{"input": shop, "confirmed": true})
	must.Equal(t, "success", turn.want(200, "actions/deploy", object{"input": shop}).text("status"))
	must.Equal(t, 1, turn.ran.Load(), "runs")
	must.Equal(t, "pending_confirmation", turn.want(200, "actions/deploy", object{"input": shop}).text("status"), "another run is asked about")
	yes()
	must.Equal(t, "success", turn.want(200, "actions/deploy", object{"input": shop, "confirmed": true}).text("status"))
	must.Equal(t, 2, turn.ran.Load(), "runs")
}

// What no program could be started with is refused before anyone is asked.
func TestAnInputThatCannotRunIsRefusedBeforeTheQuestion(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200_000)
	turn := startServer(t, callback.Options{BodyLimit: 1 << 20}).start("release")
	for name, row := range map[string]struct {
		input object
		wrong string
	}{
		"too long":           {object{"text": long}, "/input/text"},
		"too long, inside":   {object{"text": "x", "more": object{"text": long}}, "/input/more/text"},
		"NUL":                {object{"text": "a\x00b"}, "/input/text"},
		"too long as a list": {object{"text": []any{long}}, "/input/text"},
	} {
		a := turn.want(400, "actions/write", object{"input": row.input})
		if a.details()[row.wrong] == "" || turn.job().Checkpoint != nil {
			t.Errorf("%s: %v", name, a.Body)
		}
	}
	turn.want(200, "actions/write", object{"input": object{"text": "x", "unused": long}})
}
