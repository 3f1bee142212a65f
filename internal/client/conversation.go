package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"ringback/internal/job"
)

// Checkpoints is a page of checkpoints, newest first.
type Checkpoints struct {
	Checkpoints []job.Checkpoint `json:"checkpoints"`
	// NextCursor leads to the next page; empty on the last.
	NextCursor string `json:"nextCursor"`
}

// CheckpointFilter selects checkpoints; empty fields select all.
type CheckpointFilter struct {
	UserID string
	Status job.CheckpointStatus
	Type   job.CheckpointType
	// Limit is how many a page holds at most; 0 leaves it to the server.
	Limit int
}

// Checkpoints returns a page of checkpoints.
func (c *Client) Checkpoints(ctx context.Context, f CheckpointFilter) (Answer[Checkpoints], error) {
	query := url.Values{}
	for name, value := range map[string]string{"userId": f.UserID, "status": string(f.Status), "type": string(f.Type)} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if f.Limit != 0 {
		query.Set("limit", strconv.Itoa(f.Limit))
	}
	return call[Checkpoints](ctx, c, http.MethodGet, "/api/checkpoints?"+query.Encode(), nil)
}

// Reply is a person's reply to a checkpoint: at least one of decision, values and
// text.
type Reply struct {
	Decision job.Decision      `json:"decision,omitempty"`
	Values   map[string]any    `json:"values,omitempty"`
	Text     string            `json:"text,omitempty"`
	Scope    job.ApprovalScope `json:"scope,omitempty"`
}

// Reply answers a checkpoint and returns what became of it.
func (c *Client) Reply(ctx context.Context, id job.CheckpointID, r Reply) (Answer[job.Checkpoint], error) {
	return call[job.Checkpoint](ctx, c, http.MethodPost, "/api/checkpoints/"+url.PathEscape(string(id))+"/reply", r)
}

// Approve allows what a job asks to be allowed, and returns the job's record.
func (c *Client) Approve(ctx context.Context, id job.ID) (Answer[job.Job], error) {
	return call[job.Job](ctx, c, http.MethodPost, jobPath(id, "/approve"), struct{}{})
}

// Reject refuses it, for a reason that may be empty.
func (c *Client) Reject(ctx context.Context, id job.ID, reason string) (Answer[job.Job], error) {
	return call[job.Job](ctx, c, http.MethodPost, jobPath(id, "/reject"), struct {
		Reason string `json:"reason,omitempty"`
	}{reason})
}

// Messages is a page of a session, oldest message first.
type Messages struct {
	SessionID string        `json:"sessionId"`
	Messages  []job.Message `json:"messages"`
	// NextAfter leads to the next page; 0 on the last.
	NextAfter int64 `json:"nextAfter"`
}

// Messages returns the messages of a session behind the one with the id after.
// userID may be empty where only one user has a session of this name.
func (c *Client) Messages(ctx context.Context, sessionID, userID string, after int64, limit int) (Answer[Messages], error) {
	query := url.Values{"after": {strconv.FormatInt(after, 10)}, "limit": {strconv.Itoa(limit)}}
	if userID != "" {
		query.Set("userId", userID)
	}
	return call[Messages](ctx, c, http.MethodGet, "/api/sessions/"+url.PathEscape(sessionID)+"/messages?"+query.Encode(), nil)
}

// Sent answers Say.
type Sent struct {
	Success   bool  `json:"success"`
	MessageID int64 `json:"messageId"`
}

// Say writes to a session, as its user.
func (c *Client) Say(ctx context.Context, sessionID, userID, text string) (Answer[Sent], error) {
	return call[Sent](ctx, c, http.MethodPost, "/to-llm", struct {
		SessionID string `json:"sessionId"`
		UserID    string `json:"userId,omitempty"`
		Content   string `json:"content"`
	}{sessionID, userID, text})
}

// Audit returns a job's audit log, one JSON object a line.
func (c *Client) Audit(ctx context.Context, id job.ID) ([]byte, error) {
	return c.fetch(ctx, http.MethodGet, jobPath(id, "/audit"), nil)
}

// Approvals are the standing approvals of a user.
type Approvals struct {
	Approvals []job.Approval `json:"approvals"`
}

// Approvals returns what a user has allowed for more than once.
func (c *Client) Approvals(ctx context.Context, userID string) (Answer[Approvals], error) {
	return call[Approvals](ctx, c, http.MethodGet, "/api/approvals"+asUser(userID), nil)
}

// Revoke takes back a standing approval.
func (c *Client) Revoke(ctx context.Context, userID, id string) (Answer[Sent], error) {
	return call[Sent](ctx, c, http.MethodDelete, "/api/approvals/"+url.PathEscape(id)+asUser(userID), nil)
}

func asUser(userID string) string {
	if userID == "" {
		return ""
	}
	return "?userId=" + url.QueryEscape(userID)
}
