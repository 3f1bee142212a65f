package lifecycle

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"ringback/internal/job"
)

// Turn is a turn for a node to run.
type Turn struct {
	Job job.Job
	// Signature is included in the prompt. Callbacks must carry it.
	Signature job.Signature
	// Conversation is the id of the Claude conversation, a UUID.
	Conversation string
	// Begun is true if the process of an earlier turn began the conversation, so that this one can
	// resume it.
	Begun bool
	// ConversationAt is the turn that last continued the conversation; empty if unknown.
	ConversationAt TurnName
	// Retold is true if the prompt must recount an earlier conversation, which is not available
	// where the turn runs.
	Retold bool
	// ResumeReason is the reason for this turn, from the previous one; nil for a first turn.
	ResumeReason *ResumeReason
	// PendingMessages are the user's messages since the last turn, in order.
	PendingMessages []job.Message
	// Answers are the checkpoints that a person has answered so far, in order. The conversation contains
	// the first KnownAnswers of them.
	Answers      []job.Checkpoint
	KnownAnswers int
	// UsedUp are those of Answers that gave a one-time approval which is no longer valid.
	UsedUp []job.CheckpointID
	// Manual is true for jobs that a person plays by hand without a worker; no process is started.
	Manual bool
}

// Worker is a node that runs turns.
type Worker struct {
	Node string
	// Simulates is true if there is no CLI, so that the stand-in runs. Any job that the worker
	// starts is simulated from then on.
	Simulates bool
	// Proxies is true if the server proxies the requests of its turns to the model's API.
	Proxies bool
	// CLIVersion is the version of the CLI that will probably run the turn; empty if unknown. Otherwise,
	// Service.StartCLI records it.
	CLIVersion string
}

// QueueEntry is a queue entry that a node has dequeued. The node owns it until its turn starts. If the
// node dies, another one requeues it.
type QueueEntry struct {
	JobID    job.ID
	Priority job.Priority
	Entry    string
	// Turn is its user's turn, which is given back if the job is put back; 0 if it was not dequeued just now.
	Turn int64
}

// StartTurn starts the turn of a queue entry. It returns nil if the job must not run now: it has
// ended, its last process still exists, or its user has enough turns running.
func (s *Service) StartTurn(ctx context.Context, w Worker, taken QueueEntry) (*Turn, error) {
	fresh := job.NewSecret()
	q := Query{
		Job: taken.JobID, View: true, Running: true, Pending: true, Answers: true, Entry: taken, EntryOwner: w.Node,
	}
	started, err := resultOf(ctx, s.run, q, func(st *State) (*Job, error) { return st.startTurn(s.opts, w, taken, fresh) })
	if err != nil || started == nil {
		return nil, err
	}
	return started.newTurn(), nil
}

// newTurn returns the data of a started turn for a worker.
func (j *Job) newTurn() *Turn {
	return &Turn{
		Job: j.shownAfter(j.View.Get()), Signature: j.Secret.Get().Sign(j.ID),
		Conversation: j.ConversationID(), Begun: j.Begun, ConversationAt: j.ConversationAt,
		Retold:       !j.Begun && j.ResumeReason != nil && j.ResumeReason.Reason == OtherVersion,
		ResumeReason: j.ResumeReason, PendingMessages: j.Pending.Get(), Manual: j.Manual,
		Answers: j.Answers.Get(), KnownAnswers: j.KnownAnswers, UsedUp: j.usedUp(),
	}
}

// usedUp returns the answers that gave a one-time approval which is no longer valid: it was used,
// has expired, or the job ended before its use.
func (j *Job) usedUp() []job.CheckpointID {
	var found []job.CheckpointID
	for _, c := range j.Answers.Get() {
		allowed := (c.Type == job.Confirmation || c.Type == job.ToolApproval) && c.Reply != nil && c.Reply.Decision == job.Approve
		if allowed && !j.isUnused(c.ID) {
			found = append(found, c.ID)
		}
	}
	return found
}

// ConversationID returns the id of the latest conversation. There is more than one if the CLI could not
// begin, or can no longer find, the previous one.
func (j *Job) ConversationID() string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(string(j.root())+"/"+itoa(j.Conversation))).String()
}

// startTurn returns the job if it has started its turn, or nil.
func (st *State) startTurn(opts Options, w Worker, taken QueueEntry, fresh job.Secret) (*Job, error) {
	j := st.Job
	if j != nil && j.Owner == w.Node && j.Entry == taken.Entry && j.State == job.Running {
		return j, nil // already started: the response was lost
	}
	if !st.EntryOwned.Get() {
		return nil, nil // the node was silent for too long, and another has requeued it
	}
	if j == nil || j.State != job.Pending || j.Phase == job.WaitingForExit {
		st.do(DropEntry{taken.Priority, taken.Entry})
		return nil, nil
	}
	if j.UserRunning.Get() >= opts.UserLimit {
		st.do(DropEntry{taken.Priority, taken.Entry}, AwaitSlot{j.UserID, opts.UserLimit})
		return nil, st.movePhase(j, job.WaitingForLimit)
	}
	// This decides whether a job is simulated: by its options since it was created, or because a
	// node without a CLI runs it. It is never reset.
	j.Simulated = j.Simulated || w.Simulates
	st.stopClocks(j)
	st.armSecret(j, fresh)
	st.takeStoppedCall(j)
	j.Turn++
	j.StartedAt, j.FirstCallback = st.Now, time.Time{}
	j.ToolCalls, j.Blocks, j.Offer, j.Proxied = 0, 0, nil, w.Proxies && !j.Simulated
	j.Submitted = j.keepsSubmission(w.Node)
	st.enterNextKind(j)
	j.forgetOwnQuestion()
	st.prepareTurn(j, w.CLIVersion)
	// Only a workspace takes a noticeable time.
	phase := job.AtWork
	if j.HasWorkspace {
		phase = job.Preparing
	}
	if err := st.moveWithFailure(j, job.Running, phase); err != nil {
		return nil, err
	}
	if j.Manual { // a person plays Claude: no worker is used
		st.do(DropEntry{taken.Priority, taken.Entry})
		st.markPromptRead(j)
		j.trimDelivered()
		return j, nil
	}
	j.Entry, j.Owner, j.Node = taken.Entry, w.Node, w.Node
	st.do(OccupySlot{Node: w.Node, Priority: taken.Priority, Entry: taken.Entry, UserID: j.UserID, Limit: opts.UserLimit})
	return j, nil
}

// prepareTurn sets a turn's time limit, the messages in its prompt and the version of the CLI, and
// counts it if Claude works in it. A turn that continues a change that was submitted or approved needs the server's
// time limit and no prompt.
func (st *State) prepareTurn(j *Job, cliVersion string) {
	j.forgetDelivery()
	j.UnreadReplies = nil
	if j.isServers() {
		st.setCallbackClock(j, ServerTime)
		return
	}
	st.setCallbackClock(j, j.CallbackTimeout)
	j.ClaudeTurns++
	// The user's new messages and answers are part of this turn's prompt. They count as read once the
	// turn has begun its conversation.
	j.DeliveredMessages, j.DeliveredAnswers = len(j.PendingMessages), len(j.Answers.Get())
	j.putWordsInPrompt()
	if cliVersion != "" && !j.Simulated {
		j.CLIVersions = j.CLIVersions.with(j.Turn, cliVersion)
	}
}

// forgetOwnQuestion makes a question of Claude's own count as new if it is asked again, even in the same
// words: the turn's prompt contains the reply. A job played by hand has no prompt. A call asks again
// when it is continued, or for what was decided about it, unless the person has written since then.
func (j *Job) forgetOwnQuestion() {
	answers, pending := j.Answers.Get(), j.PendingMessages
	if j.View.Get().Options.Simulate == job.SimulateManual || len(answers) == 0 {
		return
	}
	last := answers[len(answers)-1]
	stopped, _ := last.StoppedCall()
	wroteSince := len(pending) > 0 && last.Reply != nil && pending[len(pending)-1] > last.Reply.MessageID
	if last.ToolCallID == "" || stopped == "" && wroteSince && !j.isUnused(last.ID) {
		j.forgetQuestion(j.QuestionID)
	}
}

// LeaveSubmission returns a turn to Claude that was to continue a submitted change, because the
// change's files are missing. ErrSuperseded is returned if h does not own the turn.
func (s *Service) LeaveSubmission(ctx context.Context, id job.ID, h Holder) error {
	return s.run(ctx, Query{Job: id, Answers: true}, func(st *State) error {
		if !h.runs(st.Job) {
			return ErrSuperseded
		}
		st.Job.Submitted, st.Job.ResumeReason = false, &ResumeReason{Reason: Lost}
		st.prepareTurn(st.Job, "")
		return nil
	})
}

// moveWithFailure is move for a turn after one that may have failed.
func (st *State) moveWithFailure(j *Job, to job.State, phase job.Phase) error {
	event, err := st.enter(j, to, phase)
	if err == nil {
		st.emit(j.recipient(), event, stateData{Status: to, Phase: phase, failureData: j.failure()})
	}
	return err
}

// armSecret enables callbacks for another turn, with a new secret: callbacks of the previous turn
// are refused from now on, even if its process still exists. This includes a first turn that the
// store has lost and that is started again. A turn that continues a tool call keeps the secret: the
// CLI continues from that call before Claude sees the new values, and the process that made the call
// is gone.
func (st *State) armSecret(j *Job, fresh job.Secret) {
	if _, call := j.resumedCall(); call == "" || j.Secret.Get() == "" {
		j.Secret.Set(fresh)
		j.Signature = fresh.Sign(j.ID).Digest()
		st.do(RotateSecret{JobID: j.ID, UserID: j.UserID, Secret: fresh, Time: st.Now})
	}
}

// takeStoppedCall makes the starting turn the owner of the call that it continues with the values of
// a reply. The reply itself does not: the exit of the process that made the call may be recorded after
// it. An approved call is handed over when it is allowed.
func (st *State) takeStoppedCall(j *Job) {
	c, call := j.resumedCall()
	j.ContinuesCall = call != ""
	if call != "" && !c.Type.Binding() && j.Calls.Get()[call].Owner == EndedByPerson {
		st.handCall(j.chat(), call, EndedByTurn, "")
	}
}

// resumedCall returns the tool call that the next turn continues because a person has decided on it,
// and the checkpoint of that decision; "" if there is none.
func (j *Job) resumedCall() (c job.Checkpoint, call string) {
	answers := j.Answers.Get()
	if j.ResumeReason == nil || j.ResumeReason.Reason != Replied || len(answers) == 0 {
		return c, ""
	}
	c = answers[len(answers)-1]
	call, _ = c.StoppedCall()
	return c, call
}

// BeginConversation records that the CLI has begun the job's conversation, in turn h. prompted is true if
// the conversation contains the turn's prompt.
func (s *Service) BeginConversation(ctx context.Context, id job.ID, h Holder, prompted bool) error {
	return s.run(ctx, Query{Job: id, RecordOnly: true}, func(st *State) error {
		if st.Job != nil && h.check(st.Job) == nil {
			st.Job.Begun, st.Job.ConversationAt = true, NameTurn(id, st.Job.Turn)
			if prompted {
				st.Job.Prompted = st.Job.Turn
				st.markPromptRead(st.Job)
			}
		}
		return nil
	})
}

// LeaveConversation makes a running turn begin a new conversation, because the previous one is not
// available where it runs. It returns the new id, or "" if the node no longer owns the turn.
func (s *Service) LeaveConversation(ctx context.Context, id job.ID, h Holder) (string, error) {
	return resultOf(ctx, s.run, Query{Job: id, RecordOnly: true}, func(st *State) (string, error) {
		j := st.Job
		if !h.runs(j) {
			return "", nil
		}
		if j.Begun { // otherwise, it was already left, and the response was lost
			st.leaveConversation(j)
		}
		return j.ConversationID(), nil
	})
}

// leaveConversation makes the next process begin another conversation. Its cost counts from 0. Batches
// of the previous one would be mixed with those of another draft.
func (st *State) leaveConversation(j *Job) {
	j.Begun, j.ConversationAt, j.KnownAnswers = false, "", 0
	j.Conversation++
	j.CostBefore = j.CostUSD
	st.do(DropBatches{j.ID})
}

// SetPhase sets the phase of a job's running turn. It does nothing if the turn is no longer the
// job's latest, or if the node no longer owns it.
func (s *Service) SetPhase(ctx context.Context, id job.ID, h Holder, phase job.Phase) error {
	return s.run(ctx, Query{Job: id, RecordOnly: true}, func(st *State) error {
		if !h.runs(st.Job) {
			return nil
		}
		return st.movePhase(st.Job, phase)
	})
}

// ExtendTurn restarts a running turn's callback clock with the duration d; 0 means the job's time
// limit for each turn. ErrSuperseded is returned if h does not own the turn.
func (s *Service) ExtendTurn(ctx context.Context, id job.ID, h Holder, d time.Duration) error {
	return s.setTurnClock(ctx, id, h, func(j *Job) time.Duration { return cmp.Or(d, j.CallbackTimeout) })
}

// AwaitWorker is ExtendTurn for a turn that has to wait for a worker: for as long as a job may.
func (s *Service) AwaitWorker(ctx context.Context, id job.ID, h Holder) error {
	return s.setTurnClock(ctx, id, h, func(j *Job) time.Duration { return j.QueueTimeout })
}

func (s *Service) setTurnClock(ctx context.Context, id job.ID, h Holder, limit func(*Job) time.Duration) error {
	return s.run(ctx, Query{Job: id}, func(st *State) error {
		j := st.Job
		if j == nil || j.State != job.Running {
			return nil
		}
		if err := h.check(j); err != nil {
			return err
		}
		st.setCallbackClock(j, limit(j))
		return nil
	})
}

// TurnEnd describes how a turn's process ended.
type TurnEnd struct {
	ID   job.ID
	Turn int
	Node string
	// Usage is the process's usage as counted by the CLI. Its CostUSD is the cost of the
	// conversation so far, including earlier processes. Usage is zero for a turn that is metered.
	Usage job.Usage
	// Begun is true if the CLI began or resumed the conversation. If not, the next turn begins a
	// new one.
	Begun bool
	// Spoken is true if the conversation contains the turn's prompt. A turn may have no part for Claude.
	Spoken bool
	// Unstarted is true if no process was started: the conversation is unchanged.
	Unstarted bool
	// Code and Message are used if the job has no result yet. Code is empty if the turn ended because
	// of something that was recorded before, or if its server stopped before the turn started. If the job
	// is still running then, and Message is empty, the store has lost that record. This does not count as
	// an attempt, and another one is made after Backoff.
	Code    job.Code
	Message string
	// Again is true if another attempt may succeed. The first is made after Backoff, and the delay
	// doubles for each further one.
	Again   bool
	Backoff time.Duration
	// ResumeReason is passed to the next attempt.
	ResumeReason ResumeReason
	// RateLimit is set if the turn ended at a rate limit of Claude's. This does not count as an
	// attempt.
	RateLimit *RateLimit
	// Budget is set if the turn ended, or did not start, because a budget is exhausted. This does
	// not count as an attempt. OnBudget is the kind's setting for this case.
	Budget   *job.UsedBudget
	OnBudget job.OnBudget
	// question is the id for the question whether to raise the job's budget, if it is asked.
	// humanTimeout is its time limit.
	question     job.CheckpointID
	humanTimeout time.Duration
	// NodeFault is true if the turn could not start because of its node. This does not count as an
	// attempt either, and another node may run it after Backoff.
	NodeFault bool
}

// EndTurn records the end of a turn's process and releases the worker. A job that is still running
// is retried, or fails after its last attempt. It returns the job's state, or "" if the node no
// longer owned the turn.
func (s *Service) EndTurn(ctx context.Context, e TurnEnd) (job.State, error) {
	return resultOf(ctx, s.run, Query{Job: e.ID, Waiting: true}, func(st *State) (job.State, error) {
		if e.Budget != nil && st.Job != nil {
			e.question, e.humanTimeout = job.CheckpointID(s.store.NewID(job.CheckpointIDs, st.Job.UserID)), s.opts.HumanTimeout
		}
		return st.endTurn(e)
	})
}

func (st *State) endTurn(e TurnEnd) (job.State, error) {
	j := st.Job
	if j == nil || j.Turn != e.Turn || j.Owner != e.Node {
		return "", nil
	}
	if (e.NodeFault || e.Unstarted) && !e.Spoken {
		j.CLIVersions = j.CLIVersions.without(j.Turn)
	}
	if e.RateLimit == nil && !e.NodeFault && e.Budget == nil {
		j.BlockedSince = time.Time{}
	}
	left := e.leaves(j)
	lost := j.Begun && !left.begun
	st.bookUsage(j, e)
	st.settleTurn(j, left)
	err := st.release(j)
	if err == nil && j.State == job.Running {
		err = st.endRunning(j, e, lost)
	}
	return j.State, err
}

// remains are what a turn whose process is gone leaves of a conversation: whether another process can resume it, and
// whether it contains the turn's prompt.
type remains struct{ begun, prompted bool }

// leaves returns what a turn leaves of its job's conversation.
func (e TurnEnd) leaves(j *Job) remains {
	switch {
	case e.NodeFault, e.Unstarted: // no process has changed it
		return remains{j.Begun, e.Spoken}
	case e.Code == job.CodeStalled, e.ResumeReason.Reason == Lost, j.isTurnInterrupted(): // perhaps before its first line
		return remains{e.Begun || j.Begun, e.Spoken}
	}
	return remains{e.Begun, e.Spoken}
}

// endRunning decides what follows a turn that has ended without a result. lost is true if its
// conversation could not be resumed.
func (st *State) endRunning(j *Job, e TurnEnd, lost bool) error {
	// Claude's own report is better than what its exit reveals.
	code, message := e.Code, e.Message
	reported := j.FailureTurn == j.Turn && j.FailureCode != ""
	if reported {
		code, message = j.FailureCode, j.FailureMessage
	}
	switch {
	case j.isTurnInterrupted() && e.RateLimit == nil && e.Budget == nil:
		return st.continueInterrupted(j)
	case e.Budget != nil && !reported:
		return st.stopAtBudget(j, e)
	case e.RateLimit != nil && !reported:
		return st.awaitRateLimit(j, *e.RateLimit, code, message)
	case code == "":
		return st.startOver(j, job.CodeCrashed, cmp.Or(message, "The store has lost the end of the turn."), e.Backoff)
	case lost: // this does not count as an attempt: the next turn has the history in its prompt
		return st.startOver(j, code, message, 0)
	case e.NodeFault:
		return st.awaitNode(j, e.Backoff, code, message)
	}
	return st.tryAgain(j, e, code, message)
}

// tryAgain starts another attempt, or fails the job after the last one.
func (st *State) tryAgain(j *Job, e TurnEnd, code job.Code, message string) error {
	if !j.nextAttempt() || !e.Again {
		return st.fail(j, job.Failed, code, message, message)
	}
	j.ResumeReason = &e.ResumeReason
	if e.Code == job.CodeWorkspace && !j.isCaptured() {
		j.Submitted = false // the submitted change could not be read: Claude must look at it
	}
	return st.startOver(j, code, message, e.Backoff<<min(j.Attempt-1, 6))
}

// isServers reports whether a turn is the server's own work for a change that was submitted or approved.
func (j *Job) isServers() bool { return j.Submitted || j.Approved() }

// keepsSubmission reports whether a change that was submitted and not decided on is continued on a node: it
// was accepted, so Claude need not produce it again. Until it is stored, only its own node has its files.
func (j *Job) keepsSubmission(node string) bool {
	return j.Submitted && j.Reviewed == "" && (j.Node == node || j.isCaptured())
}

// minServerAttempts is the least number of times that the server's own work for a change is tried, even if
// Claude has fewer attempts. It costs nothing, but a change that kills each server must not be repeated for
// ever.
const minServerAttempts = 3

// nextAttempt counts an attempt that has ended without a result. It reports whether another one may
// follow.
func (j *Job) nextAttempt() bool {
	j.Attempt++
	most := j.MaxAttempts
	if j.isCaptured() || j.Approved() {
		most = max(most, minServerAttempts)
	}
	return j.Attempt < most
}

// bookUsage adds a turn's usage.
func (st *State) bookUsage(j *Job, e TurnEnd) {
	costBefore := j.CostUSD
	j.InputTokens += e.Usage.InputTokens
	j.OutputTokens += e.Usage.OutputTokens
	j.CacheReadTokens += e.Usage.CacheReadTokens
	j.CacheWriteTokens += e.Usage.CacheWriteTokens
	if e.Usage.CostUSD > 0 {
		j.CostUSD = j.CostBefore + e.Usage.CostUSD
	}
	st.countTurn(j, costBefore)
}

// settleTurn records what remains of a turn whose process is gone: the state of the conversation, and what
// of the turn's prompt it contains. Each turn ends here, also one that is lost.
func (st *State) settleTurn(j *Job, left remains) {
	if left.prompted {
		j.ConversationAt, j.Prompted = NameTurn(j.ID, j.Turn), j.Turn
	}
	if left.begun && j.hasReadPrompt() {
		st.markPromptRead(j)
		j.trimDelivered()
	}
	if j.Begun = left.begun; !left.begun {
		st.leaveConversation(j)
	}
	j.forgetDelivery()
}

// hasReadPrompt reports whether the conversation contains the prompt of the latest turn: the CLI has shown
// that, or Claude has called back, and not from a call that the CLI continues before it adds the prompt.
func (j *Job) hasReadPrompt() bool {
	return j.Prompted == j.Turn || !j.FirstCallback.IsZero() && !j.ContinuesCall
}

// trimDelivered records that the conversation contains what the running turn has received: the messages
// and answers of its prompt, and the answers that its calls have received. An answer after one that was
// not received counts as not received either: the next prompt repeats it.
func (j *Job) trimDelivered() {
	j.PendingMessages = j.PendingMessages[min(j.DeliveredMessages, len(j.PendingMessages)):]
	j.KnownAnswers = j.DeliveredAnswers
	for _, r := range j.UnreadReplies {
		j.KnownAnswers = min(j.KnownAnswers, r.Before)
	}
	j.forgetDelivery()
}

// forgetDelivery makes the next prompt contain the messages and answers that the conversation lacks.
func (j *Job) forgetDelivery() {
	j.DeliveredMessages, j.DeliveredAnswers = 0, j.KnownAnswers
}

// PutBack requeues a queue entry that a node has dequeued without starting its turn. It does
// nothing if the turn was started, or if the job no longer waits.
func (s *Service) PutBack(ctx context.Context, taken QueueEntry) error {
	return s.run(ctx, Query{Job: taken.JobID}, func(st *State) error {
		if st.Job != nil && st.Job.Entry == taken.Entry {
			return nil
		}
		st.putBack(taken)
		return nil
	})
}

func (st *State) putBack(taken QueueEntry) {
	st.do(DropEntry{taken.Priority, taken.Entry})
	if j := st.Job; j != nil && j.IsQueued() {
		st.do(EnqueueTurn{j.QueuePosition(), taken.Turn})
	}
}

// LoseUnowned takes a turn from a node that no longer owns the turn's queue entry: otherwise, no
// other node would notice if this one died. It reports whether there was such a turn. If mend is
// false, it changes nothing.
func (s *Service) LoseUnowned(ctx context.Context, taken QueueEntry, mend bool) (bool, error) {
	return resultOf(ctx, s.run, Query{Job: taken.JobID, Waiting: true, Entry: taken}, func(st *State) (bool, error) {
		j := st.Job
		unowned := !st.EntryOwned.Get() && j != nil && j.Entry == taken.Entry && j.Owner != ""
		if !unowned || !mend {
			return unowned, nil
		}
		return st.loseNode(taken)
	})
}

// LoseNode takes a turn, or a queue entry without a started turn, from a node that has stopped its
// heartbeats. It reports whether there was such a turn.
func (s *Service) LoseNode(ctx context.Context, taken QueueEntry) (bool, error) {
	return resultOf(ctx, s.run, Query{Job: taken.JobID, Waiting: true}, func(st *State) (bool, error) { return st.loseNode(taken) })
}

func (st *State) loseNode(taken QueueEntry) (bool, error) {
	j := st.Job
	if j == nil || j.Entry != taken.Entry {
		st.putBack(taken)
		return false, nil
	}
	if j.Begun || !j.isServers() { // as if its process had ended with it
		st.settleTurn(j, remains{begun: j.Begun})
	}
	if err := st.release(j); err != nil || j.State != job.Running {
		return true, err
	}
	if j.isTurnInterrupted() {
		return true, st.continueInterrupted(j)
	}
	if !j.nextAttempt() {
		const again = "The job lost its server repeatedly."
		return true, st.fail(j, job.Failed, job.CodeCrashed, again, again)
	}
	if !j.isCaptured() && !j.Approved() { // otherwise, no turn of Claude's follows
		j.ResumeReason = &ResumeReason{Reason: Lost}
	}
	return true, st.startOver(j, job.CodeCrashed, "The server that ran it was lost.", 0)
}
