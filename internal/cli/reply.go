package cli

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"ringback/internal/client"
	"ringback/internal/job"
)

// replyFlags are the flags of reply.
type replyFlags struct {
	approve, deny, cancel bool
	values                string
	fields                []string
	scope                 string
}

func (a *app) replyCommand() *cobra.Command {
	var f replyFlags
	c := &cobra.Command{
		Use:   "reply [checkpointId] [text…]",
		Short: "Answer a question: in words, with a decision or with values",
		Example: `  ringback reply "Use 16:9"
  ringback reply chk_03_… --approve
  ringback reply --value duration=10 --value format=mp4`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.reply(cmd, args, f) },
	}
	flags := c.Flags()
	flags.BoolVar(&f.approve, "approve", false, "allow what is asked")
	flags.BoolVar(&f.deny, "deny", false, "refuse what is asked; the text is the reason")
	flags.BoolVar(&f.cancel, "cancel", false, "give the whole job up")
	flags.StringVar(&f.scope, "scope", "", "with --approve of a tool call: once, job or always")
	flags.StringVar(&f.values, "values", "", "the values that are asked for: JSON, @file, or - for standard input")
	flags.StringArrayVar(&f.fields, "value", nil, "one value as name=value (value: JSON or text); repeatable")
	return c
}

func (a *app) reply(cmd *cobra.Command, args []string, f replyFlags) error {
	id, words := splitReply(args)
	r, err := f.reply(cmd, strings.Join(words, " "))
	if err != nil {
		return err
	}
	api := a.client()
	if id == "" {
		if id, err = a.asked(cmd.Context(), api); err != nil {
			return err
		}
	}
	after, err := api.Reply(cmd.Context(), id, r)
	if err != nil {
		return err
	}
	return show(a, cmd, after, printer.replied)
}

// splitReply tells the checkpoint's id from the words of the reply.
func splitReply(args []string) (job.CheckpointID, []string) {
	if len(args) > 0 && strings.HasPrefix(args[0], "chk_") {
		return job.CheckpointID(args[0]), args[1:]
	}
	return "", args
}

func (f replyFlags) reply(cmd *cobra.Command, text string) (client.Reply, error) {
	r := client.Reply{Text: text, Scope: job.ApprovalScope(f.scope)}
	decisions := 0
	for decision, given := range map[job.Decision]bool{job.Approve: f.approve, job.Deny: f.deny, job.Cancel: f.cancel} {
		if given {
			r.Decision = decision
			decisions++
		}
	}
	if decisions > 1 {
		return r, usagef("Give one of --approve, --deny and --cancel")
	}
	if f.values != "" || len(f.fields) > 0 {
		text, err := readInput(f.values, f.fields, cmd.InOrStdin())
		if err != nil {
			return r, usagef("the values: %w", err)
		}
		if err := json.Unmarshal(text, &r.Values); err != nil {
			return r, err
		}
	}
	if r.Decision == "" && r.Values == nil && strings.TrimSpace(text) == "" {
		return r, usagef("What is the answer? Give it in words, or one of --approve, --deny, --cancel, --value")
	}
	return r, nil
}

// asked is the checkpoint at which the last run waits.
func (a *app) asked(ctx context.Context, api *client.Client) (job.CheckpointID, error) {
	last := a.lastRun()
	if last == "" {
		return "", usagef("Which question? Give its checkpoint id (ringback inbox shows them)")
	}
	j, err := api.Get(ctx, last)
	if err != nil {
		return "", err
	}
	if j.Value.Checkpoint == nil {
		return "", usagef("The last run (%s) is %s and waits for no answer: give a checkpoint id (ringback inbox shows them)", last, j.Value.State)
	}
	return j.Value.Checkpoint.ID, nil
}

func (p printer) replied(c job.Checkpoint) {
	switch c.Status {
	case job.Answered:
		p.printf("Answered.\n")
	case job.Reading:
		p.printf("Sent. Claude is asked what it means; if that is not certain, you are asked again.\n")
	case job.Clarified:
		p.printf("That was not clear, so it is asked again: ringback inbox\n")
	case job.Open, job.Lapsed, job.Withdrawn:
		p.printf("The question is %s.\n", clean(string(c.Status)))
	}
}
