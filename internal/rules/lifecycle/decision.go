package lifecycle

import (
	"cmp"
	"maps"

	"ringback/internal/job"
	"ringback/internal/rules/approval"
)

// useDecision removes and returns the decision about an operation; nil if there is none.
func (j *Job) useDecision(key string) *approval.Decision {
	d := j.Decisions[key]
	if d != nil {
		j.Decisions = without(j.Decisions, key)
		j.forgetQuestion(cmp.Or(d.Question, d.Checkpoint))
	}
	return d
}

// firstAsked returns the checkpoint at which the question that c repeats was first asked; empty if that is
// c itself.
func (j *Job) firstAsked(c job.CheckpointID) job.CheckpointID {
	if j.QuestionID == c {
		return ""
	}
	return j.QuestionID
}

// isUnused reports whether a decision that was made at a checkpoint is not used yet.
func (j *Job) isUnused(c job.CheckpointID) bool {
	for _, d := range j.Decisions {
		if d.Checkpoint == c {
			return true
		}
	}
	return false
}

// with returns a copy of a map with an entry, and without a copy that lacks it.
func with[K ~string, V any](m map[K]V, key K, value V) map[K]V {
	changed := map[K]V{}
	maps.Copy(changed, m)
	changed[key] = value
	return changed
}

func without[K ~string, V any](m map[K]V, key K) map[K]V {
	m = maps.Clone(m)
	delete(m, key)
	return m
}
