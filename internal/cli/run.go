package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

type runFlags struct {
	job    client.NewJob
	input  object
	noWait bool
	task   taskFlags
}

func (a *app) runCommand() *cobra.Command {
	f := runFlags{input: object{textFlag: "--input", fieldFlag: "--field"}}
	c := &cobra.Command{
		Use:   "run [kind]",
		Short: "Run a job and wait for its result",
		Example: `  ringback run meal-suggestions --input '{"dateRangeStart":"2026-03-02","dateRangeEnd":"2026-03-06"}'
  ringback run meal-suggestions --input @request.json --no-wait
  ringback run meal-suggestions --field dateRangeStart=2026-03-02 --field dateRangeEnd=2026-03-06
  ringback run --repo https://github.com/org/service.git --prompt "Add input validation" --verifier "test:go test ./..." --require-approval
  ringback run -f task.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 && (len(args) != 0 || !f.task.given()) {
				return usagef("run takes one kind (ringback kinds lists them), but got %s", words(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.run(cmd, strings.Join(args, ""), f) },
	}
	flags := c.Flags()
	flags.StringVarP(&f.input.text, "input", "i", "", "the job's `input`: JSON, @file, or - for standard input")
	flags.StringArrayVar(&f.input.fields, "field", nil, "one field of the input as `name=value` (value: JSON or text); repeatable")
	flags.StringVar(&f.job.SessionID, "session", "", "`sessionId` of the chat the job belongs to")
	flags.StringVar(&f.job.IdempotencyKey, "idempotency-key", "", "a second run with the same `key` shows the first job")
	flags.StringArrayVar(&f.job.Tags, "tag", nil, "a `word` to list the job by (ringback list --tag); repeatable, up to 10")
	flags.StringVar(
		(*string)(&f.job.Options.Simulate), "simulate", "",
		"`stand-in` instead of Claude: manual, success, repair, failure or silence",
	)
	takesOnly(c, "simulate", job.Simulations[:])
	c.ValidArgsFunction = a.completeKinds()
	flags.StringVarP(
		&f.task.file, "file", "f", "",
		"a code change as a YAML `file`: prompt, repos, verifiers, require_approval, max_steering_iterations",
	)
	flags.StringArrayVar(&f.task.repos, "repo", nil, "a repository to change, as `url` or url#branch; repeatable")
	flags.StringVar(&f.task.prompt, "prompt", "", "`what` to change")
	flags.StringArrayVar(&f.task.verifiers, "verifier", nil, "a check as `name:command`; repeatable")
	flags.BoolVar(
		&f.task.requireApproval, "require-approval", false,
		"whether a person must approve the change before it is published (default: the kind's; code-change: true)",
	)
	flags.IntVar(&f.task.iterations, "max-steering-iterations", 0, "how `often` it may be steered, at most (default: the kind's, 5)")
	a.withTimeout(c)
	flags.BoolVar(&f.noWait, "no-wait", false, "print the requestId and return")
	return c
}

func (a *app) run(cmd *cobra.Command, kind string, f runFlags) error {
	if err := f.complete(cmd, kind, a.user); err != nil {
		return err
	}
	created, err := a.api.Create(cmd.Context(), f.job)
	if err != nil {
		return err
	}
	if err := a.writeState(lastRuns, a.here(), []byte(created.Value.RequestID)); err != nil && !a.json() {
		fmt.Fprintf(
			cmd.ErrOrStderr(), "The id of this run cannot be saved (%v): pass it to other commands, such as ringback status %s\n",
			err, clean(string(created.Value.RequestID)),
		)
	}
	if f.noWait || f.job.Options.Simulate == job.SimulateManual {
		return show(a, cmd, created, nil, func(p printer, c client.Created) { p.created(c, f.job.Options.Simulate) })
	}
	return a.wait(cmd, followed{id: created.Value.RequestID, userID: a.user})
}

func (f *runFlags) complete(cmd *cobra.Command, kind, user string) error {
	f.job.Kind, f.job.UserID = kind, user
	var err error
	if f.task.given() {
		t, err := f.task.task(cmd)
		if err != nil {
			return err
		}
		f.job.Kind = cmp.Or(kind, t.Kind, changeKind)
		if f.job.Input, err = t.input(); err != nil {
			return usagef("%w", err)
		}
		return nil
	}
	f.job.Input, err = f.input.read(cmd.InOrStdin())
	return err
}

func (p printer) created(c client.Created, simulate job.Simulation) {
	p.printf("%s\n", clean(string(c.RequestID)))
	if simulate == job.SimulateManual {
		p.printf("%s\n", p.paint(faint, "It waits for you to play Claude: ringback callback "+clean(c.RequestID.Short())))
	}
}

// wait shows the job's progress and result. Ctrl-C and --timeout leave the job running.
func (a *app) wait(cmd *cobra.Command, f followed) error {
	err := a.untilLeft(cmd, errDetached, func(ctx context.Context) error { return a.accompany(ctx, cmd, f) })
	if errors.Is(err, errDetached) || errors.Is(err, errTimedOut) {
		fmt.Fprintf(cmd.ErrOrStderr(), "\nThe job continues. Follow it with: ringback watch %s\n", clean(string(f.id)))
	}
	return err
}

// accompany shows the job's progress and result, and lets the person answer its questions.
func (a *app) accompany(ctx context.Context, cmd *cobra.Command, f followed) error {
	progressTo := cmd.OutOrStdout()
	if a.json() { // standard output is for the record alone
		progressTo = cmd.ErrOrStderr()
	}
	here := a.inPlace(cmd)
	shown := printer.ending
	for {
		j, err := a.follow(ctx, f, progressTo, here)
		if err == nil && underReview(j.Value) {
			var decided bool
			if decided, err = a.reviewed(ctx, cmd, here, j); err == nil && decided {
				f.from, shown = j.Value.UpdatedAt.Add(time.Millisecond), printer.finalized
				continue
			}
			if err == nil {
				return nil
			}
		}
		if err != nil {
			return err
		}
		if err := show(a, cmd, j, nil, shown); err != nil {
			return err
		}
		return resultOf(j.Value)
	}
}

// reviewed shows a change that waits for review, and lets the person decide on it in place if that
// is possible.
func (a *app) reviewed(
	ctx context.Context, cmd *cobra.Command, here *inPlace, j client.Answer[job.Job],
) (decided bool, err error) {
	if a.json() {
		return false, writeJSON(cmd.OutOrStdout(), j.JSON)
	}
	seen := seenInReview(j.Value)
	seen.Shown = job.ShownByLink
	a.rememberSeen(j.Value.ID, seen)
	r := a.reviewOf(ctx, *j.Value.Checkpoint)
	a.printer(cmd.OutOrStdout()).review(r, j.Value)
	if here == nil {
		return false, nil
	}
	return here.review(ctx, j.Value, r.warnings())
}
