package client

import (
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

// Ready checks whether the server can work. If it cannot, the error contains the reason.
func (c *Client) Ready(ctx context.Context) (Answer[Readiness], error) {
	return Call[Readiness](ctx, c, http.MethodGet, "/readyz", nil)
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

// Notifications returns the undelivered notifications with this status; empty means both statuses.
func (c *Client) Notifications(ctx context.Context, status job.NotificationStatus) (Answer[Notifications], error) {
	return Call[Notifications](ctx, c, http.MethodGet, "/api/notifications?limit=500&status="+url.QueryEscape(string(status)), nil)
}

// RetryNotification sends a notification again.
func (c *Client) RetryNotification(ctx context.Context, id job.NotificationID) (Answer[Sent], error) {
	return Call[Sent](ctx, c, http.MethodPost, "/api/notifications/"+url.PathEscape(string(id))+"/retry", nil)
}
