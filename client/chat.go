package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"ringback/internal/job"
)

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

// newMessage is the body of POST /to-llm.
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
