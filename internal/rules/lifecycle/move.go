package lifecycle

import (
	"encoding/json"
	"time"

	"ringback/internal/job"
)

// enter moves a job to a state and phase and returns the event that reports it, or "" if none does.
// All moves must be made here: enter rejects any move that job.Transitions does not list.
func (st *State) enter(j *Job, to job.State, phase job.Phase) (job.EventType, error) {
	t, ok := job.FindTransition(j.State, j.Phase, to, phase)
	if !ok {
		return "", job.Errorf(job.Internal, "A job cannot go from %q/%q to %q/%q", j.State, j.Phase, to, phase)
	}
	j.State, j.Phase, j.PhaseUntil = to, phase, time.Time{}
	return t.Event, nil
}

// move moves a job and emits the event. data is the event's data; nil for the default.
func (st *State) move(j *Job, to job.State, phase job.Phase, data any) error {
	event, err := st.enter(j, to, phase)
	if err != nil {
		return err
	}
	if data == nil {
		data = stateData{Status: to, Phase: phase}
	}
	st.emit(j.recipient(), event, data)
	return nil
}

// movePhase moves a job within its state and emits the event. It does nothing if the job is already
// in that phase.
func (st *State) movePhase(j *Job, phase job.Phase) error {
	if j.Phase == phase {
		return nil
	}
	event, err := st.enter(j, j.State, phase)
	if err == nil && event != "" {
		st.emit(j.recipient(), event, stateData{Status: j.State, Phase: phase})
	}
	return err
}

// stateData is the event data of a state.
type stateData struct {
	// Status is the new state of the job.
	Status job.State `json:"status"`
	// Phase describes what happens within it.
	Phase job.Phase `json:"phase,omitempty"`
	// PhaseUntil is the earliest end of the phase: the time of the next attempt.
	PhaseUntil stamp `json:"phaseUntil,omitzero"`
	// Interrupt is a person's request to stop part of the turn.
	Interrupt *job.Interrupt `json:"interrupt,omitempty"`
	*failureData
}

// failureData is the additional event data if the previous turn failed.
type failureData struct {
	// Turn counts the turns started so far.
	Turn int `json:"turn"`
	// Attempt counts consecutive turns that ended without a result. At MaxAttempts the job fails.
	Attempt     int `json:"attempt"`
	MaxAttempts int `json:"maxAttempts"`
	// LastFailure is the failure of the previous turn.
	LastFailure *job.Failure `json:"lastFailure"`
}

// failure returns the data about the previous turn for the event of a turn's state; nil if the
// previous turn did not fail.
func (j *Job) failure() *failureData {
	latest := j.Turn
	if j.State == job.Running {
		latest--
	}
	if j.LastFailure == nil || j.LastFailure.Turn < latest {
		return nil
	}
	return &failureData{Turn: j.Turn, Attempt: j.Attempt, MaxAttempts: j.MaxAttempts, LastFailure: j.LastFailure}
}

// stamp is a time in the format of events: RFC 3339 with milliseconds.
type stamp time.Time

// MarshalText implements encoding.TextMarshaler.
func (s stamp) MarshalText() ([]byte, error) {
	return []byte(time.Time(s).UTC().Format(job.EventTimeLayout)), nil
}

// IsZero makes omitzero work.
func (s stamp) IsZero() bool { return time.Time(s).IsZero() }

func (j *Job) recipient() Recipient {
	return Recipient{
		UserID: j.UserID, SessionID: j.SessionID, EventPrefix: j.EventPrefix, JobID: j.ID,
		KindVersion: j.KindVersion, Simulated: j.Simulated, Retention: j.Retention,
	}
}

// emit adds an event. It panics if data cannot be marshalled, because all data has types of this
// package.
func (st *State) emit(to Recipient, event job.EventType, data any) {
	switch data.(type) {
	case json.RawMessage, MessageData:
	default:
		data = job.MustJSON(data)
	}
	st.Effects = append(st.Effects, Emit{To: to, Type: event, Time: st.Now, Data: data})
}

func (st *State) do(effects ...Effect) { st.Effects = append(st.Effects, effects...) }

// setClock starts or restarts a clock of a job.
func (st *State) setClock(j *Job, clock Clock, after time.Duration) {
	st.do(SetClock{clock, string(j.ID), st.Now.Add(after)})
}

// setDeadline is setClock for a clock with a deadline that people see.
func (st *State) setDeadline(j *Job, clock Clock, after time.Duration) {
	st.setClock(j, clock, after)
	j.Deadline = st.Now.Add(after)
}

// stopClocks stops all clocks of a job except the one that deletes it.
func (st *State) stopClocks(j *Job) {
	st.do(StopClocks{string(j.ID), JobClocks})
	j.Deadline = time.Time{}
}

func (st *State) stopClock(clock Clock, ref string) { st.do(StopClocks{ref, []Clock{clock}}) }

// minCallbackLeft is the minimum that is left on the callback clock after a person's answer, if the job's time
// limit is not shorter: a request to the model may take that long. Actions that need no approval give nothing, for
// Claude could call one again and again.
const minCallbackLeft = 30 * time.Second

// pausedFor returns the longest time for which runs of actions may still pause the callback clock of a job.
func (st *State) pausedFor(j *Job) (longest time.Duration) {
	for _, until := range j.Pauses {
		longest = max(longest, until.Sub(st.Now))
	}
	return longest
}

// callbackLeft returns the time that is left on the callback clock of a running job. People see
// that clock's deadline.
func (st *State) callbackLeft(j *Job) time.Duration {
	switch {
	case st.pausedFor(j) > 0:
		return j.CallbackLeft
	case j.Deadline.IsZero():
		return j.CallbackTimeout
	}
	return max(st.Grace, j.Deadline.Sub(st.Now))
}

// setCallbackClock gives a running job the time d on its callback clock. The secret lives as long.
func (st *State) setCallbackClock(j *Job, d time.Duration) {
	j.CallbackLeft = d
	d += st.pausedFor(j)
	st.setDeadline(j, CallbackClock, d)
	st.do(KeepSecret{j.ID, d})
}

// runCallbackClock lets the callback clock continue with the time that was left, once nothing pauses it any
// more. The clock of the server's own work is not paused.
func (st *State) runCallbackClock(j *Job) {
	if j.State == job.Running && !j.isServers() {
		st.setCallbackClock(j, j.CallbackLeft)
	}
}

// pauseForRun pauses the callback clock while an action runs, for at most its time limit.
func (st *State) pauseForRun(j *Job, run RunID, limit time.Duration) {
	j.CallbackLeft = st.callbackLeft(j)
	j.Pauses = with(j.Pauses, run, st.Now.Add(limit))
	st.runCallbackClock(j)
}

// resumeAfterRun ends the pause for a run.
func (st *State) resumeAfterRun(j *Job, run RunID) {
	if _, paused := j.Pauses[run]; paused {
		if j.State == job.Running {
			j.CallbackLeft = st.callbackLeft(j) // less if the run has exceeded its time limit
		}
		j.Pauses = without(j.Pauses, run)
		st.runCallbackClock(j)
	}
}

// enqueue puts a pending job's next turn into the queue.
func (st *State) enqueue(j *Job) error {
	if err := st.movePhase(j, job.Queued); err != nil {
		return err
	}
	st.do(EnqueueTurn{QueuePosition: j.QueuePosition()})
	return nil
}

// startNextTurn enqueues the next turn. If the job's process still exists, its exit will enqueue
// it.
func (st *State) startNextTurn(j *Job) error {
	st.setClock(j, QueueClock, j.QueueTimeout)
	if j.Owner != "" {
		j.RestartPending = true
		return nil
	}
	return st.enqueue(j)
}

// waitingPhase returns the phase in which a job waits for its next turn.
func (j *Job) waitingPhase() job.Phase {
	if j.Owner != "" {
		return job.WaitingForExit
	}
	return job.Queued
}

// resume continues a job in another turn, with the reason for it.
func (st *State) resume(j *Job, why ResumeReason) error {
	j.ResumeReason = &why
	if err := st.move(j, job.Pending, j.waitingPhase(), nil); err != nil {
		return err
	}
	return st.startNextTurn(j)
}

// startOver retries a failed turn after a delay. Until then, the job's phase is queued, but it is
// not in the queue.
func (st *State) startOver(j *Job, code job.Code, message string, delay time.Duration) error {
	return st.tryAt(j, job.Queued, code, message, st.Now.Add(delay))
}

// tryAt retries a turn that ended without a result. Until then, the job waits in a phase, outside
// the queue.
func (st *State) tryAt(j *Job, phase job.Phase, code job.Code, message string, at time.Time) error {
	st.noteFailure(j, code, message)
	st.stopClocks(j)
	event, err := st.enter(j, job.Pending, phase)
	if err != nil {
		return err
	}
	data := stateData{Status: j.State, Phase: j.Phase, failureData: j.failure()}
	if phase == job.Queued {
		j.PhaseUntil = at // also if that is now: the job is not in the queue before its clock is noticed
	}
	if at.After(st.Now) {
		j.PhaseUntil = at
		data.PhaseUntil = stamp(at)
	}
	st.emit(j.recipient(), event, data)
	st.do(SetClock{RetryClock, string(j.ID), at})
	return nil
}

// noteFailure records a turn's failure, so that people can see it while the job is retried.
func (st *State) noteFailure(j *Job, code job.Code, message string) {
	j.LastFailure = &job.Failure{Turn: j.Turn, ErrorCode: code, Error: message, Time: st.Now}
}
