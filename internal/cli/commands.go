package cli

import (
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"ringback/internal/client"
	"ringback/internal/job"
)

func (a *app) statusCommand() *cobra.Command {
	return a.takesID(&cobra.Command{
		Use: "status [requestId]", Short: "Show a job",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.jobID(args)
			if err != nil {
				return err
			}
			j, err := a.client().Get(cmd.Context(), id)
			if err != nil {
				return err
			}
			return a.show(cmd.OutOrStdout(), j, func(p printer) { p.status(j) })
		},
	})
}

func (p printer) status(j job.Job) {
	p.printf("Status: %s\n", p.state(j.State))
	line := func(name, value string) {
		if value != "" {
			p.printf("%-9s %s\n", name+":", value)
		}
	}
	line("Job", string(j.ID))
	line("Kind", j.Kind)
	line("User", j.UserID)
	line("Created", local(j.CreatedAt))
	line("Finished", local(j.FinishedAt))
	line("Deadline", local(j.Deadline))
	if j.Activity != nil {
		line("Progress", fmt.Sprintf("%.0f%% %s", j.Activity.Progress, j.Activity.Message))
	}
	if j.Error != "" {
		line("Error", fmt.Sprintf("%s (%s)", j.Error, j.ErrorCode))
	}
	if j.Usage != (job.Usage{}) {
		line("Used", fmt.Sprintf("%d tokens in, %d out, $%.4f, %d turn(s)", j.Usage.InputTokens, j.Usage.OutputTokens, j.Usage.CostUSD, j.Turn))
	}
	if j.Result != nil {
		p.printf("\n")
		if !p.menu(j.Result) {
			p.json(j.Result)
		}
	}
}

func local(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateTime)
}

func (a *app) watchCommand() *cobra.Command {
	return a.takesID(&cobra.Command{
		Use: "watch [requestId]", Short: "Show events as they happen: of a job, or with --user of all of a user's jobs",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			w := client.Watch{UserID: a.user}
			if len(args) > 0 || a.requestID != "" || a.user == "" {
				id, err := a.jobID(args)
				if err != nil {
					return err
				}
				j, err := a.client().Get(ctx, id)
				if err != nil {
					return err
				}
				from := job.Seq(0)
				w = client.Watch{UserID: j.UserID, RequestID: id, Since: &from}
			}
			p := a.printer(cmd.OutOrStdout())
			for e, err := range a.client().Watch(ctx, w) {
				if err != nil {
					return err
				}
				if err := a.showEvent(p, e); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

func (a *app) showEvent(p printer, e job.Event) error {
	if a.json() {
		return printLine(p, e)
	}
	if e.Name == client.Resync {
		p.printf("%s\n", p.paint(yellow, "older events are no longer kept"))
		return nil
	}
	p.printf("%s  %s  %s  %s\n", p.paint(faint, e.Time.Local().Format(time.TimeOnly)), p.paint(cyan, e.Name), p.paint(faint, string(e.RequestID)), e.Data)
	return nil
}

func (a *app) listCommand() *cobra.Command {
	var f client.Filter
	c := &cobra.Command{
		Use: "list", Short: "List jobs, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.UserID = a.user
			page, err := a.client().List(cmd.Context(), f)
			if err != nil {
				return err
			}
			return a.show(cmd.OutOrStdout(), page, func(p printer) { p.jobs(page) })
		},
	}
	c.Flags().StringVar(&f.Kind, "kind", "", "only jobs of this kind")
	c.Flags().StringVar(&f.Status, "status", "", "only jobs in this state")
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
		rows = append(rows, []string{string(j.ID), j.Kind, j.UserID, string(j.State), local(j.CreatedAt)})
	}
	p.table([]string{"JOB", "KIND", "USER", "STATUS", "CREATED"}, rows)
	if page.NextCursor != "" {
		p.printf("%s\n", p.paint(faint, "More: ringback list --cursor "+page.NextCursor))
	}
}

func (a *app) actionCommand(action, short string) *cobra.Command {
	return a.takesID(&cobra.Command{
		Use: action + " [requestId]", Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.jobID(args)
			if err != nil {
				return err
			}
			j, err := a.client().Do(cmd.Context(), id, action)
			if err != nil {
				return err
			}
			return a.show(cmd.OutOrStdout(), j, func(p printer) { p.printf("Status: %s\n", p.state(j.State)) })
		},
	})
}

func (a *app) kindsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "kinds [name]", Short: "List the kinds of jobs, or show one with its schemas", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				k, err := a.client().Kind(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return a.show(cmd.OutOrStdout(), k, func(p printer) { p.kind(k) })
			}
			kinds, err := a.client().Kinds(cmd.Context())
			if err != nil {
				return err
			}
			return a.show(cmd.OutOrStdout(), map[string]any{"kinds": kinds}, func(p printer) {
				var rows [][]string
				for _, k := range kinds {
					rows = append(rows, []string{k.Name, k.Description, k.Events + ":*"})
				}
				p.table([]string{"KIND", "WHAT IT DOES", "EVENTS"}, rows)
			})
		},
	}
}

func (p printer) kind(k client.Kind) {
	p.printf("%s  %s\nEvents: %s:*\n\nInput\n", p.paint(bold, k.Name), k.Description, k.Events)
	p.json(k.InputSchema)
	p.printf("\nResult\n")
	p.json(k.ResultSchema)
}

func (a *app) callbackCommand() *cobra.Command {
	return a.takesID(&cobra.Command{
		Use: "callback [requestId]", Short: "Show what to send when you play Claude (a job run with --simulate manual)",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.jobID(args)
			if err != nil {
				return err
			}
			values, err := a.client().Callback(cmd.Context(), id)
			if err != nil {
				return err
			}
			return a.show(cmd.OutOrStdout(), values, func(p printer) { p.callback(values) })
		},
	})
}

func (p printer) callback(c client.Callback) {
	p.printf("REQUEST_ID=%s\nCALLBACK_BASE_URL=%s\nHMAC_SIGNATURE=%s\n\n", c.RequestID, c.CallbackBaseURL, c.HMAC)
	post := func(endpoint, payload string) {
		p.printf("curl -sS -X POST %s/api/claude/%s -H 'Content-Type: application/json' \\\n  -d '{\"requestId\": \"%s\", \"hmac\": \"%s\", %s}'\n",
			c.CallbackBaseURL, endpoint, c.RequestID, c.HMAC, payload)
	}
	p.printf("%s\n", p.paint(faint, "# say what you are doing"))
	post("progress", `"message": "Browsing Italian recipes...", "progress": 30, "type": "querying"`)
	p.printf("%s\n", p.paint(faint, "# submit (this is a meal-suggestions result; ringback kinds <kind> shows the schema of others)"))
	post("suggestions", `"suggestions": [{"date": "2026-03-02", "mealType": "dinner", "recipe": {"name": "Lentil soup", "source": "Own recipe"}}], "reasoning": "Quick and warm."`)
}
