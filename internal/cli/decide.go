package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

// errDeclined ends a command that its person thought better of.
var errDeclined = errors.New("nothing was done")

// decision is what a command that cannot be taken back is about to do.
type decision struct {
	target *target
	// verb is the command's name: approve, reject or cancel.
	verb string
	// yes is the flag that asks nothing.
	yes bool
}

// deciding gives a command --yes.
func (t *target) deciding(c *cobra.Command) *decision {
	d := &decision{target: t, verb: c.Name()}
	c.Flags().BoolVarP(&d.yes, "yes", "y", false, "do not ask for confirmation")
	return d
}

// id returns the job to decide on. One that the command line does not name is
// named to the person, who has to agree; where nobody is asked, it is the one
// that was run last in the same session.
func (d *decision) id(cmd *cobra.Command, args []string) (job.ID, error) {
	text, err := d.target.named(args)
	if err != nil {
		return "", err
	}
	id, err := d.target.id(cmd, args)
	if err != nil || text != "" || d.yes {
		return id, err
	}
	j, err := d.target.app.client().Get(cmd.Context(), id)
	if err != nil {
		return "", err
	}
	return id, d.ask(cmd, j.Value)
}

// shown returns the job to approve and what the person has seen of it: it shows the question and asks
// for confirmation. Without a terminal, the command line has to name the job and pass --yes.
func (d *decision) shown(cmd *cobra.Command, args []string) (j job.Job, seen client.Seen, err error) {
	a := d.target.app
	text, err := d.target.named(args)
	if err != nil {
		return j, seen, err
	}
	if !a.TypedFunc(cmd.InOrStdin()) && (text == "" || !d.yes) {
		return j, seen, usagef("Standard input is not a terminal, so the question cannot be shown: pass the requestId and --yes (ringback %s <requestId> --yes)", d.verb)
	}
	id, err := d.target.id(cmd, args)
	if err != nil {
		return j, seen, err
	}
	answer, err := a.client().Get(cmd.Context(), id)
	if j = answer.Value; err != nil || d.yes || j.Checkpoint == nil { // the server says why nothing can be allowed
		return j, a.seen(j), err
	}
	s, err := a.shows(cmd.Context(), cmd, d.about(j), *j.Checkpoint)
	if err == nil {
		err = a.asker(cmd.Context(), cmd).agreed(s)
	}
	s.seen.CheckpointID = j.Checkpoint.ID
	return j, s.seen, err
}

// about names what is about to happen, and to which job.
func (d *decision) about(j job.Job) string {
	return "About to " + d.verb + " " + clean(j.ID.Short()) + " (" + clean(d.target.app.about(j)) + ")"
}

// ask names the job and what it asks, and at a terminal asks for confirmation.
func (d *decision) ask(cmd *cobra.Command, j job.Job) error {
	a := d.target.app
	err := a.present(cmd.Context(), cmd, func(p printer) error {
		if j.Checkpoint == nil {
			p.printf("%s.\n", d.about(j))
			return nil
		}
		p.printf("%s:\n", d.about(j))
		d.effect(cmd.Context(), p, j)
		return nil
	})
	if err != nil || !a.TypedFunc(cmd.InOrStdin()) {
		return err
	}
	return a.asker(cmd.Context(), cmd).agreed(subject{})
}

// effect shows what is refused or given up.
func (d *decision) effect(ctx context.Context, p printer, j job.Job) {
	if underReview(j) {
		if summary := changeSummary(ctx, d.target.app.client(), j.ID); summary != "" {
			p.hang("  ", "  ", "", summary)
			return
		}
	}
	p.asks(*j.Checkpoint)
}

// changeSummary is a line for each repository of a change; "" when it cannot be
// had, for then the review's own words have to do.
func changeSummary(ctx context.Context, api *client.Client, id job.ID) string {
	diff, err := api.Diff(ctx, id)
	if err != nil {
		return ""
	}
	var lines []string
	for _, d := range diff.Value {
		lines = append(lines, d.Repository+": "+d.Summary)
	}
	return strings.Join(lines, "\n")
}

// yes asks a question; an empty line means no.
func (q asker) yes(question string) (bool, error) {
	text, err := q.line(question)
	if err != nil {
		return false, err
	}
	switch strings.ToLower(text) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}
