package checkpoint_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/lifecycle"
	"ringback/test/must"
)

type object = map[string]any

// Ways to reply.
func words(text string) checkpoint.Reply       { return checkpoint.Reply{Text: text} }
func decision(d job.Decision) checkpoint.Reply { return checkpoint.Reply{Decision: d} }
func values(v object) checkpoint.Reply         { return checkpoint.Reply{Values: v} }
func steer(text string) checkpoint.Reply       { return checkpoint.Reply{Decision: job.Steer, Text: text} }

// edited returns a decision with a changed input.
func edited(d job.Decision, v object) checkpoint.Reply {
	return checkpoint.Reply{Decision: d, Values: v}
}

// saying returns a decision with a text.
func saying(d job.Decision, text string) checkpoint.Reply {
	return checkpoint.Reply{Decision: d, Text: text}
}

// scoped returns an approval with a wider scope.
func scoped(s job.ApprovalScope) checkpoint.Reply {
	return checkpoint.Reply{Decision: job.Approve, Scope: s}
}

// having returns an approval of what was seen.
func having(seen checkpoint.Seen) checkpoint.Reply {
	return checkpoint.Reply{Decision: job.Approve, Seen: seen}
}

func iteration(n int) checkpoint.Seen { return checkpoint.Seen{Iteration: &n} }
func tree(shop string) checkpoint.Seen {
	return checkpoint.Seen{Trees: map[string]string{"shop": shop}}
}

func TestWhatAReplyDoes(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		to      question
		replies []checkpoint.Reply
		// status is the resulting status of the checkpoint, and job the resulting state of the job.
		status job.CheckpointStatus
		job    job.State
		// decision and values are the stored answer. asks is text in the question that asks again.
		decision job.Decision
		values   object
		asks     string
	}{
		{"yes allows it", deploy, []checkpoint.Reply{words("yes, please")}, job.Answered, job.Pending, job.Approve, nil, ""},
		{"no denies it, and the job goes on", deploy, []checkpoint.Reply{words("no")}, job.Answered, job.Pending, job.Deny, nil, ""},
		{"yes with a condition is asked back", deploy, []checkpoint.Reply{words("yes, but only the replica")}, job.Superseded, job.AwaitingApproval, "", nil, "You wrote “yes, but only the replica”"},
		{"what was asked back can be allowed", deploy, []checkpoint.Reply{words("hm"), words("yes")}, job.Answered, job.Pending, job.Approve, nil, ""},
		{"what was offered can be handed on", deploy, []checkpoint.Reply{words("only the replica"), words("change it")}, job.Answered, job.Pending, job.Steer, nil, ""},
		{"a decision needs no words", call, []checkpoint.Reply{decision(job.Deny)}, job.Answered, job.Pending, job.Deny, nil, ""},
		{"a yes may have a yes beside it", call, []checkpoint.Reply{saying(job.Approve, "LGTM, thanks")}, job.Answered, job.Pending, job.Approve, nil, ""},
		{"a no may have any words beside it", call, []checkpoint.Reply{saying(job.Deny, "yes, but later")}, job.Answered, job.Pending, job.Deny, nil, ""},
		{"a call can be allowed with another input", call, []checkpoint.Reply{edited(job.Approve, object{"command": "git push -n"})}, job.Answered, job.Pending, job.Approve, object{"command": "git push -n"}, ""},
		{"one of the options is the value", ratio, []checkpoint.Reply{words("Use 16:9")}, job.Answered, job.Pending, "", object{"aspect_ratio": "16:9"}, ""},
		{"an option is the value of a question that names no field", colour, []checkpoint.Reply{words("Blue, please")}, job.Answered, job.Pending, "", object{"value": "blue"}, ""},
		{"several words need their name if nobody interprets them", title, []checkpoint.Reply{words("A day out")}, job.Superseded, job.AwaitingInput, "", nil, `I did not understand that. Write the answer as "title: …". Which title?`},
		{"how to write it is stated once", title, []checkpoint.Reply{words("A day out"), words("A day at the beach")}, job.Superseded, job.AwaitingInput, "", nil, `I did not understand that. Write the answer as "title: …". Which title?`},
		{"several words with their name are the value", title, []checkpoint.Reply{words("title: A day out")}, job.Answered, job.Pending, "", object{"title": "A day out"}, ""},
		{"a value can be given outright", ratio, []checkpoint.Reply{values(object{"aspect_ratio": "1:1"})}, job.Answered, job.Pending, "", object{"aspect_ratio": "1:1"}, ""},
		{"a value without options can be given outright", size, []checkpoint.Reply{values(object{"width": json.Number("80")})}, job.Answered, job.Pending, "", object{"width": json.Number("80")}, ""},
		{"any values will do where none are asked for", free, []checkpoint.Reply{values(object{"title": "A day out"})}, job.Answered, job.Pending, "", object{"title": "A day out"}, ""},
		{"values given outright are the whole answer: what is known and not among them was cleared", trip, []checkpoint.Reply{values(object{"city": "Milan"})}, job.Answered, job.Pending, "", object{"city": "Milan"}, ""},
		{"words add to what is known", trip, []checkpoint.Reply{words("city: Milan")}, job.Answered, job.Pending, "", object{"city": "Milan", "note": "by train"}, ""},
		{"cancel ends the job", ratio, []checkpoint.Reply{words("cancel")}, job.Answered, job.Cancelled, job.Cancel, nil, ""},
		{"cancel may be one of the options", order, []checkpoint.Reply{words("Cancel")}, job.Answered, job.Pending, "", object{"order": "cancel"}, ""},
		{"cancel may be one of the options: other words for it end the job", order, []checkpoint.Reply{words("Abort")}, job.Answered, job.Cancelled, job.Cancel, nil, ""},
		{"cancel ends the job, as a decision", film, []checkpoint.Reply{decision(job.Cancel)}, job.Answered, job.Cancelled, job.Cancel, nil, ""},
		{"cancel gives the job up at an action, too", deploy, []checkpoint.Reply{decision(job.Cancel)}, job.Answered, job.Cancelled, job.Cancel, nil, ""},
		{"cancel gives the job up at a call, too", call, []checkpoint.Reply{decision(job.Cancel)}, job.Answered, job.Cancelled, job.Cancel, nil, ""},
		{"cancel gives the job up at a review, too", change, []checkpoint.Reply{decision(job.Cancel)}, job.Answered, job.Cancelled, job.Cancel, nil, ""},
		{"cancel the job, in words, gives it up", call, []checkpoint.Reply{words("no, cancel the job")}, job.Answered, job.Cancelled, job.Cancel, nil, ""},
		{"cancel the job, in words, gives a change up", change, []checkpoint.Reply{words("Cancel the job")}, job.Answered, job.Cancelled, job.Cancel, nil, ""},
		{"cancel alone is a no to an action", deploy, []checkpoint.Reply{words("cancel")}, job.Answered, job.Pending, job.Deny, nil, ""},
		{"a no may hold words that are in a yes", call, []checkpoint.Reply{words("no, use go build instead")}, job.Answered, job.Pending, job.Deny, nil, ""},
		{"what a form lacks is asked for", film, []checkpoint.Reply{words("format: mp4")}, job.Superseded, job.AwaitingInput, "", nil, "Thank you. I still need: seconds"},
		{"a form with open values states how to write one", film, []checkpoint.Reply{words("mp4 I think")}, job.Superseded, job.AwaitingInput, "", nil, `I did not understand that. Write the answer as "format: …". Which format`},
		{"what was given before is kept", film, []checkpoint.Reply{words("format: mp4"), words("seconds: 12")}, job.Answered, job.Pending, "", object{"format": "mp4", "seconds": json.Number("12")}, ""},
		{"what does not fit a form is asked for", film, []checkpoint.Reply{words("format: mp4, seconds: 90")}, job.Superseded, job.AwaitingInput, "", nil, "I still need: seconds"},
		{"any words will do where no values are asked for", free, []checkpoint.Reply{words("Whatever the weather is")}, job.Answered, job.Pending, "", nil, ""},
		{"nobody says what unclear words mean: they are asked again", ratio, []checkpoint.Reply{words("cinema style")}, job.Superseded, job.AwaitingInput, "", nil, "Available options are: 16:9, 1:1."},
		{"a change that is approved is published", change, []checkpoint.Reply{words("looks good")}, job.Answered, job.Pending, job.Approve, nil, ""},
		{"a change that is rejected ends its job", change, []checkpoint.Reply{words("reject")}, job.Answered, job.Rejected, job.Deny, nil, ""},
		{"a change that is steered goes another round", change, []checkpoint.Reply{words("steer: shorter names")}, job.Answered, job.Pending, job.Steer, nil, ""},
		{"who steers too often hears so in the chat", last, []checkpoint.Reply{words("steer: shorter names")}, job.Superseded, job.AwaitingApproval, "", nil, "steered 2 times"},
		{"who has seen what is under review decides on it", change, []checkpoint.Reply{having(iteration(1))}, job.Answered, job.Pending, job.Approve, nil, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, false)
			id := p.begin()
			now := p.ask(id, c.to)
			for i, reply := range c.replies {
				if i > 0 {
					now = p.checkpoint(now.Next)
				}
				now = must.Get(p.Reply(t.Context(), now, reply))(t)
			}
			if state := p.state(id); now.Status != c.status || state != c.job {
				t.Errorf("the checkpoint is %s and the job %s", now.Status, state)
			}
			if c.status == job.Superseded {
				if next := p.checkpoint(now.Next); !strings.Contains(next.Message, c.asks) || next.Status != job.Open {
					t.Errorf("asked again: %s %q", next.Status, next.Message)
				}
				return
			}
			if diff := cmp.Diff(jsonOf(t, c.values), jsonOf(t, now.Reply.Values)); diff != "" || now.Reply.Decision != c.decision {
				t.Errorf("answered %q %s", now.Reply.Decision, diff)
			}
		})
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	return string(must.Get(json.Marshal(v))(t))
}

func TestReplyThatDoesNotFitChangesNothing(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		to    question
		reply checkpoint.Reply
		kind  job.ErrorKind
		path  string
	}{
		{"nothing at all", deploy, checkpoint.Reply{}, job.Invalid, ""},
		{"blank words", deploy, words(" \n"), job.Invalid, ""},
		{"more words than anybody reads", deploy, words(strings.Repeat("yes ", 10_000)), job.Invalid, "/text"},
		{"a decision that there is not", deploy, decision("maybe"), job.Invalid, "/decision"},
		{"another input for an action that was confirmed", deploy, edited(job.Approve, object{"a": 1}), job.Invalid, "/values"},
		{"another input for a call that is denied", call, edited(job.Deny, object{"a": 1}), job.Invalid, "/values"},
		{"values where a decision is asked for", deploy, values(object{"a": 1}), job.Invalid, "/values"},
		{"a decision where values are asked for", ratio, decision(job.Approve), job.Invalid, "/decision"},
		{"a value that is not offered", ratio, values(object{"aspect_ratio": "2:1"}), job.Invalid, "/values/aspect_ratio"},
		{"values that answer nothing", size, values(object{}), job.Invalid, "/values/width"},
		{"no value for the one that is asked for", size, values(object{"other": "x"}), job.Invalid, "/values/width"},
		{"a value that is none", size, values(object{"width": nil}), job.Invalid, "/values/width"},
		{"values that answer nothing, where any will do", free, values(object{}), job.Invalid, "/values"},
		{"values beside a decision on a change", change, edited(job.Approve, object{"a": 1}), job.Invalid, "/values"},
		{"values while a job is given up", ratio, edited(job.Cancel, object{"aspect_ratio": "1:1"}), job.Invalid, "/values"},
		{"a yes with a no beside it", deploy, saying(job.Approve, "no, stop!"), job.Invalid, "/text"},
		{"a yes to a call with a no beside it", call, saying(job.Approve, "Deny"), job.Invalid, "/text"},
		{"a yes to a change with another round beside it", change, saying(job.Approve, "steer: shorter names"), job.Invalid, "/text"},
		{"a yes with the end of the job beside it", call, saying(job.Approve, "cancel the job"), job.Invalid, "/text"},
		{"the value of another field", ratio, values(object{"ratio": "16:9"}), job.Invalid, "/values/aspect_ratio"},
		{"a required value that was cleared", trip, values(object{"note": "by bus"}), job.Invalid, "/values/city"},
		{"a value that the form does not take", film, values(object{"format": "mp4", "seconds": json.Number("90")}), job.Invalid, "/values/seconds"},
		{"a steer that does not say what to change", deploy, steer(""), job.Invalid, "/text"},
		{"a round more than there may be", last, steer("shorter"), job.Conflict, ""},
		{"yes for ever to what is confirmed once", deploy, scoped(job.Always), job.Invalid, "/scope"},
		{"words with a scope that there is not", free, checkpoint.Reply{Text: "Whatever", Scope: "a while"}, job.Invalid, "/scope"},
		{"yes for a while", call, scoped("a while"), job.Invalid, "/scope"},
		{"an iteration that is not under review", change, having(iteration(0)), job.Conflict, "/iteration"},
		{"a tree that is not under review", change, having(tree("def")), job.Conflict, "/trees/shop"},
		{"an iteration where there is none", deploy, having(iteration(1)), job.Invalid, "/iteration"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, false)
			id := p.begin()
			asked := p.ask(id, c.to)
			_, err := p.Reply(t.Context(), asked, c.reply)
			if kind, path := kindOf(err); kind != c.kind || path != c.path {
				t.Errorf("refused as %q at %q: %v", kind, path, err)
			}
			if now := p.checkpoint(asked.ID); now.Status != job.Open || p.state(id) != c.to.kind.State() {
				t.Errorf("the checkpoint is %s and the job %s", now.Status, p.state(id))
			}
		})
	}
}

// The first reply counts, and the second gets a Conflict.
func TestSecondReplyIsRefused(t *testing.T) {
	t.Parallel()
	p := newPeople(t, false)
	asked := p.ask(p.begin(), deploy)
	answered, err := p.Reply(t.Context(), asked, decision(job.Approve))
	must.OK(t, err)
	_, err = p.Reply(t.Context(), answered, decision(job.Deny))
	if kind, _ := kindOf(err); kind != job.Conflict {
		t.Errorf("refused as %q: %v", kind, err)
	}
	// The second reply is based on the checkpoint as read while it was open.
	_, err = p.Reply(t.Context(), asked, decision(job.Deny))
	if kind, _ := kindOf(err); kind != job.Conflict || p.checkpoint(asked.ID).Reply.Decision != job.Approve {
		t.Errorf("refused as %q: %v; the answer is %v", kind, err, p.checkpoint(asked.ID).Reply)
	}
}

func TestQuestionThatCannotBeAnsweredIsNotAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		question
		path string
	}{
		"an error without its field":       {question{job.ErrorRecovery, "Which?", `{}`}, "/props/error_field"},
		"a form without a schema":          {question{job.FormRequirements, "Which?", ``}, "/props/schema"},
		"a form of nothing":                {question{job.FormRequirements, "Which?", `{"schema":{"type":"object"}}`}, "/props/schema"},
		"a form in a form":                 {question{job.FormRequirements, "Which?", `{"schema":{"type":"object","properties":{"a":{"type":"object"}}}}`}, "/props/schema/properties/a/type"},
		"options of one of several fields": {question{job.InformationRequest, "Which?", `{"valid_values":["x"],"schema":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}}`}, "/props/error_field"},
		"an option that is no value":       {question{job.ErrorRecovery, "Which?", `{"error_field":"a","valid_values":["x",{}]}`}, "/props/valid_values/1"},
		"Claude's own wording of a yes":    {question{job.Confirmation, "Deploy?", `{"yes":{"label":"No","also":["no"]}}`}, "/props/yes"},
		"Claude's own wording of a no":     {question{job.Confirmation, "Deploy?", `{"no":{"label":"Yes"}}`}, "/props/no"},
		"props that are none of the known": {question{job.ErrorRecovery, "Which?", `{"error_field":7}`}, "/props"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, false)
			id := p.begin()
			_, _, err := p.Ask(t.Context(), checkpoint.Request{RequestID: id, UserID: user, SessionID: session, Type: c.kind, Message: c.message, Props: json.RawMessage(c.props)})
			if e, _ := errors.AsType[*job.Error](err); e == nil || e.Kind != job.Invalid || len(e.Details) == 0 || e.Details[0].Path != c.path {
				t.Errorf("refused with %v", err)
			}
			must.Equal(t, job.Running, p.state(id), "the job is")
		})
	}
}

// An asker's props cannot set the parts of the question.
func TestAnAskerCannotGiveTheQuestionParts(t *testing.T) {
	t.Parallel()
	p := newPeople(t, false)
	c := p.ask(p.begin(), question{job.Confirmation, "Pay?", `{"action":"pay","input":{"amount":1},"asked":{"segments":[{"from":"ringback","text":"Nothing runs"}],"bytes":1}}`})
	if q := c.Question(); !q.OwnWords() || q.Segments[0].Text != "Pay?" || q.Runs != "" || q.Exact != "" || strings.Contains(string(c.Props), "Nothing runs") {
		t.Errorf("the question is %+v, its props %s", q, c.Props)
	}
}

// After a yes in words to a part of an input, the whole input is shown and the question asked
// again. A no remains a no.
func TestAYesToAPartOfAnInput(t *testing.T) {
	t.Parallel()
	p := newPeople(t, false)
	c, err := p.Reply(t.Context(), p.askInPart(), words("yes"))
	if err != nil || c.Status != job.Superseded {
		t.Fatalf("the question is %s, %v", c.Status, err)
	}
	again := p.checkpoint(c.Next)
	must.Contain(t, again.Message, `"command": "# harmless\nreboot"`, "the question that is asked again is")
	if c, err = p.Reply(t.Context(), again, words("yes")); err != nil || c.Status != job.Answered || c.Reply.Decision != job.Approve {
		t.Errorf("a yes to all of it made the question %s, %v", c.Status, err)
	}
}

// So it is if the words come as the output of the call, as from a front end that handles tools.
func TestAYesToAPartOfAnInputAsAnOutput(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]job.CheckpointStatus{"Yes, do it": job.Superseded, "No, leave it": job.Answered, "approved": job.Answered} {
		p := newPeople(t, false)
		asked := p.askInPart()
		m := checkpoint.Incoming{UserID: user, SessionID: session, ToolOutput: &checkpoint.ToolOutput{CheckpointID: asked.ID, Text: output}}
		if output == "approved" {
			m.ToolOutput.Text, m.ToolOutput.Decision = "", job.Approve
		}
		must.Get(p.ToLLM(t.Context(), m))(t)
		must.Equal(t, want, p.checkpoint(asked.ID).Status, output)
	}
}

// An earlier version did not count the fields that a question does not name, and none of those that a
// question left out that was asked again.
func TestAYesInWordsToAQuestionOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	const asked = `"asked":{"segments":[{"from":"kind","text":"Pay the invoice of "},{"from":"value","text":"\"shop\""},{"from":"kind","text":"?"}],"bytes":9}`
	for name, c := range map[string]struct {
		kind  job.CheckpointType
		props string
		whole string // what it is asked again with; empty if the yes counts
	}{
		"with a field that it may not name": {job.Confirmation, `{"action":"pay","input":{"name":"shop","amount":1000000},` + asked + `}`, `"amount": 1000000`},
		"about a tool call":                 {job.ToolApproval, `{"tool_name":"Bash","tool_input":{"command":"id"},` + asked + `}`, `"command": "id"`},
		"without an input, as for a budget": {job.Confirmation, `{"more_usd":1,` + asked + `}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, false)
			const question = `Pay the invoice of "shop"?`
			_, id, _, err := p.jobs.Ask(t.Context(), lifecycle.NewCheckpoint{
				RequestID: p.begin(), UserID: user, SessionID: session, Type: c.kind, Message: question, Props: json.RawMessage(c.props), Chat: job.Text(job.FromAssistant, question),
			})
			must.OK(t, err)
			p.say("yes")
			now := p.checkpoint(id)
			if c.whole == "" {
				must.Equal(t, job.Answered, now.Status)
				return
			}
			must.Equal(t, job.Superseded, now.Status)
			must.Contain(t, p.checkpoint(now.Next).Message, c.whole)
			p.say("yes")
			must.Equal(t, job.Approve, p.checkpoint(now.Next).Reply.Decision, "a yes to all of it is")
		})
	}
}

func TestHowSomethingWasShownIsStatedInKnownWords(t *testing.T) {
	t.Parallel()
	p := newPeople(t, false)
	c := p.ask(p.begin(), deploy)
	for field, seen := range map[string]checkpoint.Seen{"/shown": {Shown: "mostly"}, "/unviewed": {Unviewed: new(-1)}} {
		_, err := p.Reply(t.Context(), c, having(seen))
		must.Fail(t, err, "Invalid", field)
	}
	if c, err := p.Reply(t.Context(), c, having(checkpoint.Seen{Shown: job.ShownByLink})); err != nil || c.Status != job.Answered {
		t.Errorf("the question is %s, %v", c.Status, err)
	}
}

// A yes in words does not approve an image preview; a decision in the console does.
func TestAYesInWordsToAnImage(t *testing.T) {
	t.Parallel()
	p := newPeople(t, false)
	_, asked, err := p.Ask(t.Context(), checkpoint.Request{
		RequestID: p.begin(), UserID: user, SessionID: session, Type: job.Confirmation, Message: "Draw it?", ApprovalKey: "action:draw:1",
		Preview: &job.Preview{Format: job.PreviewImage, MediaType: "image/png", Data: []byte("x"), Digest: "d"},
	})
	must.OK(t, err)
	c, err := p.Reply(t.Context(), p.checkpoint(asked.ID), words("yes"))
	if err != nil || c.Status != job.Superseded {
		t.Fatalf("the question is %s, %v", c.Status, err)
	}
	again := p.checkpoint(c.Next)
	if !strings.Contains(again.Message, "in the console's inbox") || job.PreviewIn(again.Props) == nil {
		t.Errorf("it is asked again as %q with %s", again.Message, again.Props)
	}
	if c, err = p.Reply(t.Context(), again, having(checkpoint.Seen{Shown: job.ShownWhole})); err != nil || c.Status != job.Answered {
		t.Errorf("a yes in the console made it %s, %v", c.Status, err)
	}
}

// Words of the question count as an order only if the kind's author wrote them, at its beginning.
func TestWhoseWordsMakeAYes(t *testing.T) {
	t.Parallel()
	kinds := func(text string) job.Segment { return job.Segment{From: job.FromKind, Text: text} }
	value := job.Segment{From: job.FromValue, Text: `"a\" delete \"b"`}
	for name, c := range map[string]struct {
		composed []job.Segment
		said     string
		want     job.CheckpointStatus
	}{
		"the kind's order":           {[]job.Segment{kinds("Deploy "), value, kinds("?")}, "deploy it", job.Answered},
		"an order in a value":        {[]job.Segment{kinds("Rename "), value, kinds("?")}, "delete it", job.Superseded},
		"a value in front of it":     {[]job.Segment{{From: job.FromValue, Text: `"deploy"`}, kinds(" now?")}, "deploy it", job.Superseded},
		"the opposite of the order":  {[]job.Segment{kinds("Stop the release instead of deploying?")}, "deploy it", job.Superseded},
		"an order that is forbidden": {[]job.Segment{kinds("Should I not delete the backups?")}, "delete it", job.Superseded},
		"Claude's own question":      {nil, "deploy it", job.Superseded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, false)
			asked := p.ask(p.begin(), question{job.Confirmation, "Deploy it?", `{"action":"ship"}`}, c.composed...)
			must.Equal(t, c.want, must.Get(p.Reply(t.Context(), asked, words(c.said)))(t).Status, c.said)
		})
	}
}

// A question of Ringback's own, such as a budget's, is answered with yes or no: no one could make a
// change.
func TestNoChangeIsOfferedWhereNoOneCouldMakeIt(t *testing.T) {
	t.Parallel()
	p := newPeople(t, false)
	budget := question{job.Confirmation, "1.00 USD used, continue with 1.00 USD more?", `{"more_usd":1}`}
	now := p.ask(p.begin(), budget, job.Segment{From: job.FromRingback, Text: budget.message})
	for _, said := range []string{"yes, but only the tests", "change it", "steer: only the tests", "change: only the tests"} {
		now = must.Get(p.Reply(t.Context(), now, words(said)))(t)
		must.Equal(t, job.Superseded, now.Status, said, "makes the question")
		now = p.checkpoint(now.Next)
		if strings.Contains(string(now.Props), "Change it") || strings.Contains(now.Message, "tell Claude") {
			t.Errorf("after %q, it is asked as %q with %s", said, now.Message, now.Props)
		}
	}
	now = must.Get(p.Reply(t.Context(), now, words("yes")))(t)
	must.Equal(t, job.Approve, now.Reply.Decision, "a yes is")
}

// An asker's props cannot set a preview, which only the server sets.
func TestAnAskerCannotGiveAPreview(t *testing.T) {
	t.Parallel()
	p := newPeople(t, false)
	c := p.ask(p.begin(), question{job.Confirmation, "Pay?", `{"preview":{"format":"text","text":"Nothing happens","digest":"d"}}`})
	if job.PreviewIn(c.Props) != nil || strings.Contains(string(c.Props), "Nothing happens") {
		t.Errorf("its props are %s", c.Props)
	}
}

// askInPart asks about a call in a message that omits a part of its input.
func (p *people) askInPart() job.Checkpoint {
	p.t.Helper()
	_, asked, err := p.Ask(p.t.Context(), checkpoint.Request{
		RequestID: p.begin(), UserID: user, SessionID: session, Type: job.ToolApproval, Message: "Claude wants to use Bash: # harmless …", ApprovalKey: "tool:Bash:1",
		Asked: &job.Asked{Segments: []job.Segment{{From: job.FromRingback, Text: "Claude wants to use Bash: # harmless …"}}, Omitted: 6},
		Props: json.RawMessage(`{"tool_name":"Bash","tool_input":{"command":"# harmless\nreboot"}}`),
	})
	must.OK(p.t, err)
	return p.checkpoint(asked.ID)
}

// The first of several concurrent messages has the question asked again in full. The others do not
// answer the new question, because the user has not seen it yet.
func TestAYesInTheChatIsToWhatItsWriterSaw(t *testing.T) {
	t.Parallel()
	for range 20 {
		p := newPeople(t, false)
		asked := p.askInPart()
		props := must.Get(json.Marshal(job.ReplyProps{CheckpointMessageID: asked.MessageID}))(t)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := p.ToLLM(t.Context(), checkpoint.Incoming{UserID: user, SessionID: session, Content: "yes", Props: props}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		must.Equal(t, job.Open, p.checkpoint(p.checkpoint(asked.ID).Next).Status, "the question with the whole input is")
	}
}
