package checkpoint

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/rules/intent"
	"ringback/internal/rules/lifecycle"
)

func (f form) decide(g Reply) (lifecycle.Resolution, error) {
	switch {
	case g.Values != nil && (f.checkpoint.Type != job.ToolApproval || g.Decision != job.Approve):
		return lifecycle.Resolution{}, job.InvalidField("/values", "only the input of a tool call can be edited when it is approved")
	case g.Decision == job.Approve && f.qualifies(g.Text):
		return lifecycle.Resolution{}, job.InvalidField("/text", "is not a clear yes: it may object or add a condition. Leave it out, send another decision, or write it as a separate message")
	case g.Decision == job.Cancel:
		return f.cancel(g.Text), nil
	case f.checkpoint.Type == job.Review:
		return f.review(job.Reply{Decision: g.Decision, Text: g.Text, Reason: g.Text, Confidence: 1})
	case !f.checkpoint.Type.Binding():
		return lifecycle.Resolution{}, job.InvalidField(
			"/decision",
			fmt.Sprintf("found %q; this checkpoint asks for values: allowed is cancel, else send values or text", g.Decision),
		)
	case g.Values != nil && len(g.Values) == 0:
		return lifecycle.Resolution{}, job.InvalidField("/values", "is empty; expected the whole changed input. Leave it out to approve the input as it is")
	case g.Decision == job.Steer && strings.TrimSpace(g.Text) == "":
		return lifecycle.Resolution{}, job.InvalidField("/text", "is required but missing; expected what to change")
	case g.Decision == job.Approve, g.Decision == job.Deny, g.Decision == job.Steer:
		return answered(job.Reply{Decision: g.Decision, Values: g.Values, Text: g.Text, Reason: g.Text, Confidence: 1}), nil
	}
	return lifecycle.Resolution{}, unknownDecision(g.Decision)
}

// qualifies reports whether a text next to an approval is more than a yes. No grammar tells a remark from
// an objection or a condition, so any other text does.
func (f form) qualifies(text string) bool {
	return f.checkpoint.Type.Binding() && strings.TrimSpace(text) != "" && intent.Read(f.context(), text).Outcome != intent.Approve
}

func answered(r job.Reply) lifecycle.Resolution {
	return lifecycle.Resolution{To: job.Answered, Reply: r}
}

// review processes a decision on a change, see docs/steering.md.
func (f form) review(r job.Reply) (lifecycle.Resolution, error) {
	a := answered(r)
	switch r.Decision {
	case job.Approve:
		return a, nil
	case job.Deny:
		a.End, a.Code, a.Why = job.Rejected, job.CodeRejected, "The change was rejected."
		return a, nil
	case job.Steer:
		if err := lifecycle.CheckPrompt(r.Reason); err != nil {
			return a, err
		}
		if f.overLimit() {
			return a, lifecycle.SteeringLimit(f.props.Iteration)
		}
		return a, nil
	case job.Cancel:
	}
	return a, unknownDecision(r.Decision)
}

func (f form) cancel(text string) lifecycle.Resolution {
	a := answered(job.Reply{Decision: job.Cancel, Text: text, Confidence: 1})
	a.End, a.Code, a.Why = job.Cancelled, job.CodeCancelled, "Cancelled in answer to a question."
	return a
}

// fill processes values given as such, not in words. They are the whole answer: a known value that
// is not among them was removed by the person.
func (f form) fill(g Reply) (lifecycle.Resolution, error) {
	if f.checkpoint.Type.Binding() {
		return lifecycle.Resolution{}, job.InvalidField("/values", "this checkpoint asks for a decision: approve or deny")
	}
	if details := f.problems(g.Values, "/values"); details != nil {
		return lifecycle.Resolution{}, job.Errorf(job.Invalid, "Invalid request").WithDetails(details...)
	}
	return answered(job.Reply{Values: g.Values, Text: g.Text, Confidence: 1}), nil
}

func (f form) merged(values map[string]any) map[string]any {
	all := maps.Clone(f.props.CurrentValues)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, values)
	return all
}

func (f form) summaryText(g Reply) string {
	yes, no := f.props.Answers()
	switch {
	case g.Decision == job.Steer:
		return lifecycle.SteerMessage(g.Text)
	case strings.TrimSpace(g.Text) != "":
		return g.Text
	case g.Decision == job.Approve:
		return inChat(yes, "Approve")
	case g.Decision == job.Deny:
		return inChat(no, "Deny")
	case g.Decision == job.Cancel:
		return "Cancel"
	}
	names := slices.Sorted(maps.Keys(g.Values))
	lines := make([]string, len(names))
	for i, name := range names {
		lines[i] = name + ": " + job.ValueText(g.Values[name])
	}
	return strings.Join(lines, "\n")
}

func inChat(a *job.AnswerProps, otherwise string) string {
	if a == nil {
		return otherwise
	}
	return a.Message
}

func unknownDecision(found job.Decision) error {
	return job.InvalidField("/decision", fmt.Sprintf("found %q; allowed: approve, deny, steer, cancel", found))
}

// Steer asks for another round of a change: at once if the change is under review, otherwise after
// the running turn. Errors: those of lifecycle.Service.Steer.
func (s *Service) Steer(ctx context.Context, j job.Job, prompt string, by job.Actor) error {
	for {
		underReview, err := s.jobs.Steer(ctx, j, prompt, by)
		if err != nil || !underReview {
			return err
		}
		if again, err := s.steerReview(ctx, j.ID, Reply{Decision: job.Steer, Text: prompt, By: by}); !again {
			return err
		}
	}
}

// steerReview answers the review that a job waits for. again is true if someone else answered it at
// the same time.
func (s *Service) steerReview(ctx context.Context, id job.ID, given Reply) (again bool, err error) {
	j, err := s.store.Get(ctx, id)
	if err != nil {
		return false, err
	}
	if j.Checkpoint == nil || j.Checkpoint.Type != job.Review || j.Checkpoint.Status != job.Open {
		return true, nil
	}
	_, err = s.Reply(ctx, *j.Checkpoint, given)
	if err == nil {
		return false, nil
	}
	now, readErr := s.store.Checkpoints.Get(ctx, j.Checkpoint.ID)
	return readErr == nil && now.Status != job.Open, err
}

// overLimit reports whether the change under review has been steered as often as allowed. A review of a
// system outside Ringback has a limit only if its question names one.
func (f form) overLimit() bool {
	limited := f.checkpoint.RequestID != "" || f.props.MaxIterations > 0
	return f.checkpoint.Type == job.Review && limited && f.props.Iteration >= f.props.MaxIterations
}
