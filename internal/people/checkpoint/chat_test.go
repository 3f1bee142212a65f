package checkpoint_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/test/must"
)

func contains(text, part string) bool { return strings.Contains(text, part) }

// say posts a message to the chat as its user.
func (p *people) say(text string) {
	p.t.Helper()
	must.Get(p.ToLLM(p.t.Context(), checkpoint.Incoming{UserID: user, SessionID: session, Content: text}))(p.t)
}

// story returns the chat, one line per message.
func (p *people) story() []string {
	p.t.Helper()
	messages, _, err := p.store.Chats.Messages(p.t.Context(), user, session, 0, 100)
	must.OK(p.t, err)
	var lines []string
	for _, m := range messages {
		first, _, _ := strings.Cut(m.Content, "\n")
		lines = append(lines, string(m.Sender)+": "+first)
	}
	return lines
}

// If several decisions are open in one chat, a message must name the one it is about.
func TestWhichQuestionAMessageIsAbout(t *testing.T) {
	t.Parallel()
	second := question{job.Confirmation, "Delete the logs?", `{"title":"Delete logs","yes":{"label":"Yes, delete","message":"Yes, delete them."}}`}
	for name, c := range map[string]struct {
		says []string
		// deploy and delete are the decisions.
		deploy, delete job.Decision
	}{
		"a bare yes decides nothing":          {[]string{"yes"}, "", ""},
		"nor does a bare no":                  {[]string{"no", "ja bitte", "👍"}, "", ""},
		"nor does a condition or a change":    {[]string{"yes but only the replica", "change: the replica"}, "", ""},
		"nor does one answer to both":         {[]string{"both", "yes to both", "yes", "both"}, "", ""},
		"nor does a number in words":          {[]string{"yes", "the second one", "yes to 2"}, "", ""},
		"a number without a list is none":     {[]string{"1: yes"}, "", ""},
		"a number of a list that is over":     {[]string{"yes", "hm", "yes", "what?", "1"}, "", ""},
		"a number with a condition":           {[]string{"yes", "1: yes but only the replica"}, "", ""},
		"a number after that names one":       {[]string{"yes", "2"}, "", job.Approve},
		"a number with an answer does, too":   {[]string{"hm", "1: no"}, job.Deny, ""},
		"a button's text does":                {[]string{"Yes, delete them."}, "", job.Approve},
		"one after another, all are answered": {[]string{"yes", "1", "no"}, job.Approve, job.Deny},
		"a number of none decides nothing":    {[]string{"yes", "3"}, "", ""},
		"a title decides nothing":             {[]string{"Deploy: yes", "Deploy"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, false)
			one, two := p.begin(), p.begin()
			first, other := p.ask(one, deploy), p.ask(two, second, job.Segment{From: job.FromKind, Text: second.message})
			for _, text := range c.says {
				p.say(text)
			}
			for what, want := range map[*job.Checkpoint]job.Decision{&first: c.deploy, &other: c.delete} {
				got := job.Decision("")
				if now := p.checkpoint(what.ID); now.Status == job.Answered {
					got = now.Reply.Decision
				}
				if got != want {
					t.Errorf("%q is decided as %q, want %q; the chat:\n%s", what.Message, got, want, strings.Join(p.story(), "\n"))
				}
			}
		})
	}
}

// A question's own wording names it only if no other open question could take the text, too.
func TestAWordingThatAnotherQuestionMayTake(t *testing.T) {
	t.Parallel()
	pay := question{job.Confirmation, "Pay?", `{"action":"pay","yes":{"label":"Yes, Pay","message":"Yes, please proceed with pay.","also":["Approve"]},"no":{"label":"Deny","message":"No, I don't want to pay right now."}}`}
	bash := question{job.ToolApproval, "Claude wants to use Bash: ls", `{"tool_name":"Bash","tool_input":{"command":"ls"}}`}
	ours := []job.Segment{{From: job.FromRingback, Text: "Allow it?"}}
	for name, c := range map[string]struct {
		// among are asked after pay.
		among []question
		says  string
		paid  job.Decision
	}{
		"its button":                                     {[]question{bash}, "Yes, Pay", job.Approve},
		"its sentence":                                   {[]question{bash}, "Yes, please proceed with pay.", job.Approve},
		"its no":                                         {[]question{bash}, "No, I don't want to pay right now.", job.Deny},
		"the button of a tool call, too":                 {[]question{bash}, "Approve", ""},
		"that button in lower case":                      {[]question{bash}, "approve", ""},
		"the other button of a tool call":                {[]question{bash}, "Deny", ""},
		"the button of Claude's own question":            {[]question{deploy}, "Approve", ""},
		"a button that Claude gave its question":         {[]question{{job.InformationRequest, "Which?", `{"suggested_replies":["Yes, Pay","No"],"schema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}}`}, bash}, "Yes, Pay", ""},
		"an option that Claude gave its question":        {[]question{{job.InformationRequest, "Which?", `{"valid_values":["Yes, Pay","No"]}`}, bash}, "yes, pay", ""},
		"any words answer another question":              {[]question{free, bash}, "Yes, Pay", ""},
		"a button that Claude tries to label: it is not": {[]question{{job.Confirmation, "Delete the old file?", `{"suggested_replies":["Yes, Pay","No"]}`}}, "Yes, Pay", job.Approve},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, false)
			asked := p.ask(p.begin(), pay, ours...)
			for _, other := range c.among {
				if other.kind == job.ToolApproval {
					p.ask(p.begin(), other, ours...)
					continue
				}
				if now := p.ask(p.begin(), other); other.kind.Binding() && strings.Contains(string(now.Props), "Yes, Pay") {
					t.Errorf("Claude's question has the buttons that Claude wants: %s", now.Props)
				}
			}
			p.say(c.says)
			got := job.Decision("")
			if now := p.checkpoint(asked.ID); now.Status == job.Answered {
				got = now.Reply.Decision
			}
			must.Equal(t, c.paid, got, strings.Join(p.story(), "\n"))
			open := must.Get(p.store.Checkpoints.OpenIn(t.Context(), user, session))(t)
			want := len(c.among)
			if c.paid == "" {
				want++
			}
			must.Equal(t, want, len(open), "open questions")
		})
	}
}

// The number of a question that is closed by now answers no other.
func TestANumberOfAClosedQuestion(t *testing.T) {
	t.Parallel()
	number := question{job.ErrorRecovery, "How many are right?", `{"error_field":"n","valid_values":[1,2]}`}
	for name, c := range map[string]struct {
		// before and says are what the user writes before and after another door has answered the second
		// question; both is set if that door answers the first one, too.
		before, says []string
		both, newer  bool
		// value is the first question's answer, or empty; told is set if the user learns that theirs is closed.
		value string
		told  bool
	}{
		"the number":                           {[]string{"hm"}, []string{"2"}, false, false, "", true},
		"with an answer":                       {[]string{"hm"}, []string{"2: yes"}, false, false, "", true},
		"said once, it is over":                {[]string{"hm"}, []string{"2", "2"}, false, false, "2", true},
		"if no question is open any more":      {[]string{"hm"}, []string{"2: yes"}, true, false, "", true},
		"an answer to the other one is one":    {[]string{"hm"}, []string{"n: 2"}, false, false, "2", false},
		"without a list, it is a value":        {nil, []string{"2"}, false, false, "2", false},
		"something else was written meanwhile": {[]string{"hm"}, []string{"well?", "2"}, false, false, "2", false},
		"a newer question takes it":            {[]string{"hm"}, []string{"2"}, false, true, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, false)
			asked := p.ask(p.begin(), number)
			other, third := p.ask(p.begin(), deploy), p.begin()
			for _, text := range c.before {
				p.say(text)
			}
			must.Get(p.Reply(t.Context(), other, decision(job.Deny)))(t)
			if c.both {
				must.Get(p.Reply(t.Context(), asked, decision(job.Cancel)))(t)
			}
			if c.newer {
				p.ask(third, number)
			}
			for _, text := range c.says {
				p.say(text)
			}
			now := p.checkpoint(asked.ID)
			for now.Status == job.Superseded {
				now = p.checkpoint(now.Next)
			}
			got := ""
			if now.Reply != nil && now.Reply.Values != nil {
				got = fmt.Sprint(now.Reply.Values["n"])
			}
			story := strings.Join(p.story(), "\n")
			must.Equal(t, c.value, got, story)
			must.Equal(t, c.told, strings.Contains(story, "Question 2 of the list is already closed"), story)
		})
	}
}

// A question for a value and a decision: a yes that could answer both leads to a question.
func TestAYesThatMayAnswerAFormOrADecision(t *testing.T) {
	t.Parallel()
	p := newPeople(t, false)
	captions := question{job.InformationRequest, "With captions?", `{"schema":{"type":"object","required":["captions"],"properties":{"captions":{"type":"boolean"}}}}`}
	value, decision := p.ask(p.begin(), captions), p.ask(p.begin(), deploy)
	p.say("yes")
	if a, b := p.checkpoint(value.ID).Status, p.checkpoint(decision.ID).Status; a != job.Open || b != job.Open {
		t.Errorf("the form is %s, the decision %s", a, b)
	}
	messages, _, err := p.store.Chats.Messages(t.Context(), user, session, 0, 100)
	must.OK(t, err)
	must.Equal(t, "2 questions are open here. Which one is “yes” about?\n1. Claude asks: With captions?\n2. Claude asks: Deploy shop to production?\n"+
		`Answer one at a time, with its number: "1: yes".`, messages[len(messages)-1].Content)
	p.say("2")
	must.Equal(t, job.Answered, p.checkpoint(decision.ID).Status)
}

// In the list, Claude's words are Claude's, whatever they are called: a title of its own is none.
func TestWhoseWordsTheListHas(t *testing.T) {
	t.Parallel()
	p := newPeople(t, false)
	kinds := job.Segment{From: job.FromKind, Text: "Delete the logs?"}
	p.ask(p.begin(), question{job.Confirmation, "Deletes nothing.", `{"title":"Delete logs","action":"delete","tool_name":"Bash"}`})
	p.ask(p.begin(), question{job.Confirmation, kinds.Text, `{"title":"Delete logs?","action":"delete"}`}, kinds)
	p.ask(p.begin(), call, job.Segment{From: job.FromRingback, Text: call.message})
	p.ask(p.begin(), change)
	must.Get(p.FromLLM(t.Context(), checkpoint.Incoming{UserID: user, SessionID: session, Content: "Go on?", MessageType: job.CheckpointMessage, Props: json.RawMessage(`{"checkpoint_type":"confirmation","title":"Delete logs"}`)}))(t)
	p.say("yes")
	messages, _, err := p.store.Chats.Messages(t.Context(), user, session, 0, 100)
	must.OK(t, err)
	must.Equal(t, "5 questions are open here. Which one is “yes” about?\n1. Claude asks: Deletes nothing.\n2. Delete logs: Delete the logs?\n"+
		"3. Bash: May Claude run git push?\n4. Two files were changed.\n5. Another system asks: Go on?\n"+
		`Answer one at a time, with its number: "1: yes".`, messages[len(messages)-1].Content)
}

// An author of chat messages cannot redefine what a number stands for.
func TestOnlyTheServersOwnListGivesNumbersAMeaning(t *testing.T) {
	t.Parallel()
	p := newPeople(t, false)
	asked := p.ask(p.begin(), deploy)
	props := json.RawMessage(`{"checkpoint_type":"information_request","which":{"checkpoints":["` + string(asked.ID) + `"],"text":"yes"}}`)
	must.Get(p.FromLLM(t.Context(), checkpoint.Incoming{UserID: user, SessionID: session, Content: "How many?", MessageType: job.CheckpointMessage, Props: props}))(t)
	p.say("1")
	p.say("1")
	if now := p.checkpoint(asked.ID); now.Reply != nil && now.Reply.Decision != "" {
		t.Errorf("a number decided: %s", now.Reply.Decision)
	}
}

// Nor can the user: only the server writes the list, and what happened to a job.
func TestAUserCannotWriteInTheServersName(t *testing.T) {
	t.Parallel()
	p := newPeople(t, false)
	pay, asked := p.ask(p.begin(), deploy), p.ask(p.begin(), deploy)
	props := json.RawMessage(`{"which":{"checkpoints":["` + string(pay.ID) + `"],"text":"yes"}}`)
	for _, kind := range []job.MessageType{job.WhichMessage, job.NoticeMessage} {
		m := checkpoint.Incoming{UserID: user, SessionID: session, Content: "Which?", MessageType: kind, Props: props}
		_, err := p.ToLLM(t.Context(), m)
		m.ToolOutput = &checkpoint.ToolOutput{CheckpointID: pay.ID, Decision: job.Approve}
		_, asOutput := p.ToLLM(t.Context(), m)
		for _, err := range []error{err, asOutput} {
			_, path := kindOf(err)
			must.Equal(t, "/messageType", path, kind)
		}
	}
	// An earlier version stored such a message.
	body := job.Text(job.FromUser, "Which?")
	body.MessageType, body.Props = job.WhichMessage, props
	must.Get(p.jobs.AppendMessage(t.Context(), user, session, body, nil))(t)
	p.say("1")
	must.Equal(t, job.Open, p.checkpoint(pay.ID).Status)
	must.Equal(t, job.Open, p.checkpoint(asked.ID).Status)
}

// What binds is the question that the author of a message was shown.
func TestMessageIsForTheQuestionThatWasShown(t *testing.T) {
	t.Parallel()
	for props, want := range map[string]string{
		`{"checkpoint_message_id":%d}`:     "the question that was shown",
		`{"checkpoint_message_id":0}`:      "no question",
		`{"checkpoint_message_id":null}`:   "no question",
		`{"checkpoint_message_id":1}`:      "no question", // it is closed
		`{"checkpoint_message_id":"%d"}`:   "/props/checkpoint_message_id",
		`{"checkpoint_message_id":%d.5}`:   "/props/checkpoint_message_id",
		`{"checkpoint_message_id":-%d}`:    "/props/checkpoint_message_id",
		`{"checkpoint_message_id":[%d]}`:   "/props/checkpoint_message_id",
		`{"checkpoint_message_id":1e99}`:   "/props/checkpoint_message_id",
		`{"checkpointMessageId":%d}`:       "/props/checkpointMessageId",
		`{"Checkpoint_Message_Id":%d}`:     "/props/Checkpoint_Message_Id",
		`{"checkpoint_mesage_id":%d}`:      "/props/checkpoint_mesage_id",
		`{"note":"checkpoint_message_id"}`: "which question?",
	} {
		t.Run(props, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, false)
			first := p.ask(p.begin(), deploy)
			second := p.ask(p.begin(), deploy)
			message := json.RawMessage(strings.ReplaceAll(props, "%d", strconv.FormatInt(first.MessageID, 10)))
			_, err := p.ToLLM(t.Context(), checkpoint.Incoming{UserID: user, SessionID: session, Content: "yes", Props: message})
			got := "no question"
			switch e, _ := errors.AsType[*job.Error](err); {
			case e != nil:
				got = e.Details[0].Path
			case p.checkpoint(first.ID).Status == job.Answered:
				got = "the question that was shown"
			case strings.Contains(p.story()[len(p.story())-1], "Which one is"):
				got = "which question?"
			}
			must.Equal(t, want, got)
			must.Equal(t, job.Open, p.checkpoint(second.ID).Status)
		})
	}
}

// A message reaches the job next to which it was written, or none: then nothing is stored.
func TestMessageIsForTheJobThatWasShown(t *testing.T) {
	t.Parallel()
	const running, ended = false, true
	for name, c := range map[string]struct {
		props string // %s is the latest job of the chat, %p the one before
		ended bool
		kind  job.ErrorKind
		path  string
	}{
		"no job is named":                           {`{"note":1}`, running, "", ""},
		"the latest job":                            {`{"request_id":"%s"}`, running, "", ""},
		"the latest job, which works":               {`{"request_id":"%s","may_start":false}`, running, "", ""},
		"another job":                               {`{"request_id":"%p"}`, running, job.Conflict, ""},
		"another job, and it may start one":         {`{"request_id":"%p","may_start":true}`, running, job.Conflict, ""},
		"another job, when the latest has ended":    {`{"request_id":"%p"}`, ended, job.Conflict, ""},
		"a job that has ended is followed":          {`{"request_id":"%s"}`, ended, "", ""},
		"a job that has ended, on purpose":          {`{"request_id":"%s","may_start":true}`, ended, "", ""},
		"a job that has ended, and nothing starts":  {`{"request_id":"%s","may_start":false}`, ended, job.Conflict, ""},
		"whatever job, and nothing starts":          {`{"may_start":false}`, ended, job.Conflict, ""},
		"whatever job, which works":                 {`{"may_start":false}`, running, "", ""},
		"a job named in another spelling":           {`{"requestId":"%s"}`, running, job.Invalid, "/props/requestId"},
		"a job named with a typo":                   {`{"reqest_id":"%p"}`, running, job.Invalid, "/props/reqest_id"},
		"a job that is none":                        {`{"request_id":null}`, running, job.Invalid, "/props/request_id"},
		"a job that is a number":                    {`{"request_id":7}`, running, job.Invalid, "/props/request_id"},
		"what may start in another spelling":        {`{"mayStart":false}`, ended, job.Invalid, "/props/mayStart"},
		"what may start, as a text":                 {`{"may_start":"false"}`, ended, job.Invalid, "/props/may_start"},
		"what may start, as nothing":                {`{"may_start":null}`, ended, job.Invalid, "/props/may_start"},
		"a question that is closed, of another job": {`{"checkpoint_message_id":1,"request_id":"%p"}`, running, job.Conflict, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, false)
			before, latest := p.begin(), p.begin()
			if c.ended {
				must.OK(t, p.jobs.Cancel(t.Context(), latest, job.Actor{}))
			}
			was := len(p.story())
			props := strings.NewReplacer("%s", string(latest), "%p", string(before)).Replace(c.props)
			_, err := p.ToLLM(t.Context(), checkpoint.Incoming{UserID: user, SessionID: session, Content: "Go on", Props: json.RawMessage(props)})
			kind, path := kindOf(err)
			must.Equal(t, c.kind, kind, "the error is")
			must.Equal(t, c.path, path)
			must.Equal(t, c.kind == "", len(p.story()) > was, "a message was stored")
		})
	}
}

// A message next to one job answers no question of another.
func TestAMessageAnswersNoQuestionOfAnotherJob(t *testing.T) {
	t.Parallel()
	p := newPeople(t, false)
	asked := p.ask(p.begin(), deploy)
	latest := p.begin()
	say := func(props string) error {
		_, err := p.ToLLM(t.Context(), checkpoint.Incoming{UserID: user, SessionID: session, Content: "yes", Props: json.RawMessage(props)})
		return err
	}
	must.OK(t, say(`{"request_id":"`+string(latest)+`"}`))
	must.Equal(t, job.Open, p.checkpoint(asked.ID).Status)
	must.OK(t, say(`{"request_id":"`+string(asked.RequestID)+`"}`)) // it need not be the latest job to be answered
	must.Equal(t, job.Answered, p.checkpoint(asked.ID).Status)
}

// An answer that names both a question and a job answers that question or reaches no one.
func TestAnAnswerNamesTheJobOfItsQuestion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		props string // %d is the question, %o an orchestrator's, %q the job that asks, %s the latest job of the chat
		want  string
	}{
		"the question's own job":                    {`{"checkpoint_message_id":%d,"request_id":"%q"}`, "the job's question is answered"},
		"the question alone":                        {`{"checkpoint_message_id":%d}`, "the job's question is answered"},
		"the latest job, which is another":          {`{"checkpoint_message_id":%d,"request_id":"%s"}`, "conflict"},
		"another job, and it may start one":         {`{"checkpoint_message_id":%d,"request_id":"%s","may_start":true}`, "conflict"},
		"an orchestrator's question, next to a job": {`{"checkpoint_message_id":%o,"request_id":"%s"}`, "the orchestrator's question is answered"},
		"an orchestrator's question alone":          {`{"checkpoint_message_id":%o}`, "the orchestrator's question is answered"},
		"an orchestrator's question, not named":     {`{"request_id":"%s"}`, "a message to the job"},
		"no question, next to the job that waits":   {`{"checkpoint_message_id":0,"request_id":"%q"}`, "conflict"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, false)
			asked, latest := p.ask(p.begin(), deploy), p.begin()
			other := must.Get(p.FromLLM(t.Context(), checkpoint.Incoming{
				UserID: user, SessionID: session, Content: "Really?", MessageType: job.CheckpointMessage, Props: json.RawMessage(`{"checkpoint_type":"confirmation"}`),
			}))(t)
			was := len(p.story())
			props := strings.NewReplacer(
				"%d", strconv.FormatInt(asked.MessageID, 10), "%o", strconv.FormatInt(other, 10), "%q", string(asked.RequestID), "%s", string(latest),
			).Replace(c.props)
			_, err := p.ToLLM(t.Context(), checkpoint.Incoming{UserID: user, SessionID: session, Content: "yes", Props: json.RawMessage(props)})
			open := must.Get(p.store.Checkpoints.OpenIn(t.Context(), user, session))(t)
			isOpen := func(message int64) bool {
				return slices.ContainsFunc(open, func(c job.Checkpoint) bool { return c.MessageID == message })
			}
			got := "a message to the job"
			switch kind, _ := kindOf(err); {
			case err != nil:
				got = string(kind)
				must.Equal(t, was, len(p.story()), "messages are stored:")
				must.Equal(t, 2, len(open), "questions are open:")
			case !isOpen(asked.MessageID):
				got = "the job's question is answered"
			case !isOpen(other):
				got = "the orchestrator's question is answered"
			}
			must.Equal(t, c.want, got)
		})
	}
}

// An answer that comes too late starts nothing: only a message that answers no question does.
func TestALateAnswerStartsNoJob(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		shown   string // the props, with %d for the question
		another bool   // another job of the chat is at work
		waits   bool   // the message is for Claude
		told    bool   // the user learns that it answered nothing
	}{
		"to a question that was shown":         {`{"checkpoint_message_id":%d}`, false, false, true},
		"while another job can read it":        {`{"checkpoint_message_id":%d}`, true, true, false},
		"a message beside no question is none": {`{"checkpoint_message_id":null}`, false, true, false},
		"nor is one that names none":           {`{}`, false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, false)
			id := p.begin()
			asked := p.ask(id, deploy)
			must.OK(t, p.jobs.End(t.Context(), id, job.Cancelled, job.CodeCancelled, "", lifecycle.Holder{}))
			if c.another {
				p.begin()
			}
			props := json.RawMessage(strings.ReplaceAll(c.shown, "%d", strconv.FormatInt(asked.MessageID, 10)))
			n := must.Get(p.ToLLM(t.Context(), checkpoint.Incoming{UserID: user, SessionID: session, Content: "Yes, Deploy", Props: props}))(t)
			messages, _, err := p.store.Chats.Messages(t.Context(), user, session, n-1, 10)
			must.OK(t, err)
			must.Equal(t, c.waits, messages[0].Hearing != nil)
			must.Equal(t, c.told, len(messages) > 1 && strings.Contains(messages[1].Content, "nothing was started"))
		})
	}
}

// The review of a system outside Ringback can be sent back, unless its question has a limit.
func TestAReviewFromOutsideCanBeSentBack(t *testing.T) {
	t.Parallel()
	for props, want := range map[string]job.CheckpointStatus{
		`{"checkpoint_type":"review"}`:                                  job.Answered,
		`{"checkpoint_type":"review","iteration":1,"max_iterations":2}`: job.Answered,
		`{"checkpoint_type":"review","iteration":2,"max_iterations":2}`: job.Open,
	} {
		p := newPeople(t, false)
		must.Get(p.FromLLM(t.Context(), checkpoint.Incoming{UserID: user, SessionID: session, Content: "Publish it?", MessageType: job.CheckpointMessage, Props: json.RawMessage(props)}))(t)
		open := must.Get(p.store.Checkpoints.OpenIn(t.Context(), user, session))(t)
		_, _ = p.Reply(t.Context(), open[0], checkpoint.Reply{Decision: job.Steer, Text: "shorter"})
		must.Equal(t, want, p.checkpoint(open[0].ID).Status, props)
	}
}

// A yes that is asked about again has approved nothing, in the record neither.
func TestAYesThatIsAskedAgainIsNoApproval(t *testing.T) {
	t.Parallel()
	p := newPeople(t, false)
	asked := p.askInPart()
	p.say("yes")
	now := p.checkpoint(asked.ID)
	must.Equal(t, job.Superseded, now.Status)
	must.Equal(t, job.Decision(""), now.Reply.Decision, "its reply decides")
}

// An output is for a call that the page shows, and no other.
func TestAnOutputIsForACallOnItsPage(t *testing.T) {
	t.Parallel()
	p := newPeople(t, false)
	_, asked, err := p.Ask(t.Context(), checkpoint.Request{
		RequestID: p.begin(), UserID: user, SessionID: session, Type: job.ToolApproval, Message: call.message, Props: json.RawMessage(call.props), ToolCallID: "call_1", ApprovalKey: "a digest",
	})
	must.OK(t, err)
	for props, want := range map[string]job.ErrorKind{
		`{"checkpoint_message_id":999}`: job.Conflict, `{"checkpoint_message_id":null}`: job.Conflict, `{"request_id":"req_00_other"}`: job.Conflict,
		`{"checkpoint_message_id":"x"}`: job.Invalid, `{"checkpointMessageId":1}`: job.Invalid,
	} {
		m := checkpoint.Incoming{UserID: user, SessionID: session, Parts: json.RawMessage(`[{"type":"tool-result","toolCallId":"call_1","output":"approved"}]`), Props: json.RawMessage(props)}
		must.Equal(t, 0, len(m.TakeParts(job.FromUser)))
		_, err := p.ToLLM(t.Context(), m)
		kind, _ := kindOf(err)
		must.Equal(t, want, kind, props)
	}
	must.Equal(t, job.Open, p.checkpoint(asked.ID).Status, "the question is")
}

// A late answer, or a message that may start no job, starts none either if the running job ends before it
// has read the message. Another message in the chat still does.
func TestWhatMayStartNoJobStartsNoneLater(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		props  []string // of the messages that are written while Claude works, with %d for the closed question
		starts bool
	}{
		"a late answer":              {[]string{`{"checkpoint_message_id":%d}`}, false},
		"a remark":                   {[]string{`{"checkpoint_message_id":null,"may_start":false}`}, false},
		"a remark, then a message":   {[]string{`{"may_start":false,"checkpoint_message_id":null}`, `{}`}, true},
		"a message":                  {[]string{`{"checkpoint_message_id":null,"may_start":true}`}, true},
		"a late answer and a remark": {[]string{`{"checkpoint_message_id":%d}`, `{"may_start":false}`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, false)
			id := p.begin()
			asked := p.asking(id, ratio, true)
			p.say("Use 16:9")
			for _, props := range c.props {
				props = strings.ReplaceAll(props, "%d", strconv.FormatInt(asked.MessageID, 10))
				must.Get(p.ToLLM(t.Context(), checkpoint.Incoming{UserID: user, SessionID: session, Content: "Yes, please", Props: json.RawMessage(props)}))(t)
			}
			outcome, err := p.jobs.Accept(t.Context(), id, lifecycle.Submission{Digest: "d", Result: json.RawMessage(`{}`)})
			if err != nil || outcome.Kind != lifecycle.Accepted {
				t.Fatal(outcome, err)
			}
			tasks, _, err := p.store.Tasks.LeaseTasks(t.Context(), store.PartitionOf(id), time.Minute, time.Minute, 10)
			must.OK(t, err)
			must.Equal(t, c.starts, slices.ContainsFunc(tasks, func(t store.Task) bool { return t.Kind == lifecycle.TaskContinue }), "another job starts")
			must.Equal(t, !c.starts, strings.Contains(strings.Join(p.story(), "\n"), "nothing was started"), "the user is told")
		})
	}
}

func TestChatTellsTheWholeExchange(t *testing.T) {
	t.Parallel()
	p := newPeople(t, false)
	asked := p.ask(p.begin(), film)
	p.say("format: mp4")
	p.say("seconds: 12")
	want := []string{
		"assistant: Which format, and how long?", "user: format: mp4", "assistant: Thank you. I still need: seconds.", "user: seconds: 12",
	}
	must.Equal(t, want, p.story()[1:])
	var exchange []string
	for _, u := range p.checkpoint(p.checkpoint(asked.ID).Next).Reply.Exchange {
		exchange = append(exchange, string(u.Sender)+": "+u.Content)
	}
	must.Equal(t, want[1:], exchange)
}

// A front end can send the output of a waiting call instead of words.
func TestOutputOfACallIsItsDecision(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		parts    string
		decision job.Decision
		path     string // the invalid field
	}{
		"approved":                {`[{"type":"tool-result","toolCallId":"call_1","output":"approved"}]`, job.Approve, ""},
		"denied":                  {`[{"type":"tool-result","toolCallId":"call_1","output":"denied"}]`, job.Deny, ""},
		"in words":                {`[{"type":"tool-result","toolCallId":"call_1","output":"No, leave it"}]`, job.Deny, ""},
		"as the AI SDK has it":    {`[{"type":"tool-Bash","toolCallId":"call_1","state":"approval-responded","approval":{"approved":true}}]`, job.Approve, ""},
		"as version 4 has it":     {`[{"type":"tool-invocation","toolInvocation":{"toolCallId":"call_1","state":"result","result":"denied"}}]`, job.Deny, ""},
		"as a result":             {`[{"type":"dynamic-tool","toolCallId":"call_1","state":"output-available","result":"approved"}]`, job.Approve, ""},
		"beside the call":         {`[{"type":"tool-call","toolCallId":"call_1"},{"type":"text","text":"ok"},{"type":"tool-result","toolCallId":"call_1","output":"approved"}]`, job.Approve, ""},
		"without a type":          {`[{"toolCallId":"call_1","output":"approved"},{"text":"yes, please"}]`, job.Approve, ""},
		"in the assistant's own":  {`assistant [{"type":"step-start"},{"type":"text","text":"No, I will not."},{"type":"tool-Read","toolCallId":"call_0","state":"output-available","output":{"a":1}},{"type":"tool-Read","toolCallId":"call_a","state":"output-available","output":"denied"},{"type":"tool-Bash","toolCallId":"call_1","state":"output-available","output":"approved"}]`, job.Approve, ""},
		"in it, without one":      {`assistant [{"type":"text","text":"approve"}]`, "", "/parts"},
		"of no call":              {`[{"type":"tool-result","output":"approved"}]`, "", "/parts/0/toolCallId"},
		"of two calls":            {`[{"type":"tool-result","toolCallId":"a","output":"approved"},{"type":"tool-result","toolCallId":"b","output":"approved"}]`, "", "/parts/1"},
		"with a no beside it":     {`[{"type":"tool-Bash","toolCallId":"call_1","state":"approval-responded","approval":{"approved":true,"reason":"no, stop!"}}]`, "", "/text"},
		"that says nothing":       {`[{"type":"tool-result","toolCallId":"call_1","output":{"ok":true}}]`, "", "/parts/0/output"},
		"in a part of other type": {`[{"type":"file"}]`, "", "/parts/0/type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, false)
			outcome, asked, err := p.Ask(t.Context(), checkpoint.Request{
				RequestID: p.begin(), UserID: user, SessionID: session, Type: job.ToolApproval, Message: call.message, Props: json.RawMessage(call.props), ToolCallID: "call_1", ApprovalKey: "a digest",
			})
			if err != nil || outcome.Kind != lifecycle.Accepted {
				t.Fatal(outcome, err)
			}
			parts, own := strings.CutPrefix(c.parts, "assistant ")
			m := checkpoint.Incoming{UserID: user, SessionID: session, Parts: json.RawMessage(parts)}
			m.Props = fmt.Appendf(nil, `{"checkpoint_message_id":%d}`, asked.MessageID)
			if own {
				m.Role, m.Content = job.FromAssistant, "what Claude said"
			}
			details := m.TakeParts(job.FromUser)
			if c.path == "/text" {
				_, err := p.ToLLM(t.Context(), m)
				kind, path := kindOf(err)
				must.Equal(t, job.Invalid, kind)
				must.Equal(t, c.path, path)
				return
			}
			if c.path != "" {
				if len(details) == 0 || details[0].Path != c.path {
					t.Errorf("refused with %v", details)
				}
				return
			}
			must.Get(p.ToLLM(t.Context(), m))(t)
			if now := p.checkpoint(asked.ID); now.Status != job.Answered || now.Reply.Decision != c.decision {
				t.Errorf("the checkpoint is %s with %v", now.Status, now.Reply)
			}
			_, err = p.ToLLM(t.Context(), m)
			kind, _ := kindOf(err)
			must.Equal(t, job.Conflict, kind, "the same output again")
		})
	}
}

// An output answers the call that its author saw: on a page that is out of date, the same id may be
// that of another one by now.
func TestOutputOfACallWhoseIDIsUsedTwice(t *testing.T) {
	t.Parallel()
	const bash = `{"tool_name":"Bash","tool_call_id":"toolu_1","tool_input":{"command":%q},"tool_dir":%q}`
	const output = `[{"type":"tool-result","toolCallId":"toolu_1","output":"approved"}]`
	const approval = `[{"type":"tool-Bash","toolCallId":%q,"state":"approval-responded","approval":{"id":%q,"approved":true}}]`
	for name, c := range map[string]struct {
		// before and now are the commands, and the directories if there are any.
		before, now [2]string
		otherJob    bool
		// open is true if the earlier question is not answered yet.
		open bool
		// parts contain %q for the id of the question.
		parts    string
		approved bool
	}{
		"another command":                     {[2]string{"id"}, [2]string{"rm -rf /"}, false, false, output, false},
		"another directory":                   {[2]string{"make", "a"}, [2]string{"make", "b"}, false, false, output, false},
		"the same call again":                 {[2]string{"id"}, [2]string{"id"}, false, false, output, true},
		"the same call of another job":        {[2]string{"id"}, [2]string{"id"}, true, false, output, false},
		"another job's, and both are open":    {[2]string{"id"}, [2]string{"rm -rf /"}, true, true, output, false},
		"the question is named":               {[2]string{"id"}, [2]string{"rm x"}, false, false, `[{"type":"dynamic-tool","state":"approval-responded","approval":{"id":%q,"approved":true}}]`, true},
		"the question and the call are named": {[2]string{"id"}, [2]string{"rm x"}, false, false, strings.Replace(approval, "%q", `"toolu_1"`, 1), true},
		"the question and another call":       {[2]string{"id"}, [2]string{"rm x"}, false, false, strings.Replace(approval, "%q", `"toolu_2"`, 1), false},
		"the call and another question":       {[2]string{"id"}, [2]string{"id"}, false, false, fmt.Sprintf(approval, "toolu_1", "chk_00_another"), false},
		"neither the question nor the call":   {[2]string{"id"}, [2]string{"id"}, false, false, `[{"type":"dynamic-tool","state":"approval-responded","approval":{"approved":true}}]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, false)
			first, second := p.begin(), p.begin()
			ask := func(id job.ID, what [2]string) job.Checkpoint {
				outcome, asked, err := p.Ask(t.Context(), checkpoint.Request{
					RequestID: id, UserID: user, SessionID: session, Type: job.ToolApproval, Message: "Allow it?", ToolCallID: "toolu_1", ApprovalKey: strings.Join(what[:], " "), Hold: true,
					Props: json.RawMessage(fmt.Sprintf(bash, what[0], what[1])), Asked: &job.Asked{Segments: []job.Segment{{From: job.FromRingback, Text: "Allow it?"}}},
				})
				must.OK(t, err)
				must.Equal(t, lifecycle.Accepted, outcome.Kind)
				return p.checkpoint(asked.ID)
			}
			before := ask(first, c.before)
			if !c.open {
				must.Get(p.Reply(t.Context(), before, decision(job.Deny)))(t)
				must.OK(t, p.jobs.AckReply(t.Context(), first, before.ID))
			}
			if !c.otherJob {
				second = first
			}
			asked := ask(second, c.now)
			parts := c.parts
			if strings.Contains(parts, "%q") {
				parts = fmt.Sprintf(parts, asked.ID)
			}
			m := checkpoint.Incoming{UserID: user, SessionID: session, Parts: json.RawMessage(parts)}
			must.Equal(t, 0, len(m.TakeParts(job.FromUser)))
			_, err := p.ToLLM(t.Context(), m)
			must.Equal(t, c.approved, err == nil, err)
			must.Equal(t, c.approved, p.checkpoint(asked.ID).Status == job.Answered)
			must.Equal(t, c.open, p.checkpoint(before.ID).Status == job.Open, "the earlier question is open")
		})
	}
}

// A call that asks waits for the reply, and its job parks after the timeout.
func TestCallThatAsksWaitsForTheReply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		replies []string
		status  job.CheckpointStatus
		job     job.State
	}{
		"the reply comes in time":             {[]string{"yes"}, job.Answered, job.Running},
		"it was asked again in between":       {[]string{"hm", "yes"}, job.Answered, job.Running},
		"somebody gives the job up meanwhile": {nil, job.CheckpointCancelled, job.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, false)
			id := p.begin()
			asked := p.asking(id, deploy, true)
			held := make(chan job.Checkpoint, 1)
			go func() {
				found, err := p.Hold(t.Context(), asked.ID)
				if err != nil {
					t.Error(err)
				}
				held <- found
			}()
			for _, text := range c.replies {
				p.say(text)
			}
			if c.replies == nil {
				if err := p.jobs.End(t.Context(), id, job.Cancelled, job.CodeCancelled, "", lifecycle.Holder{}); err != nil {
					t.Error(err)
				}
			}
			if now := <-held; now.Status != c.status || p.state(id) != c.job {
				t.Errorf("the checkpoint is %s and the job %s", now.Status, p.state(id))
			}
		})
	}
	t.Run("nobody replies", func(t *testing.T) {
		t.Parallel()
		p := newPeopleHolding(t, 10*time.Millisecond)
		id := p.begin()
		asked := p.asking(id, deploy, true)
		now, err := p.Hold(t.Context(), asked.ID)
		if err != nil || now.Status != job.Open || now.Held || p.state(id) != job.AwaitingApproval {
			t.Errorf("the checkpoint is %s, held %v, the job %s, %v", now.Status, now.Held, p.state(id), err)
		}
	})
}

// A call that waits notices at once that it has missed the reply, when the connection for events is back.
func TestAMissedReplyIsNoticedWithTheConnection(t *testing.T) {
	t.Parallel()
	p := newPeople(t, false)
	deaf := checkpoint.New(p.store, p.jobs, checkpoint.Options{Hold: time.Minute}, slog.New(slog.DiscardHandler))
	asked := p.asking(p.begin(), deploy, true)
	held := make(chan job.Checkpoint, 1)
	began := time.Now()
	go func() {
		now, _ := deaf.Hold(t.Context(), asked.ID)
		held <- now
	}()
	p.say("yes")
	must.Eventually(t, "the call to end", func() bool {
		deaf.Resubscribed()
		return len(held) > 0
	})
	if now := <-held; now.Status != job.Answered || time.Since(began) > 4*time.Second {
		t.Errorf("the checkpoint is %s after %s", now.Status, time.Since(began))
	}
}

func TestOrchestratorsAskFromOutside(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		message checkpoint.Incoming
		path    string // the invalid field; empty if the message is accepted
	}{
		"a question":                       {checkpoint.Incoming{MessageType: job.CheckpointMessage, Content: "Which?", Props: json.RawMessage(`{"checkpoint_type":"information_request","run_id":"run-7"}`)}, ""},
		"of no type":                       {checkpoint.Incoming{MessageType: job.CheckpointMessage, Content: "Which?"}, "/props/checkpoint_type"},
		"of a type by number":              {checkpoint.Incoming{MessageType: job.CheckpointMessage, Content: "Which?", Props: json.RawMessage(`{"checkpoint_type":7}`)}, "/props"},
		"of another type":                  {checkpoint.Incoming{MessageType: job.CheckpointMessage, Content: "Which?", Props: json.RawMessage(`{"checkpoint_type":"poll"}`)}, "/props/checkpoint_type"},
		"with words for a yes":             {checkpoint.Incoming{MessageType: job.CheckpointMessage, Content: "Deploy?", Props: json.RawMessage(`{"checkpoint_type":"confirmation","yes":{"also":["no"]}}`)}, "/props/yes"},
		"answered at gopher://a.example/x": {checkpoint.Incoming{MessageType: job.CheckpointMessage, Content: "Which?", Props: json.RawMessage(`{"checkpoint_type":"information_request","resume_url":"gopher://a.example/x"}`)}, "/props/resume_url"},
		"answered at file:///etc/passwd":   {checkpoint.Incoming{MessageType: job.CheckpointMessage, Content: "Which?", Props: json.RawMessage(`{"checkpoint_type":"information_request","resume_url":"file:///etc/passwd"}`)}, "/props/resume_url"},
		"answered at http://2130706433/x":  {checkpoint.Incoming{MessageType: job.CheckpointMessage, Content: "Which?", Props: json.RawMessage(`{"checkpoint_type":"information_request","resume_url":"http://2130706433/x"}`)}, "/props/resume_url"},
		"answered at http://0x7f.1/":       {checkpoint.Incoming{MessageType: job.CheckpointMessage, Content: "Which?", Props: json.RawMessage(`{"checkpoint_type":"information_request","resume_url":"http://0x7f.1/"}`)}, "/props/resume_url"},
		"answered at http://127.1:3001/":   {checkpoint.Incoming{MessageType: job.CheckpointMessage, Content: "Which?", Props: json.RawMessage(`{"checkpoint_type":"information_request","resume_url":"http://127.1:3001/"}`)}, "/props/resume_url"},
		"answered at //a.example":          {checkpoint.Incoming{MessageType: job.CheckpointMessage, Content: "Which?", Props: json.RawMessage(`{"checkpoint_type":"information_request","resume_url":"//a.example"}`)}, "/props/resume_url"},
		"answered at a.example/x":          {checkpoint.Incoming{MessageType: job.CheckpointMessage, Content: "Which?", Props: json.RawMessage(`{"checkpoint_type":"information_request","resume_url":"a.example/x"}`)}, "/props/resume_url"},
		"answered at http://１２７.1/":        {checkpoint.Incoming{MessageType: job.CheckpointMessage, Content: "Which?", Props: json.RawMessage(`{"checkpoint_type":"information_request","resume_url":"http://１２７.1/"}`)}, "/props/resume_url"},
		"answered at 5":                    {checkpoint.Incoming{MessageType: job.CheckpointMessage, Content: "Which?", Props: json.RawMessage(`{"checkpoint_type":"information_request","resume_url":5}`)}, "/props"},
		"of a run without name":            {checkpoint.Incoming{MessageType: job.CheckpointMessage, Content: "Which?", Props: json.RawMessage(`{"checkpoint_type":"information_request","run_id":" a"}`)}, "/props/run_id"},
		"in the server's name":             {checkpoint.Incoming{MessageType: job.WhichMessage, Content: "Which?"}, "/messageType"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, false)
			c.message.UserID, c.message.SessionID = user, session
			_, err := p.FromLLM(t.Context(), c.message)
			if kind, path := kindOf(err); path != c.path || (path != "") != (kind == job.Invalid) {
				t.Fatalf("refused as %q at %q: %v", kind, path, err)
			}
			if c.path != "" {
				return
			}
			p.say("the second one, in blue")
			open, err := p.store.Checkpoints.OpenIn(t.Context(), user, session)
			if err != nil || len(open) != 0 {
				t.Errorf("still open: %v, %v", open, err)
			}
		})
	}
}

// If a question that was answered is still listed as open, a message to it is a new message.
func TestAMessageToAQuestionThatIsOnlyListedAsOpen(t *testing.T) {
	t.Parallel()
	p := newPeople(t, false)
	p.ask(p.begin(), question{job.Confirmation, "Deploy?", `{}`})
	list := must.Get(p.redis.Keys(t.Context(), "rb:*:asking:*").Result())(t)[0]
	listed := must.Get(p.redis.ZRangeWithScores(t.Context(), list, 0, -1).Result())(t)
	p.say("yes")
	must.OK(t, p.redis.ZAdd(t.Context(), list, listed...).Err())
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	must.Get(p.ToLLM(ctx, checkpoint.Incoming{UserID: user, SessionID: session, Content: "and hurry"}))(t)
	messages, _, err := p.store.Chats.Messages(ctx, user, session, 0, 10)
	if last := messages[len(messages)-1]; err != nil || last.Content != "and hurry" || last.Hearing == nil {
		t.Errorf("the last message is %+v, %v", last, err)
	}
}
