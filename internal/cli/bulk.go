package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/spelling"
)

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
	jobs, more, err := a.client().Matching(cmd.Context(), b.flags.filter, b.action, mostMatching)
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
		done, err := a.client().Bulk(cmd.Context(), b.request(some))
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
	return a.asker(cmd.Context(), cmd).confirmed(fmt.Sprintf("To %s %s?", b.action, theseJobs(len(jobs))))
}

// outcomes prints how many jobs were changed, and the errors of the others.
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
