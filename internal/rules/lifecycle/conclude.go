package lifecycle

import (
	"slices"
	"time"

	"ringback/internal/job"
)

// Conclusion is what came of an action, or of something else that a person has allowed. Logs and
// metrics see each once, on the node that recorded it.
type Conclusion struct {
	JobID        job.ID
	Kind, UserID string
	// CheckpointID is the question at which a person has allowed it; empty if no one was asked.
	CheckpointID job.CheckpointID
	// Operation is the action or the tool call. Its action is "finalize" for a publication.
	Operation job.Operation
	// Run is the run of the action, which took Took; empty if nothing ran that the server started.
	Run  RunID
	Took time.Duration
	job.Outcome
	// audited is true if the audit log has it already.
	audited bool
}

// actionData is the event data of an outcome.
type actionData struct {
	// Action is the name of the action, or finalize for the publication of a change. Tool is the name of
	// the tool of a tool call. One of them is set.
	Action string `json:"action,omitempty"`
	Tool   string `json:"tool,omitempty"`
	// Outcome is the status of the outcome, and Message what there is to add.
	Outcome job.OutcomeStatus `json:"outcome"`
	Message string            `json:"message,omitempty"`
	// Reported is as in job.Outcome.
	Reported bool `json:"reported,omitempty"`
	// CheckpointID is the question at which a person has allowed it; absent if no one was asked. RunID
	// is the run of the action; absent if the server started none.
	CheckpointID job.CheckpointID `json:"checkpointId,omitempty"`
	RunID        RunID            `json:"runId,omitempty"`
}

// auditOutcomes are the outcomes of the audit log.
var auditOutcomes = map[job.OutcomeStatus]RunState{
	job.OutcomeSucceeded: RunSucceeded, job.OutcomeFailed: RunFailed, job.OutcomeTimedOut: RunTimedOut,
	job.OutcomeUnknown: RunUnknown,
}

// runOutcomes are the outcomes of runs.
var runOutcomes = map[RunState]job.OutcomeStatus{
	RunSucceeded: job.OutcomeSucceeded, RunFailed: job.OutcomeFailed, RunTimedOut: job.OutcomeTimedOut,
	RunRefused: job.OutcomeRefused, RunUnknown: job.OutcomeUnknown,
}

// maxFailedActions is the maximum number of failed actions in a job's record.
const maxFailedActions = 10

// conclude records, once, what came of what a person has allowed at c: in the question and the job, and
// with notices if it did not succeed. It returns false if that has been done, or if nothing was allowed
// there. Every approval ends here: it adds its checkpoint to Job.Allowed, and nothing else removes it. That
// of a change whose job has failed stays there, because a retry uses it.
func (st *State) conclude(j *Job, c *Checkpoint, done Conclusion) bool {
	if !c.awaitsOutcome() {
		return false
	}
	done.CheckpointID, done.At = c.ID, st.Now
	if done.Operation.Action+done.Operation.Tool == "" { // its input may have been edited
		done.Operation = job.Operation{Action: c.AuditFields.Action, Tool: c.AuditFields.Tool}
	}
	c.Outcome = &done.Outcome
	if c.Type != job.Review || j.State != job.Failed || !j.Approved() {
		j.Allowed = slices.DeleteFunc(slices.Clone(j.Allowed), func(id job.CheckpointID) bool { return id == c.ID })
	}
	st.report(j, done)
	if done.Status == job.OutcomeSucceeded {
		return true
	}
	failed := job.FailedAction{CheckpointID: c.ID, Action: done.Operation.Action, Tool: done.Operation.Tool, Outcome: done.Outcome}
	all := append(slices.Clone(j.FailedActions), failed)
	j.FailedActions = all[max(0, len(all)-maxFailedActions):]
	st.notifyConcluded(j, c)
	return true
}

// report records an outcome in the audit log and in an event, and for the logs and metrics.
func (st *State) report(j *Job, done Conclusion) {
	done.JobID, done.Kind, done.UserID = j.ID, j.Kind, j.UserID
	event, why := "finished", done.Message
	switch done.Status {
	case job.OutcomeSucceeded:
		why = "" // what it returned is in the chat
	case job.OutcomeRefused:
		event = "refused"
	case job.OutcomeNotRun:
		event = "unused"
	default:
	}
	if !done.audited {
		st.audit(j, job.AuditEntry{
			Event: event, Outcome: string(auditOutcomes[done.Status]), Detail: why, CheckpointID: done.CheckpointID,
			Run: string(done.Run), Operation: done.Operation,
		})
	}
	st.emit(j.recipient(), job.EventAction, actionData{
		done.Operation.Action, done.Operation.Tool, done.Status, done.Message, done.Reported, done.CheckpointID, done.Run,
	})
	st.Conclusions = append(st.Conclusions, done)
}

// is returns a conclusion with a status and a message.
func is(status job.OutcomeStatus, message string) Conclusion {
	return Conclusion{Outcome: job.NewOutcome(status, message)}
}

// awaitsOutcome reports whether a person has allowed something at a checkpoint that is not over yet.
func (c *Checkpoint) awaitsOutcome() bool {
	return c != nil && c.Status == job.Answered && c.ApprovalKey != "" && c.Outcome == nil &&
		c.Reply != nil && c.Reply.Decision == job.Approve
}

// AddAllowed adds a checkpoint at which a person has allowed something that is not over yet, also to a
// record of an earlier version.
func (st *State) AddAllowed(c *Checkpoint) {
	if c == nil || !c.awaitsOutcome() && !slices.Contains(st.Job.Allowed, c.ID) { // see reopenReview
		return
	}
	st.Allowed.Set(append(st.Allowed.Get(), c))
	if !slices.Contains(st.Job.Allowed, c.ID) {
		st.Job.Allowed = append(slices.Clone(st.Job.Allowed), c.ID)
	}
}

func (c *Checkpoint) isReview() bool { return c.Type == job.Review }

// allowed returns the checkpoints at which people have allowed something of a job that is not over yet.
func (st *State) allowed(j *Job) []*Checkpoint {
	if len(j.AllowedAt()) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(st.Allowed.Get()), func(c *Checkpoint) bool { return !c.awaitsOutcome() })
}

// allowedCall returns the checkpoint at which a call of a job was allowed; nil if no one was asked.
func (st *State) allowedCall(j *Job, call string) *Checkpoint {
	for _, c := range st.allowed(j) {
		if c.ToolCallID == call {
			return c
		}
	}
	return nil
}

// concludeReported records how a tool call has ended according to the turn's output.
func (st *State) concludeReported(j *Job, p job.Part) {
	c := st.allowedCall(j, p.ToolCallID)
	if c == nil {
		return
	}
	done := is(job.OutcomeSucceeded, "")
	if p.State != job.OutputAvailable {
		var text string
		if job.UnmarshalExact(p.Output, &text) != nil {
			text = job.Readable(p.Output)
		}
		done = is(job.OutcomeFailed, text)
	}
	done.Reported = true
	st.conclude(j, c, done)
}

// concludeUnused records that approvals are no longer valid that were not used. An approved change needs
// none: it is published by the server.
func (st *State) concludeUnused(j *Job, why string) {
	for _, c := range st.allowed(j) {
		if c.Type != job.Review && j.isUnused(c.ID) {
			st.conclude(j, c, is(job.OutcomeNotRun, why))
		}
	}
}

// concludeEarlier records what came of the approval after which people are asked again: the change could not
// be published, or the action would do something else by now.
func (st *State) concludeEarlier(j *Job, n NewCheckpoint) {
	if n.NotPublished != "" {
		st.concludePublication(j, is(job.OutcomeFailed, n.NotPublished))
	}
	d := j.Decisions[n.ApprovalKey]
	for _, c := range st.allowed(j) {
		if d != nil && d.Checkpoint == c.ID && d.Preview != n.AuditFields.PreviewDigest {
			st.conclude(j, c, is(job.OutcomeNotRun, approvalChanged))
		}
	}
}

// concludePublication records what came of an approved change for which the audit log has the outcome of each
// repository.
func (st *State) concludePublication(j *Job, done Conclusion) {
	done.audited = true
	st.concludeReview(j, done)
}

// concludeReview records what came of an approved change. If it did not succeed, that includes what is public.
func (st *State) concludeReview(j *Job, done Conclusion) {
	if public := j.publicWords(); done.Status != job.OutcomeSucceeded && public != "" {
		done.Message = job.NewOutcome(done.Status, public+"\n"+done.Message).Message
	}
	for _, c := range st.allowed(j) {
		if c.Type == job.Review {
			st.conclude(j, c, done)
		}
	}
}

// reopenReview takes back the outcome of an approved change that a retry publishes after all.
func (st *State) reopenReview(j *Job) {
	if len(j.Allowed) == 0 || !j.Approved() {
		return
	}
	for _, c := range st.Allowed.Get() {
		if c.Type == job.Review && c.Outcome != nil {
			c.Outcome = nil
			j.FailedActions = slices.DeleteFunc(slices.Clone(j.FailedActions), func(f job.FailedAction) bool {
				return f.CheckpointID == c.ID
			})
		}
	}
}

// concludeEnded records what came of an approved change when its job has ended. from is the phase in which
// the job has ended.
func (st *State) concludeEnded(j *Job, from job.Phase) {
	switch {
	case j.State == job.Failed:
		st.concludeReview(j, is(job.OutcomeFailed, j.Error))
	case from == job.Publishing:
		st.concludeReview(j, is(job.OutcomeUnknown, "the job was "+string(j.State)+" while the change was being published"))
	default:
		st.concludeReview(j, is(job.OutcomeNotRun, endedFirst(j.State)))
	}
	st.concludeLost(j)
}

// concludeLost records that nothing will be known of what was allowed if its job and its call have ended.
func (st *State) concludeLost(j *Job) {
	if !j.State.Terminal() {
		return
	}
	for _, c := range st.allowed(j) {
		if call, shown := j.Calls.Get()[c.ToolCallID]; !shown || call.Owner == CallEnded {
			st.conclude(j, c, is(job.OutcomeUnknown, "its end was not reported"))
		}
	}
}

// endedFirst describes why something did not happen before the end of its job.
func endedFirst(to job.State) string {
	switch to {
	case job.Received:
		return "Claude has submitted its result without it"
	case job.Failed, job.Expired:
		return "the job " + string(to) + " before that"
	default:
	}
	return "the job was " + string(to) + " before that"
}
