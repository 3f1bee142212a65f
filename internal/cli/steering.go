package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/text/literal"
)

func (p printer) verifiers(list []job.VerifierOutput) {
	if len(list) == 0 {
		p.printf("No verifier has run.\n")
	}
	for _, v := range list {
		p.verdict(v)
		p.indented("stdout", v.Stdout)
		p.indented("stderr", v.Stderr)
	}
}

func (p printer) verdict(v job.VerifierOutput) {
	verdict := p.paint(green, "[PASS]")
	if !v.Success {
		verdict = p.paint(red, "[FAIL]")
	}
	p.hang(verdict+" ", "       ", "", verdictText(v))
}

// indented prints an output after its name. No row of it begins at the left edge of a terminal.
func (p printer) indented(name, text string) {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return
	}
	lead := "  " + name + ": "
	for line := range strings.SplitSeq(text, "\n") {
		for row := range p.cutRows(line, len(lead), cut) {
			p.printf("%s%s\n", lead, literal.Text(row))
			lead = strings.Repeat(" ", len(lead))
		}
	}
}

func (a *app) steerCommand() *cobra.Command {
	var prompt string
	var wait bool
	c, t := a.targeted(&cobra.Command{
		Use: "steer [requestId]", Short: "Ask for another round of a change",
		Example: `  ringback steer -p "Also add validation to the payments handler"`,
	})
	t.deciding(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if strings.TrimSpace(prompt) == "" {
			return usagef("steer requires --prompt: what to do in the next round")
		}
		before, err := t.job(cmd, args)
		if err != nil {
			return err
		}
		j, err := a.steer(cmd.Context(), before, prompt)
		if err != nil {
			return err
		}
		if wait {
			return a.wait(cmd, followed{j.Value.ID, j.Value.UserID, j.Value.UpdatedAt})
		}
		return show(a, cmd, j, nil, func(p printer, _ job.Job) {
			p.printf("Steering signal sent. Use 'ringback status' to monitor.\n")
		})
	}
	c.Flags().StringVarP(&prompt, "prompt", "p", "", "`what` to do in the next round (required)")
	a.withTimeout(c)
	c.Flags().BoolVar(&wait, "wait", false, "show the round's progress, and wait until its change can be reviewed")
	return c
}

// steer asks for another round. If the person was shown a review, the prompt is the answer to that one.
func (a *app) steer(ctx context.Context, j meant, prompt string) (client.Answer[job.Job], error) {
	if !j.shown || !underReview(j.Job) {
		return a.api.Steer(ctx, j.ID, prompt)
	}
	if _, err := a.api.Reply(ctx, j.Checkpoint.ID, client.Reply{Decision: job.Steer, Text: prompt}); err != nil {
		return client.Answer[job.Job]{}, err
	}
	return a.api.Get(ctx, j.ID)
}

// underReview reports whether a job waits for a decision on its change.
func underReview(j job.Job) bool {
	return j.State == job.AwaitingApproval && j.Checkpoint != nil && j.Checkpoint.Type == job.Review
}

// approveCommand also waits until an approved change has been published.
func (a *app) approveCommand() *cobra.Command {
	var noWait bool
	c, t := a.targeted(&cobra.Command{
		Use: "approve [requestId]", Short: "Approve what a job asks for",
		Long: `Approve what a job asks for.

At a terminal, this shows the question with all that a yes would run, or the change with
its diff and its failed checks, and asks for confirmation; what is longer than the screen is shown in the pager
(PAGER). Otherwise, pass the requestId and --yes.`,
	})
	t.fits = decidable
	t.deciding(c).withYes(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		asking, seen, err := t.approved(cmd, args)
		if err != nil {
			return err
		}
		j, err := a.api.Approve(cmd.Context(), asking.ID, seen)
		if err != nil {
			return err
		}
		if underReview(asking) && !noWait {
			return a.broughtOut(cmd.Context(), cmd, j.Value)
		}
		return show(a, cmd, j, nil, printer.changed)
	}
	c.Flags().BoolVar(&noWait, "no-wait", false, "do not wait until the change was published")
	return c
}

// broughtOut waits until an approved change is published and prints its location.
func (a *app) broughtOut(ctx context.Context, cmd *cobra.Command, j job.Job) error {
	a.printer(cmd.ErrOrStderr()).printf("Publishing the change …\n")
	var done client.Answer[job.Job]
	err := a.poll(ctx, func() (over bool, err error) {
		done, err = a.current(ctx, j.ID)
		return hasStopped(done.Value), err
	})
	if err := show(a, cmd, done, err, printer.finalized); err != nil {
		return err
	}
	if underReview(done.Value) {
		return errNoResult
	}
	return resultOf(done.Value)
}

func (p printer) finalized(j job.Job) {
	p.printf("Status: %s\n", p.state(j.State))
	for _, text := range listIn(j.Result, "finalized") {
		f := decoded[job.Finalized](text)
		switch {
		case f.Error != "":
			p.printf("%s: %s\n", clean(f.Repository), p.paint(red, clean(f.Error)))
		case f.URL != "":
			p.printf("PR created: %s\n", clean(f.URL))
		case f.Unchanged:
			p.printf("%s: nothing had changed\n", clean(f.Repository))
		default:
			p.printf("%s: pushed to %s as %s\n", clean(f.Repository), clean(f.Branch), clean(f.Commit))
			if f.CompareURL != "" {
				p.printf("Open a pull request: %s\n", clean(f.CompareURL))
			}
			if f.Note != "" {
				p.printf("%s\n", p.paint(yellow, clean(f.Note)))
			}
		}
	}
	if underReview(j) {
		p.printf("\n")
		p.question(*j.Checkpoint)
	}
}

// steeringRound describes which round of a change is reviewed. The first was not steered.
func steeringRound(c job.Checkpoint) string {
	props := decoded[job.Props](c.Props)
	if props.MaxIterations == 0 {
		return ""
	}
	return strings.TrimPrefix(job.RoundWords(props.Iteration, props.MaxIterations), "round ")
}

func (a *app) rejectCommand() *cobra.Command {
	var reason string
	c, t := a.targeted(&cobra.Command{Use: "reject [requestId]", Short: "Reject what a job asks for"})
	t.fits = decidable
	c.RunE = a.changes(t.deciding(c).withYes(c), func(ctx context.Context, j meant) (client.Answer[job.Job], error) {
		seen := a.seen(j.Job) // including what ringback diff has shown of it
		if j.shown {
			seen = client.Seen{CheckpointID: seen.CheckpointID}
		}
		return a.api.Reject(ctx, j.ID, reason, seen)
	})
	c.Flags().StringVar(&reason, "reason", "", "`why`, for Claude and for the audit log")
	return c
}

func (a *app) approvalsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "approvals", Short: "List your standing approvals of tool calls", Args: atMost(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := a.api.Approvals(cmd.Context(), a.user)
			return show(a, cmd, list, err, printer.approvals)
		},
	}
}

func (p printer) approvals(list client.Approvals) {
	if len(list.Approvals) == 0 {
		p.printf("There are no standing approvals.\n")
		return
	}
	tableOf(p, []string{"APPROVAL", "KIND", "RULE", "JOB", "SINCE"}, list.Approvals, func(s job.Approval) []string {
		return []string{job.ShortApproval(s.ID), s.Kind, s.Rule, s.RequestID.Short(), p.time(s.CreatedAt, time.DateTime)}
	})
	p.hint("Revoke one with: ringback revoke " + job.ShortApproval(list.Approvals[0].ID))
}

func (a *app) revokeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "revoke <approval>", Short: "Revoke a standing approval",
		Args: one("one approval (ringback approvals lists them)"), ValidArgsFunction: a.offers(a.approvals),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.findApproval(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			done, err := a.api.Revoke(cmd.Context(), a.user, id)
			return show(a, cmd, done, err, func(p printer, _ client.Sent) { p.printf("Revoked.\n") })
		},
	}
}
