package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

// errDeclined is returned when the person declines the confirmation.
var errDeclined = errors.New("nothing was done")

// decision is the pending action of a command that cannot be undone.
type decision struct {
	target *target
	// verb is the command's name: approve, reject or cancel.
	verb string
	// yes is the flag that skips the confirmation.
	yes bool
}

// deciding adds --yes to a command.
func (t *target) deciding(c *cobra.Command) *decision {
	d := &decision{target: t, verb: c.Name()}
	c.Flags().BoolVarP(&d.yes, "yes", "y", false, "do not ask for confirmation")
	return d
}

// id returns the job to decide on. If the command line names no job, id shows the job to the
// person, who has to confirm. Without a terminal, the job is the last one run in the same session.
func (d *decision) id(cmd *cobra.Command, args []string) (job.ID, error) {
	text, err := d.target.named(args)
	if err != nil {
		return "", err
	}
	id, err := d.target.id(cmd, args)
	if err != nil || text != "" || d.yes {
		return id, err
	}
	a := d.target.app
	j, err := a.client().Get(cmd.Context(), id)
	if err != nil {
		return "", err
	}
	err = a.present(cmd.Context(), cmd, func(p printer) error {
		if j.Value.Checkpoint == nil {
			p.printf("%s.\n", d.about(j.Value))
		} else {
			p.printf("%s:\n", d.about(j.Value))
			p.asks(*j.Value.Checkpoint)
		}
		return nil
	})
	if err == nil && a.TypedFunc(cmd.InOrStdin()) {
		err = a.asker(cmd.Context(), cmd).confirmed("Do it?")
	}
	return id, err
}

// shown returns the job to approve and what the person has seen of it: it shows the question and
// asks for confirmation. Without a terminal, the command line has to name the job and pass --yes.
func (d *decision) shown(cmd *cobra.Command, args []string) (j job.Job, seen client.Seen, err error) {
	a := d.target.app
	text, err := d.target.named(args)
	if err != nil {
		return j, seen, err
	}
	if !a.TypedFunc(cmd.InOrStdin()) && (text == "" || !d.yes) {
		return j, seen, usagef(
			"Standard input is not a terminal, so the question cannot be shown: pass the requestId and --yes (ringback %s <requestId> --yes)",
			d.verb,
		)
	}
	id, err := d.target.id(cmd, args)
	if err != nil {
		return j, seen, err
	}
	answer, err := a.client().Get(cmd.Context(), id)
	if j = answer.Value; err != nil || d.yes || j.Checkpoint == nil { // the server returns why it cannot be approved
		return j, a.seen(j), err
	}
	seen, err = a.agreed(cmd, d.about(j), *j.Checkpoint)
	seen.CheckpointID = j.Checkpoint.ID
	return j, seen, err
}

// about describes the action and its job.
func (d *decision) about(j job.Job) string {
	return "About to " + d.verb + " " + clean(j.ID.Short()) + " (" + clean(d.target.app.about(j)) + ")"
}

// confirmed asks whether to continue; an empty line means no, for which it returns errDeclined.
func (q asker) confirmed(question string) error {
	text, err := q.line(question + " [y/N] ")
	if err == nil && !strings.EqualFold(text, "y") && !strings.EqualFold(text, "yes") {
		err = errDeclined
	}
	return err
}
