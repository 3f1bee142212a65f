package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"ringback/internal/job"
)

// target is how a command line names a job: as an argument, by a flag, or not
// at all, which means the last run.
type target struct {
	app  *app
	flag string
}

// targeted gives a command an argument and flags that name a job.
func (a *app) targeted(c *cobra.Command) (*cobra.Command, *target) {
	t := &target{app: a}
	c.Flags().StringVar(&t.flag, "request-id", "", "the job (default: the last one you ran)")
	c.Flags().StringVar(&t.flag, "workflow-id", "", "another name for --request-id")
	c.Args = atMost(1, "requestId")
	return c, t
}

// named returns the job that the command line names, "" when it names none.
func (t *target) named(args []string) (job.ID, error) {
	switch {
	case len(args) > 0 && t.flag != "" && args[0] != t.flag:
		return "", usagef("Which job: %s or %s? Give one requestId", args[0], t.flag)
	case len(args) > 0:
		return job.ID(args[0]), nil
	}
	return job.ID(t.flag), nil
}

// id returns the job that is meant.
func (t *target) id(args []string) (job.ID, error) {
	id, err := t.named(args)
	if err != nil || id != "" {
		return id, err
	}
	if last := t.app.lastRun(); last != "" {
		return last, nil
	}
	return "", usagef("Which job? Give its requestId (ringback list shows them), or run one first: ringback run <kind>")
}

// watched returns the job to watch, "" for all of them.
func (t *target) watched(args []string, all bool) (job.ID, error) {
	if !all {
		return t.id(args)
	}
	if len(args) > 0 || t.flag != "" {
		return "", usagef("--all watches all jobs, so it takes no requestId")
	}
	return "", nil
}

// atMost checks the number of arguments.
func atMost(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) <= n {
			return nil
		}
		if n == 0 {
			return usagef("%s takes no argument, but got %q", c.Name(), args)
		}
		return usagef("%s takes one %s, but got %s", c.Name(), what, fmt.Sprintf("%q", args))
	}
}
