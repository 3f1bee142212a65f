package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

func (a *app) migrateCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "migrate", Short: "Rewrite what the store has in an older format", Args: atMost(0, ""),
		Long: "Rewrite what the store has in forms of the format before, once an upgrade is finished. Servers do that by themselves within a quarter of an hour; " +
			"this does it now, while they run. It can be interrupted and repeated.\n\n" +
			"With --check nothing is changed: it shows the store's format, which servers use it and what would be rewritten.",
	}
	check := c.Flags().Bool("check", false, "only show what would be done")
	return a.storeCommand(c, func() job.StoreStep {
		if *check {
			return job.CheckStore
		}
		return job.MigrateStore
	})
}

func (a *app) upgradeCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "upgrade", Short: "Show where an upgrade is, and finish it", Args: atMost(0, ""),
		Long: "A new version uses the store's format of the version before, so that both can run, and that one can be started again. " +
			"With --finish, the store moves to the newest format: the version before can no longer use it. " +
			"Without it, servers do so three days after the last one of the version before has stopped.",
	}
	finish := c.Flags().Bool("finish", false, "move the store to the newest format now")
	return a.storeCommand(c, func() job.StoreStep {
		if *finish {
			return job.FinishUpgrade
		}
		return job.CheckStore
	})
}

// storeCommand makes a command take a step of an upgrade.
func (a *app) storeCommand(c *cobra.Command, step func() job.StoreStep) *cobra.Command {
	offline := c.Flags().Bool("offline", false, "use the store of the configuration here (REDIS_URL, DATA_DIR), without a server")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		take := a.api.StoreFormat
		if *offline {
			take = func(ctx context.Context, step job.StoreStep) (answer client.Answer[job.StoreFormat], err error) {
				f, err := a.FormatFunc(ctx, step)
				if err != nil {
					return answer, err
				}
				return answerOf(f), nil
			}
		}
		f, err := take(cmd.Context(), step())
		if job.HasKind(err, job.NotFound) { // behind a proxy, any server may answer
			err = job.Errorf(job.NotFound, "The server that answered is of a version that knows nothing of upgrades").
				WithHint("Ask one of the new version (--server), or use --offline with its settings.")
		}
		return show(a, cmd, f, err, printer.storeFormat)
	}
	return c
}

func (p printer) storeFormat(f job.StoreFormat) {
	p.printf("The store is in format %d. This version writes up to format %d.\n", f.Format, f.Newest)
	if len(f.Servers) > 0 {
		tableOf(p, []string{"SERVER", "WRITES", "READS UP TO"}, f.Servers, func(s job.StoreServer) []string {
			return []string{clean(s.Name), strconv.Itoa(s.Format), strconv.Itoa(s.Reads)}
		})
	}
	if len(f.Older) > 0 {
		done := "TO REWRITE"
		if f.Rewritten {
			done = "REWRITTEN"
		}
		tableOf(p, []string{done, "FORM"}, f.Older, func(o job.OlderForm) []string { return []string{strconv.Itoa(o.Count), o.Form} })
	}
	isOld := func(s job.StoreServer) bool { return s.Reads < f.Newest }
	switch {
	case slices.ContainsFunc(f.Servers, isOld):
		p.hint(fmt.Sprintf("It can move to format %d when all servers read that. Until then, the version before can be started again.", f.Newest))
	case f.Format < f.Newest:
		when := "once all servers read it"
		if !f.FinishesAt.IsZero() {
			when = "on " + p.time(f.FinishesAt, time.DateTime)
		}
		p.hint(fmt.Sprintf("It moves to format %d %s. Until then, the version before can be started again. Move it now with: ringback upgrade --finish", f.Newest, when))
	case f.Oldest < f.Newest:
		p.hint("Servers rewrite older forms within a quarter of an hour. Rewrite them now with: ringback migrate")
	default:
		p.printf("Nothing is left in an older format.\n")
	}
}
