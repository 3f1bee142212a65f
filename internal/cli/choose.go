package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

const maxChoices = 9

// chooser returns the job that is meant if the command line names none and none was run in this terminal.
type chooser func(cmd *cobra.Command, fits func(job.Job) bool) (job.ID, error)

// whichJob is the chooser of commands that only show something: it returns a usage error with the latest
// jobs. It reads nothing, so that what was typed ahead is left to the shell.
func (a *app) whichJob(cmd *cobra.Command, fits func(job.Job) bool) (job.ID, error) {
	lines := []string{"Which job? Give its requestId (ringback list shows them), or run one first: ringback run <kind>"}
	latest, err := a.latestJobs(cmd, fits)
	if err != nil {
		latest = nil
	}
	for _, j := range latest[:min(len(latest), maxChoices)] {
		lines = append(lines, "  "+j.short+"  "+j.about)
	}
	return "", usagef("%s", strings.Join(lines, "\n"))
}

// chooseJob is the chooser of commands that ask the person at the terminal anyway. Without a terminal, it
// returns a usage error.
func (a *app) chooseJob(cmd *cobra.Command, fits func(job.Job) bool) (job.ID, error) {
	if !a.TypedFunc(cmd.InOrStdin()) {
		return a.whichJob(cmd, fits)
	}
	which := usagef("Which job? None fits; ringback list shows them")
	id, err := a.choose(cmd, "No job was run in this terminal. Which one?", which, func() ([]found, error) {
		return a.latestJobs(cmd, fits)
	})
	return job.ID(id), err
}

func (a *app) latestJobs(cmd *cobra.Command, fits func(job.Job) bool) ([]found, error) {
	return a.jobs(cmd.Context(), client.Filter{UserID: a.user, Limit: 100}, fits)
}

// chooseCheckpoint is chooseJob for a question; otherwise is the error.
func (a *app) chooseCheckpoint(cmd *cobra.Command, otherwise error) (job.CheckpointID, error) {
	id, err := a.choose(cmd, "Which question?", otherwise, func() ([]found, error) {
		return a.openCheckpoints(cmd.Context(), maxChoices)
	})
	return job.CheckpointID(id), err
}

// choose offers numbered choices; an empty line selects the first. It returns otherwise if there is
// no terminal or nothing to choose.
func (a *app) choose(cmd *cobra.Command, question string, otherwise error, list func() ([]found, error)) (string, error) {
	if !a.TypedFunc(cmd.InOrStdin()) {
		return "", otherwise
	}
	choices, err := list()
	if err != nil {
		return "", err
	}
	if len(choices) == 0 {
		return "", otherwise
	}
	choices = choices[:min(len(choices), maxChoices)]
	q := a.asker(cmd.Context(), cmd)
	q.p.printf("%s\n", question)
	for i, c := range choices {
		q.p.printf("%s\n", q.p.fit(fmt.Sprintf("  %d  %s  %s", i+1, clean(c.short), clean(c.about)), 0))
	}
	for {
		text, err := q.line("Number [1]: ")
		if err != nil {
			return "", err
		}
		if text == "" {
			return choices[0].id, nil
		}
		if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(choices) {
			return choices[n-1].id, nil
		}
		q.p.printf("%s\n", q.p.paint(yellow, fmt.Sprintf("Type a number from 1 to %d.", len(choices))))
	}
}
