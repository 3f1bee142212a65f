package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/spelling"
)

func (a *app) statusCommand() *cobra.Command {
	c, t := a.targeted(&cobra.Command{Use: "status [requestId]", Short: "Show a job and its result"})
	t.run(c, func(cmd *cobra.Command, id job.ID) error {
		api := a.client()
		j, err := api.Get(cmd.Context(), id)
		return show(a, cmd, j, err, func(p printer, j job.Job) { p.status(cmd.Context(), api, j) })
	})
	return c
}

// status prints a job's record. Its first line is also for scripts.
func (p printer) status(ctx context.Context, api *client.Client, j job.Job) {
	p.printf("Status: %s\n", p.state(j.State))
	p.line("Job", string(j.ID))
	p.line("Kind", strings.TrimSpace(j.Kind+" "+job.ShortVersion(j.KindVersion)))
	p.line("Next", job.ShortVersion(j.NextKindVersion))
	p.line("Title", j.Title)
	p.line("Tags", strings.Join(j.Tags, " "))
	p.line("User", j.UserID)
	p.line("Claude", cmp.Or(simulation(j), j.CLIText()))
	p.line("Asked", p.time(j.CreatedAt, time.DateTime))
	p.line("Ended", p.time(j.FinishedAt, time.DateTime))
	p.line("Until", p.time(j.PhaseUntil, time.DateTime))
	p.line("Until", p.time(j.Deadline, time.DateTime))
	p.line("Doing", doing(j))
	p.line("Before", startsOver(j))
	p.line("Error", reason(j))
	for _, failed := range j.FailedActions {
		p.hang("Failed: ", strings.Repeat(" ", 8), red, clean(failed.Words()))
	}
	for _, commit := range j.LeftPublic() {
		p.hang("Public: ", strings.Repeat(" ", 8), "", clean(commit.Words()))
	}
	p.line("Used", used(j))
	if underReview(j) {
		p.line("Round", steeringRound(*j.Checkpoint))
		p.line("Review", "ringback diff | logs | steer -p … | approve | reject")
		p.printf("\n")
		p.summary(reviewOf(ctx, api, *j.Checkpoint))
	} else if j.Checkpoint != nil {
		p.printf("\n")
		p.question(*j.Checkpoint)
	}
	if j.Result != nil && !underReview(j) {
		p.printf("\n")
		p.result(j.Result)
	}
}

// simulation returns a note if a stand-in plays Claude, and "" if Claude runs the job.
func simulation(j job.Job) string {
	if !j.Simulated {
		return ""
	}
	return "simulated: true (what it says and submits is made up)"
}

// doing describes the current activity: the progress that Claude reported last while it works
// (later it would be outdated), otherwise the phase. It returns "" if nothing is happening.
func doing(j job.Job) string {
	if j.State == job.Running && cmp.Or(j.Phase, job.AtWork) == job.AtWork && j.Activity != nil {
		return fmt.Sprintf("%.0f%% %s", j.Activity.Progress, j.Activity.Message)
	}
	return oneLine(j.Doing())
}

// detail describes in one line a job's activity, its question, or why it ended.
func detail(j job.Job) string {
	if j.Checkpoint != nil && j.State.Parked() {
		return headed(*j.Checkpoint)
	}
	if j.State.Terminal() {
		return oneLine(cmp.Or(reason(j), lastFailedAction(j)))
	}
	now, before := doing(j), startsOver(j)
	if j.State == job.Pending && now != "" && before != "" {
		return oneLine(now + "; " + before)
	}
	return oneLine(cmp.Or(now, before))
}

// lastFailedAction describes the latest of what was allowed and did not succeed; "" if all did.
func lastFailedAction(j job.Job) string {
	if n := len(j.FailedActions); n > 0 {
		return j.FailedActions[n-1].Words()
	}
	return ""
}

// startsOver describes the previous failure of a job that is retried; "" for any other job.
func startsOver(j job.Job) string {
	if j.State.Terminal() || j.Attempt == 0 && j.State != job.Pending {
		return ""
	}
	return job.FailureWords(j.Attempt, j.MaxAttempts, j.LastFailure)
}

// line prints one named value, unless it is empty.
func (p printer) line(name, value string) {
	if value != "" {
		p.hang(fmt.Sprintf("%-7s ", name+":"), strings.Repeat(" ", 8), "", clean(value))
	}
}

// reason returns why a job ended without a result, or "" if it did not.
func reason(j job.Job) string { return job.ErrorWords(j.Error, j.ErrorCode) }

func used(j job.Job) string {
	if j.Usage == (job.Usage{}) {
		return ""
	}
	budget := ""
	if j.BudgetUSD > 0 {
		budget = fmt.Sprintf(" of $%.2f", j.BudgetUSD)
	}
	cached := ""
	if n := j.Usage.CacheReadTokens; n > 0 {
		cached = fmt.Sprintf(" (%d cached)", n)
	}
	return fmt.Sprintf(
		"%d tokens in%s, %d out, $%.4f%s, %s", j.Usage.InputTokens, cached, j.Usage.OutputTokens, j.Usage.CostUSD, budget,
		spelling.Count(j.ClaudeTurns, "turn"),
	)
}
