package cli

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

type replyFlags struct {
	approve, deny, cancel bool
	// yes sends an answer to a question that the command has not shown.
	yes    bool
	values object
	scope  string
}

func (a *app) replyCommand() *cobra.Command {
	f := replyFlags{values: object{textFlag: "--values", fieldFlag: "--value"}}
	c := &cobra.Command{
		Use:   "reply [checkpointId] [text…]",
		Short: "Answer a question: in words, with a decision or with values",
		Long: `Answer a question: in words, with a decision or with values.

Without a checkpointId, at a terminal: the question at which the last run waits, which
is shown; the answer is sent once you agreed. Without an answer: shows the question and
asks for each of its values. Without a terminal, the checkpointId is required.

An answer that may allow something (an action, a call of a tool, a change) is sent
once the question was shown and you agreed. Without a terminal, that takes --yes.

With --all, one answer in words goes to every job that the flags select and that
waits for information. Questions that allow something are answered one by one.`,
		Example: `  ringback reply
  ringback reply "Use 16:9"
  ringback reply chk_03_… --approve
  ringback reply --value duration=10 --value format=mp4
  ringback reply --all --kind meal-suggestions "Vegetarian, for four"`,
	}
	c.ValidArgsFunction = a.offers(func(ctx context.Context) ([]found, error) { return a.openCheckpoints(ctx, maxCompletions) })
	flags := c.Flags()
	flags.BoolVar(&f.approve, "approve", false, "allow what is asked")
	flags.BoolVar(&f.deny, "deny", false, "refuse what is asked; the text is the reason")
	flags.BoolVar(&f.cancel, "cancel", false, "cancel the whole job")
	flags.BoolVarP(&f.yes, "yes", "y", false, "with a checkpointId: do not show the question, and do not ask for confirmation")
	flags.StringVar(&f.scope, "scope", "", "with --approve of a tool call, its `scope`: once, job or always")
	takesOnly(c, "scope", []job.ApprovalScope{job.Once, job.ForJob, job.Always})
	flags.StringVar(&f.values.text, "values", "", "the `values` that are asked for: JSON, @file, or - for standard input")
	flags.StringArrayVar(&f.values.fields, "value", nil, "one value as `name=value` (value: JSON or text); repeatable")
	a.orAll(c, job.BulkAnswer, &f.yes, func(cmd *cobra.Command, args []string) error { return a.reply(cmd, args, f) })
	return c
}

// textForAll returns the answer to all questions: words, and nothing else.
func textForAll(cmd *cobra.Command, args []string) (string, error) {
	id, words := splitReply(args)
	text := strings.TrimSpace(strings.Join(words, " "))
	flag := firstChanged(cmd, "approve", "deny", "cancel", "scope", "values", "value")
	switch {
	case id != "":
		return "", usagef("--all takes no checkpointId")
	case flag != "":
		return "", usagef("--all takes no --%s: the answer to all questions is given in words", flag)
	case text == "":
		return "", usagef("What is the answer to all of them? Give it in words")
	}
	return text, nil
}

func (a *app) reply(cmd *cobra.Command, args []string, f replyFlags) error {
	id, words := splitReply(args)
	r, err := f.reply(cmd, strings.Join(words, " "))
	if err != nil {
		return err
	}
	if !a.TypedFunc(cmd.InOrStdin()) {
		switch {
		case isEmpty(r):
			return usagef("What is the answer? Give it in words, or one of --approve, --deny, --cancel, --value")
		case id == "":
			return usagef("Which question? Standard input is not a terminal: name it (ringback reply <checkpointId> …; ringback inbox shows what waits)")
		}
	}
	id, r, err = a.settled(cmd, id, r, f)
	if err != nil {
		return err
	}
	after, err := a.api.Reply(cmd.Context(), id, r)
	return show(a, cmd, after, err, func(p printer, c job.Checkpoint) { p.replied(cmd.Context(), a, c) })
}

func isEmpty(r client.Reply) bool {
	return r.Decision == "" && r.Values == nil && strings.TrimSpace(r.Text) == ""
}

// settled returns the question and the answer to it. It shows the question and asks the person for the
// answer if there is none, or whether to send it if the command line does not name the question, or if
// the answer may approve something.
func (a *app) settled(
	cmd *cobra.Command, named job.CheckpointID, r client.Reply, f replyFlags,
) (id job.CheckpointID, _ client.Reply, err error) {
	if named != "" {
		if id, err = a.findCheckpoint(cmd.Context(), named); err != nil {
			return "", r, err
		}
		if !isEmpty(r) && !f.mayAllowUnseen(r) {
			if r.Decision != job.Deny && r.Decision != job.Cancel {
				c, _ := a.api.Checkpoint(cmd.Context(), id) // if it cannot be read, the answer fails as well
				a.warnOf(cmd, c.Value)
				if c.Value.Type.Binding() && r.Decision == "" { // else the question is asked again
					r.Shown = job.ShownByLink
				}
			}
			return id, r, nil
		}
	}
	c, err := a.asked(cmd, id)
	switch {
	case err != nil:
	case isEmpty(r):
		r, err = a.ask(cmd.Context(), cmd, c)
	case named == "", c.Type.Binding():
		r.Seen, err = a.confirmed(cmd, c, r)
	}
	return c.ID, r, err
}

// warnOf prints what an approval of a change that is not shown should not miss.
func (a *app) warnOf(cmd *cobra.Command, c job.Checkpoint) {
	if c.Type == job.Review {
		a.printer(cmd.ErrOrStderr()).warn(a.reviewOf(cmd.Context(), c).warnings())
	}
}

// mayAllowUnseen reports whether an answer may approve something that the person was not shown. Words may
// always mean an approval; the server interprets them.
func (f replyFlags) mayAllowUnseen(r client.Reply) bool {
	return r.Decision != job.Deny && r.Decision != job.Cancel && !f.yes
}

// confirmed shows a question, and asks whether to send the answer. Without a terminal, the command line
// has to name the question and, if the answer may approve something, pass --yes.
func (a *app) confirmed(cmd *cobra.Command, c job.Checkpoint, r client.Reply) (client.Seen, error) {
	if !a.TypedFunc(cmd.InOrStdin()) {
		return client.Seen{}, usagef("Standard input is not a terminal, so the question cannot be shown: add --yes (ringback reply %s --yes …)", c.ID.Short())
	}
	heading := "About to answer"
	if r.Decision != "" {
		heading = "About to " + string(r.Decision)
	}
	if r.Decision == job.Approve && r.Values != nil && c.Type == job.ToolApproval {
		heading += " with your input in place of Claude's"
		c.Props = withInput(c.Props, r.Values)
	}
	seen, err := a.agreed(cmd, heading, c)
	if !c.Type.Binding() {
		seen = client.Seen{}
	}
	return seen, err
}

// withInput returns the props of a tool call's question with another input. It can be approved once only,
// so that they describe nothing else that an approval would cover.
func withInput(props json.RawMessage, input map[string]json.RawMessage) json.RawMessage {
	all := maps.Collect(job.Members(props))
	delete(all, "covers")
	all["tool_input"] = job.MustJSON(input)
	return job.MustJSON(all)
}

// splitReply separates the checkpoint's id from the words of the reply. What looks like an id is one:
// it is never a part of the answer to another question.
func splitReply(args []string) (job.CheckpointID, []string) {
	if len(args) > 0 && job.LooksLikeID(args[0]) {
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
		return r, usagef("Use only one of --approve, --deny and --cancel")
	}
	if f.values.text == "" && len(f.values.fields) == 0 {
		return r, nil
	}
	values, err := f.values.read(cmd.InOrStdin())
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(values, &r.Values)
}

// asked returns the checkpoint with an id. Without an id, it returns the one at which the last run
// waits, or the one that a person at a terminal chooses.
func (a *app) asked(cmd *cobra.Command, id job.CheckpointID) (job.Checkpoint, error) {
	ctx := cmd.Context()
	if id == "" {
		j, err := a.lastAsked(ctx)
		if err == nil {
			return j, nil
		}
		if id, err = a.chooseCheckpoint(cmd, err); err != nil {
			return job.Checkpoint{}, err
		}
	}
	c, err := a.api.Checkpoint(ctx, id)
	if err == nil && !c.Value.Status.Waits() {
		err = job.Errorf(job.Conflict, "The question is %s and does not wait for an answer", c.Value.Status).
			WithHint("ringback inbox shows what waits.")
	}
	return c.Value, err
}

func (a *app) lastAsked(ctx context.Context) (job.Checkpoint, error) {
	last := a.lastRun()
	if last == "" {
		return job.Checkpoint{}, usagef("Which question? Give its checkpoint id (ringback inbox shows them)")
	}
	j, err := a.api.Get(ctx, last)
	if err != nil {
		return job.Checkpoint{}, err
	}
	if j.Value.Checkpoint == nil {
		return job.Checkpoint{}, usagef(
			"The last run (%s) is %s and does not wait for an answer: give a checkpoint id (ringback inbox shows them)", last,
			j.Value.State,
		)
	}
	return *j.Value.Checkpoint, nil
}

func (p printer) replied(ctx context.Context, a *app, c job.Checkpoint) {
	switch c.Status {
	case job.Answered:
		p.printf("Answered.\n")
	case job.Interpreting:
		p.printf("Sent. Claude is asked what it means; if that is not certain, you are asked again.\n")
	case job.Superseded:
		p.printf("That was not clear, so it is asked again:\n")
		next, err := a.api.Checkpoint(ctx, c.Next)
		if err != nil {
			p.printf("%s\n", p.paint(faint, "See it with: ringback reply "+clean(c.Next.Short())))
			return
		}
		p.question(next.Value)
	case job.Open, job.CheckpointExpired, job.CheckpointCancelled:
		p.printf("The question is %s.\n", clean(string(c.Status)))
	}
}
