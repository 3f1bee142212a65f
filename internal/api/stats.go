package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/store"
)

// checkpointStats are the counts of one type of checkpoint, and what follows
// from them. Rates are null as long as nothing can be said.
type checkpointStats struct {
	store.Stats
	// SecondsToAnswer is the mean time from question to answer.
	SecondsToAnswer *float64 `json:"meanSecondsToAnswer"`
	// HeldShare is the share of answers that came while the call still waited.
	HeldShare *float64 `json:"answeredWhileHeldShare"`
	// ApprovalRate is the share of approvals among the decisions.
	ApprovalRate *float64 `json:"approvalRate"`
}

func (s *Server) stats(c echo.Context) error {
	if err := mayAct(callerOf(c), "Reading statistics"); err != nil {
		return err
	}
	counts, err := s.store.Stats(c.Request().Context())
	if err != nil {
		return err
	}
	var total store.Stats
	byType := map[job.CheckpointType]checkpointStats{}
	for _, t := range job.CheckpointTypes {
		total = total.Plus(counts[t])
		byType[t] = derive(counts[t])
	}
	return c.JSON(http.StatusOK, struct {
		Checkpoints map[job.CheckpointType]checkpointStats `json:"checkpoints"`
		Total       checkpointStats                        `json:"total"`
	}{byType, derive(total)})
}

func derive(s store.Stats) checkpointStats {
	return checkpointStats{
		s, ratio(s.Waited.Seconds(), s.Answered), ratio(float64(s.Held), s.Answered), ratio(float64(s.Approved), s.Approved+s.Denied),
	}
}

func ratio(a float64, b int64) *float64 {
	if b == 0 {
		return nil
	}
	r := a / float64(b)
	return &r
}
