package checkpoint

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// Seen identifies what a person has looked at before deciding on a change. If a field is set, it
// must match what is under review; otherwise it is not checked.
type Seen struct {
	// Iteration is the number of times the change had been steered.
	Iteration *int `json:"iteration,omitempty"`
	// Trees are the git tree ids that were shown, by repository, as in the diff.
	Trees map[string]string `json:"trees,omitempty"`
	// Shown is the way it was shown, for the audit log: whole, paged or link.
	Shown job.Shown `json:"shown,omitempty"`
	// Unviewed is the number of files of a change that the person approves without having marked
	// them as viewed. The approval is refused if there are more. The console must set it.
	Unviewed *int `json:"unviewed,omitempty" jsonschema:"minimum=0"`
}

// countViewed adds to a decision on a change the number of files that the person has marked as
// viewed. It returns Invalid if an approval has more unmarked files than Unviewed. Without
// Unviewed, an approval passes unless it comes from the console.
func (s *Service) countViewed(ctx context.Context, c job.Checkpoint, g Reply, a *lifecycle.Resolution) error {
	if c.Type != job.Review || a.To != job.Answered || c.RequestID == "" {
		return nil
	}
	v, err := s.store.Changes.Viewed(ctx, c.RequestID, g.By)
	if err != nil {
		return err
	}
	a.Seen.Files = &v.FilesViewed
	left := v.Changed - v.Viewed
	stated := g.By.Via == job.ViaConsole || g.Unviewed != nil
	if a.Reply.Decision != job.Approve || !stated || given(g.Unviewed) >= left {
		return nil
	}
	return job.Errorf(job.Invalid, "You have not marked all files of the change as viewed").
		WithHint("Look at them, or approve them too: tick the box on the page of the change (%s).", s.opts.Pages.Job(c.RequestID, "/review")).
		WithDetails(job.Detail{
			Path:    "/unviewed",
			Message: fmt.Sprintf("found %d; %d of %d files are not marked as viewed", given(g.Unviewed), left, v.Changed),
		})
}

func given(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

// checkSeen returns a Conflict if the reply identifies something other than the
// current question, and Invalid for an approval that does not identify anything, and for values of
// Shown and Unviewed that do not exist.
func (f form) checkSeen(g Reply) error {
	if !g.Shown.Valid() {
		return job.InvalidField("/shown", fmt.Sprintf("found %q; allowed: whole, paged, link", g.Shown))
	}
	if n := given(g.Unviewed); n < 0 {
		return job.InvalidField("/unviewed", fmt.Sprintf("found %d; expected 0 or more", n))
	}
	if err := f.checkNamed(g.Seen); err != nil {
		return err
	}
	if !g.Unnamed || g.Decision != job.Approve || f.isWhole(g.Seen) {
		return nil
	}
	return job.Errorf(job.Invalid, "The approval does not identify what it approves").
		WithHint("Read the current question (GET /api/checkpoints/%s) and send its id as checkpointId.", string(f.checkpoint.ID)).
		WithDetails(job.Detail{
			Path:    "/checkpointId",
			Message: "is required; for a code change, iteration and the trees of all repositories (both in its diff) also work",
		})
}

// isWhole reports whether s identifies the iteration and every repository of the change.
func (f form) isWhole(s Seen) bool {
	for name := range f.props.Trees {
		if s.Trees[name] == "" {
			return false
		}
	}
	return s.Iteration != nil && len(f.props.Trees) > 0
}

// checkNamed returns an error if s differs from what is under review.
func (f form) checkNamed(s Seen) error {
	if s.Iteration == nil && s.Trees == nil {
		return nil
	}
	if f.checkpoint.Type != job.Review {
		return job.InvalidField("/iteration", "only the review of a change has an iteration and trees")
	}
	if s.Iteration != nil && *s.Iteration != f.props.Iteration {
		return f.movedOn(
			"/iteration",
			fmt.Sprintf(
				"found %d (%s); under review is %d (%s)", *s.Iteration, job.RoundWords(*s.Iteration, 0), f.props.Iteration,
				job.RoundWords(f.props.Iteration, 0),
			),
		)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Trees)) {
		if now, known := f.props.Trees[name]; !known {
			return job.InvalidField("/trees/"+name, "the change has no such repository")
		} else if now != s.Trees[name] {
			return f.movedOn("/trees/"+name, fmt.Sprintf("found %q; under review is %q", s.Trees[name], now))
		}
	}
	return nil
}

func (f form) movedOn(path, message string) error {
	return job.Errorf(
		job.Conflict, "This is not what is under review: that is %s of the change",
		job.RoundWords(f.props.Iteration, f.props.MaxIterations),
	).
		WithHint("Look at it (GET /api/jobs/%s/diff), then decide on that.", f.checkpoint.RequestID).WithDetails(job.Detail{
		Path: path, Message: message,
	})
}
