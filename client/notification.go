package client

import (
	"context"
	"net/http"
	"net/url"

	"ringback/internal/job"
)

// Notifications returns the undelivered notifications with this status; empty means both statuses.
func (c *Client) Notifications(ctx context.Context, status job.NotificationStatus) (Answer[Notifications], error) {
	return Call[Notifications](ctx, c, http.MethodGet, "/api/notifications?limit=500&status="+url.QueryEscape(string(status)), nil)
}

// RetryNotification sends a notification again.
func (c *Client) RetryNotification(ctx context.Context, id job.NotificationID) (Answer[Sent], error) {
	return Call[Sent](ctx, c, http.MethodPost, "/api/notifications/"+url.PathEscape(string(id))+"/retry", nil)
}
