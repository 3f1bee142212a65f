package callback_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/web/callback"
	"ringback/test/must"
)

func givenText(text string) checkpoint.Reply { return checkpoint.Reply{Text: text} }

func TestAQuestionParksTheJob(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("note")
	question := object{"type": "information_request", "message": "Which colour?"}
	a := turn.want(200, "checkpoints", question)
	if a.text("status") != "parked" || !strings.Contains(a.text("instruction"), "Stop now") {
		t.Errorf("answered %v", a.Body)
	}
	if j := turn.job(); j.State != job.AwaitingInput || j.Checkpoint.Message != "Which colour?" {
		t.Errorf("the job is %s at %v", j.State, j.Checkpoint)
	}
	// Until the answer arrives, no result is accepted and no other question is asked.
	must.Contain(t, turn.want(409, "result", object{"title": "x"}).text("hint"), "Stop now")
	turn.want(409, "checkpoints", object{"type": "information_request", "message": "Which size?"})

	turn.reply(givenText("blue"))
	turn.resume()
	must.Equal(t, "parked", turn.want(200, "checkpoints", question).text("status"), "the same question, once the prompt has had the answer")
}

// A job played by hand has no prompt: the same question gets the answer, once.
func TestAQuestionOfAManualJobGetsItsAnswer(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).startJob("note", job.Options{Simulate: job.SimulateManual})
	question := object{"type": "information_request", "message": "Which colour?"}
	turn.want(200, "checkpoints", question)
	turn.reply(givenText("blue"))
	turn.take()
	a := turn.want(200, "checkpoints", question)
	if reply, _ := a.Body["reply"].(object); a.text("status") != "answered" || reply["text"] != "blue" {
		t.Errorf("the same question was answered %v", a.Body)
	}
	must.Equal(t, "parked", turn.want(200, "checkpoints", question).text("status"), "the same question, once it has heard the answer")
}

// A yes to a plan is for what was shown: the plan, and no permissions in the same call.
func TestAYesToAPlanIsForThePlanOnly(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("careful")
	call := func(input object) object {
		return object{"tool_name": "ExitPlanMode", "tool_use_id": "toolu_1", "cwd": "/work", "tool_input": input}
	}
	turn.want(200, "tool-calls", call(object{"plan": "Write the notes."}))
	turn.reply(checkpoint.Reply{Decision: job.Approve})
	turn.resume()
	more := []any{object{"tool": "Bash", "prompt": "run any command"}}
	a := turn.want(200, "tool-calls", call(object{"plan": "Write the notes.", "allowedPrompts": more}))
	output, _ := a.Body["hookSpecificOutput"].(object)
	must.Equal(t, "allow", output["permissionDecision"], "the decision is")
	must.Equal(t, any(object{"plan": "Write the notes."}), output["updatedInput"], "what runs is")
}

func TestQuestionsThatAreNone(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("note")
	for name, row := range map[string]struct {
		payload object
		at      string
	}{
		"of no type":              {object{"message": "x"}, "/type"},
		"of an unknown type":      {object{"type": "riddle", "message": "x"}, "/type"},
		"about a tool":            {object{"type": "tool_approval", "message": "x"}, "/type"},
		"about a change":          {object{"type": "review", "message": "x"}, "/type"},
		"without words":           {object{"type": "information_request", "message": ""}, "/message"},
		"a form without fields":   {object{"type": "form_requirements", "message": "x"}, "/props/schema"},
		"an error without fields": {object{"type": "error_recovery", "message": "x"}, "/props/error_field"},
		"with a field of ours":    {object{"type": "information_request", "message": "x", "scope": "always"}, "/scope"},
	} {
		t.Run(name, func(t *testing.T) {
			a := turn.call("checkpoints", row.payload)
			if _, found := a.details()[row.at]; a.Status != 400 || !found {
				t.Errorf("answered %d with details %v, want 400 with one at %q", a.Status, a.details(), row.at)
			}
		})
	}
	must.Equal(t, job.Running, turn.job().State, "the job is")
}

// The fields of a form are shown in the order in which they were written, and a question is the same
// one in any order.
func TestAFormKeepsTheOrderOfItsFields(t *testing.T) {
	t.Parallel()
	turn := startServer(t, callback.Options{}).start("note")
	const to, from = `"to": {"type": "string"}`, `"from": {"type": "string"}`
	ask := func(fields string) job.Checkpoint {
		body := `{"requestId": "` + string(turn.id) + `", "hmac": "` + string(turn.signature) + `", "type": "form_requirements", "message": "Where?", "props": {"schema": {"type": "object", "properties": {` + fields + `}}}}`
		must.Equal(t, 200, turn.send(httptest.NewRecorder(), "/api/claude/checkpoints", "application/json", []byte(body)).Status)
		return *turn.job().Checkpoint
	}
	asked := ask(to + "," + from)
	if at := strings.Index(string(asked.Props), `"to"`); at < 0 || at > strings.Index(string(asked.Props), `"from"`) {
		t.Errorf("the form is %s", asked.Props)
	}
	must.Equal(t, asked.ID, ask(from+","+to).ID)
}

// An option of one of several questions does not end the job, whatever it is called.
func TestAnOptionOfOneOfSeveralQuestionsEndsNothing(t *testing.T) {
	t.Parallel()
	s := startServer(t, callback.Options{})
	ask := func(question string, labels ...string) object {
		var options []any
		for _, label := range labels {
			options = append(options, object{"label": label})
		}
		return object{"question": question, "header": "Choice", "options": options}
	}
	for text, want := range map[string]job.State{
		"Stop": job.AwaitingInput, "stop, please": job.AwaitingInput, "Never mind": job.AwaitingInput, "Quit": job.Cancelled, "Cancel the job": job.Cancelled,
	} {
		turn := s.start("note")
		turn.want(200, "tool-calls", object{"tool_name": "AskUserQuestion", "tool_use_id": "toolu_1", "cwd": "/work", "tool_input": object{
			"questions": []any{ask("Go on?", "Stop", "Continue"), ask("And the order?", "Keep it", "Never mind")},
		}})
		turn.reply(givenText(text))
		must.Equal(t, want, turn.job().State, "after", text)
	}
}
