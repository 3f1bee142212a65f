package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"ringback/internal/checkpoint"
	"ringback/internal/httpjson"
	"ringback/internal/hub"
	"ringback/internal/job"
	"ringback/internal/store"
)

// findCheckpoint returns a checkpoint, if the caller may see it.
func (s *Server) findCheckpoint(c echo.Context, id job.CheckpointID) (job.Checkpoint, error) {
	found, err := s.store.Checkpoint(c.Request().Context(), id)
	if err != nil {
		return found, err
	}
	if who := callerOf(c); !who.service() && who.userID != found.UserID {
		return job.Checkpoint{}, job.NoCheckpoint(id)
	}
	return found, nil
}

// statuses are those that GET /api/checkpoints filters by.
var statuses = []job.CheckpointStatus{job.Open, job.Interpreting, job.Answered, job.Superseded, job.CheckpointExpired, job.CheckpointCancelled}

// listCheckpoints is the inbox: what waits for a reply, unless asked otherwise.
func (s *Server) listCheckpoints(c echo.Context) error {
	q := store.CheckpointQuery{
		Status: job.CheckpointStatus(c.QueryParam("status")), Type: job.CheckpointType(c.QueryParam("type")),
		Cursor: c.QueryParam("cursor"), UserID: c.QueryParam("userId"),
	}
	var err error
	if q.Limit, err = limitOf(c); err != nil {
		return err
	}
	if q.Status != "" && !slices.Contains(statuses, q.Status) {
		return job.UnknownName("/status", string(q.Status), statuses)
	}
	if q.Type != "" && !slices.Contains(job.CheckpointTypes[:], q.Type) {
		return job.UnknownName("/type", string(q.Type), job.CheckpointTypes[:])
	}
	if q.IDs, err = idPrefixOf(c, job.CheckpointIDs); err != nil {
		return err
	}
	if who := callerOf(c); !who.service() {
		if q.UserID, err = actAs(who, q.UserID); err != nil {
			return err
		}
	}
	found, next, err := s.store.Checkpoints(c.Request().Context(), q)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, struct {
		Checkpoints []job.Checkpoint `json:"checkpoints"`
		NextCursor  string           `json:"nextCursor,omitempty"`
	}{found, next})
}

// limitOf reads how long a page is to be.
func limitOf(c echo.Context) (int, error) { return numberOf(c, "limit", 50, 500) }

func (s *Server) getCheckpoint(c echo.Context) error {
	found, err := s.findCheckpoint(c, job.CheckpointID(c.Param("id")))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, found)
}

func (s *Server) replyToCheckpoint(c echo.Context) error {
	found, err := s.findCheckpoint(c, job.CheckpointID(c.Param("id")))
	if err != nil {
		return err
	}
	body, err := httpjson.ReadObject(c.Response(), c.Request(), s.opts.BodyLimit)
	if err != nil {
		return err
	}
	given, err := readReply(body)
	if err != nil {
		return err
	}
	given.By = actorOf(c, job.ViaAPI)
	after, err := s.checkpoints.Reply(c.Request().Context(), found, given)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, after)
}

// readReply reads a reply. The values keep their numbers as they were sent.
func readReply(body map[string]any) (checkpoint.Reply, error) {
	var given checkpoint.Reply
	values, present := body["values"]
	delete(body, "values")
	if err := httpjson.Into(body, &given); err != nil {
		return given, err
	}
	if present {
		object, ok := values.(map[string]any)
		if !ok {
			return given, invalid("/values", "expected an object of values by name")
		}
		given.Values = object
	}
	return given, nil
}

// replyFrames takes the replies that come over a user's WebSocket.
func (s *Server) replyFrames(c echo.Context, userID string) hub.ReplyFunc {
	by := actorOf(c, job.ViaWebSocket)
	by.UserID = userID
	return func(ctx context.Context, frame json.RawMessage) (job.Checkpoint, error) {
		body, err := httpjson.Decode(frame)
		if err != nil {
			return job.Checkpoint{}, err
		}
		id, _ := body["checkpointId"].(string)
		delete(body, "checkpointId")
		delete(body, "type")
		found, err := s.store.Checkpoint(ctx, job.CheckpointID(id))
		if err != nil {
			return job.Checkpoint{}, err
		}
		if found.UserID != userID {
			return job.Checkpoint{}, job.NoCheckpoint(job.CheckpointID(id))
		}
		given, err := readReply(body)
		if err != nil {
			return job.Checkpoint{}, err
		}
		given.By = by
		return s.checkpoints.Reply(ctx, found, given)
	}
}

// decideJob answers the checkpoint a job waits at with a decision.
func (s *Server) decideJob(decision job.Decision) echo.HandlerFunc {
	return func(c echo.Context) error {
		j, err := s.find(c)
		if err != nil {
			return err
		}
		if j.State != job.AwaitingApproval || j.Checkpoint == nil {
			return job.Errorf(job.Conflict, "The job is %s", j.State).
				WithHint("Only a job that is awaiting_approval can be decided on.")
		}
		given, err := s.readDecision(c, j.Checkpoint.ID)
		if err != nil {
			return err
		}
		given.Decision = decision
		given.By = actorOf(c, job.ViaAPI)
		if _, err := s.checkpoints.Reply(c.Request().Context(), *j.Checkpoint, given); err != nil {
			return err
		}
		return s.getJob(c)
	}
}

// readDecision reads what comes with a decision: a reason, and what was looked at.
func (s *Server) readDecision(c echo.Context, asked job.CheckpointID) (checkpoint.Reply, error) {
	var extra struct {
		Reason       string           `json:"reason"`
		CheckpointID job.CheckpointID `json:"checkpointId"`
		checkpoint.Seen
	}
	if c.Request().ContentLength == 0 {
		return checkpoint.Reply{}, nil
	}
	body, err := httpjson.ReadObject(c.Response(), c.Request(), s.opts.BodyLimit)
	if err != nil {
		return checkpoint.Reply{}, err
	}
	if err := httpjson.Into(body, &extra); err != nil {
		return checkpoint.Reply{}, err
	}
	if extra.CheckpointID != "" && extra.CheckpointID != asked {
		return checkpoint.Reply{}, job.Errorf(job.Conflict, "The job no longer waits at the checkpoint %s, but at %s", extra.CheckpointID, asked).
			WithHint("GET /api/checkpoints/%s shows what it asks now.", string(asked))
	}
	return checkpoint.Reply{Text: extra.Reason, Seen: extra.Seen}, nil
}
