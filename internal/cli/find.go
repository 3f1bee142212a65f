package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

// maxCandidates is the maximum number of jobs listed for an ambiguous id.
const maxCandidates = 10

// found is something with an id, described in a few words.
type found struct{ id, short, about string }

// jobs returns the jobs of a filter that fit; nil means that all do.
func (a *app) jobs(ctx context.Context, f client.Filter, fits func(job.Job) bool) (all []found, err error) {
	page, err := a.api.List(ctx, f)
	for _, j := range page.Value.Jobs {
		if fits == nil || fits(j) {
			all = append(all, found{string(j.ID), j.ID.Short(), a.about(j)})
		}
	}
	return all, err
}

func (a *app) checkpoints(ctx context.Context, f client.CheckpointFilter) (all []found, err error) {
	page, err := a.api.Checkpoints(ctx, f)
	for _, c := range page.Value.Checkpoints {
		all = append(all, found{string(c.ID), c.ID.Short(), standing(c, a.NowFunc()) + ": " + shortened(headed(c))})
	}
	return all, err
}

func (a *app) openCheckpoints(ctx context.Context, limit int) ([]found, error) {
	return a.checkpoints(ctx, client.CheckpointFilter{UserID: a.user, Status: job.Open, Limit: limit})
}

func (a *app) approvals(ctx context.Context) (all []found, err error) {
	list, err := a.api.Approvals(ctx, a.user)
	for _, s := range list.Value.Approvals {
		all = append(all, found{s.ID, job.ShortApproval(s.ID), s.Kind + ": " + s.Rule})
	}
	return all, err
}

// findJob returns the id of the job for an id or a prefix of it. Text that is no id is returned as
// it is; the server will refuse it.
func (a *app) findJob(ctx context.Context, text string) (job.ID, error) {
	id, err := find(job.JobIDs, text, "job", "ringback list", func(p job.IDPrefix) ([]found, error) {
		return a.jobs(ctx, client.Filter{IDPrefix: p.String(), Limit: maxCandidates}, nil)
	})
	return job.ID(id), err
}

func (a *app) findCheckpoint(ctx context.Context, text job.CheckpointID) (job.CheckpointID, error) {
	id, err := find(job.CheckpointIDs, string(text), "checkpoint", "ringback inbox --all", func(p job.IDPrefix) ([]found, error) {
		return a.checkpoints(ctx, client.CheckpointFilter{IDPrefix: p.String(), Limit: maxCandidates})
	})
	return job.CheckpointID(id), err
}

// findApproval is findJob for a standing approval. It lists all approvals, because a user has few.
func (a *app) findApproval(ctx context.Context, text string) (string, error) {
	return find(job.ApprovalIDs, text, "approval", "ringback approvals", func(p job.IDPrefix) ([]found, error) {
		all, err := a.approvals(ctx)
		return slices.DeleteFunc(all, func(f found) bool { return !p.Matches(f.id) }), err
	})
}

// find returns the only id with a prefix, or an error if there is none or more than one. list returns
// those that have it, and lister is the command that shows all. Text that is no prefix of an id is
// returned as it is.
func find(word, text, what, lister string, list func(job.IDPrefix) ([]found, error)) (string, error) {
	p, ok := job.ParseIDPrefix(word, text)
	switch {
	case !ok: // the server refuses it
		return text, nil
	case p.Complete():
		return p.String(), nil
	case p.TooShort():
		return "", usagef("The id %s is too short: give at least %d characters of its random part", Quoted(text), job.MinIDPrefix)
	}
	matches, err := list(p)
	if err != nil {
		return "", err
	}
	switch len(matches) {
	case 0:
		return "", job.Errorf(job.NotFound, "No %s has an id that begins with %s", what, Quoted(text)).
			WithHint("It may have been removed after its retention time. %s shows what there is.", lister)
	case 1:
		return matches[0].id, nil
	}
	e := job.Errorf(job.Conflict, "Several ids begin with %s: give more characters", Quoted(text))
	for _, m := range matches {
		e.Details = append(e.Details, job.Detail{Path: m.id, Message: m.about})
	}
	return "", e
}

func (a *app) about(j job.Job) string {
	return j.Kind + ", " + string(j.State) + ", " + span(a.NowFunc().Sub(j.CreatedAt)) + " old"
}

const maxChoices = 9

// chooser returns the job that is meant if the command line names none and none was run in this terminal.
type chooser func(cmd *cobra.Command, fits func(job.Job) bool) (job.ID, error)

// whichJob is the chooser of commands that only show something: it returns a usage error with the latest
// jobs. It reads nothing, so that what was typed ahead is left to the shell.
func (a *app) whichJob(cmd *cobra.Command, fits func(job.Job) bool) (job.ID, error) {
	lines := []string{"Which job? Give its requestId (ringback list shows them), or run one first: ringback run <kind>"}
	latest, err := a.latestJobs(cmd, fits)
	if err != nil {
		latest = nil
	}
	for _, j := range latest[:min(len(latest), maxChoices)] {
		lines = append(lines, "  "+j.short+"  "+j.about)
	}
	return "", usagef("%s", strings.Join(lines, "\n"))
}

// chooseJob is the chooser of commands that ask the person at the terminal anyway. Without a terminal, it
// returns a usage error.
func (a *app) chooseJob(cmd *cobra.Command, fits func(job.Job) bool) (job.ID, error) {
	if !a.TypedFunc(cmd.InOrStdin()) {
		return a.whichJob(cmd, fits)
	}
	which := usagef("Which job? No job is suitable; ringback list shows all")
	id, err := a.choose(cmd, "No job was run in this terminal. Which one?", which, func() ([]found, error) {
		return a.latestJobs(cmd, fits)
	})
	return job.ID(id), err
}

func (a *app) latestJobs(cmd *cobra.Command, fits func(job.Job) bool) ([]found, error) {
	return a.jobs(cmd.Context(), client.Filter{UserID: a.user, Limit: 100}, fits)
}

// chooseCheckpoint is chooseJob for a question; otherwise is the error.
func (a *app) chooseCheckpoint(cmd *cobra.Command, otherwise error) (job.CheckpointID, error) {
	id, err := a.choose(cmd, "Which question?", otherwise, func() ([]found, error) {
		return a.openCheckpoints(cmd.Context(), maxChoices)
	})
	return job.CheckpointID(id), err
}

// choose offers numbered choices; an empty line selects the first. It returns otherwise if there is
// no terminal or nothing to choose.
func (a *app) choose(cmd *cobra.Command, question string, otherwise error, list func() ([]found, error)) (string, error) {
	if !a.TypedFunc(cmd.InOrStdin()) {
		return "", otherwise
	}
	choices, err := list()
	if err != nil {
		return "", err
	}
	if len(choices) == 0 {
		return "", otherwise
	}
	choices = choices[:min(len(choices), maxChoices)]
	q := a.asker(cmd)
	q.p.printf("%s\n", question)
	for i, c := range choices {
		q.p.printf("%s\n", q.p.fit(fmt.Sprintf("  %d  %s  %s", i+1, clean(c.short), clean(c.about)), 0))
	}
	for {
		text, err := q.line(cmd.Context(), "Number [1]: ")
		if err != nil {
			return "", err
		}
		if text == "" {
			return choices[0].id, nil
		}
		if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(choices) {
			return choices[n-1].id, nil
		}
		q.p.printf("%s\n", q.p.paint(yellow, fmt.Sprintf("Type a number from 1 to %d.", len(choices))))
	}
}
