package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/web/httpjson"
)

// checkBulk returns an Invalid error if a field is missing or has no meaning for the action.
func checkBulk(b job.NewBulk) error {
	if err := b.Action.Check(); err != nil {
		return err
	}
	n := len(b.RequestIDs)
	if n < 1 || n > job.MostInBulk {
		return job.InvalidField("/requestIds", fmt.Sprintf("found %d; expected 1 to %d jobs", n, job.MostInBulk))
	}
	answers := b.Action == job.BulkAnswer
	switch {
	case answers && len(b.CheckpointIDs) != n:
		return job.InvalidField(
			"/checkpointIds",
			fmt.Sprintf(
				"found %d; expected the checkpointId of the question of each of the %d jobs, in the same order",
				len(b.CheckpointIDs), n,
			),
		)
	case answers && strings.TrimSpace(b.Text) == "":
		return job.InvalidField("/text", "expected the answer to the questions")
	case !answers && len(b.CheckpointIDs) > 0:
		return job.InvalidField("/checkpointIds", "only the action answer accepts it")
	case !answers && b.Text != "":
		return job.InvalidField("/text", "only the action answer accepts it")
	}
	return nil
}

// bulk applies one action to each job in the request, with the same effect as a request for
// that job alone. If the caller disconnects, the remaining jobs are skipped; the same
// request may be sent again.
func (s *Server) bulk(c echo.Context) error {
	var asked job.NewBulk
	if err := read(c, &asked); err != nil {
		return err
	}
	if err := checkBulk(asked); err != nil {
		return err
	}
	var done job.BulkOutcomes
	for i, id := range asked.RequestIDs {
		one := jobAction{action: asked.Action, id: id, text: asked.Text}
		if asked.Action == job.BulkAnswer {
			one.question = asked.CheckpointIDs[i]
		}
		err := s.act(c, one)
		if gone := c.Request().Context().Err(); gone != nil {
			return gone
		}
		outcome := job.BulkOutcome{RequestID: id}
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

type jobAction struct {
	action job.BulkAction
	id     job.ID
	// question and text are for the action answer: what was shown, and what is replied.
	question job.CheckpointID
	text     string
}

// act applies an action to a job if the caller may see it.
func (s *Server) act(c echo.Context, a jobAction) error {
	j, err := s.findID(c, a.id)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	switch a.action {
	case job.BulkRetry:
		return s.jobs.Retry(ctx, j.ID)
	case job.BulkMove:
		return s.jobs.MoveKind(ctx, j, actorOf(c, job.ViaAPI))
	case job.BulkAnswer:
		return s.answer(ctx, j, a.question, checkpoint.Reply{Text: a.text, By: actorOf(c, job.ViaAPI)})
	default:
		return s.jobs.Cancel(ctx, j.ID, actorOf(c, job.ViaAPI))
	}
}

// answer replies to a question that asks for information only. Errors: Conflict if the job does not
// wait at it, if the reply would decide about an effect, or if it was not clear.
func (s *Server) answer(ctx context.Context, j job.Job, shown job.CheckpointID, r checkpoint.Reply) error {
	if j.Checkpoint == nil || !j.Checkpoint.Status.Waits() {
		return job.Errorf(job.Conflict, "The job is %s and does not wait for an answer", j.State)
	}
	if err := checkAsked(shown, j.Checkpoint.ID); err != nil {
		return err
	}
	if j.Checkpoint.Type.Binding() {
		return job.Errorf(job.Conflict, "A question of type %s cannot be answered in bulk", j.Checkpoint.Type).
			WithHint("It allows an operation: answer it individually, with POST /api/checkpoints/%s/reply.", string(shown))
	}
	after, err := s.checkpoints.Reply(ctx, *j.Checkpoint, r)
	if err == nil && after.Status == job.Superseded {
		err = job.Errorf(job.Conflict, "The answer was not clear, and the question is asked again").
			WithHint("GET /api/checkpoints/%s shows it.", string(after.Next))
	}
	return err
}
