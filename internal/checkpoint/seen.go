package checkpoint

import (
	"fmt"
	"maps"
	"slices"

	"ringback/internal/job"
)

// Seen is what a person has looked at before they decide on a change. What is
// named must be what is under review; what is not named is not checked.
type Seen struct {
	// Iteration is how often the change had been steered.
	Iteration *int `json:"iteration,omitempty"`
	// Trees are git's ids of what was shown, by repository, as the diff tells them.
	Trees map[string]string `json:"trees,omitempty"`
}

// checkSeen refuses a decision on something else than what is asked, with a
// Conflict that names what is under review now, and an approval that does not say
// what it allows.
func (f form) checkSeen(g Reply) error {
	if err := f.checkNamed(g.Seen); err != nil {
		return err
	}
	if !g.Unnamed || g.Decision != job.Approve || f.isWhole(g.Seen) {
		return nil
	}
	e := job.Errorf(job.Invalid, "The approval does not say what it allows").
		WithHint("Look at what the job asks now (GET /api/checkpoints/%s), and name it.", string(f.checkpoint.ID))
	e.Details = []job.Detail{{Path: "/checkpointId", Message: "is missing; a change may also be named by iteration and the trees of all of its repositories, as its diff tells them"}}
	return e
}

// isWhole reports whether all of the change is named that is under review.
func (f form) isWhole(s Seen) bool {
	for name := range f.props.Trees {
		if s.Trees[name] == "" {
			return false
		}
	}
	return s.Iteration != nil && len(f.props.Trees) > 0
}

// checkNamed refuses what is named and is not what is asked.
func (f form) checkNamed(s Seen) error {
	if s.Iteration == nil && s.Trees == nil {
		return nil
	}
	if f.checkpoint.Type != job.Review {
		return refuse("/iteration", "only the review of a change has an iteration and trees")
	}
	if s.Iteration != nil && *s.Iteration != f.props.Iteration {
		return f.movedOn("/iteration", fmt.Sprintf("found %d; under review is %d", *s.Iteration, f.props.Iteration))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Trees)) {
		if now, known := f.props.Trees[name]; !known {
			return refuse("/trees/"+name, "the change has no such repository")
		} else if now != s.Trees[name] {
			return f.movedOn("/trees/"+name, fmt.Sprintf("found %q; under review is %q", s.Trees[name], now))
		}
	}
	return nil
}

func (f form) movedOn(path, message string) error {
	e := job.Errorf(job.Conflict, "Not what is under review: that is iteration %d of the change", f.props.Iteration).
		WithHint("Look at it (ringback diff, or GET /api/jobs/%s/diff), then decide on that.", f.checkpoint.RequestID)
	e.Details = []job.Detail{{Path: path, Message: message}}
	return e
}
