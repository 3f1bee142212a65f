package api

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
)

// listNotifications lists the notifications that wait for a retry or were given up.
func (s *Server) listNotifications(c echo.Context) error {
	sent, statuses := queryOf(c), job.NotificationStatuses[:]
	limit, named := sent.limit(), oneOf(sent, "status", statuses)
	if sent.err != nil {
		return sent.err
	}
	if named != "" {
		statuses = []job.NotificationStatus{named}
	}
	list := job.NotificationList{Notifications: []job.Notification{}}
	for _, status := range statuses {
		found, err := s.store.Notifications(c.Request().Context(), status, limit)
		if err != nil {
			return err
		}
		list.Notifications = append(list.Notifications, found...)
	}
	slices.SortStableFunc(list.Notifications, func(a, b job.Notification) int { return a.Time.Compare(b.Time) })
	list.Notifications = list.Notifications[:min(len(list.Notifications), limit)]
	return c.JSON(http.StatusOK, list)
}

func (s *Server) retryNotification(c echo.Context) error {
	id := job.NotificationID(c.Param("id"))
	if err := s.store.ResendNotice(c.Request().Context(), id); err != nil {
		return err
	}
	s.log.Info("a notification is sent again", "notification", id, "address", c.RealIP())
	return c.JSON(http.StatusOK, done{true})
}
