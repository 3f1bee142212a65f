package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

// target identifies a job on a command line: by an argument, by a flag, or not at all, which
// means the last run.
type target struct {
	app  *app
	flag string
	// fits reports whether the command applies to a job, for a person who has to choose one; nil
	// means all jobs.
	fits   func(job.Job) bool
	choose chooser
	// yes skips the confirmation of a job that is named.
	yes bool
}

// targeted adds an argument and flags that identify a job to a command.
func (a *app) targeted(c *cobra.Command) (*cobra.Command, *target) {
	t := &target{app: a, choose: a.whichJob}
	c.Flags().StringVar(
		&t.flag, "request-id", "", "the `job`, by its id or the beginning of it (default: the last one run in this terminal)",
	)
	c.Flags().StringVar(&t.flag, "workflow-id", "", "another `name` for --request-id")
	c.Args = atMost(1, "requestId")
	c.ValidArgsFunction = a.offers(func(ctx context.Context) ([]found, error) {
		return a.jobs(ctx, client.Filter{UserID: a.user, Limit: maxCompletions}, t.fits)
	})
	for _, flag := range []string{"request-id", "workflow-id"} {
		completeFlagWith(c, flag, c.ValidArgsFunction)
	}
	return c, t
}

// given returns the job's name on the command line, or "" if there is none.
func (t *target) given(args []string) (string, error) {
	switch {
	case len(args) > 0 && t.flag != "" && args[0] != t.flag:
		return "", usagef("Which job: %s or %s? Give one requestId", args[0], t.flag)
	case len(args) > 0:
		return args[0], nil
	}
	return t.flag, nil
}

// id returns the job that is meant: the one named, the last run, or the one that is chosen.
func (t *target) id(cmd *cobra.Command, args []string) (job.ID, error) {
	text, err := t.given(args)
	switch {
	case err != nil:
		return "", err
	case text != "":
		return t.app.findJob(cmd.Context(), text)
	}
	if last := t.app.lastRun(); last != "" {
		return last, nil
	}
	return t.choose(cmd, t.fits)
}

// run makes do the command's function. do gets the job that is meant.
func (t *target) run(c *cobra.Command, do func(cmd *cobra.Command, id job.ID) error) {
	c.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := t.id(cmd, args)
		if err != nil {
			return err
		}
		return do(cmd, id)
	}
}

func atMost(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) <= n:
			return nil
		case n == 0:
			return usagef("%s takes no argument, but got %s", c.Name(), words(args))
		}
		return usagef("%s takes one %s, but got %s", c.Name(), what, words(args))
	}
}

func one(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("%s takes %s, but got %s", c.CommandPath(), what, words(args))
		}
		return nil
	}
}

// words quotes arguments for an error; it returns "none" if there are none.
func words(args []string) string {
	if len(args) == 0 {
		return "none"
	}
	typed := make([]string, len(args))
	for i, arg := range args {
		typed[i] = Quoted(arg)
	}
	return strings.Join(typed, " ")
}

var errDeclined = errors.New("nothing was done")

// deciding makes a command's target one that it changes: the job that the command line names, or one that the
// person at the terminal was shown and has confirmed. Nothing else is ever changed.
func (t *target) deciding(c *cobra.Command) *target {
	c.Flags().Lookup("request-id").Usage = "the `job`, by its id or the beginning of it (without it, at a terminal, the last run is shown first)"
	t.choose = t.app.chooseJob
	return t
}

func (t *target) withYes(c *cobra.Command) *target {
	c.Flags().BoolVarP(&t.yes, "yes", "y", false, "do not ask for confirmation")
	return t
}

// meant is the job that a command is to change.
type meant struct {
	job.Job
	// shown is true if the command has shown the job and the question at which it waits.
	shown bool
}

// record returns the job that is meant, and whether the command line names it. It returns an error if
// no job is named and no person can be asked.
func (t *target) record(cmd *cobra.Command, args []string) (j job.Job, isNamed bool, err error) {
	a := t.app
	text, err := t.given(args)
	if err == nil && text == "" && (t.yes || !a.TypedFunc(cmd.InOrStdin())) {
		err = usagef("Which job? Standard input is not a terminal, or --yes was given: name the job (ringback %s <requestId>)", cmd.Name())
	}
	if err != nil {
		return j, false, err
	}
	id, err := t.id(cmd, args)
	if err != nil {
		return j, false, err
	}
	answer, err := a.api.Get(cmd.Context(), id)
	return answer.Value, text != "", err
}

// job returns the job to change. If the command line names none, it shows the job to the person, who
// has to confirm.
func (t *target) job(cmd *cobra.Command, args []string) (meant, error) {
	j, isNamed, err := t.record(cmd, args)
	if err != nil || isNamed {
		return meant{Job: j}, err
	}
	a := t.app
	err = a.present(cmd.Context(), cmd, func(p printer) error {
		switch {
		case j.Checkpoint == nil:
			p.printf("%s.\n", t.about(cmd, j))
		case underReview(j):
			p.printf("%s:\n", t.about(cmd, j))
			p.summary(a.reviewOf(cmd.Context(), *j.Checkpoint))
		default:
			p.printf("%s:\n", t.about(cmd, j))
			p.asks(*j.Checkpoint)
		}
		return nil
	})
	if err == nil {
		err = a.asker(cmd).confirmed(cmd.Context(), "Do it?")
	}
	return meant{j, true}, err
}

// approved returns the job to approve and what the person has seen of it: it shows the question and
// asks for confirmation. Without a terminal, the command line has to name the job and pass --yes.
func (t *target) approved(cmd *cobra.Command, args []string) (j job.Job, seen client.Seen, err error) {
	a := t.app
	j, _, err = t.record(cmd, args)
	if err == nil && !t.yes && !a.TypedFunc(cmd.InOrStdin()) {
		err = usagef(
			"Standard input is not a terminal, so the question cannot be shown: add --yes (ringback %s %s --yes)", cmd.Name(), j.ID.Short(),
		)
	}
	switch {
	case err != nil || j.Checkpoint == nil: // the server returns why it cannot be approved
	case t.yes:
		seen = a.seen(j)
		a.warnOf(cmd, *j.Checkpoint)
	default:
		seen, err = a.agreed(cmd, t.about(cmd, j), *j.Checkpoint)
		seen.CheckpointID = j.Checkpoint.ID
	}
	return j, seen, err
}

func (t *target) about(cmd *cobra.Command, j job.Job) string {
	return "About to " + cmd.Name() + " " + clean(j.ID.Short()) + " (" + clean(t.app.about(j)) + ")"
}

// confirmed asks whether to continue; an empty line means no, for which it returns errDeclined.
func (q asker) confirmed(ctx context.Context, question string) error {
	text, err := q.line(ctx, question+" [y/N] ")
	if err == nil && !strings.EqualFold(text, "y") && !strings.EqualFold(text, "yes") {
		err = errDeclined
	}
	return err
}
