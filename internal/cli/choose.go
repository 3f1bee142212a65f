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
	if !a.TypedFunc(cmd.InOrStdin()) {
		return "", which
	}
	page, err := a.client().List(cmd.Context(), client.Filter{UserID: a.user, Limit: 100})
	if err != nil {
		return "", err
	}
	var choices []found
	for _, j := range page.Value.Jobs {
		if (fits == nil || fits(j)) && len(choices) < maxChoices {
			choices = append(choices, found{string(j.ID), j.ID.Short() + "  " + a.about(j)})
		}
	}
	if len(choices) == 0 {
		return "", which
	}
	id, err := a.asker(cmd.Context(), cmd).choose("No job was run in this terminal. Which one?", choices)
	return job.ID(id), err
}

// chooseCheckpoint asks the person at the terminal which question is meant. Without a terminal, it
// returns otherwise.
func (a *app) chooseCheckpoint(cmd *cobra.Command, otherwise error) (job.CheckpointID, error) {
	if !a.TypedFunc(cmd.InOrStdin()) {
		return "", otherwise
	}
	page, err := a.client().Checkpoints(cmd.Context(), client.CheckpointFilter{UserID: a.user, Status: job.Open, Limit: maxChoices})
	if err != nil {
		return "", err
	}
	var choices []found
	for _, c := range page.Value.Checkpoints {
		choices = append(choices, found{string(c.ID), c.ID.Short() + "  " + shortened(headed(c))})
	}
	if len(choices) == 0 {
		return "", otherwise
	}
	id, err := a.asker(cmd.Context(), cmd).choose("Which question?", choices)
	return job.CheckpointID(id), err
}

// choose offers numbered choices; an empty line selects the first.
func (q asker) choose(question string, choices []found) (string, error) {
	q.p.printf("%s\n", question)
	for i, c := range choices {
		q.p.printf("%s\n", q.p.fit(fmt.Sprintf("  %d  %s", i+1, clean(c.about)), 0))
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
