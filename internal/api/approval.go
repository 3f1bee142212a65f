package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
)

// listApprovals lists what a user has allowed for more than once.
func (s *Server) listApprovals(c echo.Context) error {
	userID, err := s.actAs(callerOf(c), c.QueryParam("userId"), "approval")
	if err != nil {
		return err
	}
	list, err := s.store.Approvals(c.Request().Context(), userID)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, approvalList{list})
}

// approvalList is what a user has allowed for more than once.
type approvalList struct {
	Approvals []job.Approval `json:"approvals"`
}

// done says that something was done.
type done struct {
	Success bool `json:"success"`
}

// revokeApproval takes back what a user has allowed.
func (s *Server) revokeApproval(c echo.Context) error {
	userID, err := s.actAs(callerOf(c), c.QueryParam("userId"), "approval")
	if err != nil {
		return err
	}
	if err := s.store.Revoke(c.Request().Context(), userID, c.Param("id")); err != nil {
		return err
	}
	s.log.Info("an approval was revoked", "approval", c.Param("id"), "userId", userID, "address", c.RealIP())
	return c.JSON(http.StatusOK, done{true})
}

// audit exports a job's audit log as JSON lines, oldest first, each with the bytes that
// are stored: the next one's digest is of them. The head is of the same moment.
func (s *Server) audit(c echo.Context) error {
	j, err := s.find(c)
	if err != nil {
		return err
	}
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
