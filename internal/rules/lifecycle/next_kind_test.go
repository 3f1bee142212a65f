package lifecycle_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/approval"
	"ringback/internal/rules/lifecycle"
	"ringback/test/must"
)

var operator = job.Actor{UserID: "op", Via: job.ViaAPI}

func (s *jobs) moveKind(id job.ID) error { return s.MoveKind(s.t.Context(), s.get(id), operator) }

// asks has a running job ask something; key is what a yes would permit, and hold how long the
// call waits.
func (s *jobs) asks(id job.ID, of job.CheckpointType, key string, hold time.Duration) job.Checkpoint {
	s.t.Helper()
	var node lifecycle.Holder
	if of == job.Review {
		node.Node = "n"
	}
	_, asked, _, err := s.Ask(s.t.Context(), lifecycle.NewCheckpoint{
		RequestID: id, Holder: node, UserID: "u1", SessionID: "s1", Type: of, Message: "May I?", Props: json.RawMessage(`{}`),
		Chat: job.Text(job.FromAssistant, "May I?"), Digest: key, ApprovalKey: key, Hold: hold,
	})
	must.OK(s.t, err)
	return s.checkpoint(asked)
}

func (s *jobs) checkpoint(id job.CheckpointID) job.Checkpoint {
	s.t.Helper()
	return must.Get(s.store.Checkpoints.Get(s.t.Context(), id))(s.t)
}

func (s *jobs) answer(c job.Checkpoint, decision job.Decision, standing string) {
	s.t.Helper()
	terms := approval.Permission{Life: time.Hour}
	if standing != "" {
		terms.Scope, terms.Standing = job.ForJob, &job.Approval{ID: standing, UserID: "u1", Kind: "own", RequestID: c.RequestID, Rule: "Bash(make *)"}
	}
	must.Get(s.Answer(s.t.Context(), c, lifecycle.Resolution{To: job.Answered, Reply: job.Reply{Decision: decision}, Approval: terms}))(s.t)
}

// auditEvents are what happened by the job's audit log.
func (s *jobs) auditEvents(id job.ID) []string {
	s.t.Helper()
	lines, _, err := s.store.Jobs.Audit(s.t.Context(), id)
	must.OK(s.t, err)
	var events []string
	for _, line := range lines {
		var e job.AuditEntry
		must.OK(s.t, json.Unmarshal(line, &e))
		events = append(events, e.Event)
		if e.Event == "move" && (e.By == nil || *e.By != operator) {
			s.t.Errorf("the audit log says that %v moved the job", e.By)
		}
	}
	return events
}

// The turn that runs keeps its rules, and what it asked a person to allow is withdrawn with its
// end. The next turn has the rules of the current version, and a conversation of its own.
func TestAJobMovesWithItsNextTurn(t *testing.T) {
	t.Parallel()
	base := newJobs(t, lifecycle.Options{})
	morning := base.node(map[string]string{"own.md": "---\nbudget_usd: 1\n---\nAs of the morning."})
	noon := base.node(map[string]string{"own.md": "---\nevents: noon\nbudget_usd: 3\nmax_attempts: 9\n---\nAs of noon."})
	id := morning.create(request("own"))
	first := morning.take()
	must.OK(t, morning.BeginConversation(t.Context(), id, lifecycle.Holder{}, true))
	for range 2 { // the second is the same order
		must.OK(t, noon.moveKind(id))
	}
	old := base.get(id)
	current, _ := noon.Kind("own")
	if old.KindVersion == current.Version || old.NextKindVersion != current.Version || morning.kindOf(id).Prompt != "As of the morning." {
		t.Errorf("while the turn runs, the job has the version %s, and next %s", old.KindVersion, old.NextKindVersion)
	}
	asked := morning.asks(id, job.Confirmation, "action:book:1", time.Minute)
	must.OK(t, morning.StopWaiting(t.Context(), id, asked.ID))
	must.Equal(t, job.Open, base.checkpoint(asked.ID).Status, "the question while the turn runs")
	morning.exit(id)
	if c := base.checkpoint(asked.ID); c.Status != job.CheckpointCancelled || base.get(id).State != job.Pending {
		t.Errorf("after the turn, the question is %s and the job %s", c.Status, base.get(id).State)
	}
	second := morning.take()
	if second == nil || second.Job.KindVersion != current.Version || second.Job.BudgetUSD != 3 || second.Job.MaxAttempts != 9 ||
		second.Begun || !second.Retold || second.Conversation == first.Conversation {
		t.Fatalf("the next turn is %+v", second)
	}
	now := base.get(id)
	if now.KindVersion != current.Version || now.NextKindVersion != "" || morning.kindOf(id).Prompt != "As of noon." {
		t.Errorf("then the job has the version %s, and next %s", now.KindVersion, now.NextKindVersion)
	}
	must.Equal(t, []string{"move", "asked", "withdrawn", "moved"}, base.auditEvents(id))
	events, _, err := base.store.Events.OfJob(t.Context(), now, 0, 100)
	must.OK(t, err)
	var told []string
	for _, e := range events {
		if strings.Contains(e.Frame(), `:version"`) {
			told = append(told, e.Frame())
		}
	}
	if len(told) != 2 || !strings.Contains(told[0], `"own:version"`) || !strings.Contains(told[0], `"nextKindVersion":"`+current.Version) || !strings.Contains(told[1], `"noon:version"`) {
		t.Errorf("the events are %q", told)
	}
	if text, err := base.store.KindDefinition(t.Context(), id, old.KindVersion); err != nil || text != nil {
		t.Errorf("the version that nobody has is still stored: %q, %v", text, err)
	}
}

// What was allowed under the version before permits nothing under the next one.
func TestAMovedJobHasNoPermissions(t *testing.T) {
	t.Parallel()
	base := newJobs(t, lifecycle.Options{})
	morning := base.node(map[string]string{"own.md": "As of the morning."})
	noon := base.node(map[string]string{"own.md": "As of noon."})
	id := morning.create(request("own"))
	morning.take()
	asked := morning.asks(id, job.ToolApproval, "tool:Bash:1", 0)
	morning.exit(id)
	morning.answer(asked, job.Approve, "apr_1")
	must.OK(t, noon.moveKind(id))
	turn := noon.take()
	if turn == nil || !slices.Equal(turn.UsedUp, []job.CheckpointID{asked.ID}) {
		t.Fatalf("the turn is %+v", turn)
	}
	outcome, _, err := noon.UseApproval(t.Context(), lifecycle.ToolUse{RequestID: id, ApprovalKey: "tool:Bash:1"})
	if err != nil || outcome.Kind != lifecycle.Unapproved {
		t.Errorf("using the approval: %s, %v", outcome, err)
	}
	if left, err := base.store.Checkpoints.Approvals(t.Context(), "u1"); err != nil || len(left) != 0 {
		t.Errorf("left are the approvals %v, %v", left, err)
	}
	if question := noon.asks(id, job.ToolApproval, "tool:Bash:1", 0); question.ID == asked.ID {
		t.Error("the same question is not asked again")
	}
}

// Answers that permit nothing are still wanted, and a change is published under the rules under
// which it was approved.
func TestAMovedJobKeepsItsQuestionAndItsReview(t *testing.T) {
	t.Parallel()
	for decision, want := range map[job.Decision]struct {
		of    job.CheckpointType
		kind  string
		moves bool
	}{"": {job.ErrorRecovery, "own", true}, job.Steer: {job.Review, "fix", true}, job.Approve: {job.Review, "fix", false}} {
		base := newJobs(t, lifecycle.Options{})
		kinds := func(text string) map[string]string {
			return map[string]string{"own.md": text, "fix.md": "---\nworkspace: {repositories: [{url: 'https://git.example.com/x.git'}]}\nreview: true\n---\n" + text}
		}
		morning, noon := base.node(kinds("As of the morning.")), base.node(kinds("As of noon."))
		id := morning.create(request(want.kind))
		morning.take()
		key := ""
		if want.of == job.Review {
			if outcome := morning.submit(id); !outcome.OK() {
				t.Fatal(outcome)
			}
			key = "change:1"
		}
		asked := morning.asks(id, want.of, key, 0)
		morning.exit(id)
		must.OK(t, noon.moveKind(id))
		must.Equal(t, job.Open, base.checkpoint(asked.ID).Status, want.of, "the question is")
		morning.answer(asked, decision, "")
		if turn := noon.take(); turn == nil || (turn.Job.KindVersion != base.get(id).KindVersion) || (noon.kindOf(id).Version == kindVersion(noon, want.kind)) != want.moves {
			t.Errorf("%s: after %q the turn is %+v", want.of, decision, turn)
		}
		if err := refusal(noon.moveKind(id)); (err.Kind == job.Conflict) == want.moves {
			t.Errorf("%s: after %q, moving again answers %v", want.of, decision, err)
		}
	}
}

func kindVersion(s *jobs, name string) string {
	k, _ := s.Kind(name)
	return k.Version
}

func TestWhatCannotMoveSaysWhy(t *testing.T) {
	t.Parallel()
	base := newJobs(t, lifecycle.Options{})
	morning := base.node(map[string]string{"own.md": "As of the morning."})
	id := morning.create(request("own"))
	for want, node := range map[string]*jobs{
		`This server has no kind "own"`: base.node(map[string]string{"other.md": "Another."}),
		"input does not fit":            base.node(map[string]string{"own.md": "As of noon.", "own.input.json": `{"type": "object", "required": ["place"]}`}),
		"works on other repositories":   base.node(map[string]string{"own.md": "---\nworkspace: {repositories: [{url: 'https://git.example.com/x.git'}]}\n---\nAs of noon."}),
	} {
		err := refusal(node.moveKind(id))
		if err.Kind != job.Conflict || !strings.Contains(err.Message, want) || err.Hint == "" {
			t.Errorf("moving answers %q, want %q", err.Message, want)
		}
		if want == "input does not fit" && (len(err.Details) != 1 || err.Details[0].Path != "/input/place") {
			t.Errorf("its details are %v", err.Details)
		}
	}
	noon := base.node(map[string]string{"own.md": "As of noon."})
	must.OK(t, noon.moveKind(id))
	if err := morning.moveKind(id); err != nil || base.get(id).NextKindVersion != "" { // back to the version that it has
		t.Errorf("moving back answers %v, and next is %q", err, base.get(id).NextKindVersion)
	}
	if text, err := base.store.KindDefinition(t.Context(), id, kindVersion(noon, "own")); err != nil || text != nil {
		t.Errorf("the version that nobody has is still stored: %q, %v", text, err)
	}
	must.OK(t, base.Cancel(t.Context(), id, operator))
	if err := refusal(noon.moveKind(id)); err.Kind != job.Conflict || err.Message != "The job is cancelled" {
		t.Errorf("moving a job that has ended answers %v", err)
	}
}
