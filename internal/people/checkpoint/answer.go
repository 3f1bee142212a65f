package checkpoint

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"ringback/internal/job"
	"ringback/internal/rules/approval"
	"ringback/internal/rules/lifecycle"
)

// Reply is an incoming reply. At least one of Decision, Values and Text is set.
type Reply struct {
	Decision job.Decision   `json:"decision,omitempty"`                          // The decision, if the checkpoint asks for one.
	Values   map[string]any `json:"values,omitempty"`                            // The requested values, by name.
	Text     string         `json:"text,omitempty" jsonschema:"maxLength=20000"` // The reply in words.
	// Scope is the extent of a tool call's approval: once, job or always.
	Scope job.ApprovalScope `json:"scope,omitempty"`
	// Seen identifies what the person has looked at.
	Seen
	// Unnamed is set if the reply is addressed to a job instead of a checkpoint. An approval then
	// requires Seen to identify the whole change.
	Unnamed bool `json:"-"`
	// By is the author of the reply.
	By job.Actor `json:"-"`
	// Written is the whole message if Text is only the part of it about this question.
	Written string `json:"-"`
	// LogID and Destination are stored with the reply's message in the chat.
	LogID       string `json:"-"`
	Destination string `json:"-"`
}

const maxText = 20_000

// Reply processes a person's reply to a checkpoint. It returns the updated checkpoint: answered,
// being interpreted, or superseded by Next, which asks again. Errors: Invalid for a reply that does
// not fit, Conflict for a checkpoint that no longer waits.
func (s *Service) Reply(ctx context.Context, c job.Checkpoint, g Reply) (job.Checkpoint, error) {
	if _, err := s.reply(ctx, c, g); err != nil {
		return c, err
	}
	return s.store.Checkpoints.Get(ctx, c.ID)
}

// reply processes a reply from any source and returns the id of the person's message. If another
// reply wins a race, this one is processed again as the later of the two, so it is never dropped.
func (s *Service) reply(ctx context.Context, c job.Checkpoint, g Reply) (int64, error) {
	for c.Status.Waits() {
		a, err := s.answer(ctx, c, g)
		if err == nil {
			err = s.countViewed(ctx, c, g, &a)
		}
		if err != nil {
			return 0, err
		}
		id, err := s.jobs.Answer(ctx, c, a)
		if err == nil {
			s.log.Info(
				"User responding to HITL checkpoint: "+string(c.Type), "checkpointId", c.ID, "requestId", c.RequestID,
				"outcome", a.To,
			)
			return id, nil
		}
		if !job.HasKind(err, job.Conflict) {
			return 0, err
		}
		now, readErr := s.store.Checkpoints.Get(ctx, c.ID)
		if readErr != nil {
			return 0, readErr
		}
		if now.Status == c.Status && now.Round == c.Round {
			return 0, err // no other reply came first: the same one would be refused again
		}
		c = now
	}
	return 0, job.ClosedCheckpoint(c.ID, c.Status)
}

func (s *Service) answer(ctx context.Context, c job.Checkpoint, g Reply) (lifecycle.Resolution, error) {
	f, details := parse(c)
	if details != nil {
		return lifecycle.Resolution{}, fmt.Errorf("checkpoint %s holds props that are not valid: %v", c.ID, details)
	}
	if n := utf8.RuneCountInString(g.Text); n > maxText {
		return lifecycle.Resolution{}, job.InvalidField("/text", fmt.Sprintf("found %d characters; at most %d are allowed", n, maxText))
	}
	if fault := approval.ScopeFault(g.Scope); fault != "" {
		return lifecycle.Resolution{}, job.InvalidField("/scope", fault)
	}
	var a lifecycle.Resolution
	err := f.checkSeen(g)
	switch {
	case err != nil:
	case g.Decision != "":
		a, err = f.decide(g)
	case g.Values != nil:
		a, err = f.fill(g)
	case strings.TrimSpace(g.Text) != "":
		a, err = s.understand(f, g)
	default:
		err = job.InvalidField("", "expected at least one of decision, values and text")
	}
	if err != nil {
		return lifecycle.Resolution{}, err
	}
	message := job.Text(job.FromUser, cmp.Or(g.Written, f.summaryText(g)))
	message.LogID, message.Destination, message.By = g.LogID, g.Destination, g.By.SpeaksFor(c.UserID)
	a.Message, a.By, a.Seen = &message, g.By, lifecycle.Seen{Shown: g.Shown, Trees: g.Trees}
	a = withExchange(a, append(slices.Clone(c.Exchange), message.Utterance()))
	if a.Reply.Decision == job.Approve {
		if a.Reply.Values, err = f.changed(a.Reply.Values); err != nil {
			return lifecycle.Resolution{}, err
		}
		rule, err := s.denying(ctx, f, a.Reply.Values)
		if err != nil {
			return lifecycle.Resolution{}, err
		}
		if rule != "" {
			return lifecycle.Resolution{}, job.InvalidField("/values", "the kind's rule "+rule+" denies the input as you have changed it")
		}
		if a.Approval, err = s.permission(f, g.Scope, len(a.Reply.Values) > 0); err != nil {
			return lifecycle.Resolution{}, err
		}
	}
	a.Message.Props = job.MustJSON(job.ReplyProps{
		InResponseTo: c.Type, ResolvesCheckpoint: true, CheckpointRunID: f.props.RunID, CheckpointMessageID: c.MessageID,
	})
	return a, nil
}

// denying returns the kind's rule that denies a tool call with the input that a person has changed.
// It returns "" if no rule does or the input is unchanged. Paths are checked again where the call
// is made, because only there can links be resolved.
func (s *Service) denying(ctx context.Context, f form, changed map[string]any) (string, error) {
	if len(changed) == 0 || f.checkpoint.Type != job.ToolApproval {
		return "", nil
	}
	j, err := s.store.Get(ctx, f.checkpoint.RequestID)
	if err != nil {
		return "", err
	}
	k, err := s.jobs.KindOf(ctx, j)
	if err != nil {
		return "", err
	}
	root := "/" + string(j.ID) + "/work" // as the job's own directory ends on every node
	inRoot := func(path string) (string, bool) {
		if _, rest, below := strings.Cut(path, root+"/"); below {
			path = root + "/" + rest
		}
		return filepath.Clean(path), true
	}
	dir := f.props.ToolDir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	call := approval.ToolCall{Name: f.props.ToolName, Dir: dir, Root: root, Place: f.props.ToolDir, Resolve: inRoot}
	return k.Policy.ToolRules().Denies(call, changed), nil
}

// changed returns the input of a tool call as a person has changed it, in the form in which it runs.
// It is nil if it is the input that was asked about.
func (f form) changed(values map[string]any) (map[string]any, error) {
	if len(values) == 0 || len(f.props.ToolInput) == 0 {
		return values, nil
	}
	asked, err := approval.InputOf(job.Operation{Input: f.props.ToolInput})
	if err != nil {
		return nil, err
	}
	before, err := approval.OfTool(f.props.ToolName, asked, f.props.ToolDir)
	if err != nil {
		return nil, err
	}
	after, err := approval.OfTool(f.props.ToolName, values, f.props.ToolDir)
	if err != nil || after.InputDigest == before.InputDigest {
		return nil, err
	}
	return approval.InputOf(after)
}

func (s *Service) permission(f form, scope job.ApprovalScope, changed bool) (approval.Permission, error) {
	c := f.checkpoint
	p, fault := approval.Permit(approval.Request{
		Type: c.Type, UserID: c.UserID, RequestID: c.RequestID, Kind: f.props.Kind, Rule: f.props.Rule, Changed: changed,
	}, scope, s.opts.ApprovalTimeout)
	if fault != "" {
		return p, job.InvalidField("/scope", fault)
	}
	if p.Standing != nil {
		p.Standing.ID = s.store.NewID(job.ApprovalIDs, c.UserID)
	}
	return p, nil
}
