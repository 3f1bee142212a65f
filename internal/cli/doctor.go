package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

func (a *app) doctorCommand() *cobra.Command {
	var mend, offline bool
	c := &cobra.Command{
		Use: "doctor", Short: "Show Claude's current limits and waiting notifications, and check the store", Args: atMost(0, ""),
		Long: "Look for inconsistencies in the store: slots that no job uses, jobs missing in a list, jobs that nothing will continue.\n\n" +
			"The records of jobs are the truth. A server checks and repairs its store when it starts and every quarter of an hour; this shows what it would find now. " +
			"With --offline the store of the configuration here (REDIS_URL, DATA_DIR) is checked without a server.",
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		examine := a.client().Examine
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
		limits := []job.Limit(nil)
		if ready, err := a.client().Ready(cmd.Context()); !offline && err == nil { // the examination has reported why it is not ready
			limits = ready.Value.Limits
		}
		if err := show(a, cmd, report, nil, func(p printer, r job.Examination) {
			p.limits(limits)
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
			"Notifications (%s): %d wait for another try, %d were given up. See: ringback notifications\n",
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
		p.hint("Put it right with: ringback doctor --mend")
	}
}
