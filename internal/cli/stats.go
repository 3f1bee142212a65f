package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

func (a *app) statsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "stats", Short: "Show how many jobs there are, what today's cost, and what of budgets and quotas is left",
		Args: atMost(0, ""),
		Long: "Show the number of jobs of all users, the cost of today's (UTC), and how much of the daily budgets and of the quotas of kinds is used. Of the budgets of users, it shows the ten of which the most is spent, or that of --user.\n\n" +
			"A person's token does not show this.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			user := "" // without the flag, those who have spent the most
			if cmd.Flags().Changed("user") {
				user = a.user
			}
			stats, err := a.client().Stats(cmd.Context(), user)
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
