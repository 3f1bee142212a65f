package api

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"ringback/internal/httpjson"
	"ringback/internal/job"
)

// newBulk is the body of POST /api/jobs/bulk.
type newBulk struct {
	// Action is applied to each of the jobs.
	Action job.BulkAction `json:"action"`
	// RequestIDs are the ids of the jobs, at most 200.
	RequestIDs []job.ID `json:"requestIds"`
}

// bulkOutcomes answers POST /api/jobs/bulk.
type bulkOutcomes struct {
	// Succeeded is the number of jobs that the action was applied to.
	Succeeded int `json:"succeeded"`
	// Jobs are the outcomes for each job, in the order of the request.
	Jobs []bulkOutcome `json:"jobs"`
}

// bulkOutcome is the outcome for one job.
type bulkOutcome struct {
	// RequestID is the job's id.
	RequestID job.ID `json:"requestId"`
	// Error describes why the action was not applied to the job, and Hint what to do;
	// absent if it was.
	Error string `json:"error,omitempty"`
	Hint  string `json:"hint,omitempty"`
}

// bulk applies one action to each job in the request, with the same effect as a request for
// that job alone. If the caller disconnects, the remaining jobs are skipped; the same
// request may be sent again.
func (s *Server) bulk(c echo.Context) error {
	body, err := httpjson.ReadObject(c.Response(), c.Request(), s.opts.BodyLimit)
	if err != nil {
		return err
	}
	var asked newBulk
	if err := httpjson.Into(body, &asked); err != nil {
		return err
	}
	if err := asked.Action.Check(); err != nil {
		return err
	}
	if n := len(asked.RequestIDs); n < 1 || n > job.MostInBulk {
		return invalid("/requestIds", fmt.Sprintf("found %d; expected 1 to %d jobs", n, job.MostInBulk))
	}
	var done bulkOutcomes
	for _, id := range asked.RequestIDs {
		err := s.act(c, asked.Action, id)
		if gone := c.Request().Context().Err(); gone != nil {
			return gone
		}
		outcome := bulkOutcome{RequestID: id}
		if err == nil {
			done.Succeeded++
		} else {
			e := httpjson.Explain(s.log, err, c.Request())
			outcome.Error, outcome.Hint = e.Message, e.Hint
		}
		done.Jobs = append(done.Jobs, outcome)
	}
	return c.JSON(http.StatusOK, done)
}

// act applies an action to a job if the caller may see it.
func (s *Server) act(c echo.Context, action job.BulkAction, id job.ID) error {
	j, err := s.findID(c, id)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	switch action {
	case job.BulkRetry:
		return s.jobs.Retry(ctx, j.ID)
	case job.BulkMove:
		return s.jobs.MoveKind(ctx, j, actorOf(c, job.ViaAPI))
	default:
		return s.jobs.Cancel(ctx, j.ID, actorOf(c, job.ViaAPI))
	}
}
