package client

import (
	"bytes"
	"context"
	"net/http"
	"net/url"

	"ringback/internal/job"
)

// Stats returns the counts. Of the budgets of users, it returns that of userID; if userID is empty,
// those of which the most is spent. A user's token is not allowed to read them.
func (c *Client) Stats(ctx context.Context, userID string) (Answer[Stats], error) {
	return Call[Stats](ctx, c, http.MethodGet, "/api/stats"+asUser(userID), nil)
}

// Ready returns whether the server can work, and if not, why. A user's token is not allowed to read it.
func (c *Client) Ready(ctx context.Context) (Answer[Readiness], error) {
	return Call[Readiness](ctx, c, http.MethodGet, "/api/readiness", nil)
}

// Examine has the server check its store for entries that do not match the records of jobs. With
// mend, the server repairs them.
func (c *Client) Examine(ctx context.Context, mend bool) (Answer[job.Examination], error) {
	method := http.MethodGet
	if mend {
		method = http.MethodPost
	}
	return Call[job.Examination](ctx, c, method, "/api/doctor", nil)
}

// StoreFormat takes a step of an upgrade of the store, and returns what is left to do.
func (c *Client) StoreFormat(ctx context.Context, step StoreStep) (Answer[StoreFormat], error) {
	if step == job.CheckStore {
		return Call[StoreFormat](ctx, c, http.MethodGet, "/api/store", nil)
	}
	return Call[StoreFormat](ctx, c, http.MethodPost, "/api/store/"+url.PathEscape(string(step)), nil)
}

// Notifications returns the undelivered notifications with this status; empty means both statuses.
func (c *Client) Notifications(ctx context.Context, status job.NotificationStatus) (Answer[Notifications], error) {
	return Call[Notifications](ctx, c, http.MethodGet, "/api/notifications?limit=500&status="+url.QueryEscape(string(status)), nil)
}

// RetryNotification sends a notification again.
func (c *Client) RetryNotification(ctx context.Context, id job.NotificationID) (Answer[Sent], error) {
	return Call[Sent](ctx, c, http.MethodPost, "/api/notifications/"+url.PathEscape(string(id))+"/retry", nil)
}

// Kinds returns the kinds, without their schemas.
func (c *Client) Kinds(ctx context.Context) (Answer[Kinds], error) {
	return Call[Kinds](ctx, c, http.MethodGet, "/api/kinds", nil)
}

// ReloadKinds has the node that answers load the files of its kinds again. If one of them has a
// problem, the node keeps all kinds as they were and returns a conflict that lists the problems.
func (c *Client) ReloadKinds(ctx context.Context) (Answer[KindsReload], error) {
	return Call[KindsReload](ctx, c, http.MethodPost, "/api/kinds/reload", struct{}{})
}

// Kind returns a kind with its schemas.
func (c *Client) Kind(ctx context.Context, name string) (Answer[Kind], error) {
	return Call[Kind](ctx, c, http.MethodGet, "/api/kinds/"+url.PathEscape(name), nil)
}

// AuditLog is a job's audit log.
type AuditLog struct {
	// Lines is the log as stored, one JSON object per line.
	Lines []byte
	// Head is the end of its chain, or nil if the job's record has none.
	Head *job.AuditHead
}

// Entries returns the lines of the log, byte for byte.
func (l AuditLog) Entries() [][]byte {
	if len(l.Lines) == 0 {
		return nil
	}
	return bytes.Split(bytes.TrimSuffix(l.Lines, []byte("\n")), []byte("\n"))
}

// Audit returns a job's audit log.
func (c *Client) Audit(ctx context.Context, id job.ID) (AuditLog, error) {
	text, header, err := c.exchange(ctx, http.MethodGet, jobPath(id, "/audit"), nil)
	log := AuditLog{Lines: text}
	if head := header.Get(job.AuditHeadHeader); err == nil && head != "" {
		if log.Head, err = job.ParseAuditHead(head); err != nil {
			err = c.foreign(err)
		}
	}
	return log, err
}
