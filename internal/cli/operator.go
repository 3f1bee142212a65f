package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

func (a *app) statsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "stats", Short: "Show how many jobs there are, what today's cost, and what of budgets and quotas is left",
		Args: atMost(0, ""),
		Long: "Show the number of jobs of all users, the cost of today's (UTC), and how much of the daily budgets and of the quotas of kinds is used. Of the budgets of users, it shows the ten of which the most is spent, or that of --user.\n\n" +
			"This requires an API key, or a server without keys.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			user := "" // without the flag, those who have spent the most
			if cmd.Flags().Changed("user") {
				user = a.user
			}
			stats, err := a.api.Stats(cmd.Context(), user)
			return show(a, cmd, stats, err, printer.stats)
		},
	}
}

func (p printer) stats(s client.Stats) {
	var counts []string
	for _, state := range job.States {
		if n := s.Jobs.ByStatus[state]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, state))
		}
	}
	p.printf("Jobs:  %d", s.Jobs.Total)
	if len(counts) > 0 {
		p.printf(" (%s)", strings.Join(counts, ", "))
	}
	p.printf("\n")
	if len(s.Days) > 0 {
		var cost float64
		for _, usd := range s.Days[len(s.Days)-1].CostUSD {
			cost += usd
		}
		p.printf("Today: $%.2f\n", cost)
	}
	for _, l := range s.Limits {
		p.printf("%s\n", p.paint(yellow, "Claude is at a limit: "+oneLine(l.Error)))
	}
	var rows [][]string
	row := func(of, used, limit string, isFull bool, until string) {
		note := ""
		if isFull {
			note = "used up until " + until
		}
		rows = append(rows, []string{of, used, limit, note})
	}
	const midnight = "00:00 UTC"
	for _, b := range s.Budgets {
		spent, limit := fmt.Sprintf("$%.2f", b.SpentUSD), fmt.Sprintf("of $%.2f a day", b.BudgetUSD)
		row(b.Name(), spent, limit, b.SpentUSD >= b.BudgetUSD, midnight)
	}
	for _, q := range s.Quotas {
		if q.AtOnce > 0 {
			row(q.Kind, strconv.Itoa(q.Open), fmt.Sprintf("of %d at once", q.AtOnce), q.Open >= q.AtOnce, "one ends")
		}
		if q.PerDay > 0 {
			row(q.Kind, strconv.Itoa(q.Today), fmt.Sprintf("of %d a day", q.PerDay), q.Today >= q.PerDay, midnight)
		}
	}
	if len(rows) > 0 {
		p.table([]string{"OF", "USED", "LIMIT", ""}, rows)
	}
}

func (a *app) doctorCommand() *cobra.Command {
	var mend, offline bool
	c := &cobra.Command{
		Use: "doctor", Short: "Show what keeps jobs from running, and check the store", Args: atMost(0, ""),
		Long: "Show why the server is not ready, if it is not, Claude's current limits, the oldest open question and what notifications wait.\n\n" +
			"Then look for inconsistencies in the store: slots that no job uses, jobs missing in a list, jobs that nothing will continue.\n\n" +
			"The records of jobs are the truth. A server checks and repairs its store when it starts and every quarter of an hour; this shows what it would find now. " +
			"With --offline the store of the configuration here (REDIS_URL, DATA_DIR) is checked without a server.",
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		examine := a.api.Examine
		if offline {
			examine = func(ctx context.Context, mend bool) (answer client.Answer[job.Examination], err error) {
				report, err := a.ExamineFunc(ctx, mend)
				if err != nil {
					return answer, err
				}
				return answerOf(report), nil
			}
		}
		report, err := examine(cmd.Context(), mend)
		if err != nil {
			return err
		}
		var ready client.Answer[client.Readiness]
		if !offline {
			ready, err = a.api.Ready(cmd.Context())
			if err != nil && !job.HasKind(err, job.NotFound) { // a server of the version before has no such endpoint
				return err
			}
		}
		if err := show(a, cmd, report, nil, func(p printer, r job.Examination) {
			p.installation(ready.Value, r)
			p.limits(ready.Value.Limits)
			p.notificationCounts(r.Notifications)
			p.report(r)
		}); err != nil {
			return err
		}
		if left := report.Value.Found - report.Value.Mended; left > 0 {
			return Problems(left)
		}
		return nil
	}
	c.Flags().BoolVar(&mend, "mend", false, "repair what is found")
	c.Flags().BoolVar(&offline, "offline", false, "check the store directly, if no server runs")
	return c
}

// installation prints what keeps jobs from running, and what waits for people.
func (p printer) installation(ready client.Readiness, r job.Examination) {
	for _, problem := range ready.Problems {
		p.printf("%s\n", p.paint(red, "The server is not ready: "+oneLine(problem)))
	}
	for _, warning := range ready.Warnings {
		p.printf("%s\n", p.paint(yellow, "Warning: "+oneLine(warning)))
	}
	if !r.OldestQuestion.IsZero() {
		p.printf("The oldest open question is of %s.\n", p.time(r.OldestQuestion, time.DateTime))
	}
}

// limits prints Claude's current rate limits.
func (p printer) limits(limits []job.Limit) {
	for _, l := range limits {
		p.printf("Claude is at a limit (%s) since %s; one job tries again at %s. %s\n", clean(string(l.Code)),
			p.time(l.Since, time.DateTime), p.time(l.Until, time.DateTime), oneLine(l.Error))
	}
}

func (p printer) notificationCounts(counts []job.NotificationCount) {
	for _, c := range counts {
		p.printf(
			"Notifications (%s): %d will be retried, %d were given up. See: ringback notifications\n",
			clean(string(c.Receiver)), c.Waiting, c.GivenUp,
		)
	}
}

func (p printer) report(r job.Examination) {
	if r.Found == 0 {
		p.printf("The store is in order.\n")
		return
	}
	tableOf(p, []string{"PROBLEM", "JOB", "KEY", "MEMBER", "MENDED"}, r.Findings, func(f job.Finding) []string {
		mended := "no"
		if f.Mended {
			mended = "yes"
		}
		return []string{f.Problem, f.RequestID.Short(), f.Key, f.Member, mended}
	})
	switch {
	case r.Found > len(r.Findings):
		p.hint("Found: " + strconv.Itoa(r.Found) + "; the first " + strconv.Itoa(len(r.Findings)) + " are shown.")
	case r.Mended == 0:
		p.hint("Repair it with: ringback doctor --mend")
	}
}

func (a *app) notificationsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "notifications", Short: "List the undelivered notifications", Args: atMost(0, ""),
		Long: "List the notifications of webhooks and Slack that wait for another try, and those that were given up, oldest first.\n\n" +
			"One is given up after three days, or when its receiver answers 410 (Gone). It is kept for RETENTION, and sent again with: ringback resend <notification>",
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := a.api.Notifications(cmd.Context(), "")
			return show(a, cmd, list, err, printer.notifications)
		},
	}
}

func (p printer) notifications(list client.Notifications) {
	if len(list.Notifications) == 0 {
		p.printf("All notifications were delivered.\n")
		return
	}
	tableOf(p, []string{"NOTIFICATION", "OF", "STATUS", "WHY"}, list.Notifications, func(n job.Notification) []string {
		state := "given up"
		if n.Status == job.NotificationWaiting {
			state = "waiting"
			if !n.NextTry.IsZero() {
				state = "next try " + p.time(n.NextTry, time.DateTime)
			}
		}
		return []string{string(n.ID), p.time(n.Time, time.DateTime), state, oneLine(n.Error)}
	})
	p.hint("Send one again with: ringback resend " + clean(string(list.Notifications[0].ID)))
}

func (a *app) resendCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "resend [notification]...", Short: "Send undelivered notifications again",
		Args: func(_ *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return usagef("resend takes notifications (ringback notifications lists them), or --all")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			sent := map[string]bool{}
			for {
				if all {
					var err error
					if args, err = a.givenUp(cmd.Context(), sent); err != nil {
						return err
					}
				}
				for _, id := range args {
					if _, err := a.api.RetryNotification(cmd.Context(), job.NotificationID(id)); err != nil {
						return err
					}
					sent[id] = true
				}
				if !all || len(args) == 0 {
					break
				}
			}
			return show(a, cmd, answerOf(resent{len(sent)}), nil, func(p printer, r resent) { p.printf("Sent again: %d.\n", r.Resent) })
		},
	}
	c.Flags().BoolVar(&all, "all", false, "all that were given up")
	return c
}

// resent counts the notifications that were sent again.
type resent struct {
	Resent int `json:"resent"`
}

// givenUp lists some notifications that were given up, except those already sent again: their
// receiver may have refused them once more.
func (a *app) givenUp(ctx context.Context, sent map[string]bool) ([]string, error) {
	list, err := a.api.Notifications(ctx, job.NotificationGivenUp)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, n := range list.Value.Notifications {
		if !sent[string(n.ID)] {
			ids = append(ids, string(n.ID))
		}
	}
	return ids, nil
}
