package checkpoint_test

import (
	"encoding/json"
	"testing"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/lifecycle"
	"ringback/test/must"
)

// unclear gives replies that Claude has to interpret. It returns the checkpoint and the job that
// interprets them.
func (p *people) unclear(id job.ID, q question, replies ...checkpoint.Reply) (job.Checkpoint, job.ID) {
	p.t.Helper()
	now := p.ask(id, q)
	for _, reply := range replies {
		var err error
		if now, err = p.Reply(p.t.Context(), now, reply); err != nil {
			p.t.Fatal(err)
		}
	}
	if now.Status != job.Interpreting {
		p.t.Fatalf("the checkpoint is %s", now.Status)
	}
	return now, p.reader(now)
}

// reader starts the job that interprets a checkpoint's reply, and its turn.
func (p *people) reader(c job.Checkpoint) job.ID {
	p.t.Helper()
	must.OK(p.t, p.StartInterpreting(p.t.Context(), lifecycle.Round{Checkpoint: c.ID, Number: c.Round}))
	return p.take()
}

// finds submits Claude's interpretation of a reply.
func (p *people) finds(reader job.ID, meaning string) {
	p.t.Helper()
	outcome, err := p.jobs.Accept(p.t.Context(), reader, lifecycle.Submission{Digest: meaning, Result: json.RawMessage(meaning)})
	if err != nil || outcome.Kind != lifecycle.Accepted {
		p.t.Fatalf("%s, %v", outcome, err)
	}
}

// Who replied is in the audit log, also if Claude has interpreted the reply.
func TestTheAuditLogNamesWhoWasInterpreted(t *testing.T) {
	t.Parallel()
	p := newPeople(t, true)
	id := p.begin()
	by := job.Actor{UserID: "u1", Via: job.ViaConsole, Address: "192.0.2.1"}
	_, reader := p.unclear(id, ratio, checkpoint.Reply{Text: "I have changed my mind about all this", By: by})
	p.finds(reader, `{"action":"cancel","confidence":1}`)
	must.OK(t, p.FinishInterpreting(t.Context(), reader))
	must.Equal(t, job.Cancelled, p.state(id))
	lines, _, err := p.store.Jobs.Audit(t.Context(), id)
	must.OK(t, err)
	for _, line := range lines {
		var e job.AuditEntry
		must.OK(t, json.Unmarshal(line, &e))
		if e.Event == "cancel" {
			must.Equal(t, &by, e.By)
			return
		}
	}
	t.Error("the log has no decision")
}

func TestWhatClaudeFindsInAReply(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		to      question
		reply   string
		meaning string
		status  job.CheckpointStatus
		job     job.State
		values  map[string]any
		asks    string
	}{
		{"a value that it is sure of answers", ratio, "cinema style", `{"action":"values","values":{"aspect_ratio":"16:9"},"confidence":0.95}`, job.Answered, job.Pending, map[string]any{"aspect_ratio": "16:9"}, ""},
		{"a value that it is not sure of is asked for", ratio, "cinema style", `{"action":"values","values":{"aspect_ratio":"16:9"},"confidence":0.5,"ask":"Wide?"}`, job.Superseded, job.AwaitingInput, nil, "Wide? Available options are: 16:9, 1:1."},
		{"a value that is not offered is asked for", ratio, "cinema style", `{"action":"values","values":{"aspect_ratio":"21:9"},"confidence":1}`, job.Superseded, job.AwaitingInput, nil, "I still need: aspect_ratio"},
		{"one value of two is kept, the other asked for", film, "the one that Apple likes", `{"action":"values","values":{"format":"mp4"},"confidence":1}`, job.Superseded, job.AwaitingInput, nil, "I still need: seconds"},
		{"cancel ends the job", ratio, "I have changed my mind about all this", `{"action":"cancel","confidence":1}`, job.Answered, job.Cancelled, nil, ""},
		{"cancel that it is not sure of ends nothing", ratio, "I have changed my mind about all this", `{"action":"cancel","confidence":0.8}`, job.Superseded, job.AwaitingInput, nil, "The ratio 5:4 is not supported."},
		{"nothing is asked again", ratio, "cinema style", `{"action":"unclear","confidence":1,"ask":"Wide or square?"}`, job.Superseded, job.AwaitingInput, nil, "Wide or square?"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, true)
			id := p.begin()
			asked, reader := p.unclear(id, c.to, words(c.reply))
			p.finds(reader, c.meaning)
			// The task can be repeated.
			for range 2 {
				must.OK(t, p.FinishInterpreting(t.Context(), reader))
			}
			now := p.checkpoint(asked.ID)
			if state := p.state(id); now.Status != c.status || state != c.job {
				t.Errorf("the checkpoint is %s and the job %s", now.Status, state)
			}
			if c.status == job.Superseded {
				if next := p.checkpoint(now.Next); !contains(next.Message, c.asks) {
					t.Errorf("asked again: %q", next.Message)
				}
				return
			}
			must.Equal(t, jsonOf(t, c.values), jsonOf(t, now.Reply.Values))
		})
	}
}

// Claude never interprets a reply to a decision.
func TestClaudeIsNotAskedAboutADecision(t *testing.T) {
	t.Parallel()
	for name, q := range map[string]question{"confirmation": deploy, "tool call": call, "review": change} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, true)
			asked := p.ask(p.begin(), q)
			now, err := p.Reply(t.Context(), asked, words("sounds like something one could do"))
			if err != nil || now.Status != job.Superseded {
				t.Errorf("the checkpoint is %s, %v", now.Status, err)
			}
		})
	}
}

func TestLaterReplySupersedesTheReading(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		later  string
		to     question
		status job.CheckpointStatus
		values string
	}{
		"one that is clear answers by itself":   {"use 1:1", ratio, job.Answered, `{"aspect_ratio":"1:1"}`},
		"one that is not is read with it":       {"the way they do it in Hollywood", ratio, job.Interpreting, `null`},
		"one that gives one value of two":       {"seconds: 12", film, job.Interpreting, `{"seconds":12}`},
		"one that gives the job up gives it up": {"cancel", ratio, job.Answered, `null`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeople(t, true)
			asked, reader := p.unclear(p.begin(), c.to, words("cinema style"))
			now := must.Get(p.Reply(t.Context(), asked, words(c.later)))(t)
			if now.Status == job.Interpreting {
				must.Equal(t, "cinema style\n"+c.later, now.Reply.Text, "what is read is")
				must.Equal(t, 2, len(now.Exchange), "messages in the exchange")
			}
			if got := jsonOf(t, now.Reply.Values); now.Status != c.status || got != c.values {
				t.Errorf("the checkpoint is %s with %s", now.Status, got)
			}
			if state := p.state(reader); !state.Terminal() {
				t.Errorf("the first reading is %s", state)
			}
			// The result of the superseded job is ignored.
			if err := p.FinishInterpreting(t.Context(), reader); err != nil || p.checkpoint(asked.ID).Status != c.status {
				t.Errorf("the checkpoint is %s, %v", p.checkpoint(asked.ID).Status, err)
			}
		})
	}
}

// If interpreting fails, the question is asked again and the job continues.
func TestReadingThatFailsIsAskedAgain(t *testing.T) {
	t.Parallel()
	p := newPeople(t, true)
	asked, reader := p.unclear(p.begin(), ratio, words("cinema style"))
	must.OK(t, p.jobs.End(t.Context(), reader, job.Failed, job.CodeCrashed, "It broke.", lifecycle.Holder{}))
	must.OK(t, p.FinishInterpreting(t.Context(), reader))
	must.Equal(t, job.Superseded, p.checkpoint(asked.ID).Status, "the checkpoint is")
}
