package cli

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"ringback/internal/client"
	"ringback/internal/job"
)

func (a *app) listCommand() *cobra.Command {
	var f client.Filter
	var state string
	c := &cobra.Command{
		Use: "list", Short: "List jobs, newest first", Args: atMost(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.UserID, f.State = a.user, job.State(state)
			if state != "" && !slices.Contains(job.States[:], f.State) {
				return usagef("--status is one of %v, not %q", job.States, state)
			}
			page, err := a.client().List(cmd.Context(), f)
			if err != nil {
				return err
			}
			return show(a, cmd, page, printer.jobs)
		},
	}
	c.Flags().StringVar(&f.Kind, "kind", "", "only jobs of this kind")
	c.Flags().StringVar(&state, "status", "", "only jobs in this state")
	c.Flags().IntVar(&f.Limit, "limit", 20, "how many")
	c.Flags().StringVar(&f.Cursor, "cursor", "", "where the page before ended")
	return c
}

func (p printer) jobs(page client.Page) {
	if len(page.Jobs) == 0 {
		p.printf("No jobs.\n")
		return
	}
	var rows [][]string
	for _, j := range page.Jobs {
		rows = append(rows, []string{string(j.ID), j.Kind, j.UserID, string(j.State), p.time(j.CreatedAt, time.DateTime)})
	}
	p.table([]string{"JOB", "KIND", "USER", "STATUS", "ASKED"}, rows)
	if page.NextCursor != "" {
		p.printf("%s\n", p.paint(faint, "More with: --cursor "+quoted(clean(page.NextCursor))))
	}
}
