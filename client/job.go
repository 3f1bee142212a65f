package client

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"ringback/internal/job"
)

// NewJob is what a job is created from.
type NewJob struct {
	// Kind says what sort of job it is.
	Kind string `json:"kind"`
	// Input is what the kind takes, such as a struct; its JSON must be valid under the kind's input
	// schema. JSON that is there already must be a json.RawMessage, not a []byte.
	Input any `json:"input,omitempty"`
	// UserID is whose job it will be; empty means the token's user.
	UserID string `json:"userId,omitempty"`
	// SessionID is the chat it belongs to; empty begins a new one.
	SessionID string `json:"sessionId,omitempty"`
	// Tags group the job with others; at most 10.
	Tags []string `json:"tags,omitempty"`
	// IdempotencyKey makes a repeated Create of the same user return the first job, so that Create can
	// be sent again if no response came, see UntilAvailable. The same key with another job is a Conflict.
	IdempotencyKey string `json:"idempotencyKey,omitempty"`
	// Options are wishes for this job alone.
	Options job.Options `json:"options,omitzero"`
}

// Created answers Create.
type Created struct {
	RequestID job.ID `json:"requestId"`
	SessionID string `json:"sessionId"`
	// State is pending, or where an older job with the same key stands.
	State job.State `json:"status"`
}

// Create asks for a job.
func (c *Client) Create(ctx context.Context, n NewJob) (Answer[Created], error) {
	return Call[Created](ctx, c, http.MethodPost, "/api/jobs", n)
}

// Get returns the record of a job.
func (c *Client) Get(ctx context.Context, id job.ID) (Answer[job.Job], error) {
	return Call[job.Job](ctx, c, http.MethodGet, jobPath(id, ""), nil)
}

// Filter selects jobs; empty fields select all.
type Filter struct {
	UserID, Kind string
	State        job.State
	// IDPrefix is the beginning of ids, see job.IDPrefix.
	IDPrefix string
	// Tag is a tag that the jobs have, and Text words of their titles, kinds, ids or tags.
	Tag, Text string
	// Since is the earliest time of creation; Until is later than that of any job.
	Since, Until time.Time
	// Cursor is where the page before ended; empty begins with the newest job.
	Cursor string
	// Limit is how many jobs a page holds at most; 0 leaves it to the server.
	Limit int
	// Brief leaves out input and result, which may be large.
	Brief bool
}

func (f Filter) query() string {
	query := url.Values{}
	for name, value := range map[string]string{
		"userId": f.UserID, "kind": f.Kind, "status": string(f.State), "cursor": f.Cursor, "idPrefix": f.IDPrefix,
		"tag": f.Tag, "q": f.Text,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	for name, at := range map[string]time.Time{"createdSince": f.Since, "createdUntil": f.Until} {
		if !at.IsZero() {
			query.Set(name, at.UTC().Format(time.RFC3339))
		}
	}
	if f.Brief {
		query.Set("fields", "-input,-result")
	}
	if f.Limit != 0 {
		query.Set("limit", strconv.Itoa(f.Limit))
	}
	return query.Encode()
}

// Page is a page of jobs, newest first.
type Page struct {
	Jobs []job.Job `json:"jobs"`
	// NextCursor leads to the next page; empty on the last.
	NextCursor string `json:"nextCursor"`
	// SearchedTo is set if older jobs were not looked at yet: the next page goes on there.
	SearchedTo time.Time `json:"searchedTo,omitzero"`
}

// List returns a page of jobs.
func (c *Client) List(ctx context.Context, f Filter) (Answer[Page], error) {
	return Call[Page](ctx, c, http.MethodGet, "/api/jobs?"+f.query(), nil)
}

// Matching returns the jobs of a filter to which an action applies, newest first, without their input
// and result: the newest most of them, and whether there are more.
func (c *Client) Matching(ctx context.Context, f Filter, action job.BulkAction, most int) (found []job.Job, more bool, err error) {
	f.Brief, f.Limit = true, min(most+1, 500)
	for _, state := range job.States {
		if !action.AppliesTo(state) || f.State != "" && f.State != state {
			continue
		}
		q, before := f, len(found)
		for q.State = state; len(found)-before <= most; {
			page, err := c.List(ctx, q)
			if err != nil {
				return nil, false, err
			}
			found = append(found, page.Value.Jobs...)
			if q.Cursor = page.Value.NextCursor; q.Cursor == "" {
				break
			}
		}
	}
	slices.SortFunc(found, func(a, b job.Job) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return found[:min(most, len(found))], len(found) > most, nil
}

// Outcomes are what became of jobs to which the same was done.
type Outcomes struct {
	// Succeeded counts those to which it was done.
	Succeeded int       `json:"succeeded"`
	Jobs      []Outcome `json:"jobs"`
}

// Outcome is what became of one job.
type Outcome struct {
	RequestID job.ID `json:"requestId"`
	// Error says why nothing was done, and Hint what to do; empty if it was done.
	Error string `json:"error"`
	Hint  string `json:"hint"`
}

// Bulk does the same to each of up to MostInBulk jobs.
func (c *Client) Bulk(ctx context.Context, action job.BulkAction, ids []job.ID) (Answer[Outcomes], error) {
	return Call[Outcomes](ctx, c, http.MethodPost, "/api/jobs/bulk", struct {
		Action     job.BulkAction `json:"action"`
		RequestIDs []job.ID       `json:"requestIds"`
	}{action, ids})
}

// Cancel ends a job now and returns its record.
func (c *Client) Cancel(ctx context.Context, id job.ID) (Answer[job.Job], error) {
	return Call[job.Job](ctx, c, http.MethodPost, jobPath(id, "/cancel"), struct{}{})
}

// Interrupt stops the commands that Claude runs for a job, and keeps the job; with turn, or asked
// again, the whole turn. message is what Claude is told; empty for nothing.
func (c *Client) Interrupt(ctx context.Context, id job.ID, message string, turn bool) (Answer[job.Job], error) {
	return Call[job.Job](ctx, c, http.MethodPost, jobPath(id, "/interrupt"), struct {
		Message string `json:"message,omitempty"`
		Turn    bool   `json:"turn,omitempty"`
	}{message, turn})
}

// Retry starts an expired, failed or cancelled job again and returns its record.
func (c *Client) Retry(ctx context.Context, id job.ID) (Answer[job.Job], error) {
	return Call[job.Job](ctx, c, http.MethodPost, jobPath(id, "/retry"), struct{}{})
}

// Callback is what a person who plays Claude sends with each callback.
type Callback struct {
	RequestID job.ID `json:"requestId"`
	// BaseURL is what the callbacks' paths follow.
	BaseURL string `json:"callbackBaseUrl"`
	// HMAC signs for this job.
	HMAC string `json:"hmac"`
	// Directory is where the repositories lie that Claude works on, on the server's machine;
	// empty where there are none, or not there.
	Directory string `json:"directory,omitempty"`
}

// Callback returns the callback values of a job that waits to be played by
// hand; of any other job it is a conflict.
func (c *Client) Callback(ctx context.Context, id job.ID) (Answer[Callback], error) {
	return Call[Callback](ctx, c, http.MethodGet, jobPath(id, "/callback"), nil)
}

func jobPath(id job.ID, rest string) string { return "/api/jobs/" + url.PathEscape(string(id)) + rest }

// Events are events of a job, oldest first.
type Events struct {
	Events []Event `json:"events"`
}

// Events returns the events of a job that are kept, behind the one with the id since; at
// most a thousand of them.
func (c *Client) Events(ctx context.Context, id job.ID, since job.Seq) (Answer[Events], error) {
	return Call[Events](ctx, c, http.MethodGet, jobPath(id, "/events?since="+since.String()), nil)
}

// File is a file that a job made.
type File struct {
	// Path is below the job's directory, with slashes; URL is where it is on the server.
	Path string `json:"path"`
	URL  string `json:"url"`
	// Size is in bytes.
	Size        int64     `json:"size"`
	ContentType string    `json:"contentType"`
	ModifiedAt  time.Time `json:"modifiedAt"`
}

// Files are the files that a job made.
type Files struct {
	Files []File `json:"files"`
	// Truncated is whether there are more, which cannot be listed.
	Truncated bool `json:"truncated"`
}

// Files returns the files that a job made.
func (c *Client) Files(ctx context.Context, id job.ID) (Answer[Files], error) {
	return Call[Files](ctx, c, http.MethodGet, jobPath(id, "/files"), nil)
}
