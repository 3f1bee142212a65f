package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

func (a *app) inboxCommand() *cobra.Command {
	var f client.CheckpointFilter
	var all bool
	c := &cobra.Command{
		Use: "inbox", Short: "List the questions that wait for an answer", Args: atMost(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.UserID = a.user; all {
				f.Status = ""
			}
			api := a.client()
			page, err := api.Checkpoints(cmd.Context(), f)
			return show(a, cmd, page, err, func(p printer, page client.Checkpoints) { p.inbox(cmd.Context(), api, page) })
		},
	}
	c.Flags().StringVar((*string)(&f.Type), "type", "", "only questions of this `type`")
	takesOnly(c, "type", job.CheckpointTypes[:])
	c.Flags().StringVar(
		(*string)(&f.Status), "status", string(job.Open), "only questions of this `status`; answered ones show what came of a yes",
	)
	takesOnly(c, "status", job.CheckpointStatuses[:])
	c.Flags().BoolVar(&all, "all", false, "answered ones too")
	c.Flags().IntVar(&f.Limit, limitFlag, 20, "how `many`, 500 at most")
	c.Flags().StringVar(&f.Cursor, "cursor", "", "`where` the page before ended")
	return c
}

func (p printer) inbox(ctx context.Context, api *client.Client, page client.Checkpoints) {
	switch {
	case len(page.Checkpoints) == 0 && page.NextCursor == "":
		p.printf("Nothing waits for an answer.\n")
		return
	case p.columns > 0:
		p.letters(ctx, api, page.Checkpoints)
	default:
		tableOf(p, []string{
			"CHECKPOINT", "TYPE", "WAITS", "JOB", "QUESTION", "REPLIES",
		}, page.Checkpoints, func(c job.Checkpoint) []string {
			lines := gist(ctx, api, c)
			for i, text := range lines {
				lines[i] = shortened(text)
			}
			return []string{
				c.ID.Short(), string(c.Type), standing(c, p.now()), c.RequestID.Short(), strings.Join(lines, " · "),
				cmp.Or(c.OutcomeWords(), suggested(c.Props)),
			}
		})
	}
	if page.NextCursor != "" {
		p.hint("More with: ringback inbox --cursor " + Quoted(clean(page.NextCursor)))
	}
}

// letters shows questions on a terminal. In a table, their ids alone would fill a line and leave no
// room for the question.
func (p printer) letters(ctx context.Context, api *client.Client, list []job.Checkpoint) {
	for _, c := range list {
		p.printf("%s  %s\n", p.paint(bold, clean(c.ID.Short())),
			p.paint(faint, clean(string(c.Type)+"  "+standing(c, p.now()))))
		for _, line := range gist(ctx, api, c) {
			p.printf("  %s\n", counted(clean(line), p.columns-2))
		}
		if replies := suggested(c.Props); replies != "" {
			p.printf("  %s\n", p.paint(cyan, counted(clean(replies), p.columns-2)))
		}
		p.outcome("  ", c)
		if c.RequestID != "" {
			p.printf("  %s\n", p.paint(faint, p.fit(clean(c.RequestID.Short()), 2)))
		}
	}
	p.hint("Read one in full, and answer it, with: ringback reply " + clean(list[0].ID.Short()))
}

// gist returns a question in one line, or what an open review is about in several: the person's words,
// each failed check and each caution, and Claude's words.
func gist(ctx context.Context, api *client.Client, c job.Checkpoint) []string {
	if c.Type != job.Review || c.Status != job.Open || c.RequestID == "" {
		return []string{headed(c)}
	}
	r := reviewOf(ctx, api, c)
	lines := append([]string{oneLine(r.asked)}, r.warnings()...)
	if r.isUsual() {
		lines = append(lines, "Claude: "+oneLine(r.said))
	} else {
		lines = append(lines, headed(c))
	}
	return slices.DeleteFunc(lines, func(text string) bool { return text == "" })
}

// outcome prints what came of a yes, in red unless it succeeded.
func (p printer) outcome(margin string, c job.Checkpoint) {
	if c.Outcome == nil {
		return
	}
	tone := red
	if c.Outcome.Status == job.OutcomeSucceeded {
		tone = green
	}
	p.hang(margin, margin, tone, clean(c.OutcomeWords()))
}

// headed is a question in one line, behind the title of its action.
func headed(c job.Checkpoint) string {
	if head := c.Question().Head(); head != "" {
		return oneLine(head + ": " + c.Message)
	}
	return oneLine(c.Message)
}

// standing returns how long a question has waited, or its status once it is closed.
func standing(c job.Checkpoint, now time.Time) string {
	if c.Status != job.Open {
		return string(c.Status)
	}
	return span(now.Sub(c.CreatedAt))
}

func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
