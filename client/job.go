package client

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringback/internal/job"
)

// NewJob is the request to create a job.
type NewJob struct {
	// Kind is the name of the job's kind.
	Kind string `json:"kind"`
	// Input is the input of the kind, such as a struct. Its JSON must be valid under the kind's
	// input schema. If it is JSON already, pass a json.RawMessage, not a []byte.
	Input any `json:"input,omitempty"`
	// UserID is the user that the job is created for; empty means the token's user.
	UserID string `json:"userId,omitempty"`
	// SessionID is the chat that the job belongs to; empty starts a new one.
	SessionID string `json:"sessionId,omitempty"`
	// Tags group jobs; at most 10.
	Tags []string `json:"tags,omitempty"`
	// IdempotencyKey makes a repeated Create of the same user return the first job, so that the
	// caller can repeat a Create that got no response (see UntilAvailable). The same key with a
	// different job is a Conflict.
	IdempotencyKey string `json:"idempotencyKey,omitempty"`
	// Options are settings for this job alone.
	Options job.Options `json:"options,omitzero"`
}

// Create creates a job.
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
	// States selects jobs in any of these states.
	States []job.State
	// IDPrefix is a prefix of the ids, see job.IDPrefix.
	IDPrefix string
	// Tag selects jobs with this tag. Text selects jobs by words in their titles, kinds, ids or
	// tags.
	Tag, Text string
	// Since and Until select jobs by their time of creation: at or after Since, and before Until.
	Since, Until time.Time
	// Cursor is the NextCursor of the previous page; empty starts with the newest job.
	Cursor string
	// Limit is the maximum number of jobs in a page; 0 means the server's default.
	Limit int
	// Brief leaves out input and result, which may be large.
	Brief bool
}

func (f Filter) query() string {
	var states []string
	for _, state := range f.States {
		states = append(states, string(state))
	}
	parameters := map[string]string{
		"userId": f.UserID, "kind": f.Kind, "status": strings.Join(states, ","), "cursor": f.Cursor, "idPrefix": f.IDPrefix,
		"tag": f.Tag, "q": f.Text, "limit": nonZero(f.Limit),
	}
	for name, at := range map[string]time.Time{"createdSince": f.Since, "createdUntil": f.Until} {
		if !at.IsZero() {
			parameters[name] = at.UTC().Format(time.RFC3339)
		}
	}
	if f.Brief {
		parameters["fields"] = "-input,-result"
	}
	return queryOf(parameters)
}

// Page is a page of jobs, newest first.
type Page struct {
	Jobs []job.Job `json:"jobs"`
	// NextCursor is the cursor of the next page; empty on the last page.
	NextCursor string `json:"nextCursor"`
	// SearchedTo is set if older jobs have not been searched yet; the next page continues from this
	// time.
	SearchedTo time.Time `json:"searchedTo,omitzero"`
}

// List returns a page of jobs.
func (c *Client) List(ctx context.Context, f Filter) (Answer[Page], error) {
	return Call[Page](ctx, c, http.MethodGet, "/api/jobs"+f.query(), nil)
}

// Matching returns the newest jobs of a filter to which an action applies, at most most of them,
// newest first and without input and result. more is true if there are others.
func (c *Client) Matching(
	ctx context.Context, f Filter, action job.BulkAction, most int,
) (found []job.Job, more bool, err error) {
	wanted := f.States
	f.States = nil
	for _, state := range job.States {
		if action.AppliesTo(state) && (len(wanted) == 0 || slices.Contains(wanted, state)) {
			f.States = append(f.States, state)
		}
	}
	if len(f.States) == 0 {
		return nil, false, nil
	}
	f.Brief, f.Limit = true, min(most+1, 500)
	for len(found) <= most {
		page, err := c.List(ctx, f)
		if err != nil {
			return nil, false, err
		}
		for _, j := range page.Value.Jobs {
			if action != job.BulkAnswer || j.Checkpoint != nil {
				found = append(found, j)
			}
		}
		if f.Cursor = page.Value.NextCursor; f.Cursor == "" {
			break
		}
	}
	return found[:min(most, len(found))], len(found) > most, nil
}

// Bulk applies an action to many jobs.
func (c *Client) Bulk(ctx context.Context, b NewBulk) (Answer[Outcomes], error) {
	return Call[Outcomes](ctx, c, http.MethodPost, "/api/jobs/bulk", b)
}

// Cancel cancels a job and returns its record.
func (c *Client) Cancel(ctx context.Context, id job.ID) (Answer[job.Job], error) {
	return Call[job.Job](ctx, c, http.MethodPost, jobPath(id, "/cancel"), struct{}{})
}

// Interrupt stops the commands that Claude runs for a job, but keeps the job. With turn, or if the
// turn was interrupted before, it stops the whole turn. message is passed to Claude; it may be
// empty.
func (c *Client) Interrupt(ctx context.Context, id job.ID, message string, turn bool) (Answer[job.Job], error) {
	return Call[job.Job](ctx, c, http.MethodPost, jobPath(id, "/interrupt"), struct {
		Message string `json:"message,omitempty"`
		Turn    bool   `json:"turn,omitempty"`
	}{message, turn})
}

// Retry restarts an expired, failed or cancelled job and returns its record.
func (c *Client) Retry(ctx context.Context, id job.ID) (Answer[job.Job], error) {
	return Call[job.Job](ctx, c, http.MethodPost, jobPath(id, "/retry"), struct{}{})
}

// Move moves a job that has not ended to the current version of its kind, from its next turn on, and
// returns its record.
func (c *Client) Move(ctx context.Context, id job.ID) (Answer[job.Job], error) {
	return Call[job.Job](ctx, c, http.MethodPost, jobPath(id, "/move"), struct{}{})
}

// Callback contains the values that a person playing Claude sends with each callback.
type Callback struct {
	RequestID job.ID `json:"requestId"`
	// BaseURL is prepended to the paths of callbacks.
	BaseURL string `json:"callbackBaseUrl"`
	// HMAC is the signature for this job.
	HMAC string `json:"hmac"`
	// Directory is the path of the repositories that Claude works on, on the machine of the
	// server that responds. It is empty if they are elsewhere or the job has none.
	Directory string `json:"directory,omitempty"`
}

// Callback returns the callback values of a job that waits to be played by hand. For any other job,
// it returns a Conflict.
func (c *Client) Callback(ctx context.Context, id job.ID) (Answer[Callback], error) {
	return Call[Callback](ctx, c, http.MethodGet, jobPath(id, "/callback"), nil)
}

func jobPath(id job.ID, rest string) string { return "/api/jobs/" + url.PathEscape(string(id)) + rest }

// Transcript returns the output of the Claude CLI for a job, one JSON object per line. It is empty
// before the first turn.
func (c *Client) Transcript(ctx context.Context, id job.ID) ([]byte, error) {
	text, _, err := c.exchange(ctx, http.MethodGet, jobPath(id, "/transcript"), nil)
	return text, err
}

// Events are events of a job, oldest first.
type Events struct {
	Events []Event `json:"events"`
	// Resync is true if events between since and the first one are missing, see Resync.
	Resync bool `json:"resync"`
}

// Events returns the retained events of a job after the one with the id since, at most 1,000.
func (c *Client) Events(ctx context.Context, id job.ID, since job.Seq) (Answer[Events], error) {
	return Call[Events](ctx, c, http.MethodGet, jobPath(id, "/events?since="+since.String()), nil)
}

// Files returns the files that a job created.
func (c *Client) Files(ctx context.Context, id job.ID) (Answer[Files], error) {
	return Call[Files](ctx, c, http.MethodGet, jobPath(id, "/files"), nil)
}

// Diff returns what a job has changed, by repository.
func (c *Client) Diff(ctx context.Context, id job.ID) (Answer[[]job.DiffOutput], error) {
	return Call[[]job.DiffOutput](ctx, c, http.MethodGet, jobPath(id, "/diff"), nil)
}

// DiffPage returns a part of what a job has changed.
func (c *Client) DiffPage(ctx context.Context, id job.ID, page DiffPage) (Answer[[]job.DiffOutput], error) {
	since := ""
	if page.Since != nil {
		since = strconv.Itoa(*page.Since)
	}
	query := queryOf(map[string]string{
		"from": strconv.Itoa(page.From), "max_lines": strconv.Itoa(page.Lines), "repository": page.Repository, "file": page.File,
		"context": nonZero(max(0, page.Context)), "since": since,
	})
	return Call[[]job.DiffOutput](ctx, c, http.MethodGet, jobPath(id, "/diff"+query), nil)
}

// Logs returns the outcomes of the verifiers.
func (c *Client) Logs(ctx context.Context, id job.ID) (Answer[[]job.VerifierOutput], error) {
	return Call[[]job.VerifierOutput](ctx, c, http.MethodGet, jobPath(id, "/logs"), nil)
}

// Viewed returns which files of a change the caller has marked as viewed.
func (c *Client) Viewed(ctx context.Context, id job.ID) (Answer[job.Viewed], error) {
	return Call[job.Viewed](ctx, c, http.MethodGet, jobPath(id, "/viewed"), nil)
}

// SetViewed marks a file of a change as viewed by the caller, or removes the mark. repository and
// digest are those of the diff. Error: Conflict if the change no longer has this file.
func (c *Client) SetViewed(ctx context.Context, id job.ID, repository, digest string, viewed bool) (Answer[job.Viewed], error) {
	return Call[job.Viewed](ctx, c, http.MethodPost, jobPath(id, "/viewed"), struct {
		Repository string `json:"repository"`
		Digest     string `json:"digest"`
		Viewed     bool   `json:"viewed"`
	}{repository, digest, viewed})
}

// Steering returns how often a change was steered and how often it may be.
func (c *Client) Steering(ctx context.Context, id job.ID) (Answer[job.SteeringState], error) {
	return Call[job.SteeringState](ctx, c, http.MethodGet, jobPath(id, "/steering"), nil)
}

// Steer asks for another round of a change, and returns the job's record.
func (c *Client) Steer(ctx context.Context, id job.ID, prompt string) (Answer[job.Job], error) {
	return Call[job.Job](ctx, c, http.MethodPost, jobPath(id, "/steer"), struct {
		Prompt string `json:"prompt"`
	}{prompt})
}
