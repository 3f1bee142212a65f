package cli

import (
	"encoding/json"
	"os"
	"path/filepath"

	"ringback/client"
	"ringback/internal/job"
)

// seenFile returns the path of the file with what was last shown of a job's change. A decision
// refers to it, so that a person approves only what they have looked at.
func (a *app) seenFile(id job.ID) (string, error) {
	dir, err := a.stateDir()
	return filepath.Join(dir, "seen", filepath.Base(string(id))), err
}

// rememberSeen records what was shown. It ignores errors; the decision then refers to what is under
// review when it is made.
func (a *app) rememberSeen(id job.ID, seen client.Seen) {
	file, err := a.seenFile(id)
	if err != nil || len(seen.Trees) == 0 || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	if text, err := json.Marshal(seen); err == nil {
		forgetStale(filepath.Dir(file))
		_ = os.WriteFile(file, text, 0o600)
	}
}

// seen identifies what the person has seen: the question and, for a code change, the diff shown
// last, or the one in the job's record if none was shown.
func (a *app) seen(j job.Job) client.Seen {
	if j.Checkpoint == nil {
		return client.Seen{}
	}
	seen := a.seenOfChange(j)
	seen.CheckpointID = j.Checkpoint.ID
	return seen
}

func (a *app) seenOfChange(j job.Job) (seen client.Seen) {
	if !underReview(j) {
		return seen
	}
	file, err := a.seenFile(j.ID)
	if err != nil {
		return seenInReview(j)
	}
	text, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(text, &seen) != nil {
		return seenInReview(j)
	}
	return seen
}

// seenInReview returns what a review shows.
func seenInReview(j job.Job) client.Seen {
	var props job.Props
	if json.Unmarshal(j.Checkpoint.Props, &props) != nil || len(props.Trees) == 0 {
		return client.Seen{}
	}
	return client.Seen{Iteration: &props.Iteration, Trees: props.Trees}
}

// seenInDiff returns what a diff shows.
func seenInDiff(list []job.DiffOutput) client.Seen {
	seen := client.Seen{Trees: map[string]string{}}
	for _, d := range list {
		if d.Tree != "" {
			seen.Iteration, seen.Trees[d.Repository] = &d.Iteration, d.Tree
		}
	}
	return seen
}
