package lifecycle

import (
	"context"
	"slices"

	"ringback/internal/job"
	"ringback/internal/rules/approval"
)

// Resolution describes the effect of a person's reply on a checkpoint.
type Resolution struct {
	// To is Answered; Superseded if the reply was not understood and another checkpoint asks again;
	// or Interpreting if Claude must interpret the reply.
	To    job.CheckpointStatus
	Reply job.Reply
	// Message is the person's text, for the session; nil if it was added before.
	Message *job.MessageBody
	// End ends the job in this state instead of continuing it, with Code and Why.
	End  job.State
	Code job.Code
	Why  string
	// Note is added to the job's chat, unless the reply ends the job; empty for none.
	Note string
	// Again is the next question if To is Superseded.
	Again *NewCheckpoint
	// By is the author of the reply.
	By job.Actor
	// Seen describes what they had seen, for the audit log.
	Seen Seen
	// Approval is what an approval permits.
	Approval approval.Permission
	// Exchange is the conversation since the question was first asked, including this reply and the
	// follow-up question. It is stored until there is an answer.
	Exchange []job.Utterance
}

// Seen describes what a person had seen before a decision.
type Seen struct {
	Shown job.Shown
	Trees map[string]string
	// Files counts the files of a change; nil for any other question.
	Files *job.FilesViewed
}

// Answer stores a person's reply to a checkpoint as interpreted. c is the checkpoint against which
// the reply was interpreted. Answer returns the id of the person's message, or a Conflict error if
// the checkpoint has changed since, because another reply or the end of the question came first.
func (s *Service) Answer(ctx context.Context, c job.Checkpoint, r Resolution) (int64, error) {
	var fresh job.CheckpointID
	if r.Again != nil {
		fresh = job.CheckpointID(s.store.NewID(job.CheckpointIDs, c.UserID))
	}
	return resultOf(
		ctx, s.runDurably, Query{Checkpoint: c.ID, Approvals: true},
		func(st *State) (int64, error) { return st.answer(c, r, fresh) },
	)
}

func (st *State) answer(understood job.Checkpoint, r Resolution, fresh job.CheckpointID) (int64, error) {
	c := st.Checkpoint.Get()
	switch {
	case c == nil || c.JobID != "" && st.Job == nil: // it is deleted with its job
		return 0, job.NoCheckpoint(understood.ID)
	case c.Status != understood.Status || c.Round != understood.Round:
		return 0, job.ClosedCheckpoint(c.ID, c.Status)
	}
	message := c.ReplyMessageID
	if r.Message != nil {
		body := *r.Message
		body.RequestID = c.JobID
		message = st.addMessage(st.checkpointChat(c), body, EndedByTurn)
	}
	if r.By == (job.Actor{}) { // Claude has interpreted the reply
		r.By = c.ReplyBy
	}
	c.ReplyBy = job.Actor{}
	r.Reply.MessageID, r.Reply.By = message, r.By.SpeaksFor(c.UserID)
	c.Reply = &r.Reply
	switch r.To {
	case job.Interpreting:
		return message, st.interpret(c, r, message)
	case job.Superseded:
		return message, st.clarify(c, r, fresh)
	default:
	}
	return message, st.resolve(c, r)
}

// interpret asks Claude to interpret a reply. If another reply follows, the results for earlier
// ones are ignored, because their round is over. The checkpoint remains open in the session.
func (st *State) interpret(c *Checkpoint, r Resolution, message int64) error {
	if err := st.withdrawInterpreter(c); err != nil {
		return err
	}
	c.Round++
	c.Status, c.ReplyMessageID, c.Exchange, c.Interpreter = job.Interpreting, message, r.Exchange, ""
	c.ReplyBy = r.By
	st.restartHumanClock(c)
	st.addTask(c.JobID, TaskUnderstand, string(c.ID)+"|"+itoa(c.Round), nil)
	return nil
}

// clarify asks again for what a reply left unclear.
func (st *State) clarify(c *Checkpoint, r Resolution, fresh job.CheckpointID) error {
	again := r.Again.record(fresh, st.checkpointChat(c).Recipient, c.Timeout)
	again.Type, again.Held, again.Exchange = c.Type, c.Held, r.Exchange
	again.ApprovalKey, again.AuditFields, again.ToolCallID, again.RaiseUSD = c.ApprovalKey, c.AuditFields, c.ToolCallID, c.RaiseUSD
	c.Next = again.ID
	if err := st.closeCheckpoint(c, job.Superseded); err != nil {
		return err
	}
	c.Held = false
	st.auditReply(c, "unclear", r.By, r.Reply, r.Seen, r.Approval.Scope)
	st.Checkpoints = append(st.Checkpoints, again)
	if st.Job != nil {
		st.Job.Checkpoint = again.ID
	}
	st.openCheckpoint(again, opening{chat: r.Again.Chat, again: true})
	st.restartHumanClock(again)
	return nil
}

// resolve accepts a reply as the answer.
func (st *State) resolve(c *Checkpoint, r Resolution) error {
	if err := st.closeCheckpoint(c, job.Answered); err != nil {
		return err
	}
	event := string(job.Answered)
	if r.Reply.Decision != "" {
		event = string(r.Reply.Decision)
		st.do(Count{c.Type, event, 1})
	}
	st.auditReply(c, event, r.By, r.Reply, r.Seen, r.Approval.Scope)
	j := st.Job
	if j == nil {
		st.notifyAnswered(c)
		return nil
	}
	if c.RaiseUSD > 0 && r.End == "" {
		return st.decideBudget(j, c, r.Reply.Decision)
	}
	st.decide(j, c, r)
	st.stopClocks(j)
	st.keepAnswer(j, c, r.Reply.Decision)
	if r.End != "" {
		j.Error, j.Code = r.Why, r.Code
		st.addNotice(j.chat(), r.Why)
		return st.finish(j, r.End, nil)
	}
	if r.Note != "" {
		st.addNotice(j.chat(), r.Note)
	}
	if c.Held { // the asking turn continues, with the time that was left on its clock
		j.ResumedAt = st.Now
		j.keepUnread(c.ID)
		if err := st.move(j, job.Running, job.AtWork, nil); err != nil {
			return err
		}
		j.CallbackLeft = max(j.CallbackLeft, min(minCallbackLeft, j.CallbackTimeout))
		st.runCallbackClock(j)
		return nil
	}
	return st.resume(j, ResumeReason{Reason: Replied})
}

// keepUnread records that the running turn may not have received the latest answer, until its call has.
func (j *Job) keepUnread(answered job.CheckpointID) {
	j.UnreadReplies = append(slices.Clone(j.UnreadReplies), UnreadReply{j.QuestionID, answered, j.DeliveredAnswers})
	j.DeliveredAnswers++
}

// decide records what a reply allows or denies.
func (st *State) decide(j *Job, c *Checkpoint, r Resolution) {
	if c.ApprovalKey == "" {
		if c.ToolCallID != "" && c.Held { // the call continues with the reply
			st.handCall(j.chat(), c.ToolCallID, EndedByTurn, "")
		}
		return
	}
	switch r.Reply.Decision {
	case job.Approve:
		st.approve(j, c, r.Approval)
	case job.Deny:
		st.deny(j, c)
	case job.Steer:
		if c.Type != job.Review {
			st.deny(j, c)
		}
	case job.Cancel:
	}
}

// approve records an approval, for exactly what was asked.
func (st *State) approve(j *Job, c *Checkpoint, p approval.Permission) {
	st.supersede(j, c)
	yes := approval.Decision{
		Checkpoint: c.ID, Question: j.firstAsked(c.ID), Until: st.Now.Add(p.Life), Preview: c.AuditFields.PreviewDigest,
	}
	j.Decisions = with(j.Decisions, c.ApprovalKey, &yes)
	j.Allowed = append(slices.Clone(j.Allowed), c.ID)
	st.Allowed.Set(append(st.Allowed.Get(), c))
	st.do(SetClock{ApprovalClock, string(c.ID), yes.Until.Add(approvalGrace)})
	if p.Standing == nil {
		return
	}
	standing := *p.Standing
	standing.CreatedAt = st.Now
	if p.Scope == job.ForJob {
		j.Standing = append(slices.Clone(j.Standing), standing.ID)
	}
	st.do(AddStanding{standing})
}

// deny records a denial, or a request for something else. An earlier approval that has not been
// consumed is removed. The denial of a tool call is stored until the call is answered.
func (st *State) deny(j *Job, c *Checkpoint) {
	st.supersede(j, c)
	if c.ToolCallID != "" {
		st.endCall(j.chat(), c.ToolCallID, job.OutputDenied, job.MustJSON("denied"))
	}
	if c.AuditFields.Tool != "" {
		j.Decisions = with(j.Decisions, c.ApprovalKey, &approval.Decision{Checkpoint: c.ID, Question: j.firstAsked(c.ID), Denied: true})
	}
}

// supersede removes an earlier, unused decision on the same operation: the new one replaces it.
func (st *State) supersede(j *Job, c *Checkpoint) {
	j.Decisions = without(j.Decisions, c.ApprovalKey)
	e := st.Earlier.Get()
	if c.Type != job.Review {
		st.conclude(j, e, is(job.OutcomeNotRun, "a later decision has replaced the approval"))
	}
	if e != nil && e.ToolCallID != "" && e.ToolCallID != c.ToolCallID {
		st.failCall(j.chat(), e.ToolCallID, "superseded")
	}
}
