package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

// maxChoices is the maximum number of jobs or questions to choose from.
const maxChoices = 9

// chooseJob asks the person at the terminal which job is meant. Without a terminal, it returns a
// usage error.
func (a *app) chooseJob(cmd *cobra.Command, fits func(job.Job) bool) (job.ID, error) {
	which := usagef("Which job? Give its requestId (ringback list shows them), or run one first: ringback run <kind>")
	id, err := a.choose(cmd, "No job was run in this terminal. Which one?", which, func() ([]found, error) {
		return a.jobs(cmd.Context(), client.Filter{UserID: a.user, Limit: 100}, fits)
	})
	return job.ID(id), err
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
