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
// here before the action runs is why it never runs twice. For Known, the run is the
// one that is known.
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
		return Unknown, ""
	case j.State.Terminal():
		return Outcome(j.State), ""
	case j.KnownRun != "":
		return Known, j.KnownRun
	case j.Checkpoint != "" || j.State != job.Running:
		return Outcome(j.State), ""
	case !j.SecretAlive:
		return Outcome(job.Expired), ""
	}
	r := &Run{
		ID: n.Run, JobID: j.ID, Action: n.AuditFields.Action, ApprovalKey: n.ApprovalKey, AuditFields: n.AuditFields,
		ToolCallID: string(n.Run), State: RunRunning, StartedAt: st.Now, CallbackLeft: st.callbackLeft(j),
	}
	entry := job.AuditEntry{Event: "started", Run: string(n.Run), Operation: n.AuditFields}
	if n.Gated {
		outcome := st.spend(j, n.ApprovalKey, n.AuditFields)
		if outcome != "" {
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
	return Started, n.Run
}

// spend uses the approval of an action up. It returns Unapproved where there is none
// that is still worth something.
func (st *State) spend(j *Job, key string, about job.Operation) Outcome {
	use := j.Approval.At(st.Now)
	if use == approval.Permitted || use == approval.Expired {
		st.do(SpendApproval{j.ID, key})
		j.forgetQuestion(j.Approval.Checkpoint)
	}
	if use == approval.Expired {
		st.refuseExpired(j, j.Approval, about)
	}
	if use != approval.Permitted {
		return Unapproved
	}
	return ""
}

// forgetQuestion makes the question of a checkpoint a new one when it is put again: its
// yes is used up, or worth nothing any more, and is not told a second time.
func (j *Job) forgetQuestion(c job.CheckpointID) {
	if j.QuestionID == c {
		j.Question, j.QuestionID = "", ""
	}
}

func (st *State) refuseExpired(j *Job, a *approval.Decision, about job.Operation) {
	st.audit(j, job.AuditEntry{Event: "refused", Detail: "the approval has expired", CheckpointID: a.Checkpoint, Operation: about})
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

// UseApproval takes the decision on a call of a tool and uses it up. decision is
// empty when there is none. A yes to an input that the person has changed is a Deny
// where denies names a rule: what runs is that input, and so it stands in the audit log.
func (s *Service) UseApproval(ctx context.Context, id job.ID, approvalKey string, about job.Operation, denies func(input map[string]any) (rule string)) (decision job.Decision, c job.CheckpointID, err error) {
	err = s.promise(ctx, Query{Job: id, ApprovalKey: approvalKey}, func(st *State) (err error) {
		decision, c, err = st.useApproval(approvalKey, about, denies)
		return err
	})
	return decision, c, err
}

func (st *State) useApproval(key string, about job.Operation, denies func(input map[string]any) string) (job.Decision, job.CheckpointID, error) {
	j := st.Job
	if j == nil || j.Approval == nil {
		return "", "", nil
	}
	a := j.Approval
	st.do(SpendApproval{j.ID, key})
	j.forgetQuestion(a.Checkpoint)
	switch a.At(st.Now) {
	case approval.Denied:
		return job.Deny, a.Checkpoint, nil
	case approval.Expired, approval.Missing:
		st.refuseExpired(j, a, about)
		return "", "", nil
	case approval.Permitted:
	}
	if c := st.Earlier; c != nil && c.ToolCallID != "" {
		st.handCall(j.chat(), c.ToolCallID, EndedByTurn, "")
	}
	started := job.AuditEntry{Event: "started", CheckpointID: a.Checkpoint, Operation: about}
	if c := st.Earlier; c != nil && c.Reply != nil && len(c.Reply.Values) > 0 {
		var err error
		if started.Operation, err = approval.OfTool(about.Tool, c.Reply.Values); err != nil {
			return "", "", err
		}
		if rule := denies(c.Reply.Values); rule != "" {
			started.Event, started.Detail = "refused", "by the kind's rule "+rule
			st.audit(j, started)
			return job.Deny, a.Checkpoint, nil
		}
	}
	st.audit(j, started)
	return job.Approve, a.Checkpoint, nil
}
