package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/store"
	"ringback/internal/store/doctor"
)

func (s *Server) quotas(ctx context.Context) (all []job.QuotaView, err error) {
	for _, k := range s.jobs.Kinds().All() {
		if k.Policy.Quota() == (job.Quota{}) {
			continue
		}
		n, err := s.store.CountJobs(ctx, k.Name, "", s.store.Today(), nil)
		if err != nil {
			return nil, err
		}
		all = append(all, job.QuotaView{Kind: k.Name, AtOnce: k.Policy.JobsAtOnce, PerDay: k.Policy.JobsPerDay, Count: n})
	}
	return all, nil
}

// mostUsers limits the users with a budget in the statistics.
const mostUsers = 10

// budgets returns today's budgets that are set: of kinds, of the server, and of a user, or of those that have
// spent the most if userID is "".
func (s *Server) budgets(ctx context.Context, userID string) (all []job.Budget, err error) {
	for _, k := range s.jobs.Kinds().All() {
		if k.Policy.BudgetUSDPerDay == 0 {
			continue
		}
		spent, err := s.store.SpentToday(ctx, k.Name, "")
		if err != nil {
			return nil, err
		}
		all = append(all, job.Budget{
			Of: job.BudgetOfKind, Kind: k.Name, BudgetUSD: k.Policy.BudgetUSDPerDay, SpentUSD: spent.Kind.USD(),
		})
	}
	spent, err := s.store.SpentToday(ctx, "", userID)
	if err != nil {
		return nil, err
	}
	limits := s.opts.Budgets
	if limits.Server > 0 {
		all = append(all, job.Budget{Of: job.BudgetOfServer, BudgetUSD: limits.Server.USD(), SpentUSD: spent.Server.USD()})
	}
	users := []store.UserSpending{{UserID: userID, Spent: spent.User}}
	if userID == "" && limits.User > 0 {
		if users, err = s.store.Spending.ByUser(ctx, mostUsers); err != nil {
			return nil, err
		}
	}
	for _, u := range users {
		if limits.User > 0 {
			all = append(all, job.Budget{
				Of: job.BudgetOfUser, UserID: u.UserID, BudgetUSD: limits.User.USD(), SpentUSD: u.Spent.USD(),
			})
		}
	}
	return all, nil
}

func (s *Server) stats(c echo.Context) error {
	ctx := c.Request().Context()
	counts, err := s.store.Checkpoints.Counts(ctx)
	if err != nil {
		return err
	}
	jobs, err := s.store.Jobs.Counts(ctx)
	if err != nil {
		return err
	}
	shown := job.Statistics{
		Jobs: countJobs(jobs), Checkpoints: map[job.CheckpointType]job.CheckpointStats{}, Total: derive(counts[""]),
	}
	for _, t := range job.CheckpointTypes {
		shown.Checkpoints[t] = derive(counts[t])
	}
	if shown.Limits, err = s.store.Limits.List(ctx); err != nil {
		return err
	}
	if shown.Days, err = s.store.Jobs.Daily(ctx); err != nil {
		return err
	}
	if shown.Budgets, err = s.budgets(ctx, c.QueryParam("userId")); err != nil {
		return err
	}
	shown.Quotas, err = s.quotas(ctx)
	return answer(c, shown, err)
}

func countJobs(byKind map[string]map[job.State]int64) job.Counts {
	counts := job.Counts{ByStatus: map[job.State]int64{}, ByKind: map[string]map[job.State]int64{}}
	for kind, states := range byKind {
		for state, n := range states {
			if n == 0 {
				continue
			}
			if counts.ByKind[kind] == nil {
				counts.ByKind[kind] = map[job.State]int64{}
			}
			counts.ByKind[kind][state] = n
			counts.ByStatus[state] += n
			counts.Total += n
		}
	}
	return counts
}

func derive(c job.CheckpointCounts) job.CheckpointStats {
	return job.CheckpointStats{
		CheckpointCounts: c, SecondsToAnswer: ratio(c.Waited.Seconds(), c.Answered),
		HeldShare: ratio(float64(c.Held), c.Answered), ApprovalRate: ratio(float64(c.Approved), c.Approved+c.Denied),
	}
}

func ratio(a float64, b int64) *float64 {
	if b == 0 {
		return nil
	}
	r := a / float64(b)
	return &r
}

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
		found, err := s.store.Tasks.Notifications(c.Request().Context(), status, limit)
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
	if err := s.store.Tasks.ResendNotice(c.Request().Context(), id); err != nil {
		return err
	}
	s.log.InfoContext(c.Request().Context(), "notification resent", "notification", id, "address", c.RealIP())
	return c.JSON(http.StatusOK, done{true})
}

// examine returns the handler that reports what in the store does not match the records of jobs;
// with mend it repairs it.
func examine(mend bool) handler {
	return func(s *Server, c echo.Context) error {
		report, err := doctor.New(s.store, s.jobs, s.log).Examine(c.Request().Context(), mend)
		return answer(c, report, err)
	}
}

// storeFormat returns the handler that takes a step of an upgrade of the store.
func storeFormat(step job.StoreStep) handler {
	return func(s *Server, c echo.Context) error {
		f, err := doctor.New(s.store, s.jobs, s.log).Format(c.Request().Context(), step)
		return answer(c, f, err)
	}
}
