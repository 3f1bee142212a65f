package cli

import (
	"context"
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

// named returns the job's name on the command line, or "" if there is none.
func (t *target) named(args []string) (string, error) {
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
	text, err := t.named(args)
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

// one checks that there is one argument.
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
