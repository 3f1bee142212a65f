package lifecycle

import (
	"fmt"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// conversing is a job whose conversation contains the answer 1. The answers 1 and 2 were given before the
// turn that starts.
type conversing struct {
	*State
	t *testing.T
}

func (c conversing) give(texts ...string) {
	for _, text := range texts {
		c.Job.Answers.Set(append(c.Job.Answers.Get(), job.Checkpoint{ID: job.CheckpointID(text), Message: text, Reply: &job.Reply{Text: text}}))
	}
}

// held gives an answer while the call that asked still waits.
func (c conversing) held(text string) {
	c.give(text)
	c.Job.keepUnread(job.CheckpointID(text))
}

func (c conversing) start() { c.prepareTurn(c.Job, "") }

func (c conversing) end(e TurnEnd) {
	e.ID, e.Turn, e.Node, e.Again = c.Job.ID, c.Job.Turn, "n", true
	c.Job.State, c.Job.Phase, c.Job.Owner = job.Running, job.AtWork, "n"
	_, err := c.endTurn(e)
	must.OK(c.t, err)
}

// A turn is told the answers that its conversation lacks: whatever happened to the turns before it.
func TestAPromptContainsWhatTheConversationLacks(t *testing.T) {
	t.Parallel()
	read := TurnEnd{Begun: true, Spoken: true, Code: job.CodeNoCallback}
	for name, c := range map[string]struct {
		happens func(c conversing)
		want    string
	}{
		"nothing has happened":                      {func(conversing) {}, "2"},
		"its prompt was read":                       {func(c conversing) { c.end(read) }, ""},
		"it was answered after it":                  {func(c conversing) { c.give("3"); c.end(read) }, "3"},
		"the CLI ended before it had read":          {func(c conversing) { c.end(TurnEnd{Begun: true, Code: job.CodeCrashed}) }, "2"},
		"the CLI did not start":                     {func(c conversing) { c.end(TurnEnd{Unstarted: true, Code: job.CodeSpawnFailed}) }, "2"},
		"the node could not run it":                 {func(c conversing) { c.end(TurnEnd{NodeFault: true, Code: job.CodeSpawnFailed}) }, "2"},
		"the CLI could not resume the conversation": {func(c conversing) { c.end(TurnEnd{Code: job.CodeCrashed}) }, "1 2"},
		"the conversation is on another machine":    {func(c conversing) { c.leaveConversation(c.Job) }, "1 2"},
		"it was stopped at a limit, having read":    {func(c conversing) { e := read; e.RateLimit = &RateLimit{Stated: true}; c.end(e) }, ""},
		"it was stopped at a limit before it read": {func(c conversing) {
			c.end(TurnEnd{Begun: true, RateLimit: &RateLimit{Stated: true}, Code: job.CodeUsageLimit})
		}, "2"},
		"a call received its reply":                  {func(c conversing) { c.held("3"); c.Job.forgetQuestion("3"); c.end(read) }, ""},
		"a call may have lost its reply":             {func(c conversing) { c.held("3"); c.end(read) }, "3"},
		"a call before the last may have":            {func(c conversing) { c.held("3"); c.held("4"); c.Job.forgetQuestion("4"); c.end(read) }, "3 4"},
		"a call received it, and another was parked": {func(c conversing) { c.held("3"); c.Job.forgetQuestion("3"); c.give("4"); c.end(read) }, "4"},
		"its server was lost": {func(c conversing) {
			c.Job.State, c.Job.Phase, c.Job.Owner, c.Job.Entry = job.Running, job.AtWork, "n", "e"
			must.Get(c.loseNode(QueueEntry{Entry: "e"}))(c.t)
		}, "2"},
		"it published an approved change": {func(c conversing) {
			c.Job.HasWorkspace, c.Job.Reviewed = true, job.Approve
			c.start()
			c.end(TurnEnd{Begun: true, Code: job.CodeWorkspace})
			c.Job.Reviewed = ""
		}, "2"},
		"an earlier version ran it": {func(c conversing) {
			c.Job.KnownAnswers, c.Job.DeliveredAnswers = 0, 0
			c.end(read)
		}, "1 2"},
		"the store has lost an answer": {func(c conversing) { c.end(read); c.Job.KnownAnswers = 5 }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c2 := conversing{jobIn("running"), t}
			c2.Job.Answers.Set(nil)
			c2.Job.Begun, c2.Job.KnownAnswers, c2.Job.MaxAttempts = true, 1, 9
			c2.give("1", "2")
			c2.start()
			c.happens(c2)
			c2.start()
			turn := c2.Job
			var got []string
			for _, a := range turn.Answers.Get()[min(turn.KnownAnswers, len(turn.Answers.Get())):] {
				got = append(got, fmt.Sprint(a.ID))
			}
			must.Equal(t, c.want, strings.Join(got, " "), "the answers in the prompt")
		})
	}
}
