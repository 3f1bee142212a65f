package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

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
