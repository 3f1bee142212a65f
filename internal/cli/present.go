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
	// warnings are repeated where the person decides: they may be far up.
	warnings []string
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

// showsChange prints a change with the part of its diff that one request returns.
func (a *app) showsChange(ctx context.Context, p printer, c job.Checkpoint) (subject, error) {
	api := a.client()
	r := reviewOf(ctx, api, c)
	for i := range r.diff {
		r.diff[i].Truncated = false // the rest of the output is not
	}
	p.summary(r)
	s := subject{seen: seenInDiff(r.diff), warnings: r.warnings()}
	s.seen.Shown = job.ShownWhole
	if r.diff == nil { // the server refuses what cannot be approved
		s.seen = client.Seen{Shown: job.ShownByLink}
	}
	unseen := 0
	for _, d := range r.diff {
		page, err := api.DiffPage(ctx, c.RequestID, client.DiffPage{Repository: d.Repository, From: 1, Lines: pageLines})
		if known, ok := errors.AsType[*job.Error](err); ok && known.Kind != job.Unavailable {
			p.hang("  ", "  ", yellow, known.Message)
			s.seen.Shown = job.ShownByLink
			unseen += max(1, d.TotalLines)
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
			unseen += max(1, d.TotalLines-next+1)
		}
	}
	if unseen > 0 {
		s.warnings = append(s.warnings, fmt.Sprintf(
			"Lines of the change that were not shown: %d. Read them with: ringback diff --full.", unseen,
		))
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
	q := a.asker(cmd.Context(), cmd)
	if len(s.warnings) > 0 {
		q.p.warn(s.warnings)
		question = "Do it all the same?"
	}
	return s.seen, q.confirmed(question)
}

func (p printer) warn(warnings []string) {
	for _, w := range warnings {
		p.hang("", "  ", yellow, w)
	}
}

// errMovedOn is returned when the change differs from the one shown before.
var errMovedOn = usagef("The change has moved on while it was shown: look at it again")
