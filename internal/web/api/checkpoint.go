package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/job/strictjson"
	"ringback/internal/people/checkpoint"
	"ringback/internal/store"
	"ringback/internal/web/hub"
)

// findCheckpoint returns a checkpoint, if the caller may see it.
func (s *Server) findCheckpoint(c echo.Context, id job.CheckpointID) (job.Checkpoint, error) {
	found, err := s.store.Checkpoints.Get(c.Request().Context(), id)
	if err != nil {
		return found, err
	}
	if who := callerOf(c); !who.service() && who.userID != found.UserID {
		return job.Checkpoint{}, job.NoCheckpoint(id)
	}
	return found, nil
}

// selectCheckpoints parses which checkpoints the caller asks for, limited to those it may
// see.
func (s *Server) selectCheckpoints(c echo.Context) (store.CheckpointQuery, error) {
	sent := queryOf(c)
	q := store.CheckpointQuery{
		Status: oneOf(sent, "status", job.CheckpointStatuses[:]), Type: oneOf(sent, "type", job.CheckpointTypes[:]),
		UserID: sent.Get("userId"),
	}
	if who := callerOf(c); sent.err == nil && !who.service() {
		q.UserID, sent.err = s.actAs(who, q.UserID, "inbox")
	}
	return q, sent.err
}

func (s *Server) countCheckpoints(c echo.Context) error {
	q, err := s.selectCheckpoints(c)
	if err != nil {
		return err
	}
	n, err := s.store.Checkpoints.Count(c.Request().Context(), q)
	return answer(c, checkpointCount{n}, err)
}

// checkpointCount is the number of checkpoints.
type checkpointCount struct {
	Count int64 `json:"count"` // The number of matching checkpoints.
}

// listCheckpoints lists the inbox: by default, the checkpoints that wait for a reply.
func (s *Server) listCheckpoints(c echo.Context) error {
	q, err := s.selectCheckpoints(c)
	if err != nil {
		return err
	}
	sent := queryOf(c)
	q.Limit, q.IDs, q.Cursor = sent.limit(), sent.ids(job.CheckpointIDs), sent.Get("cursor")
	if sent.err != nil {
		return sent.err
	}
	found, next, err := s.store.Checkpoints.List(c.Request().Context(), q)
	return answer(c, job.CheckpointPage{Checkpoints: found, NextCursor: next}, err)
}

func (s *Server) getCheckpoint(c echo.Context) error {
	found, err := s.findCheckpoint(c, job.CheckpointID(c.Param("id")))
	return answer(c, found, err)
}

func (s *Server) replyToCheckpoint(c echo.Context) error {
	found, err := s.findCheckpoint(c, job.CheckpointID(c.Param("id")))
	if err != nil {
		return err
	}
	body, err := readObject(c)
	if err != nil {
		return err
	}
	after, err := s.reply(c.Request().Context(), found, body, actorOf(c, job.ViaAPI))
	return answer(c, after, err)
}

func (s *Server) reply(ctx context.Context, asked job.Checkpoint, body map[string]any, by job.Actor) (job.Checkpoint, error) {
	// Numbers in its values stay as they were sent.
	values, err := cutObject(body, "values", "expected an object of values by name")
	if err != nil {
		return job.Checkpoint{}, err
	}
	given := checkpoint.Reply{By: by}
	if err := strictjson.Into(body, &given); err != nil {
		return job.Checkpoint{}, err
	}
	given.Values = values
	return s.checkpoints.Reply(ctx, asked, given)
}

// replyFrames handles the replies sent over a user's WebSocket.
func (s *Server) replyFrames(c echo.Context, userID string) hub.ReplyFunc {
	by := actorOf(c, job.ViaWebSocket)
	by.UserID = userID
	return func(ctx context.Context, id job.CheckpointID, body map[string]any) (job.Checkpoint, error) {
		found, err := s.store.Checkpoints.Get(ctx, id)
		if err != nil {
			return job.Checkpoint{}, err
		}
		if found.UserID != userID {
			return job.Checkpoint{}, job.NoCheckpoint(id)
		}
		return s.reply(ctx, found, body, by)
	}
}

// decide returns the handler that answers the checkpoint that a job waits at with a decision.
func decide(decision job.Decision) func(*Server, echo.Context, job.Job) error {
	return func(s *Server, c echo.Context, j job.Job) error {
		if j.State != job.AwaitingApproval || j.Checkpoint == nil {
			return job.Errorf(job.Conflict, "The job is %s", j.State).
				WithHint("Only a job with status awaiting_approval can be approved or rejected.")
		}
		given, err := s.readDecision(c, j.Checkpoint.ID)
		if err != nil {
			return err
		}
		given.Decision = decision
		given.By = actorOf(c, job.ViaAPI)
		if _, err := s.checkpoints.Reply(c.Request().Context(), *j.Checkpoint, given); err != nil {
			return fieldNames{"/text": "/reason"}.in(err)
		}
		return s.getJob(c)
	}
}

// newDecision is the body of an approval or a rejection. An approval requires checkpointId, or for a
// code change iteration and trees.
type newDecision struct {
	// Reason explains the decision.
	Reason string `json:"reason,omitempty"`
	// CheckpointID identifies the question that the decision is for. The decision is
	// refused if the job no longer asks this question.
	CheckpointID job.CheckpointID `json:"checkpointId,omitempty"`
	checkpoint.Seen
}

func (s *Server) readDecision(c echo.Context, asked job.CheckpointID) (checkpoint.Reply, error) {
	var given newDecision
	if c.Request().ContentLength != 0 {
		if err := read(c, &given); err != nil {
			return checkpoint.Reply{}, err
		}
	}
	if given.CheckpointID != "" {
		if err := checkAsked(given.CheckpointID, asked); err != nil {
			return checkpoint.Reply{}, err
		}
	}
	return checkpoint.Reply{Text: given.Reason, Seen: given.Seen, Unnamed: given.CheckpointID == ""}, nil
}

// checkAsked returns a Conflict error unless the job asks the question that the caller was shown.
func checkAsked(shown, asked job.CheckpointID) error {
	if shown == asked {
		return nil
	}
	return job.Errorf(job.Conflict, "The job no longer waits at the checkpoint %s, but at %s", shown, asked).
		WithHint("GET /api/checkpoints/%s shows what it asks now.", string(asked))
}

func (s *Server) listApprovals(c echo.Context) error {
	userID, err := s.actAs(callerOf(c), c.QueryParam("userId"), "approval")
	if err != nil {
		return err
	}
	list, err := s.store.Checkpoints.Approvals(c.Request().Context(), userID)
	return answer(c, job.ApprovalList{Approvals: list}, err)
}

// done confirms that a request was carried out.
type done struct {
	Success bool `json:"success"` // Always true.
}

func (s *Server) revokeApproval(c echo.Context) error {
	userID, err := s.actAs(callerOf(c), c.QueryParam("userId"), "approval")
	if err != nil {
		return err
	}
	if err := s.store.Checkpoints.Revoke(c.Request().Context(), userID, c.Param("id")); err != nil {
		return err
	}
	s.log.InfoContext(
		c.Request().Context(), "approval revoked", "approval", c.Param("id"), "userId", userID, "address", c.RealIP(),
	)
	return c.JSON(http.StatusOK, done{true})
}

// audit exports a job's audit log as JSON lines, oldest first, byte for byte as stored,
// because each entry contains the digest of the previous one. The head is read together
// with the entries.
func (s *Server) audit(c echo.Context, j job.Job) error {
	entries, head, err := s.store.Jobs.Audit(c.Request().Context(), j.ID)
	if err != nil {
		return err
	}
	out := c.Response()
	out.Header().Set(echo.HeaderContentType, "application/x-ndjson")
	if head != nil {
		out.Header().Set(job.AuditHeadHeader, head.String())
	}
	out.WriteHeader(http.StatusOK)
	for _, entry := range entries {
		if _, err := out.Write(append(entry, '\n')); err != nil {
			return err
		}
	}
	return nil
}
