package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/text/spelling"
)

func (a *app) cancelCommand() *cobra.Command {
	return a.bulkCommand(&cobra.Command{
		Use: "cancel [requestId]", Short: "End a job now",
		Example: `  ringback cancel
  ringback cancel --all --kind meal-suggestions --tag nightly --since 1h`,
	}, job.BulkCancel, (*client.Client).Cancel)
}

func (a *app) retryCommand() *cobra.Command {
	return a.bulkCommand(&cobra.Command{
		Use: "retry [requestId]", Short: "Start an expired, failed or cancelled job again",
		Example: `  ringback retry
  ringback retry --all --status failed --since 1h --yes`,
	}, job.BulkRetry, (*client.Client).Retry)
}

func (a *app) moveCommand() *cobra.Command {
	return a.bulkCommand(&cobra.Command{
		Use: "move [requestId]", Short: "Move a job to the current version of its kind",
		Long: "Move a job that has not ended to the current version of its kind, which it gets with its next turn. " +
			"Approvals given under the previous version no longer apply: the new rules ask again.",
		Example: `  ringback move
  ringback move --all --kind release --status awaiting_approval`,
	}, job.BulkMove, (*client.Client).Move)
}

// bulkCommand returns a command that changes one job, or with --all and after confirmation many.
func (a *app) bulkCommand(
	c *cobra.Command, action job.BulkAction,
	change func(*client.Client, context.Context, job.ID) (client.Answer[job.Job], error),
) *cobra.Command {
	c, t := a.targeted(c)
	t.fits = func(j job.Job) bool { return action.AppliesTo(j.State) }
	t.deciding(c).withYes(c)
	a.orAll(c, action, &t.yes, a.changes(t, func(ctx context.Context, j meant) (client.Answer[job.Job], error) {
		return change(a.api, ctx, j.ID)
	}))
	return c
}

// changes returns the RunE of a command that changes a job and prints its record.
func (a *app) changes(
	t *target, change func(context.Context, meant) (client.Answer[job.Job], error),
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		j, err := t.job(cmd, args)
		if err != nil {
			return err
		}
		after, err := change(cmd.Context(), j)
		return show(a, cmd, after, err, printer.changed)
	}
}

func (p printer) changed(j job.Job) {
	p.printf("Status: %s\n", p.state(j.State))
	p.line("Job", string(j.ID))
	p.line("Next", job.ShortVersion(j.NextKindVersion))
}

func decidable(j job.Job) bool { return j.State == job.AwaitingApproval }

// mostMatching is the maximum number of jobs that one command changes.
const mostMatching = 5000

type bulk struct {
	app    *app
	action job.BulkAction
	all    bool
	flags  listFlags
	// text is the answer to each question, for job.BulkAnswer.
	text string
}

// orAll adds --all and the flags that select jobs to a command that changes one job or answers one
// question.
func (a *app) orAll(c *cobra.Command, action job.BulkAction, yes *bool, one func(*cobra.Command, []string) error) {
	b := &bulk{app: a, action: action}
	c.Flags().BoolVar(&b.all, "all", false, "all jobs that the flags below select; their number is shown first")
	b.flags.add(a, c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if !b.all {
			if flag := firstChanged(cmd, selectingFlags...); flag != "" {
				return usagef("--%s selects jobs for --all: add --all, or name one job", flag)
			}
			return one(cmd, args)
		}
		if action == job.BulkAnswer {
			var err error
			if b.text, err = textForAll(cmd, args); err != nil {
				return err
			}
		} else if flag := firstChanged(cmd, "request-id", "workflow-id"); len(args) > 0 || flag != "" {
			return usagef("--all takes no requestId")
		}
		return b.run(cmd, *yes)
	}
}

// run shows the matching jobs and, once the person agrees, applies the action to exactly these
// jobs.
func (b *bulk) run(cmd *cobra.Command, yes bool) error {
	a := b.app
	if err := b.flags.complete(a); err != nil {
		return err
	}
	jobs, more, err := a.api.Matching(cmd.Context(), b.flags.filter, b.action, mostMatching)
	if err != nil {
		return err
	}
	if len(jobs) > 0 {
		if err := b.agree(cmd, jobs, more, yes); err != nil {
			return err
		}
	}
	all := client.Outcomes{Jobs: []client.Outcome{}}
	for some := range slices.Chunk(jobs, job.MostInBulk) {
		done, err := a.api.Bulk(cmd.Context(), b.request(some))
		if err != nil {
			return fmt.Errorf(
				"%w\n%d of %s were %s. Repeat the command for the rest", err, all.Succeeded, spelling.Count(len(jobs), "job"),
				b.action.Done(),
			)
		}
		all.Succeeded += done.Value.Succeeded
		all.Jobs = append(all.Jobs, done.Value.Jobs...)
	}
	if err := show(a, cmd, answerOf(all), nil, b.outcomes); err != nil {
		return err
	}
	if left := len(all.Jobs) - all.Succeeded; left > 0 {
		return fmt.Errorf("not %s: %s", b.action.Done(), spelling.Count(left, "job"))
	}
	return nil
}

func (b *bulk) request(jobs []job.Job) client.NewBulk {
	made := client.NewBulk{Action: b.action, Text: b.text}
	for _, j := range jobs {
		made.RequestIDs = append(made.RequestIDs, j.ID)
		if b.action == job.BulkAnswer {
			made.CheckpointIDs = append(made.CheckpointIDs, j.Checkpoint.ID)
		}
	}
	return made
}

// questions prints what the jobs ask, the same question once.
func (p printer) questions(jobs []job.Job) {
	what := func(j job.Job) string { return j.Checkpoint.Message + "\x00" + string(j.Checkpoint.Props) }
	asking := map[string]int{}
	for _, j := range jobs {
		asking[what(j)]++
	}
	for _, j := range jobs {
		n := asking[what(j)]
		if n == 0 {
			continue
		}
		delete(asking, what(j))
		p.printf("Asked by %s:\n", spelling.Count(n, "job"))
		p.asks(*j.Checkpoint)
		if replies := suggested(j.Checkpoint.Props); replies != "" {
			p.hang("  ", "  ", "", "Replies: "+replies)
		}
		p.fields(*j.Checkpoint)
	}
}

// agree shows the number of jobs and the jobs, and asks for confirmation unless yes is set.
func (b *bulk) agree(cmd *cobra.Command, jobs []job.Job, more, yes bool) error {
	a := b.app
	p := a.printer(cmd.ErrOrStderr())
	which := ""
	if more {
		which = fmt.Sprintf("More than %d jobs match. These are the newest ", mostMatching)
	}
	p.printf("%s%s to %s:\n", which, spelling.Count(len(jobs), "job"), b.action)
	tableOf(p, jobHeader(), jobs, p.jobRow)
	if b.action == job.BulkAnswer {
		p.questions(jobs)
		p.line("Answer", b.text)
	}
	if yes {
		return nil
	}
	if !a.TypedFunc(cmd.InOrStdin()) {
		return usagef("Standard input is not a terminal: to %s %s, pass --yes", b.action, theseJobs(len(jobs)))
	}
	return a.asker(cmd).confirmed(cmd.Context(), fmt.Sprintf("To %s %s?", b.action, theseJobs(len(jobs))))
}

func (b *bulk) outcomes(p printer, o client.Outcomes) {
	if len(o.Jobs) == 0 {
		p.printf("No job to %s.\n", b.action)
		return
	}
	p.printf("%s %s.\n", spelling.Count(o.Succeeded, "job"), b.action.Done())
	for _, j := range o.Jobs {
		if j.Error != "" {
			p.hang(clean(j.RequestID.Short())+"  ", "  ", "", clean(j.Error))
		}
	}
}

func theseJobs(n int) string {
	if n == 1 {
		return "this job"
	}
	return "these " + spelling.Count(n, "job")
}

func (a *app) interruptCommand() *cobra.Command {
	var turn bool
	c, t := a.targeted(&cobra.Command{
		Use: "interrupt [requestId] [message…]", Short: "Stop what Claude does, and keep the job",
		Long: `Stop what Claude does, and keep the job.

This ends the commands that Claude runs. With --turn, or asked again in the same turn, it ends the
whole turn; the next one continues the same conversation and begins with the message.`,
		Example: "  ringback interrupt abcdefgh \"Not the whole test suite, only ./api\"",
	})
	c.Args = cobra.ArbitraryArgs
	t.fits = func(j job.Job) bool { return j.State == job.Running && j.Phase == job.AtWork }
	t.deciding(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		before, err := t.job(cmd, args[:min(len(args), 1)])
		if err != nil {
			return err
		}
		message := strings.Join(args[min(len(args), 1):], " ")
		j, err := a.api.Interrupt(cmd.Context(), before.ID, message, turn)
		return show(a, cmd, j, err, func(p printer, j job.Job) {
			p.changed(j)
			p.line("Doing", doing(j))
		})
	}
	c.Flags().BoolVar(&turn, "turn", false, "end the whole turn, not only its commands")
	return c
}
