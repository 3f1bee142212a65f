package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// Messages returns the messages of a session after the one with the id after. userID may be empty
// if only one user has a session of this name.
func (c *Client) Messages(ctx context.Context, sessionID, userID string, after int64, limit int) (Answer[Messages], error) {
	query := queryOf(map[string]string{"after": strconv.FormatInt(after, 10), "limit": strconv.Itoa(limit), "userId": userID})
	return Call[Messages](ctx, c, http.MethodGet, "/api/sessions/"+url.PathEscape(sessionID)+"/messages"+query, nil)
}

// Say posts a message to a session as its user.
func (c *Client) Say(ctx context.Context, sessionID, userID, text string) (Answer[Sent], error) {
	return Call[Sent](ctx, c, http.MethodPost, "/to-llm", struct {
		SessionID string `json:"sessionId"`
		UserID    string `json:"userId,omitempty"`
		Content   string `json:"content"`
	}{sessionID, userID, text})
}
