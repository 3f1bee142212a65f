package lifecycle

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"ringback/internal/job"
)

// Turn is a turn that was given to a node to run.
type Turn struct {
	Job job.Job
	// Signature goes into the prompt; callbacks carry it.
	Signature job.Signature
	// Conversation is the id of the Claude conversation, a UUID.
	Conversation string
	// Begun is whether an earlier turn's process began the conversation, so that
	// this one can resume it.
	Begun bool
	// ConversationAt is the turn that went on with the conversation last; empty where that
	// is not known.
	ConversationAt TurnName
	// Retold is whether a new conversation is to be told the story of an earlier one, which
	// is not to be had where the turn runs.
	Retold bool
	// ResumeReason is what the turn before left for this one; nil for a first turn.
	ResumeReason *ResumeReason
	// PendingMessages are what the user has written since the last turn, in order.
	PendingMessages []job.Message
	// Answers are the checkpoints that a person has answered so far, in order.
	Answers []job.Checkpoint
	// UsedUp are those of them by which something was allowed once, and is no more.
	UsedUp []job.CheckpointID
	// Manual is whether a person plays Claude without a worker: there is nothing to run.
	Manual bool
}

// Worker is who runs turns.
type Worker struct {
	Node string
	// Simulates is whether there is no CLI, so that the stand-in runs. Any job it
	// takes is simulated from then on.
	Simulates bool
	// Proxies is true if the requests of its turns to the model's API go through the server.
	Proxies bool
}

// Taken is an entry of the queue that a node has taken. Until its turn starts, it
// is the node's; whoever finds it when that node is gone puts it back.
type Taken struct {
	JobID    job.ID
	Priority job.Priority
	Entry    string
	// Users counts the users who had jobs like this one in line when it was taken; 0 if it was not
	// taken just now.
	Users int
}

// StartTurn starts the turn of a queue entry; nil where the job is not to run now: it
// has ended, its last process is still there, or its user has enough turns running.
func (s *Service) StartTurn(ctx context.Context, w Worker, taken Taken) (*Turn, error) {
	var started *Job
	fresh := job.NewSecret()
	q := Query{Job: taken.JobID, Running: true, Pending: true, Waiting: true, Entry: taken, Holder: w.Node}
	err := s.run(ctx, q, func(st *State) (err error) {
		started, err = st.startTurn(s.opts, w, taken, fresh)
		return err
	})
	if err != nil || started == nil {
		return nil, err
	}
	return started.newTurn(), nil
}

// newTurn is what a worker is told of a turn that was started.
func (j *Job) newTurn() *Turn {
	view := j.View
	view.State, view.Phase, view.PhaseUntil, view.Turn, view.Node = j.State, j.Phase, j.PhaseUntil, j.Turn, j.Node
	view.Simulated, view.Submitted, view.Deadline, view.UpdatedAt = j.Simulated, j.Submitted, j.Deadline, j.UpdatedAt
	return &Turn{
		Job: view, Signature: j.Secret.Sign(j.ID), Conversation: j.conversationID(), Begun: j.Begun, ConversationAt: j.ConversationAt,
		ResumeReason: j.ResumeReason, PendingMessages: j.Pending, Answers: j.Answers, UsedUp: j.usedUp(), Manual: j.Manual,
	}
}

// usedUp are the answers that allowed something for once and allow it no more: it was
// done, or was not done in time, or the job ended before.
func (j *Job) usedUp() []job.CheckpointID {
	var found []job.CheckpointID
	for _, c := range j.Answers {
		allowed := (c.Type == job.Confirmation || c.Type == job.ToolApproval) && c.Reply != nil && c.Reply.Decision == job.Approve
		if allowed && !slices.Contains(j.Unused, c.ID) {
			found = append(found, c.ID)
		}
	}
	return found
}

func (j *Job) conversationID() string { return conversationID(j.root(), itoa(j.Conversation)) }

// conversationID names the nth conversation of a job. There is more than one
// when the CLI could not begin, or no longer finds, the one before.
func conversationID(id job.ID, n string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(string(id)+"/"+n)).String()
}

// startTurn returns the job whose turn was started; nil for none.
func (st *State) startTurn(opts Options, w Worker, taken Taken, fresh job.Secret) (*Job, error) {
	j := st.Job
	if j != nil && j.Owner == w.Node && j.Entry == taken.Entry && j.State == job.Running {
		return j, nil // it was started, and the answer was lost
	}
	if !st.Held {
		return nil, nil // the node was silent for too long, and another has put it back
	}
	if j == nil || j.State != job.Pending || j.Phase == job.WaitingForExit {
		st.do(DropEntry{taken.Priority, taken.Entry})
		return nil, nil
	}
	if j.UserRunning >= opts.UserLimit {
		st.do(AwaitLimit{j.QueuePosition(), taken.Entry})
		return nil, st.movePhase(j, job.WaitingForLimit)
	}
	// Here it is decided whether a job is simulated: by its options since it was
	// created, or because a node without a CLI runs it. It stays so.
	j.Simulated = j.Simulated || w.Simulates
	st.stopClocks(j)
	st.armSecret(j, fresh)
	j.Turn++
	j.StartedAt, j.FirstCallback = st.Now, time.Time{}
	j.ToolCalls, j.Blocks, j.Offer, j.Proxied = 0, 0, nil, w.Proxies && !j.Simulated
	// A change that was submitted and not decided on is gone on with where its files are:
	// it was accepted, so Claude is not asked for it again.
	j.Submitted = j.Submitted && j.Reviewed == "" && j.Node == w.Node
	st.prepareTurn(j)
	// Only a workspace takes the node a time that people notice.
	phase := job.AtWork
	if j.HasWorkspace {
		phase = job.Preparing
	}
	if err := st.moveWithFailure(j, job.Running, phase); err != nil {
		return nil, err
	}
	if j.Manual { // a person plays Claude: no worker is held
		st.do(DropEntry{taken.Priority, taken.Entry})
		return j, st.startWaiting(j)
	}
	j.Entry, j.Owner, j.Node = taken.Entry, w.Node, w.Node
	st.do(HoldEntry{w.Node, taken.Priority, taken.Entry}, HoldWorker{j.ID, j.UserID, opts.UserLimit})
	return j, nil
}

// prepareTurn sets how long a turn has, and what it tells Claude: one that goes on with a
// change that was submitted or approved needs the server's time and tells nothing.
func (st *State) prepareTurn(j *Job) {
	j.DeliveredMessages = 0
	if j.Submitted || j.HasWorkspace && j.Reviewed == job.Approve {
		st.setCallbackClock(j, reviewTime)
		return
	}
	st.setCallbackClock(j, j.CallbackTimeout)
	// What the user has written meanwhile goes into this turn's prompt; it is kept
	// until the turn has begun its conversation.
	j.DeliveredMessages = j.PendingMessages
	j.tellWords()
}

// LeaveSubmission gives a turn to Claude that was to go on with a submitted change: its
// files are not where they were. ErrSuperseded says that h does not have the turn.
func (s *Service) LeaveSubmission(ctx context.Context, id job.ID, h Holder) error {
	return s.run(ctx, Query{Job: id}, func(st *State) error {
		j := st.Job
		if j == nil || j.State != job.Running {
			return ErrSuperseded
		}
		if err := h.check(j); err != nil {
			return err
		}
		j.Submitted = false
		st.prepareTurn(j)
		return nil
	})
}

// moveWithFailure is move for a turn of which the one before may have failed.
func (st *State) moveWithFailure(j *Job, to job.State, phase job.Phase) error {
	event, err := st.enter(j, to, phase)
	if err == nil {
		st.emit(j.recipient(), event, stateData{Status: to, Phase: phase, failureData: j.failure()})
	}
	return err
}

// armSecret lets callbacks in for another turn, by a secret of its own: those of the turn
// before, whose process may still be there, are refused from now on. That of the first
// turn is as old as the job, and nobody has used it. A turn that goes on with a call of
// a tool keeps it: the CLI continues from that call before Claude sees the new values,
// and the process that made the call is gone.
func (st *State) armSecret(j *Job, fresh job.Secret) {
	if j.Secret == "" || j.Turn > 0 && !j.resumesToolCall() {
		j.Secret = fresh
		j.Signature = fresh.Sign(j.ID).Digest()
		st.do(RotateSecret{j.ID, j.UserID, fresh, st.Now})
	}
	j.SecretAlive = true
}

// resumesToolCall reports whether the next turn goes on with a call of a tool that a
// person has decided on.
func (j *Job) resumesToolCall() bool {
	if j.ResumeReason == nil || j.ResumeReason.Reason != Replied || len(j.Answers) == 0 {
		return false
	}
	call, _ := j.Answers[len(j.Answers)-1].StoppedCall()
	return call != ""
}

// BeginConversation notes that the CLI has begun the job's conversation, in its turn h.
func (s *Service) BeginConversation(ctx context.Context, id job.ID, h Holder) error {
	return s.run(ctx, Query{Job: id, RecordOnly: true}, func(st *State) error {
		if st.Job != nil && h.check(st.Job) == nil {
			st.Job.Begun, st.Job.ConversationAt = true, NameTurn(id, st.Job.Turn)
			st.hearPrompt(st.Job)
		}
		return nil
	})
}

// LeaveConversation has a running turn begin a new conversation, for the one before is not
// where it runs. It returns the new one's id; "" where the turn is no longer the node's.
func (s *Service) LeaveConversation(ctx context.Context, id job.ID, turn int, node string) (string, error) {
	var begun string
	err := s.run(ctx, Query{Job: id, RecordOnly: true}, func(st *State) error {
		j := st.Job
		begun = ""
		if j == nil || j.State != job.Running || j.Turn != turn || j.Owner != node {
			return nil
		}
		if j.Begun { // else it was left, and the answer was lost
			j.leaveConversation()
		}
		begun = j.conversationID()
		return nil
	})
	return begun, err
}

// leaveConversation lets the next process begin another conversation. What that one costs
// counts from 0.
func (j *Job) leaveConversation() {
	j.Begun, j.ConversationAt = false, ""
	j.Conversation++
	j.CostBefore = j.CostUSD
}

// SetPhase says what a job's running turn is busy with. Where the turn is no longer
// the job's, nor the node's, nothing happens.
func (s *Service) SetPhase(ctx context.Context, id job.ID, turn int, node string, phase job.Phase) error {
	return s.run(ctx, Query{Job: id, RecordOnly: true}, func(st *State) error {
		j := st.Job
		if j == nil || j.State != job.Running || j.Turn != turn || j.Owner != node {
			return nil
		}
		return st.movePhase(j, phase)
	})
}

// ExtendTurn sets a running turn's callback clock anew, to d from now; 0 means what
// the job allows each turn. ErrSuperseded says that h does not have the turn.
func (s *Service) ExtendTurn(ctx context.Context, id job.ID, h Holder, d time.Duration) error {
	return s.run(ctx, Query{Job: id}, func(st *State) error {
		j := st.Job
		if j == nil || j.State != job.Running {
			return nil
		}
		if err := h.check(j); err != nil {
			return err
		}
		if d == 0 {
			d = j.CallbackTimeout
		}
		st.setCallbackClock(j, d)
		return nil
	})
}

// TurnEnd says how a turn's process ended.
type TurnEnd struct {
	ID   job.ID
	Turn int
	Node string
	// Usage is what the process used by the CLI's own count, where CostUSD is what the
	// conversation cost so far, earlier processes included; zero for a turn that is metered.
	Usage job.Usage
	// Begun is whether the CLI began or resumed the conversation; if not, the next
	// turn begins a new one.
	Begun bool
	// Spoken is whether it did so in this turn: one may have no part of Claude's.
	Spoken bool
	// Code and Message are used when the job has no result yet.
	Code    job.Code
	Message string
	// Again is whether another attempt may help. The first is made after Backoff,
	// each further one after twice the delay.
	Again   bool
	Backoff time.Duration
	// ResumeReason goes to the next attempt.
	ResumeReason ResumeReason
	// Limit is set where the turn ended at a limit of Claude's: that is no attempt.
	Limit *Limit
	// Budget is set if the turn ended, or did not start, because a budget is used up: that is
	// no attempt. OnBudget is what the kind does then.
	Budget   *job.UsedBudget
	OnBudget job.OnBudget
	// question is the id of the question whether the job may cost more, if one is asked, and
	// humanTimeout is how long that waits.
	question     job.CheckpointID
	humanTimeout time.Duration
	// Undone is whether the end was booked before, and the store has lost it since: that is
	// no attempt either.
	Undone bool
	// NodeFault is whether the turn could not start because of its node: that is no attempt
	// either, and another node may run it after Backoff.
	NodeFault bool
}

// EndTurn books the end of a turn's process and gives the worker back. A job
// that is still running is tried again, or fails after its last attempt. It
// returns the job's state; "" when the turn was no longer the node's.
func (s *Service) EndTurn(ctx context.Context, e TurnEnd) (job.State, error) {
	var state job.State
	err := s.run(ctx, Query{Job: e.ID, Waiting: true}, func(st *State) (err error) {
		if e.Budget != nil && st.Job != nil {
			e.question, e.humanTimeout = job.CheckpointID(s.store.NewID(job.CheckpointIDs, st.Job.UserID)), s.opts.HumanTimeout
		}
		state, err = st.endTurn(e)
		return err
	})
	return state, err
}

func (st *State) endTurn(e TurnEnd) (job.State, error) {
	j := st.Job
	if j == nil || j.Turn != e.Turn || j.Owner != e.Node {
		return "", nil
	}
	cut := e.Code == job.CodeStalled || j.isTurnInterrupted()
	if e.NodeFault || cut && !e.Begun {
		e.Begun = j.Begun // the conversation is where it was
	}
	if (e.NodeFault || cut || e.Budget != nil) && !e.Spoken {
		j.DeliveredMessages = 0 // no process was told them
	}
	lost := !e.Begun && j.Begun
	st.bookUsage(j, e)
	if err := st.release(j); err != nil {
		return "", err
	}
	if j.State != job.Running {
		return j.State, nil
	}
	if e.Limit == nil && !e.NodeFault && e.Budget == nil {
		j.BlockedSince = time.Time{}
	}
	if j.isTurnInterrupted() && e.Limit == nil && e.Budget == nil {
		err := st.goOn(j)
		return j.State, err
	}
	// What Claude itself said is better than what its exit tells.
	code, message := e.Code, e.Message
	if j.FailureTurn == j.Turn && j.FailureCode != "" {
		code, message = j.FailureCode, j.FailureMessage
	} else if e.Budget != nil {
		err := st.stopAtBudget(j, e)
		return j.State, err
	} else if e.Limit != nil {
		err := st.awaitLimitEnd(j, *e.Limit, code, message)
		return j.State, err
	}
	// A conversation that could not be resumed is lost, not an attempt: the next turn
	// gets the history in its prompt.
	if lost || e.Undone {
		err := st.startOver(j, code, message, 0)
		return j.State, err
	}
	if e.NodeFault {
		err := st.awaitNode(j, e.Backoff, code, message)
		return j.State, err
	}
	if err := st.tryAgain(j, e, code, message); err != nil {
		return "", err
	}
	return j.State, nil
}

// tryAgain starts another attempt, or fails the job after its last one.
func (st *State) tryAgain(j *Job, e TurnEnd, code job.Code, message string) error {
	j.Attempt++
	if !e.Again || j.Attempt >= j.MaxAttempts {
		return st.fail(j, job.Failed, code, message, message)
	}
	j.ResumeReason = &e.ResumeReason
	if e.Code == job.CodeWorkspace {
		j.Submitted = false // what was submitted could not be read: Claude is to look at it
	}
	return st.startOver(j, code, message, e.Backoff<<min(j.Attempt-1, 6))
}

// bookUsage adds what a turn used, and notes how the conversation stands after it.
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
	j.Begun = e.Begun
	if !e.Begun {
		j.leaveConversation()
		return
	}
	if e.Spoken {
		j.ConversationAt = NameTurn(e.ID, e.Turn)
		st.hearPrompt(j)
	}
	if j.DeliveredMessages > 0 {
		st.do(TrimPending{j.ID, j.DeliveredMessages})
		j.PendingMessages -= j.DeliveredMessages
		j.DeliveredMessages = 0
	}
}

// PutBack puts a queue entry back that a node has taken without starting its turn. Where
// the turn was started, or the job does not wait any more, nothing happens.
func (s *Service) PutBack(ctx context.Context, taken Taken) error {
	return s.run(ctx, Query{Job: taken.JobID}, func(st *State) error {
		if st.Job != nil && st.Job.Entry == taken.Entry {
			return nil
		}
		return st.putBack(taken)
	})
}

func (st *State) putBack(taken Taken) error {
	st.do(DropEntry{taken.Priority, taken.Entry})
	if j := st.Job; j != nil && j.IsQueued() {
		return st.enqueue(j)
	}
	return nil
}

// LoseUnheld takes a turn from a node that holds its entry of the queue no more: nobody
// would miss the node if it died. It returns whether there was such a turn; without mend it
// only looks.
func (s *Service) LoseUnheld(ctx context.Context, taken Taken, mend bool) (bool, error) {
	var unheld bool
	err := s.run(ctx, Query{Job: taken.JobID, Waiting: true, Entry: taken}, func(st *State) (err error) {
		j := st.Job
		unheld = !st.Held && j != nil && j.Entry == taken.Entry && j.Owner != ""
		if unheld && mend {
			_, err = st.loseNode(taken)
		}
		return err
	})
	return unheld, err
}

// LoseNode takes a turn, or a queue entry of which none was started, from a node that
// has fallen silent. It returns whether there was such a turn.
func (s *Service) LoseNode(ctx context.Context, taken Taken) (bool, error) {
	var lost bool
	err := s.run(ctx, Query{Job: taken.JobID, Waiting: true}, func(st *State) (err error) {
		lost, err = st.loseNode(taken)
		return err
	})
	return lost, err
}

func (st *State) loseNode(taken Taken) (bool, error) {
	j := st.Job
	if j == nil || j.Entry != taken.Entry {
		return false, st.putBack(taken)
	}
	if err := st.release(j); err != nil || j.State != job.Running {
		return true, err
	}
	if j.isTurnInterrupted() {
		return true, st.goOn(j)
	}
	j.Attempt++
	if j.Attempt >= j.MaxAttempts {
		const again = "The job lost its server again and again."
		return true, st.fail(j, job.Failed, job.CodeCrashed, again, again)
	}
	j.ResumeReason = &ResumeReason{Reason: Lost}
	return true, st.startOver(j, job.CodeCrashed, "The server that ran it was lost.", 0)
}
