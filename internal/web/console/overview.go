package console

import (
	"errors"
	"net/http"

	"ringback/client"
	"ringback/internal/job"
)

type overviewView struct {
	// Counts are the numbers of jobs by state; nil if the visitor has no access to them.
	Counts          map[job.State]int64
	Failed, Running []job.Job
	Questions       []question
	Limits          []job.Limit
	Warnings        []string
	// Budgets are today's budgets; none if the visitor has no access to them.
	Budgets []client.Budget
	// People describes how fast people answer questions; nil if the visitor has no access to it.
	People *client.CheckpointStats
	// Charts cover the last days; none if the visitor has no access to them.
	Charts []chart
}

// Count returns the number of jobs in a state, as text.
func (o overviewView) Count(state string) string { return thousands(o.Counts[job.State(state)]) }

func (c *Console) overview(v *visit) error {
	ctx := v.Request().Context()
	shown := overviewView{}
	for state, into := range map[job.State]*[]job.Job{job.Failed: &shown.Failed, job.Running: &shown.Running} {
		found, err := v.api().List(ctx, client.Filter{States: []job.State{state}, Limit: 6})
		if err != nil {
			return err
		}
		*into = found.Value.Jobs
	}
	open, err := v.api().Checkpoints(ctx, client.CheckpointFilter{Status: job.Open, Limit: 5})
	if err != nil {
		return err
	}
	for _, one := range open.Value.Checkpoints {
		shown.Questions = append(shown.Questions, v.newQuestion(one))
	}
	if v.Who.UserID == "" {
		stats, err := v.api().Stats(ctx, "")
		if err != nil {
			return err
		}
		shown.Counts, shown.Budgets = stats.Value.Jobs.ByStatus, stats.Value.Budgets
		shown.People, shown.Charts = &stats.Value.Total, chartsOf(stats.Value.Days)
	}
	ready, err := v.api().Ready(ctx)
	if e, ok := errors.AsType[*job.Error](err); ok { // its details explain why jobs do not run
		for _, problem := range e.Details {
			shown.Warnings = append(shown.Warnings, detailText(problem))
		}
	}
	shown.Limits, shown.Warnings = ready.Value.Limits, append(shown.Warnings, ready.Value.Warnings...)
	return v.render(
		http.StatusOK, "overview", page{Title: "Overview", Tab: "overview", Watch: v.follow(), Follow: true, Data: shown},
	)
}
