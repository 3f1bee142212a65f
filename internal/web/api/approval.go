package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
)

func (s *Server) listApprovals(c echo.Context) error {
	userID, err := s.actAs(callerOf(c), c.QueryParam("userId"), "approval")
	if err != nil {
		return err
	}
	list, err := s.store.Approvals(c.Request().Context(), userID)
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
	if err := s.store.Revoke(c.Request().Context(), userID, c.Param("id")); err != nil {
		return err
	}
	s.log.Info("approval revoked", "approval", c.Param("id"), "userId", userID, "address", c.RealIP())
	return c.JSON(http.StatusOK, done{true})
}

// audit exports a job's audit log as JSON lines, oldest first, byte for byte as stored,
// because each entry contains the digest of the previous one. The head is read together
// with the entries.
func (s *Server) audit(c echo.Context, j job.Job) error {
	entries, head, err := s.store.Audit(c.Request().Context(), j.ID)
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
