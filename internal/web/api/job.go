package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/job/strictjson"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/web/httpjson"
)

// find returns the job in the path if the caller may see it. To any other caller it does
// not exist.
func (s *Server) find(c echo.Context) (job.Job, error) { return s.findID(c, job.ID(c.Param("id"))) }

// findID is like find for a job that the body names.
func (s *Server) findID(c echo.Context, id job.ID) (job.Job, error) {
	j, err := s.store.Get(c.Request().Context(), id)
	if err != nil {
		return job.Job{}, err
	}
	if who := callerOf(c); !who.service() && who.userID != j.UserID {
		return job.Job{}, job.NoJob(id)
	}
	return j, nil
}

// answer responds with a value, unless there is an error.
func answer(c echo.Context, value any, err error) error {
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, value)
}

// maxBody is the maximum size of a request body in bytes.
const maxBody = 1 << 20

func readObject(c echo.Context) (map[string]any, error) {
	body, _, err := httpjson.ReadObject(c.Response(), c.Request(), maxBody)
	return body, err
}

// cutObject removes a field from a body and returns its value, which must be an object. It is not
// decoded with the rest: its numbers must stay as they were sent.
func cutObject(body map[string]any, field, expected string) (map[string]any, error) {
	value, sent := body[field]
	delete(body, field)
	object, ok := value.(map[string]any)
	if sent && !ok {
		return nil, job.InvalidField("/"+field, expected)
	}
	return object, nil
}

func read(c echo.Context, into any) error {
	body, err := readObject(c)
	if err != nil {
		return err
	}
	return strictjson.Into(body, into)
}

func (s *Server) getJob(c echo.Context) error {
	j, err := s.find(c)
	if err != nil {
		return err
	}
	jobs := []job.Job{j}
	if err := s.showWaiting(c.Request().Context(), jobs); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, jobs[0])
}

// showWaiting adds to queued jobs what they are queued behind, or the end of Claude's rate
// limit if that keeps all nodes from starting them. It does not change their records,
// because there may be very many.
func (s *Server) showWaiting(ctx context.Context, jobs []job.Job) error {
	var queued []*job.Job
	for i, j := range jobs {
		if j.State == job.Pending && j.Phase == job.Queued && j.PhaseUntil.IsZero() {
			queued = append(queued, &jobs[i])
		}
	}
	if len(queued) == 0 {
		return nil
	}
	until, isClosed, err := s.store.Limits.Wall(ctx)
	if err != nil {
		return err
	}
	for _, j := range queued {
		if isClosed && !j.Simulated && !j.Approved {
			j.Phase, j.PhaseUntil = job.WaitingForLimit, until
		}
	}
	return s.store.Queue.Show(ctx, slices.DeleteFunc(queued, func(j *job.Job) bool { return j.Phase != job.Queued }))
}

func (s *Server) listJobs(c echo.Context) error {
	q, err := s.jobQuery(c)
	if err != nil {
		return err
	}
	shown, err := parseFields(c.QueryParam("fields"))
	if err != nil {
		return err
	}
	q.Brief = !shown.shows("input") && !shown.shows("result")
	q.UserID = c.QueryParam("userId")
	if who := callerOf(c); !who.service() {
		userID, err := s.actAs(who, q.UserID, "job")
		if err != nil {
			return err
		}
		q.UserID = userID
	}
	jobs, next, err := s.store.Jobs.List(c.Request().Context(), q)
	if err != nil {
		return err
	}
	if err := s.showWaiting(c.Request().Context(), jobs); err != nil {
		return err
	}
	records := make([]json.RawMessage, len(jobs))
	for i, j := range jobs {
		records[i] = shown.of(j)
	}
	page := jobPage[json.RawMessage]{Jobs: records, NextCursor: next}
	if next != "" && len(jobs) < q.Limit {
		page.SearchedTo = store.CursorTime(next)
	}
	return c.JSON(http.StatusOK, page)
}

// jobPage is a page of jobs, newest first, each with the fields that were asked for.
type jobPage[T any] struct {
	Jobs []T `json:"jobs"` // The jobs of this page, newest first.
	// NextCursor is the value of cursor for the next page; absent on the last.
	NextCursor string `json:"nextCursor,omitempty"`
	// SearchedTo is set if the page has fewer jobs than asked for but older ones may match:
	// jobs created before this time have not been searched yet. The next page continues
	// there.
	SearchedTo time.Time `json:"searchedTo,omitzero"`
}

// maxSearch is the maximum length of a search text, in characters.
const maxSearch = 200

func (s *Server) jobQuery(c echo.Context) (store.Query, error) {
	sent := queryOf(c)
	q := store.Query{
		Kind: sent.Get("kind"), States: job.NamesIn[job.State](sent.Values["status"]...), Tag: sent.Get("tag"),
		Text: strings.TrimSpace(sent.Get("q")), Cursor: sent.Get("cursor"), Limit: sent.limit(),
		Since: sent.time("createdSince"), Until: sent.time("createdUntil"), IDs: sent.ids(job.JobIDs),
	}
	for _, state := range q.States {
		if !slices.Contains(job.States[:], state) {
			return q, job.UnknownName("/status", string(state), job.States[:])
		}
	}
	if _, known := s.jobs.Kind(q.Kind); q.Kind != "" && !known {
		return q, job.UnknownName("/kind", q.Kind, s.jobs.KindNames())
	}
	if fault := job.TagFault(q.Tag); q.Tag != "" && fault != "" {
		return q, job.InvalidField("/tag", fault)
	}
	if utf8.RuneCountInString(q.Text) > maxSearch {
		return q, job.InvalidField("/q", fmt.Sprintf("expected at most %d characters", maxSearch))
	}
	return q, sent.err
}

func act(action job.BulkAction) handler {
	return func(s *Server, c echo.Context) error {
		if err := s.act(c, jobAction{action: action, id: job.ID(c.Param("id"))}); err != nil {
			return err
		}
		return s.getJob(c)
	}
}

// newInterrupt is the body of POST /api/jobs/:id/interrupt.
type newInterrupt struct {
	// Message is sent to Claude as a message of the user.
	Message string `json:"message,omitempty"`
	// Turn is true to stop the whole turn, not only the commands that it runs.
	Turn bool `json:"turn,omitempty"`
}

func (s *Server) interruptJob(c echo.Context, j job.Job) error {
	var asked newInterrupt
	if c.Request().ContentLength != 0 {
		if err := read(c, &asked); err != nil {
			return err
		}
	}
	if utf8.RuneCountInString(asked.Message) > maxMessage {
		return job.InvalidField("/message", fmt.Sprintf("expected at most %d characters of text", maxMessage))
	}
	what := lifecycle.Interruption{Message: strings.TrimSpace(asked.Message), By: actorOf(c, job.ViaAPI), Turn: asked.Turn}
	if err := s.jobs.Interrupt(c.Request().Context(), j.ID, what); err != nil {
		return err
	}
	return s.getJob(c)
}

func (s *Server) jobEvents(c echo.Context, j job.Job) error {
	since, err := sinceOf(c)
	if err != nil {
		return err
	}
	const most = 1000
	events, missed, err := s.store.Events.OfJob(c.Request().Context(), j, since, most)
	if err != nil {
		return err
	}
	frames := make([]json.RawMessage, len(events))
	for i, e := range events {
		frames[i] = json.RawMessage(e.Frame())
	}
	return c.JSON(http.StatusOK, eventPage[json.RawMessage]{frames, missed && since > 0})
}

// eventPage is a page of the events of one job, oldest first.
type eventPage[T any] struct {
	Events []T `json:"events"` // The events, oldest first.
	// Resync is true if the events since then are no longer complete: reload the record.
	Resync bool `json:"resync,omitempty"`
}

func sinceOf(c echo.Context) (job.Seq, error) {
	text := c.QueryParam("since")
	if text == "" {
		return 0, nil
	}
	return job.ParseSeq(text)
}

func (s *Server) transcript(c echo.Context, j job.Job) error {
	text, err := s.store.Transcripts.Read(c.Request().Context(), j)
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, "application/x-ndjson", []byte(text))
}

func (s *Server) callbackValues(c echo.Context, j job.Job) error {
	if j.Options.Simulate != job.SimulateManual {
		return job.Errorf(job.Conflict, "This job is not played by hand").
			WithHint(`Only jobs created with "options": {"simulate": "manual"} are played by hand.`)
	}
	if j.State.Terminal() {
		return job.Errorf(job.Conflict, "The job is already %s", j.State)
	}
	k, err := s.jobs.KindOf(c.Request().Context(), j)
	if err != nil {
		return err
	}
	onRepositories := k.Policy.Workspace != nil
	// The start of a turn makes the signature before it void, and its repositories must be ready.
	if !onRepositories {
		if j, err = s.begun(c.Request().Context(), j); err != nil {
			return err
		}
	}
	if j.State == job.Pending || onRepositories && j.Phase != job.AtWork {
		return job.Errorf(job.Conflict, "The turn has not begun: the job is %s (%s)", j.State, j.Phase).
			WithHint("Try again once its phase is %s.", job.AtWork)
	}
	signature, err := s.store.Jobs.Signature(c.Request().Context(), j.ID)
	if err != nil {
		return err
	}
	values := callbackConfiguration{RequestID: j.ID, CallbackBaseURL: s.opts.CallbackBaseURL, HMAC: signature}
	if onRepositories {
		values.Directory = s.opts.WorkspaceDir(j.ID)
	}
	return c.JSON(http.StatusOK, values)
}

// begun returns a job that waits for a worker once its turn has begun, or as it is after a while.
func (s *Server) begun(ctx context.Context, j job.Job) (now job.Job, err error) {
	for wait := time.Duration(0); j.State == job.Pending && wait < turnStart; wait += startInterval {
		select {
		case <-ctx.Done():
			return j, ctx.Err()
		case <-time.After(startInterval):
		}
		if j, err = s.store.Get(ctx, j.ID); err != nil {
			return j, err
		}
	}
	return j, nil
}

// turnStart is how long the values of a turn that is about to begin are waited for.
const (
	turnStart     = 5 * time.Second
	startInterval = 50 * time.Millisecond
)

// callbackConfiguration contains the values that Claude gets in its prompt.
type callbackConfiguration struct {
	RequestID job.ID `json:"requestId"` // The job's id.
	// CallbackBaseURL is the base URL of callbacks.
	CallbackBaseURL string `json:"callbackBaseUrl"`
	// HMAC is the signature of this turn's callbacks.
	HMAC job.Signature `json:"hmac"`
	// Directory is the directory with the repositories that Claude works on, on the machine
	// that runs the turn. It is absent if that is another machine, if the job has no
	// repositories, and until they are ready.
	Directory string `json:"directory,omitempty"`
}

// query reads the parameters of a request. err describes the first that is wrong; any method returns zero for
// one that is wrong or absent.
type query struct {
	url.Values
	err error
}

func queryOf(c echo.Context) *query { return &query{Values: c.QueryParams()} }

func (q *query) refuse(name, expected string) {
	q.err = cmp.Or(q.err, error(job.InvalidField("/"+name, expected)))
}

// number returns a number from 1 to most.
func (q *query) number(name string, otherwise, most int) int {
	text := q.Get(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		q.refuse(name, "expected a number from 1 to "+strconv.Itoa(most))
	}
	return n
}

const mostInPage = 500

func (q *query) limit() int { return q.number("limit", 50, mostInPage) }

func (q *query) time(name string) (at time.Time) {
	if text := q.Get(name); text != "" {
		var err error
		if at, err = time.Parse(time.RFC3339, text); err != nil {
			q.refuse(name, "expected a time such as 2026-03-02T18:00:00Z")
		}
	}
	return at
}

// ids returns the beginning of an id.
func (q *query) ids(word string) (p job.IDPrefix) {
	if text := q.Get("idPrefix"); text != "" {
		var ok bool
		if p, ok = job.ParseIDPrefix(word, text); !ok || p.TooShort() {
			q.refuse("idPrefix", fmt.Sprintf(
				"expected at least %d characters of the random part of an id, with or without its prefix", job.MinIDPrefix,
			))
		}
	}
	return p
}

// oneOf returns one of the allowed names.
func oneOf[T ~string](q *query, name string, allowed []T) T {
	found := T(q.Get(name))
	if found != "" && !slices.Contains(allowed, found) {
		q.err = cmp.Or(q.err, error(job.UnknownName("/"+name, string(found), allowed)))
	}
	return found
}

// selection is the set of fields that a list shows of each job.
type selection struct {
	names []string
	// without is set if names are the fields to leave out instead.
	without bool
}

var recordFields = sync.OnceValue(func() []string {
	return slices.Sorted(maps.Keys(job.FieldsOf(reflect.TypeFor[job.Job]())))
})

// parseFields parses the parameter fields, such as "requestId,status", or "-result,-input"
// for all but these; empty selects all.
func parseFields(text string) (selection, error) {
	if text == "" {
		return selection{without: true}, nil
	}
	var sel selection
	for i, part := range strings.Split(text, ",") {
		name, without := strings.CutPrefix(strings.TrimSpace(part), "-")
		if i > 0 && without != sel.without {
			return sel, job.InvalidField("/fields", "expected the names of fields to return, or names that all begin with - of fields to leave out")
		}
		if !slices.Contains(recordFields(), name) {
			return sel, job.UnknownName("/fields", name, recordFields())
		}
		sel.names, sel.without = append(sel.names, name), without
	}
	return sel, nil
}

func (s selection) shows(name string) bool { return slices.Contains(s.names, name) != s.without }

// of returns a job's record with only the selected fields.
func (s selection) of(j job.Job) json.RawMessage {
	text := job.MustJSON(j)
	if s.without && len(s.names) == 0 {
		return text
	}
	all := map[string]json.RawMessage{}
	for name, value := range job.Members(text) {
		if s.shows(name) {
			all[name] = value
		}
	}
	return job.MustJSON(all)
}
