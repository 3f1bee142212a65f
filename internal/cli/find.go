package cli

import (
	"context"

	"ringback/client"
	"ringback/internal/job"
)

// maxCandidates is how many jobs of the same beginning are named.
const maxCandidates = 10

// found is what an id may mean.
type found struct{ id, about string }

// findJob returns the id of the job that a person means by an id or its
// beginning. Text that is no id at all is left to the server to refuse.
func (a *app) findJob(ctx context.Context, text string) (job.ID, error) {
	p, whole, err := lookup(job.JobIDs, text)
	if whole != "" || err != nil {
		return job.ID(whole), err
	}
	page, err := a.client().List(ctx, client.Filter{IDPrefix: p.String(), Limit: maxCandidates})
	if err != nil {
		return "", err
	}
	var matches []found
	for _, j := range page.Value.Jobs {
		matches = append(matches, found{string(j.ID), a.about(j)})
	}
	id, err := theOne(text, "job", "ringback list", matches)
	return job.ID(id), err
}

// findCheckpoint is findJob for a checkpoint.
func (a *app) findCheckpoint(ctx context.Context, text job.CheckpointID) (job.CheckpointID, error) {
	p, whole, err := lookup(job.CheckpointIDs, string(text))
	if whole != "" || err != nil {
		return job.CheckpointID(whole), err
	}
	page, err := a.client().Checkpoints(ctx, client.CheckpointFilter{IDPrefix: p.String(), Limit: maxCandidates})
	if err != nil {
		return "", err
	}
	var matches []found
	for _, c := range page.Value.Checkpoints {
		matches = append(matches, found{string(c.ID), string(c.Type) + ", " + string(c.Status) + ": " + shortened(c.Message)})
	}
	id, err := theOne(string(text), "checkpoint", "ringback inbox --all", matches)
	return job.CheckpointID(id), err
}

// findApproval is findJob for a standing approval, of which a user has few.
func (a *app) findApproval(ctx context.Context, text string) (string, error) {
	p, whole, err := lookup(job.ApprovalIDs, text)
	if whole != "" || err != nil {
		return whole, err
	}
	list, err := a.client().Approvals(ctx, a.user)
	if err != nil {
		return "", err
	}
	var matches []found
	for _, s := range list.Value.Approvals {
		if p.Matches(s.ID) {
			matches = append(matches, found{s.ID, s.Kind + ": " + s.Rule})
		}
	}
	return theOne(text, "approval", "ringback approvals", matches)
}

// lookup reads what was written for an id. whole is the id, where it is whole,
// and the text itself where that is no id; else it is to be looked up.
func lookup(word, text string) (p job.IDPrefix, whole string, err error) {
	p, ok := job.ParseIDPrefix(word, text)
	switch {
	case !ok:
		return p, text, nil
	case p.Complete():
		return p, p.String(), nil
	case p.TooShort():
		return p, "", usagef("The id %s is too short: give at least %d characters of its random part", Quoted(text), job.MinIDPrefix)
	}
	return p, "", nil
}

// theOne is the only match, or says why there is none.
func theOne(text, what, lister string, matches []found) (string, error) {
	switch len(matches) {
	case 0:
		return "", job.Errorf(job.NotFound, "No %s has an id that begins with %s", what, Quoted(text)).
			WithHint("It may have been removed after its retention time. %s shows what there is.", lister)
	case 1:
		return matches[0].id, nil
	}
	e := job.Errorf(job.Conflict, "Several ids begin with %s: write more of the one you mean", Quoted(text))
	for _, m := range matches {
		e.Details = append(e.Details, job.Detail{Path: m.id, Message: m.about})
	}
	return "", e
}

// about is a job in a few words.
func (a *app) about(j job.Job) string {
	return j.Kind + ", " + string(j.State) + ", " + span(a.NowFunc().Sub(j.CreatedAt)) + " old"
}
