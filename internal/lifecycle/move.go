package lifecycle

import (
	"encoding/json"
	"time"

	"ringback/internal/job"
)

// enter moves a job to a state and phase and returns the event that tells of it, ""
// where none does. There is no other way: what job.Transitions does not list is
// refused.
func (st *State) enter(j *Job, to job.State, phase job.Phase) (job.EventType, error) {
	t, ok := job.FindTransition(j.State, j.Phase, to, phase)
	if !ok {
		return "", job.Errorf(job.Internal, "A job cannot go from %q/%q to %q/%q", j.State, j.Phase, to, phase)
	}
	j.State, j.Phase, j.PhaseUntil = to, phase, time.Time{}
	return t.Event, nil
}

// move moves a job and tells of it. data is that of the event; nil for what every
// event of a state tells.
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

// movePhase moves a job within its state and tells of it. A phase that it is in
// already is no change.
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

// stateData is the data of a state's event.
type stateData struct {
	// Status is the job's state from now on.
	Status job.State `json:"status"`
	// Phase says what goes on within it.
	Phase job.Phase `json:"phase,omitempty"`
	// PhaseUntil is until when it goes on at least: when the next attempt is made.
	PhaseUntil stamp `json:"phaseUntil,omitzero"`
	// Interrupt is a person's request to stop what the turn does.
	Interrupt *job.Interrupt `json:"interrupt,omitempty"`
	*failureData
}

// failureData is what such an event tells beside it when a turn before failed.
type failureData struct {
	// Turn counts the turns started so far.
	Turn int `json:"turn"`
	// Attempt counts turns in a row that ended without a result; at MaxAttempts the job
	// has failed.
	Attempt     int `json:"attempt"`
	MaxAttempts int `json:"maxAttempts"`
	// LastFailure is how the turn before failed.
	LastFailure *job.Failure `json:"lastFailure"`
}

// failure is what the state of a turn tells of the one before it, if that failed.
func (j *Job) failure() *failureData {
	latest := j.Turn
	if j.State == job.Running {
		latest--
	}
	if j.LastFailure == nil || j.LastFailure.Turn < latest {
		return nil
	}
	return &failureData{j.Turn, j.Attempt, j.MaxAttempts, j.LastFailure}
}

// stamp is a time as events have it: RFC 3339 with milliseconds.
type stamp time.Time

// MarshalText implements encoding.TextMarshaler.
func (s stamp) MarshalText() ([]byte, error) {
	return []byte(time.Time(s).UTC().Format(job.EventTimeLayout)), nil
}

// IsZero makes omitzero work.
func (s stamp) IsZero() bool { return time.Time(s).IsZero() }

func (j *Job) recipient() Recipient {
	return Recipient{j.UserID, j.SessionID, j.EventPrefix, j.ID, j.KindVersion, j.Simulated, j.Retention}
}

// emit tells of something. Data that is no JSON is a fault of ours: it is marshalled
// from types of this package.
func (st *State) emit(to Recipient, event job.EventType, data any) {
	text, ok := data.(json.RawMessage)
	if !ok {
		text = mustMarshal(data)
	}
	st.Effects = append(st.Effects, Emit{to, event, st.Now, text})
}

func (st *State) do(effects ...Effect) { st.Effects = append(st.Effects, effects...) }

func mustMarshal(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic("lifecycle: " + err.Error()) // only types of ours are marshalled here
	}
	return text
}

// setClock starts a clock of a job, or sets it anew.
func (st *State) setClock(j *Job, clock Clock, after time.Duration) {
	st.do(SetClock{clock, string(j.ID), st.Now.Add(after)})
}

// setDeadline is setClock for the clock whose end people see.
func (st *State) setDeadline(j *Job, clock Clock, after time.Duration) {
	st.setClock(j, clock, after)
	j.Deadline = st.Now.Add(after)
}

// stopClocks stops all clocks of a job but the one that deletes it.
func (st *State) stopClocks(j *Job) {
	st.do(StopClocks{j.ID})
	j.Deadline = time.Time{}
}

// callbackLeft is what is left of the callback clock of a running job: it is the one
// whose end people see.
func (st *State) callbackLeft(j *Job) time.Duration {
	if j.Deadline.IsZero() {
		return j.CallbackTimeout
	}
	return max(0, j.Deadline.Sub(st.Now))
}

// setCallbackClock gives a running job so long, and its callbacks as long.
func (st *State) setCallbackClock(j *Job, d time.Duration) {
	st.setDeadline(j, CallbackClock, d)
	st.do(KeepSecret{j.ID, d})
}

// resumeCallbackClock lets the callback clock, which stood still, run on.
func (st *State) resumeCallbackClock(j *Job, left time.Duration) {
	st.setDeadline(j, CallbackClock, left)
	st.do(KeepSecret{j.ID, left + time.Millisecond})
}

// enqueue puts a pending job's next turn into the queue.
func (st *State) enqueue(j *Job) error {
	if err := st.movePhase(j, job.Queued); err != nil {
		return err
	}
	st.do(EnqueueTurn{j.QueuePosition()})
	return nil
}

// startNextTurn enqueues the next turn; where a process of the job is still there,
// its end does.
func (st *State) startNextTurn(j *Job) error {
	st.setClock(j, QueueClock, j.QueueTimeout)
	if j.Owner != "" {
		j.RestartPending = true
		return nil
	}
	return st.enqueue(j)
}

// waitingPhase is where a job waits for its next turn.
func (j *Job) waitingPhase() job.Phase {
	if j.Owner != "" {
		return job.WaitingForExit
	}
	return job.Queued
}

// resume goes on with a job in another turn, which is told why.
func (st *State) resume(j *Job, why ResumeReason) error {
	j.ResumeReason = &why
	if err := st.move(j, job.Pending, j.waitingPhase(), nil); err != nil {
		return err
	}
	return st.startNextTurn(j)
}

// startOver tries a turn again that failed, after a delay. Until then the job is
// queued, but not in a queue.
func (st *State) startOver(j *Job, code job.Code, message string, delay time.Duration) error {
	return st.tryAt(j, job.Queued, code, message, st.Now.Add(delay))
}

// tryAt tries a turn again that ended without a result. Until then the job waits in a
// phase, and is in no queue.
func (st *State) tryAt(j *Job, phase job.Phase, code job.Code, message string, at time.Time) error {
	st.noteFailure(j, code, message)
	st.stopClocks(j)
	event, err := st.enter(j, job.Pending, phase)
	if err != nil {
		return err
	}
	data := stateData{Status: j.State, Phase: j.Phase, failureData: j.failure()}
	if at.After(st.Now) {
		j.PhaseUntil = at
		data.PhaseUntil = stamp(at)
	}
	st.emit(j.recipient(), event, data)
	st.do(SetClock{RetryClock, string(j.ID), at})
	return nil
}

// noteFailure keeps how a turn failed, for whoever looks while the job is tried
// again.
func (st *State) noteFailure(j *Job, code job.Code, message string) {
	j.LastFailure = &job.Failure{Turn: j.Turn, ErrorCode: code, Error: message, Time: st.Now}
}
