package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"ringback/internal/job"
)

// CheckpointFilter selects checkpoints; empty fields select all.
type CheckpointFilter struct {
	UserID string
	Status job.CheckpointStatus
	Type   job.CheckpointType
	// IDPrefix is a prefix of the ids, see job.IDPrefix.
	IDPrefix string
	// Cursor is the NextCursor of the previous page; empty starts with the newest.
	Cursor string
	// Limit is the maximum size of a page; 0 means the server's default.
	Limit int
}

// Checkpoints returns a page of checkpoints.
func (c *Client) Checkpoints(ctx context.Context, f CheckpointFilter) (Answer[Checkpoints], error) {
	return Call[Checkpoints](ctx, c, http.MethodGet, "/api/checkpoints"+f.query(), nil)
}

func (f CheckpointFilter) query() string {
	return queryOf(map[string]string{
		"userId": f.UserID, "status": string(f.Status), "type": string(f.Type), "cursor": f.Cursor, "idPrefix": f.IDPrefix,
		"limit": nonZero(f.Limit),
	})
}

// CountCheckpoints returns the number of checkpoints that match the filter. IDPrefix is ignored.
func (c *Client) CountCheckpoints(ctx context.Context, f CheckpointFilter) (int64, error) {
	found, err := Call[struct {
		Count int64 `json:"count"`
	}](ctx, c, http.MethodGet, "/api/checkpoints/count"+f.query(), nil)
	return found.Value.Count, err
}

// Checkpoint returns one checkpoint, whether or not it is still open.
func (c *Client) Checkpoint(ctx context.Context, id job.CheckpointID) (Answer[job.Checkpoint], error) {
	return Call[job.Checkpoint](ctx, c, http.MethodGet, checkpointPath(id), nil)
}

// Reply is a person's reply to a checkpoint. It needs at least one of decision, values and text.
type Reply struct {
	Decision job.Decision `json:"decision,omitempty"`
	// Values are raw JSON, so that no number loses a digit.
	Values map[string]json.RawMessage `json:"values,omitzero"`
	Text   string                     `json:"text,omitempty"`
	Scope  job.ApprovalScope          `json:"scope,omitempty"`
	// Seen identifies the change that was shown.
	Seen
}

// Reply answers a checkpoint and returns the updated checkpoint.
func (c *Client) Reply(ctx context.Context, id job.CheckpointID, r Reply) (Answer[job.Checkpoint], error) {
	return Call[job.Checkpoint](ctx, c, http.MethodPost, checkpointPath(id)+"/reply", r)
}

func checkpointPath(id job.CheckpointID) string {
	return "/api/checkpoints/" + url.PathEscape(string(id))
}

// Seen identifies what a person has decided on. The decision is a Conflict if the job now asks
// something else. An approval requires CheckpointID, or Iteration and Trees; a rejection
// accepts the zero value.
type Seen struct {
	// CheckpointID identifies the question.
	CheckpointID job.CheckpointID `json:"checkpointId,omitempty"`
	// Iteration is the number of times the change had been steered.
	Iteration *int `json:"iteration,omitempty"`
	// Trees are the git tree ids that were shown, by repository.
	Trees map[string]string `json:"trees,omitempty"`
	// Shown describes how it was shown.
	Shown job.Shown `json:"shown,omitempty"`
	// Unviewed is the number of files of the change that the person approves without having marked
	// them as viewed. The approval is refused if there are more. Nil skips this check.
	Unviewed *int `json:"unviewed,omitempty"`
}

// Approve approves what a job asks for and returns the job's record.
func (c *Client) Approve(ctx context.Context, id job.ID, seen Seen) (Answer[job.Job], error) {
	return Call[job.Job](ctx, c, http.MethodPost, jobPath(id, "/approve"), seen)
}

// Reject refuses what a job asks for and returns the job's record. The reason may be empty.
func (c *Client) Reject(ctx context.Context, id job.ID, reason string, seen Seen) (Answer[job.Job], error) {
	return Call[job.Job](ctx, c, http.MethodPost, jobPath(id, "/reject"), struct {
		Reason string `json:"reason,omitempty"`
		Seen
	}{reason, seen})
}

// Approvals returns the standing approvals of a user.
func (c *Client) Approvals(ctx context.Context, userID string) (Answer[Approvals], error) {
	return Call[Approvals](ctx, c, http.MethodGet, "/api/approvals"+asUser(userID), nil)
}

// Revoke withdraws a standing approval.
func (c *Client) Revoke(ctx context.Context, userID, id string) (Answer[Sent], error) {
	return Call[Sent](ctx, c, http.MethodDelete, "/api/approvals/"+url.PathEscape(id)+asUser(userID), nil)
}

func asUser(userID string) string { return queryOf(map[string]string{"userId": userID}) }

// Messages returns the messages of a session after the one with the id after. userID may be empty
// if only one user has a session of this name.
func (c *Client) Messages(ctx context.Context, sessionID, userID string, after int64, limit int) (Answer[Messages], error) {
	query := queryOf(map[string]string{"after": strconv.FormatInt(after, 10), "limit": strconv.Itoa(limit), "userId": userID})
	return Call[Messages](ctx, c, http.MethodGet, "/api/sessions/"+url.PathEscape(sessionID)+"/messages"+query, nil)
}

// Say posts a message to a session as its user. question is the messageId of the checkpoint that
// the user was shown when they wrote the text, which is the reply to it; 0 if they were shown none.
// If that checkpoint is no longer open, the message answers nothing.
func (c *Client) Say(ctx context.Context, sessionID, userID, text string, question int64) (Answer[Sent], error) {
	return c.SayTo(ctx, sessionID, userID, text, question, Addressee{MayStart: true})
}

// Addressee limits which job may receive a message.
type Addressee struct {
	// RequestID is the job next to which the user wrote the message; empty for the latest of the session.
	RequestID job.ID
	// MayStart is true if the message may start another job when that one has ended.
	MayStart bool
}

// SayTo is Say to one job. Error: 409 if another job would receive the message. Then nothing was sent.
func (c *Client) SayTo(ctx context.Context, sessionID, userID, text string, question int64, to Addressee) (Answer[Sent], error) {
	body := newMessage{SessionID: sessionID, UserID: userID, Content: text}
	body.Props.Question, body.Props.RequestID = question, to.RequestID
	if !to.MayStart {
		body.Props.MayStart = new(bool)
	}
	return Call[Sent](ctx, c, http.MethodPost, "/to-llm", body)
}

type newMessage struct {
	SessionID string `json:"sessionId"`
	UserID    string `json:"userId,omitempty"`
	Content   string `json:"content"`
	Props     struct {
		Question  int64  `json:"checkpoint_message_id"`
		RequestID job.ID `json:"request_id,omitempty"`
		MayStart  *bool  `json:"may_start,omitempty"` // nil means true
	} `json:"props"`
}
