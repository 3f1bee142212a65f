package lifecycle

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/approval"
)

// NewRun describes a run of an action that is about to start.
type NewRun struct {
	RequestID job.ID
	Run       RunID
	// ApprovalKey identifies the action with its input, as approvals do.
	ApprovalKey string
	AuditFields job.Operation
	// Timeout is the action's time limit. The callback clock is paused that long.
	Timeout time.Duration
	// Chat shows a call that is not gated. A gated call was already shown with its question.
	Chat job.MessageBody
	// Gated is true if the run needs an approval, which it consumes.
	Gated bool
}

// RunLease is the time after which a run without a heartbeat is considered lost.
const RunLease = 15 * time.Second

// RunHeartbeat is the interval between the heartbeats of a run.
const RunHeartbeat = time.Second

// StartAction starts the run of an action, once for each approval: the record is written before the
// action runs, so it never runs twice. If the outcome is Repeated, the same call has already run,
// and run identifies the earlier run; Claude has not received its result yet. about is what runs: the
// operation that was approved, as people were shown it, or that of the call if no approval is needed.
func (s *Service) StartAction(ctx context.Context, n NewRun) (outcome Outcome, run RunID, about job.Operation, err error) {
	err = s.runDurably(ctx, Query{Job: n.RequestID, ApprovalKey: n.ApprovalKey}, func(st *State) error {
		outcome, run = st.startAction(n)
		if r := st.Run.IfLoaded(); r != nil {
			about = r.AuditFields
		}
		return nil
	})
	return outcome, run, about, err
}

func (st *State) startAction(n NewRun) (Outcome, RunID) {
	j := st.Job
	switch {
	case j == nil:
		return Outcome{Kind: Unknown}, ""
	case j.State.Terminal():
		return RefusedIn(j.State), ""
	case j.KnownRuns[n.ApprovalKey] != "":
		return Outcome{Kind: Repeated}, j.KnownRuns[n.ApprovalKey]
	case j.Submitted:
		return RefusedIn(job.Received), ""
	case j.Checkpoint != "" || j.State != job.Running:
		return RefusedIn(j.State), ""
	case j.Secret.Get() == "":
		return RefusedIn(job.Expired), ""
	}
	r := &Run{
		ID: n.Run, JobID: j.ID, Action: n.AuditFields.Action, ApprovalKey: n.ApprovalKey, AuditFields: n.AuditFields,
		ToolCallID: string(n.Run), State: RunRunning, StartedAt: st.Now, CallbackLeft: st.callbackLeft(j),
	}
	entry := job.AuditEntry{Event: "started", Run: string(n.Run)}
	if n.Gated {
		decision := j.Decisions[n.ApprovalKey]
		if outcome := st.spend(j, n.ApprovalKey, n.AuditFields); !outcome.OK() {
			return outcome, ""
		}
		entry.CheckpointID = decision.Checkpoint
		if c := st.Earlier.Get(); c != nil {
			r.AuditFields, r.ToolCallID = c.AuditFields, cmp.Or(c.ToolCallID, r.ToolCallID)
		}
		st.handCall(j.chat(), r.ToolCallID, EndedByRun, r.Action)
	} else {
		st.addMessage(j.chat(), n.Chat, EndedByRun)
	}
	entry.Operation = r.AuditFields
	st.Run.Set(r)
	j.KnownRuns = with(j.KnownRuns, n.ApprovalKey, n.Run)
	st.pauseForRun(j, n.Run, n.Timeout)
	st.audit(j, entry)
	return Outcome{Kind: Accepted}, n.Run
}

// Reasons why no approval can be used.
const (
	approvalExpired = "the approval has expired"
	approvalClaimed = "confirmed is true, but this input has no unused approval"
	approvalMissing = "this call has no unused approval"
	// AllowedElsewhere is the reason if the same call was allowed in the job's own directory, or by a
	// version that did not show the directory.
	AllowedElsewhere = "an earlier approval of the same call was for another directory"
	approvalChanged  = "the action's preview has changed since it was approved"
)

// spend consumes the approval of an action. Without a valid one, the outcome is Unapproved, and the
// audit log contains the reason.
func (st *State) spend(j *Job, key string, about job.Operation) Outcome {
	why, by := approvalClaimed, job.CheckpointID("")
	switch a := j.Decisions[key]; a.At(st.Now) {
	case approval.Permitted:
		if a.Preview != about.PreviewDigest {
			// The approval is kept: it is for the preview that was shown, permits nothing else, and
			// the next answer replaces it. Until then, it records what people have seen.
			j.forgetQuestion(cmp.Or(a.Question, a.Checkpoint))
			st.audit(j, job.AuditEntry{Event: "refused", Detail: approvalChanged, CheckpointID: a.Checkpoint, Operation: about})
			return Outcome{Kind: Unapproved, Reason: approvalChanged, Outdated: a.Checkpoint}
		}
		j.useDecision(key)
		return Outcome{Kind: Accepted}
	case approval.Expired:
		j.useDecision(key)
		why, by = approvalExpired, a.Checkpoint
	default:
	}
	st.refuse(j, by, why, about)
	return Outcome{Kind: Unapproved, Reason: why}
}

// refuse records that an operation was not permitted. by is the checkpoint of the approval that does not
// permit it; empty for none.
func (st *State) refuse(j *Job, by job.CheckpointID, why string, about job.Operation) {
	done := is(job.OutcomeRefused, why)
	done.Operation = about
	if !st.conclude(j, st.Earlier.Get(), done) {
		st.audit(j, job.AuditEntry{Event: "refused", Detail: why, CheckpointID: by, Operation: about})
	}
}

// forgetQuestion makes a question count as new if it is asked again: Claude has received the answer,
// or its approval is consumed or no longer valid. c is the checkpoint that asked, or the one that was
// answered.
func (j *Job) forgetQuestion(c job.CheckpointID) {
	var unread UnreadReplies // nil if none is left
	for _, r := range j.UnreadReplies {
		if r.Question == c || r.Answered == c {
			c = r.Question
			continue
		}
		unread = append(unread, r)
	}
	if j.QuestionID == c {
		j.Question, j.QuestionID = "", ""
	}
	j.UnreadReplies = unread
}

// FinishAction records the end of a run. A run that was given up earlier keeps its state.
func (s *Service) FinishAction(ctx context.Context, id job.ID, run RunID, state RunState, result json.RawMessage) error {
	return s.run(ctx, Query{Job: id, Run: run}, func(st *State) error {
		st.finishAction(state, result)
		return nil
	})
}

// finishAction records the end of a run. The callback clock, which was paused for it, continues.
func (st *State) finishAction(state RunState, result json.RawMessage) {
	r, j := st.Run.Get(), st.Job
	if r == nil || r.State != RunRunning {
		return
	}
	r.State, r.Result = state, result
	if j == nil {
		return // the job was deleted, with its audit log
	}
	st.concludeRun(j, r)
	end, output := job.OutputError, result
	if state == RunSucceeded {
		end = job.OutputAvailable
	}
	if len(output) == 0 {
		output = job.MustJSON("unknown")
	}
	st.endCall(j.chat(), r.ToolCallID, end, output)
	st.concludeLost(j)
	st.resumeAfterRun(j, r.ID)
	if j.State != job.Running {
		return
	}
	if state == RunUnknown {
		lost := job.FailedAction{Action: r.Action, Outcome: job.NewOutcome(job.OutcomeUnknown, r.message())}
		st.addNotice(j.chat(), lost.Words())
	}
	j.ResumedAt = st.Now
}

// NotKnown ends the message for Claude about a run that may have taken effect.
const NotKnown = ". Whether it took effect is not known. Do not run it again before the user has looked."

// message returns the message about the end of a run, for people.
func (r *Run) message() string {
	var result struct {
		Message string `json:"message"`
	}
	if job.UnmarshalExact(r.Result, &result) != nil {
		return "the server was interrupted while it was running"
	}
	return strings.TrimSuffix(result.Message, NotKnown)
}

// concludeRun records what came of a run.
func (st *State) concludeRun(j *Job, r *Run) {
	done := is(runOutcomes[r.State], r.message())
	done.Operation, done.Run, done.Took = r.AuditFields, r.ID, st.Now.Sub(r.StartedAt)
	if !st.conclude(j, st.allowedCall(j, r.ToolCallID), done) { // no one was asked
		st.report(j, done)
	}
}

// LoseAction records the end of a run without heartbeats: whether it took effect is unknown. A run
// with a newer heartbeat continues.
func (s *Service) LoseAction(ctx context.Context, run RunID, of job.ID) error {
	return s.run(ctx, Query{Job: of, Run: run}, func(st *State) error {
		if r := st.Run.Get(); r != nil && !r.Lease.After(st.Now) {
			st.finishAction(RunUnknown, nil)
		}
		return nil
	})
}

// UnreadRun returns the run of an action whose result Claude has not received yet; empty if there is
// none. The same call gets that result: a person is not asked again, because a second yes could not be
// told from the first.
func (s *Service) UnreadRun(ctx context.Context, id job.ID, approvalKey string) (RunID, error) {
	return resultOf(ctx, s.run, Query{Job: id}, func(st *State) (RunID, error) {
		if st.Job == nil {
			return "", nil
		}
		return st.Job.KnownRuns[approvalKey], nil
	})
}

// AckActionResult records that Claude has received the result of a run, so that the same call
// counts as a new one from now on.
func (s *Service) AckActionResult(ctx context.Context, id job.ID, approvalKey string, run RunID) error {
	return s.run(ctx, Query{Job: id}, func(st *State) error {
		if j := st.Job; j != nil && j.KnownRuns[approvalKey] == run {
			j.KnownRuns = without(j.KnownRuns, approvalKey)
		}
		return nil
	})
}

// ToolUse is a tool call that needs an approval.
type ToolUse struct {
	RequestID job.ID
	// ToolCallID identifies the call in the turn's output.
	ToolCallID string
	// ApprovalKey identifies the call with its input.
	ApprovalKey string
	AuditFields job.Operation
	// Standing is the id of a standing approval that covers the call; empty if none does.
	Standing string
	// Decided is the checkpoint that the caller has read with Decided; empty if there was none. DeniedBy is the
	// kind's rule that denies the call with the input as edited there; empty if none does.
	Decided  job.CheckpointID
	DeniedBy string
}

// Decided returns the checkpoint with a person's decision on an operation that is not used yet; nil if there is none.
func (s *Service) Decided(ctx context.Context, id job.ID, approvalKey string) (*job.Checkpoint, error) {
	return resultOf(ctx, s.run, Query{Job: id, ApprovalKey: approvalKey}, func(st *State) (*job.Checkpoint, error) {
		if st.Job == nil || st.Job.Decisions[approvalKey] == nil {
			return nil, nil
		}
		c := st.Earlier.Get()
		if c == nil {
			return nil, job.NoCheckpoint(st.Job.Decisions[approvalKey].Checkpoint)
		}
		return new(c.View()), nil
	})
}

// UseApproval consumes a person's decision on a tool call, and returns the checkpoint at which it
// was made. If a standing approval covers the call instead, the checkpoint is empty. The outcome is
// Accepted, Denied, Unapproved, Refused or Unknown; or Stale if the decision is not the one that the caller has read.
func (s *Service) UseApproval(ctx context.Context, u ToolUse) (outcome Outcome, c job.CheckpointID, err error) {
	err = s.runDurably(ctx, Query{Job: u.RequestID, ApprovalKey: u.ApprovalKey}, func(st *State) (err error) {
		outcome, c, err = st.useApproval(u)
		return err
	})
	return outcome, c, err
}

func (st *State) useApproval(u ToolUse) (Outcome, job.CheckpointID, error) {
	j := st.Job
	if j == nil || j.State.Terminal() {
		return st.refusal(), "", nil
	}
	if d := j.Decisions[u.ApprovalKey]; d != nil && d.Checkpoint != u.Decided {
		return Outcome{Kind: Stale}, "", nil
	}
	a := j.useDecision(u.ApprovalKey)
	use := a.At(st.Now)
	switch {
	case use == approval.Permitted:
		outcome, err := st.allowCall(j, u, a.Checkpoint)
		return outcome, a.Checkpoint, err
	case use == approval.Denied:
		return Outcome{Kind: Denied}, a.Checkpoint, nil
	case u.Standing != "":
		st.audit(j, job.AuditEntry{Event: "allowed", Detail: "by the standing approval " + u.Standing, Operation: u.AuditFields})
		return Outcome{Kind: Accepted}, "", nil
	case use == approval.Expired:
		st.refuse(j, a.Checkpoint, approvalExpired, u.AuditFields)
		return Outcome{Kind: Unapproved, Reason: approvalExpired}, "", nil
	}
	anywhere := u.AuditFields
	if anywhere.Dir = ""; u.AuditFields.Dir != "" && j.Decisions[approval.Key(anywhere)] != nil {
		return Outcome{Kind: Unapproved, Reason: AllowedElsewhere}, "", nil
	}
	return Outcome{Kind: Unapproved, Reason: approvalMissing}, "", nil
}

// allowCall lets a tool call run with the input as edited by the person, unless a rule denies that
// input. The audit log records the input that runs.
func (st *State) allowCall(j *Job, u ToolUse, by job.CheckpointID) (Outcome, error) {
	entry := job.AuditEntry{Event: "started", CheckpointID: by, Operation: u.AuditFields}
	outcome := Outcome{Kind: Accepted}
	c := st.Earlier.Get()
	if c != nil && c.Reply != nil && len(c.Reply.Values) > 0 {
		var err error
		if entry.Operation, err = approval.OfTool(u.AuditFields.Tool, c.Reply.Values, u.AuditFields.Dir); err != nil {
			return Outcome{}, err
		}
		if u.DeniedBy != "" {
			outcome = Outcome{Kind: Denied, Reason: u.DeniedBy}
		}
	}
	if c != nil && c.ToolCallID != "" {
		st.handCall(j.chat(), c.ToolCallID, EndedByTurn, "")
		c.ToolCallID = cmp.Or(u.ToolCallID, c.ToolCallID) // Claude may have made the call again
	}
	if outcome.Kind == Denied {
		st.refuse(j, by, DeniedByRule(outcome.Reason), entry.Operation)
		return outcome, nil
	}
	st.audit(j, entry)
	return outcome, nil
}

// DeniedByRule returns the reason that the audit log records for a call that a rule of the kind
// denies.
func DeniedByRule(rule string) string { return "by the kind's rule " + rule }
