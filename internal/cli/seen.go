package cli

import (
	"encoding/json"
	"path/filepath"

	"ringback/client"
	"ringback/internal/job"
)

// seenDir is the directory with what was last shown of each job's change. A decision refers to it, so
// that a person approves only what they have looked at.
const seenDir = "seen"

// rememberSeen records what was shown. It ignores errors; the decision then refers to what is under
// review when it is made.
func (a *app) rememberSeen(id job.ID, seen client.Seen) {
	if text, err := json.Marshal(seen); err == nil && len(seen.Trees) > 0 {
		_ = a.writeState(seenDir, filepath.Base(string(id)), text)
	}
}

// seen identifies what the person has seen: the question and, for a code change, the diff shown
// last, or the one in the job's record if none was shown.
func (a *app) seen(j job.Job) client.Seen {
	if j.Checkpoint == nil {
		return client.Seen{}
	}
	var seen client.Seen
	if underReview(j) && json.Unmarshal(a.kept(seenDir, filepath.Base(string(j.ID))), &seen) != nil {
		seen = seenInReview(j)
	}
	seen.CheckpointID = j.Checkpoint.ID
	return seen
}

func seenInReview(j job.Job) client.Seen {
	props := decoded[job.Props](j.Checkpoint.Props)
	if len(props.Trees) == 0 {
		return client.Seen{}
	}
	return client.Seen{Iteration: &props.Iteration, Trees: props.Trees}
}

func seenInDiff(list []job.DiffOutput) client.Seen {
	seen := client.Seen{Trees: map[string]string{}}
	for _, d := range list {
		if d.Tree != "" {
			seen.Iteration, seen.Trees[d.Repository] = &d.Iteration, d.Tree
		}
	}
	return seen
}
