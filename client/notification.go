package client

import (
	"context"
	"net/http"
	"net/url"

	"ringback/internal/job"
)

// Notifications are those that have not got through.
type Notifications struct {
	Notifications []job.Notification `json:"notifications"`
}

// Notifications lists those of a status; of both if it is empty.
func (c *Client) Notifications(ctx context.Context, status job.NotificationStatus) (Answer[Notifications], error) {
	return Call[Notifications](ctx, c, http.MethodGet, "/api/notifications?limit=500&status="+url.QueryEscape(string(status)), nil)
}

// RetryNotification sends one again.
func (c *Client) RetryNotification(ctx context.Context, id job.NotificationID) (Answer[Sent], error) {
	return Call[Sent](ctx, c, http.MethodPost, "/api/notifications/"+url.PathEscape(string(id))+"/retry", nil)
}
