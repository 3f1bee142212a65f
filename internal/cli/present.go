package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

// subject identifies the content that a person was shown before a decision.
type subject struct {
	seen client.Seen
	// unseen is the number of lines of the change that were not shown.
	unseen int
}

// shows prints all that an answer to a question may approve, below a heading if there is one.
func (a *app) shows(ctx context.Context, cmd *cobra.Command, heading string, c job.Checkpoint) (s subject, err error) {
	err = a.present(ctx, cmd, func(p printer) error {
		if heading != "" {
			p.printf("%s:\n", heading)
		}
		if c.Type == job.Review {
			s, err = a.showsChange(ctx, p, c)
			return err
		}
		p.asks(c)
		s.seen.Shown = job.ShownInText(c)
		return nil
	})
	return s, err
}

// showsChange prints a change with the part of its diff that one request returns. Without a diff,
// it prints the review's own text.
func (a *app) showsChange(ctx context.Context, p printer, c job.Checkpoint) (subject, error) {
	api := a.client()
	captured, err := api.Diff(ctx, c.RequestID)
	if err != nil {
		p.asks(c)
		return subject{seen: client.Seen{Shown: job.ShownByLink}}, nil //nolint:nilerr // the server refuses what cannot be approved
	}
	for i := range captured.Value {
		captured.Value[i].Truncated = false // the rest of the output is not
	}
	p.summary(ctx, api, c, captured.Value)
	s := subject{seen: seenInDiff(captured.Value)}
	s.seen.Shown = job.ShownWhole
	for _, d := range captured.Value {
		page, err := api.DiffPage(ctx, c.RequestID, client.DiffPage{Repository: d.Repository, From: 1, Lines: pageLines})
		if known, ok := errors.AsType[*job.Error](err); ok && known.Kind != job.Unavailable {
			p.hang("  ", "  ", yellow, known.Message)
			s.seen.Shown = job.ShownByLink
			s.unseen += max(1, d.TotalLines)
			continue
		}
		if err != nil {
			return s, err
		}
		if len(page.Value) != 1 || page.Value[0].Tree != d.Tree {
			return s, errMovedOn
		}
		p.printf("\n%s\n", p.paint(bold, clean(d.Repository)+": "+clean(d.Summary)))
		for _, f := range page.Value[0].Files {
			p.fileDiff(f)
		}
		if next := page.Value[0].NextFrom; next > 0 {
			s.seen.Shown = job.ShownPaged
			s.unseen += max(1, d.TotalLines-next+1)
		}
	}
	return s, nil
}

// agreed shows all that an answer to a question may approve, and asks for confirmation.
func (a *app) agreed(cmd *cobra.Command, heading string, c job.Checkpoint) (client.Seen, error) {
	s, err := a.shows(cmd.Context(), cmd, heading, c)
	if err != nil {
		return s.seen, err
	}
	question := "Do it?"
	if s.unseen > 0 {
		question = notShown(s.unseen) + " Do it all the same?"
	}
	return s.seen, a.asker(cmd.Context(), cmd).confirmed(question)
}

// notShown describes how much of a change the person has not seen.
func notShown(lines int) string {
	return fmt.Sprintf("Lines of the change that were not shown: %d. Read them with: ringback diff --full.", lines)
}

// errMovedOn is returned when the change differs from the one shown before.
var errMovedOn = usagef("The change has moved on while it was shown: look at it again")
