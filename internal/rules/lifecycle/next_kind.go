package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
)

// NextKind is the version of its kind under which the next turn of a job begins, with what the
// version decides of the record.
type NextKind struct {
	Version         string        `json:"version"`
	EventPrefix     string        `json:"eventPrefix"`
	CallbackTimeout time.Duration `json:"callbackTimeout"`
	MaxAttempts     int           `json:"maxAttempts"`
	// BudgetUSD is what the job may cost before a person raises it.
	BudgetUSD float64 `json:"budgetUsd"`
}

// versionData is the data of the event that a job changes the version of its kind.
type versionData struct {
	// KindVersion is the version that the job has now.
	KindVersion string `json:"kindVersion"`
	// NextKindVersion is the version that it gets with its next turn; absent once it has it.
	NextKindVersion string `json:"nextKindVersion,omitempty"`
}

// MoveKind moves a job that has not ended to the current version of its kind. It gets that version
// when its next turn of Claude's begins: a turn that runs, and a change that waits for its review
// or was approved, keep the rules under which they began. It may be repeated.
//
// Errors: Conflict if the job has ended, if its change was approved, if this node does not have
// the kind, or if the job does not fit that version; with the fields of the input that do not.
func (s *Service) MoveKind(ctx context.Context, j job.Job, by job.Actor) error {
	k, refused := s.nextKind(ctx, j)
	return s.runDurably(ctx, Query{Job: j.ID}, func(st *State) error {
		if err := st.checkMoveKind(j.ID); err != nil {
			return err
		}
		if refused != nil {
			return refused
		}
		return st.moveKind(s.newJobOf(k, j.UserID, j.Input, j.Options), by)
	})
}

// nextKind returns the current version of a job's kind. Error: Conflict if the job does not fit it.
func (s *Service) nextKind(ctx context.Context, j job.Job) (*kind.Kind, error) {
	k, ok := s.Kind(j.Kind)
	if !ok {
		return nil, job.Errorf(job.Conflict, "This server has no kind %q to move to", j.Kind).
			WithHint("The job keeps the version that it has. Put the kind's files back and reload the kinds.")
	}
	if k.Version == j.KindVersion {
		return k, nil
	}
	before, err := s.KindOf(ctx, j)
	if err != nil {
		return nil, err
	}
	if err := s.checkStructured(k, j.Options); err != nil {
		return nil, err
	}
	var values map[string]any
	if err := job.UnmarshalExact(j.Input, &values); err != nil {
		return nil, err
	}
	// The caller was allowed to name what the input names when the job was created.
	if _, err := s.checkInput(k, Request{Input: values, ByBackEnd: true}); err != nil {
		return nil, misfit(k, err)
	}
	same, err := haveSameRepositories(before, k, j.Input)
	if err == nil && !same {
		err = job.Errorf(job.Conflict, "The current version of the kind %q works on other repositories", k.Name).
			WithHint("The job keeps its workspace and its version. Ask for a new job instead.")
	}
	return k, err
}

// misfit makes the error of an input that does not fit the current version of a kind.
func misfit(k *kind.Kind, err error) error {
	e, ok := errors.AsType[*job.Error](err)
	if !ok || e.Kind != job.Invalid {
		return err
	}
	return job.Errorf(job.Conflict, "The job's input does not fit the current version of the kind %q", k.Name).
		WithHint("The job keeps its version. Ask for a new job with an input that fits: GET /api/kinds/%s shows its schema.", k.Name).
		WithDetails(e.Details...)
}

// haveSameRepositories reports whether jobs of two versions work on the same repositories: their
// workspaces stay.
func haveSameRepositories(before, after *kind.Kind, input json.RawMessage) (bool, error) {
	var places [2][]string
	for i, k := range []*kind.Kind{before, after} {
		change, err := k.Change(input)
		if err != nil {
			return false, err
		}
		if change == nil {
			continue
		}
		places[i] = []string{} // a workspace without repositories is not the same as none
		for _, r := range change.Repositories {
			places[i] = append(places[i], r.Name, r.URL, r.Branch)
		}
	}
	return reflect.DeepEqual(places[0], places[1]), nil
}

// checkMoveKind refuses to move a job that has ended or publishes an approved change.
func (st *State) checkMoveKind(id job.ID) error {
	switch j := st.Job; {
	case j == nil:
		return job.NoJob(id)
	case j.State.Terminal():
		return job.Errorf(job.Conflict, "The job is %s", j.State).
			WithHint("Only a job that has not ended can move to another version of its kind. A new job gets the current one.")
	case j.Approved():
		return job.Errorf(job.Conflict, "The change was approved and is being published").
			WithHint("It is published under the rules under which it was approved.")
	}
	return nil
}

// moveKind notes that the next turn of a job begins under another version of its kind; n is what a
// new job of that version would get.
func (st *State) moveKind(n NewJob, by job.Actor) error {
	j := st.Job
	if j.Next != nil && j.Next.Version == n.KindVersion || j.Next == nil && j.KindVersion == n.KindVersion {
		return nil
	}
	j.Next = nil
	if n.KindVersion != j.KindVersion { // else the job keeps its version after all
		st.do(KeepKind{Version: n.KindVersion, Definition: n.Definition})
		j.Next = &NextKind{
			Version: n.KindVersion, EventPrefix: n.EventPrefix,
			CallbackTimeout: n.CallbackTimeout, MaxAttempts: n.MaxAttempts, BudgetUSD: n.BudgetUSD,
		}
	}
	st.audit(j, job.AuditEntry{Event: "move", By: &by, Detail: "to the version " + n.KindVersion + " of the kind"})
	st.emitVersion(j)
	return st.withdrawPermission(j)
}

func (st *State) emitVersion(j *Job) {
	data := versionData{KindVersion: j.KindVersion}
	if j.Next != nil {
		data.NextKindVersion = j.Next.Version
	}
	st.emit(j.recipient(), job.EventVersion, data)
}

// withdrawPermission takes back what a job that moves to another version asks a person to allow,
// once the turn that asked is over: it asked by rules that are about to change. The next turn asks
// again if its rules require it.
func (st *State) withdrawPermission(j *Job) error {
	c := st.waitsAt(j)
	if j.Next == nil || j.Owner != "" || c == nil || c.Held || c.ApprovalKey == "" || c.Type == job.Review {
		return nil
	}
	if err := st.endWaiting(j, job.Cancelled); err != nil {
		return err
	}
	if c.ToolCallID != "" {
		st.failCall(j.chat(), c.ToolCallID, "withdrawn")
	}
	st.stopClocks(j)
	j.Checkpoint = ""
	j.forgetQuestion(c.ID)
	st.addNotice(j.chat(), "The question was withdrawn because the job moves to another version of its kind.")
	return st.resume(j, ResumeReason{Reason: OtherVersion})
}

// enterNextKind has the turn that starts begin under the version to which the job was moved. What
// was allowed under the version before is allowed no more, and Claude begins a new conversation,
// with the prompt of the new version. A turn that continues with a change that was submitted or
// approved is not Claude's, and keeps the version.
func (st *State) enterNextKind(j *Job) {
	next := j.Next
	if next == nil || j.Submitted || j.Approved() {
		return
	}
	for _, d := range j.Decisions {
		j.forgetQuestion(d.Checkpoint)
	}
	st.dropPermissions(j, "the job has moved to another version of its kind")
	st.endCalls(j, map[CallOwner]string{EndedByPerson: "unused"})
	before := j.KindVersion
	j.KindVersion, j.EventPrefix = next.Version, next.EventPrefix
	j.CallbackTimeout, j.MaxAttempts, j.Next = next.CallbackTimeout, next.MaxAttempts, nil
	raised := j.BudgetUSD - j.BudgetStep // by people
	j.BudgetUSD, j.BudgetStep = next.BudgetUSD, next.BudgetUSD
	if next.BudgetUSD > 0 {
		j.BudgetUSD += raised
	}
	st.leaveConversation(j)
	j.ResumeReason = &ResumeReason{Reason: OtherVersion}
	st.audit(j, job.AuditEntry{Event: "moved", Detail: "from the version " + before + " of the kind"})
	st.emitVersion(j)
}

// dropPermissions ends what people have allowed and is not used yet, and what they have allowed
// for the whole job. why is the reason.
func (st *State) dropPermissions(j *Job, why string) {
	st.concludeUnused(j, why)
	j.Decisions = nil
	for _, id := range j.Standing {
		st.do(RemoveStanding{j.UserID, id})
	}
	j.Standing = nil
}

// KindVersions are the versions of its kind that the job needs.
func (r *Record) KindVersions() []string {
	var all []string
	if r.KindVersion != "" {
		all = append(all, r.KindVersion)
	}
	if r.Next != nil {
		all = append(all, r.Next.Version)
	}
	return all
}
