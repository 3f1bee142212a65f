package store

import (
	"context"
	"encoding/json"
	"maps"
	"strconv"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// Captured is a change as captured after a turn, for review.
type Captured struct {
	Iteration int
	Diff      []job.DiffOutput
	Logs      []job.VerifierOutput
	// Output is Claude's description of the change.
	Output string
	// Trees identifies exactly what is under review, by repository.
	Trees map[string]string
}

// round is the part of a capture that remains when the next capture replaces it.
type round struct {
	Files  []string `json:"files"`
	Output string   `json:"output"`
}

// Parts returns a capture with more parts in the form that lifecycle.SaveChange takes.
func (c Captured) Parts(more map[string]any) map[string]any {
	r := round{Files: []string{}, Output: c.Output}
	for _, d := range c.Diff {
		for _, f := range d.Files {
			r.Files = append(r.Files, d.Repository+"/"+f.Path)
		}
	}
	parts := map[string]any{"diff": c.Diff, "logs": c.Logs, "trees": c.Trees, "round:" + strconv.Itoa(c.Iteration): r}
	maps.Copy(parts, more)
	return parts
}

// VerifiedParts returns the results of the verifiers in that form.
func (c Captured) VerifiedParts() map[string]any { return map[string]any{"logs": c.Logs} }

// readChange decodes one part of a capture; zero if it does not exist.
func readChange[T any](ctx context.Context, s *Store, id job.ID, field string) (part T, err error) {
	text, err := s.changeField(ctx, id, field)
	if err == nil && text != nil {
		err = json.Unmarshal(text, &part)
	}
	return part, err
}

// changeField returns one part of a capture; nil if it does not exist.
func (s *Store) changeField(ctx context.Context, id job.ID, field string) (json.RawMessage, error) {
	text, found, err := s.field(ctx, "change", id, field)
	if !found {
		return nil, err
	}
	return json.RawMessage(text), nil
}

// Diff returns the captured diff, a JSON array of job.DiffOutput; nil before the first capture.
func (c Changes) Diff(ctx context.Context, id job.ID) (json.RawMessage, error) {
	return c.s.changeField(ctx, id, "diff")
}

// Logs returns the results of the verifiers, a JSON array of job.VerifierOutput.
func (c Changes) Logs(ctx context.Context, id job.ID) (json.RawMessage, error) {
	return c.s.changeField(ctx, id, "logs")
}

// Trees returns exactly what is under review, by repository.
func (c Changes) Trees(ctx context.Context, id job.ID) (map[string]string, error) {
	return readChange[map[string]string](ctx, c.s, id, "trees")
}

// Capture returns the diff and the trees of the latest capture.
func (c Changes) Capture(ctx context.Context, id job.ID) (diff []job.DiffOutput, trees map[string]string, err error) {
	if diff, err = readChange[[]job.DiffOutput](ctx, c.s, id, "diff"); err != nil {
		return nil, nil, err
	}
	trees, err = c.Trees(ctx, id)
	return diff, trees, err
}

// TreesOf returns what was under review in a round that was steered; nil if there was no such
// round.
func (c Changes) TreesOf(ctx context.Context, id job.ID, round int) (map[string]string, error) {
	answers, err := c.s.Checkpoints.Answers(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, a := range answers {
		var props job.Props
		if a.RequestID != id || a.Type != job.Review || job.UnmarshalExact(a.Props, &props) != nil {
			continue
		}
		if props.Iteration == round && len(props.Trees) > 0 {
			return props.Trees, nil
		}
	}
	return nil, nil
}

// Steering returns how often a job was steered, and the result of each round.
func (c Changes) Steering(ctx context.Context, id job.ID, most int) (job.SteeringState, error) {
	state := job.SteeringState{MaxIterations: most}
	answers, err := c.s.Checkpoints.Answers(ctx, id)
	if err != nil {
		return state, err
	}
	queued, err := jsonField[[]lifecycle.QueuedSteer](ctx, c.s, id, "queuedSteers")
	if err != nil {
		return state, err
	}
	for _, steer := range queued {
		state.Queued = append(state.Queued, steer.Reply.Reason)
	}
	for _, a := range answers {
		if a.RequestID != id || a.Type != job.Review || a.Reply == nil || a.Reply.Decision != job.Steer {
			continue
		}
		state.CurrentIteration++
		state.History = append(state.History, job.SteeringIteration{
			IterationNumber: state.CurrentIteration, Prompt: a.Reply.Reason, Timestamp: a.AnsweredAt,
		})
	}
	for i := range state.History {
		r, err := readChange[round](ctx, c.s, id, "round:"+strconv.Itoa(i+1))
		if err != nil {
			return state, err
		}
		state.History[i].FilesModified, state.History[i].Output = r.Files, r.Output
	}
	return state, nil
}

// Finalized returns the outcome for each repository so far.
func (c Changes) Finalized(ctx context.Context, id job.ID) ([]job.Finalized, error) {
	return readChange[[]job.Finalized](ctx, c.s, id, "finalized")
}

// viewedMember returns the stored form of a person's mark of a file. Callers without a user and a
// key, as in open mode, share their marks.
func viewedMember(by job.Actor, repository, digest string) string {
	return text([]string{by.UserID, by.Key, repository, digest})
}

// Viewed returns the files of a job's change and which of them a person has marked as viewed. There
// are none before a change was captured.
func (c Changes) Viewed(ctx context.Context, id job.ID, by job.Actor) (job.Viewed, error) {
	v := job.Viewed{Files: []job.ViewedFile{}}
	diff, err := readChange[[]job.DiffOutput](ctx, c.s, id, "diff")
	if err != nil || diff == nil {
		return v, err
	}
	marks, err := c.s.rdb.SMembersMap(ctx, PartitionOf(id).key("viewed", string(id))).Result()
	if err != nil {
		return v, err
	}
	for _, d := range diff {
		for _, f := range d.Files {
			file := job.ViewedFile{Repository: d.Repository, Path: f.Path, Digest: f.Digest}
			if _, marked := marks[viewedMember(by, d.Repository, f.Digest)]; marked && f.Digest != "" {
				file.Viewed = true
				v.Viewed++
			}
			v.Files = append(v.Files, file)
		}
	}
	v.Changed = len(v.Files)
	return v, nil
}

// SetViewed marks a file of a job's change as viewed by a person, or removes the mark. It does
// nothing if the job is gone. Callers must check that the digest is part of the change: otherwise
// the mark has no effect.
func (c Changes) SetViewed(ctx context.Context, id job.ID, by job.Actor, repository, digest string, viewed bool) error {
	command := "SREM"
	if viewed {
		command = "SADD"
	}
	return c.s.attach(ctx, id, kept{}, command, "viewed:"+string(id), viewedMember(by, repository, digest))
}
