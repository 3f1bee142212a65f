package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringback/internal/job"
	"ringback/internal/text/literal"
	"ringback/internal/text/spelling"
)

func (a *app) statusCommand() *cobra.Command {
	c, t := a.targeted(&cobra.Command{Use: "status [requestId]", Short: "Show a job and its result"})
	t.run(c, func(cmd *cobra.Command, id job.ID) error {
		j, err := a.api.Get(cmd.Context(), id)
		return show(a, cmd, j, err, func(p printer, j job.Job) { p.status(cmd.Context(), a, j) })
	})
	return c
}

// status prints a job's record. Its first line is also for scripts.
func (p printer) status(ctx context.Context, a *app, j job.Job) {
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
		p.summary(a.reviewOf(ctx, *j.Checkpoint))
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
	return "simulated: true (its texts and results are made up)"
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

func (p printer) ending(j job.Job) {
	p.printf(
		"%s after %s  %s\n", p.state(j.State), j.FinishedAt.Sub(j.CreatedAt).Round(100*time.Millisecond),
		p.paint(faint, clean(string(j.ID))),
	)
	if j.Simulated {
		p.printf("%s\n", p.paint(yellow, "Claude: "+simulation(j)))
	}
	if j.State == job.Received {
		p.printf("\n")
		p.result(j.Result)
		return
	}
	p.line("Error", reason(j))
	if j.State.CanBecome(job.Pending) {
		p.printf("%s\n", p.paint(faint, "Try again with: ringback retry "+clean(string(j.ID))))
	}
}

func (p printer) result(text json.RawMessage) {
	p.quoted("Result", func(p printer) {
		m := decoded[menu](text)
		rows := m.rows()
		if rows == nil {
			p.json([]byte(literal.JSON(indented(text))))
			return
		}
		p.table([]string{"DATE", "MEAL", "DISH", "TIME", "WITH"}, rows)
		if m.Reasoning != "" {
			p.printf("\n")
			p.hang("", "", "", m.Reasoning)
		}
	})
}

// quoted prints what Claude wrote, below a name. Each of its rows follows a bar, so that none can
// pass for Ringback's own output.
func (p printer) quoted(name string, show func(printer)) {
	const bar = "  │ "
	var text strings.Builder
	inner := p
	inner.Writer = &text
	if p.columns > 0 {
		inner.columns = max(1, p.columns-cellsOf(bar))
	}
	show(inner)
	p.printf("  %s:\n", name)
	for row := range strings.Lines(text.String()) {
		p.printf("%s\n", strings.TrimRight(bar+strings.TrimSuffix(row, "\n"), " "))
	}
}

// menu contains the shown fields of suggested meals.
type menu struct {
	Suggestions []struct {
		Date     string `json:"date"`
		MealType string `json:"mealType"`
		Recipe   struct {
			Name        string `json:"name"`
			PrepMinutes int    `json:"prepMinutes"`
			CookMinutes int    `json:"cookMinutes"`
			Ingredients []struct {
				Name string `json:"name"`
			} `json:"ingredients"`
		} `json:"recipe"`
	} `json:"suggestions"`
	Reasoning string `json:"reasoning"`
}

// rows returns a row for each meal, or nil if a result is no menu and only resembles one.
func (m menu) rows() (rows [][]string) {
	for _, s := range m.Suggestions {
		if s.Recipe.Name == "" {
			return nil
		}
		minutes := ""
		if n := s.Recipe.PrepMinutes + s.Recipe.CookMinutes; n != 0 {
			minutes = fmt.Sprintf("%d min", n)
		}
		var with []string
		for _, i := range s.Recipe.Ingredients[:min(3, len(s.Recipe.Ingredients))] {
			with = append(with, i.Name)
		}
		rows = append(rows, []string{s.Date, s.MealType, s.Recipe.Name, minutes, strings.Join(with, ", ")})
	}
	return rows
}

func (a *app) openCommand() *cobra.Command {
	var printOnly bool
	c, t := a.targeted(&cobra.Command{
		Use: "open [requestId]", Short: "Open a job's page in the browser, and print its address",
		Long: `Open a job's page in the browser, and print its address. If standard output is no
terminal, or no browser is found, only print the address.`,
	})
	t.run(c, func(cmd *cobra.Command, id job.ID) error {
		if _, err := a.api.Get(cmd.Context(), id); err != nil {
			return err
		}
		page := a.api.URL() + "/jobs/" + url.PathEscape(string(id))
		if a.json() {
			return show(a, cmd, answerOf(map[string]string{"url": page}), nil, nil)
		}
		p := a.printer(cmd.OutOrStdout())
		p.printf("%s\n", page)
		if p.columns > 0 && !printOnly {
			opener := cmp.Or(a.Browser, map[string]string{"darwin": "open"}[runtime.GOOS], "xdg-open")
			_ = exec.CommandContext(cmd.Context(), opener, page).Run() // the address has been printed
		}
		return nil
	})
	c.Flags().BoolVar(&printOnly, "print", false, "only print the address")
	return c
}
