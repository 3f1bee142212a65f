package lifecycle

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"ringback/internal/approval"
	"ringback/internal/job"
)

// NewRun is a run of an action that is to start now.
type NewRun struct {
	RequestID job.ID
	Run       RunID
	// ApprovalKey is the action with its input, as an approval names it.
	ApprovalKey string
	AuditFields job.Operation
	// Timeout is how long it may take: so long the callback clock stands still.
	Timeout time.Duration
	// Chat shows a call that is not gated; one that is was shown with its question.
	Chat job.MessageBody
	// Gated is whether it needs an approval, which is used up.
	Gated bool
}

// RunLease is how long a run is believed to go on without a sign of life.
const RunLease = 15 * time.Second

// RunHeartbeat is how often a run gives a sign of life.
const RunHeartbeat = time.Second

// minCallbackLeft is what Claude gets at least of its callback clock after a run, to
// hear of it.
const minCallbackLeft = time.Second

// StartAction starts the run of an action, once for each approval: what is written
// here before the action runs is why it never runs twice. If the outcome is Repeated, the
// same call has run, and run is that earlier run: Claude has not been told its result yet.
func (s *Service) StartAction(ctx context.Context, n NewRun) (outcome Outcome, run RunID, err error) {
	err = s.promise(ctx, Query{Job: n.RequestID, ApprovalKey: n.ApprovalKey}, func(st *State) error {
		outcome, run = st.startAction(n)
		return nil
	})
	return outcome, run, err
}

func (st *State) startAction(n NewRun) (Outcome, RunID) {
	j := st.Job
	switch {
	case j == nil:
		return Outcome{Kind: Unknown}, ""
	case j.State.Terminal():
		return RefusedIn(j.State), ""
	case j.KnownRun != "":
		return Outcome{Kind: Repeated}, j.KnownRun
	case j.Checkpoint != "" || j.State != job.Running:
		return RefusedIn(j.State), ""
	case !j.SecretAlive:
		return RefusedIn(job.Expired), ""
	}
	r := &Run{
		ID: n.Run, JobID: j.ID, Action: n.AuditFields.Action, ApprovalKey: n.ApprovalKey, AuditFields: n.AuditFields,
		ToolCallID: string(n.Run), State: RunRunning, StartedAt: st.Now, CallbackLeft: st.callbackLeft(j),
	}
	entry := job.AuditEntry{Event: "started", Run: string(n.Run), Operation: n.AuditFields}
	if n.Gated {
		if outcome := st.spend(j, n.ApprovalKey, n.AuditFields); !outcome.OK() {
			return outcome, ""
		}
		entry.CheckpointID = j.Approval.Checkpoint
		if st.Earlier != nil && st.Earlier.ToolCallID != "" {
			r.ToolCallID = st.Earlier.ToolCallID
		}
		st.handCall(j.chat(), r.ToolCallID, EndedByRun, r.Action)
	} else {
		st.addMessage(j.chat(), n.Chat, EndedByRun)
	}
	st.do(StartRun{r, st.Now.Add(RunLease)})
	st.resumeCallbackClock(j, r.CallbackLeft+n.Timeout)
	st.audit(j, entry)
	return Outcome{Kind: Accepted}, n.Run
}

// Why there is no approval that can be used.
const (
	approvalExpired = "the approval has expired"
	approvalClaimed = "confirmed was claimed, but this input has no unused approval"
	approvalMissing = "this call has no unused approval"
	approvalChanged = "what the action would do has changed since it was approved"
)

// spend uses up the approval of an action. Without a valid one, the outcome is Unapproved,
// and the audit log says why.
func (st *State) spend(j *Job, key string, about job.Operation) Outcome {
	refused := job.AuditEntry{Event: "refused", Detail: approvalClaimed, Operation: about}
	switch a := j.Approval; a.At(st.Now) {
	case approval.Permitted:
		if a.Preview != about.PreviewDigest {
			// The yes stays: it is of what was shown, permits nothing else, and the next
			// answer replaces it. Until then, it says what people have seen.
			j.forgetQuestion(a.Checkpoint)
			refused.Detail, refused.CheckpointID = approvalChanged, a.Checkpoint
			st.audit(j, refused)
			return Outcome{Kind: Unapproved, Reason: refused.Detail, Outdated: a.Checkpoint}
		}
		st.takeApproval(j, key)
		return Outcome{Kind: Accepted}
	case approval.Expired:
		st.takeApproval(j, key)
		refused.Detail, refused.CheckpointID = approvalExpired, a.Checkpoint
	default:
	}
	st.audit(j, refused)
	return Outcome{Kind: Unapproved, Reason: refused.Detail}
}

// takeApproval removes the decision about an operation.
func (st *State) takeApproval(j *Job, key string) {
	st.do(SpendApproval{j.ID, key})
	j.forgetQuestion(j.Approval.Checkpoint)
}

// forgetQuestion makes the question of a checkpoint a new one when it is put again: its
// yes is used up, or worth nothing any more, and is not told a second time.
func (j *Job) forgetQuestion(c job.CheckpointID) {
	if j.QuestionID == c {
		j.Question, j.QuestionID = "", ""
	}
}

// FinishAction books the end of a run. It returns the state that stands: a run that
// was given up before stays so.
func (s *Service) FinishAction(ctx context.Context, id job.ID, run RunID, state RunState, result json.RawMessage) (RunState, error) {
	var stands RunState
	err := s.run(ctx, Query{Job: id, Run: run}, func(st *State) error {
		stands = st.finishAction(state, result)
		return nil
	})
	return stands, err
}

// finishAction books success, error or unknown. The callback clock, which stood
// still for the run, runs on.
func (st *State) finishAction(state RunState, result json.RawMessage) RunState {
	r, j := st.Run, st.Job
	if r == nil || r.State != RunRunning {
		if r == nil {
			return ""
		}
		return r.State
	}
	r.State, r.Result = state, result
	st.do(SaveRun{r})
	if j == nil {
		return state // the job is deleted, and its log with it
	}
	st.audit(j, job.AuditEntry{Event: "finished", Outcome: string(state), Run: string(r.ID), Operation: r.AuditFields})
	end, output := job.OutputError, result
	if state == RunSucceeded {
		end = job.OutputAvailable
	}
	if len(output) == 0 {
		output = mustMarshal("unknown")
	}
	st.endCall(j.chat(), r.ToolCallID, end, output)
	if j.State != job.Running {
		return state
	}
	if state == RunUnknown {
		st.addNotice(j.chat(), fmt.Sprintf("The server was interrupted while %q was running. Whether it took effect is not known.", r.Action))
	}
	j.ResumedAt = st.Now
	st.resumeCallbackClock(j, max(r.CallbackLeft, minCallbackLeft))
	return state
}

// LoseAction books the end of a run whose server gives no sign of life: nobody knows
// whether it took effect. A run that has given one meanwhile goes on.
func (s *Service) LoseAction(ctx context.Context, run RunID, of job.ID) error {
	return s.run(ctx, Query{Job: of, Run: run}, func(st *State) error {
		if st.Run != nil && !st.RunLease.After(st.Now) {
			st.finishAction(RunUnknown, nil)
		}
		return nil
	})
}

// AckActionResult notes that Claude knows how a run ended: the same call is a new one
// from now on.
func (s *Service) AckActionResult(ctx context.Context, id job.ID, approvalKey string, run RunID) error {
	return s.run(ctx, Query{Job: id, ApprovalKey: approvalKey}, func(st *State) error {
		if st.Job != nil && st.Job.KnownRun == run {
			st.do(ForgetRun{id, approvalKey})
		}
		return nil
	})
}

// ToolUse is a tool call that needs an approval.
type ToolUse struct {
	RequestID job.ID
	// ApprovalKey identifies the call with its input.
	ApprovalKey string
	AuditFields job.Operation
	// Standing is the id of a standing approval that covers the call; empty if none does.
	Standing string
	// Denies returns the kind's rule that denies the call with another input; empty if
	// none does.
	Denies func(input map[string]any) (rule string)
}

// UseApproval uses up a person's decision on a tool call, which was made at the checkpoint
// that is returned, or the standing approval that covers the call; then the checkpoint is
// empty. The outcome is Accepted, Denied, Unapproved, Refused or Unknown.
func (s *Service) UseApproval(ctx context.Context, u ToolUse) (outcome Outcome, c job.CheckpointID, err error) {
	err = s.promise(ctx, Query{Job: u.RequestID, ApprovalKey: u.ApprovalKey}, func(st *State) (err error) {
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
	a := j.Approval
	if a != nil {
		st.takeApproval(j, u.ApprovalKey)
	}
	use := a.At(st.Now)
	switch {
	case use == approval.Permitted:
		outcome, err := st.allowCall(j, u)
		return outcome, a.Checkpoint, err
	case use == approval.Denied:
		return Outcome{Kind: Denied}, a.Checkpoint, nil
	case u.Standing != "":
		st.audit(j, job.AuditEntry{Event: "allowed", Detail: "by the standing approval " + u.Standing, Operation: u.AuditFields})
		return Outcome{Kind: Accepted}, "", nil
	case use == approval.Expired:
		st.audit(j, job.AuditEntry{Event: "refused", Detail: approvalExpired, CheckpointID: a.Checkpoint, Operation: u.AuditFields})
		return Outcome{Kind: Unapproved, Reason: approvalExpired}, "", nil
	}
	return Outcome{Kind: Unapproved, Reason: approvalMissing}, "", nil
}

// allowCall lets a tool call run with the input as the person has changed it, if no rule
// denies that. The audit log gets the input that runs.
func (st *State) allowCall(j *Job, u ToolUse) (Outcome, error) {
	entry := job.AuditEntry{Event: "started", CheckpointID: j.Approval.Checkpoint, Operation: u.AuditFields}
	outcome := Outcome{Kind: Accepted}
	if c := st.Earlier; c != nil && c.Reply != nil && len(c.Reply.Values) > 0 {
		var err error
		if entry.Operation, err = approval.OfTool(u.AuditFields.Tool, c.Reply.Values); err != nil {
			return Outcome{}, err
		}
		if rule := u.Denies(c.Reply.Values); rule != "" {
			entry.Event, entry.Detail = "refused", DeniedByRule(rule)
			outcome = Outcome{Kind: Denied, Reason: rule}
		}
	}
	if c := st.Earlier; c != nil && c.ToolCallID != "" {
		st.handCall(j.chat(), c.ToolCallID, EndedByTurn, "")
	}
	st.audit(j, entry)
	return outcome, nil
}

// DeniedByRule is the audit log's reason for a call that a rule of the kind denies.
func DeniedByRule(rule string) string { return "by the kind's rule " + rule }
