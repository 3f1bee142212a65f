package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

func (a *app) watchCommand() *cobra.Command {
	c, t := a.targeted(&cobra.Command{
		Use:   "watch [requestId]",
		Short: "Show events as they happen: of one job, or of all of a user's jobs",
		Long: `Show events as they happen, until Ctrl-C.

Of one job: all of its events from the beginning, until it has ended.
With --all: the new events of all jobs of the user (--user, or the token's).`,
	})
	var all bool
	c.Flags().BoolVar(&all, "all", false, "all jobs of the user instead of one")
	var text bool
	c.Flags().BoolVar(
		&text, "text", false,
		"also the text that Claude is writing, as it is written, and its thinking if the kind has thinking: true",
	)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if all && text {
			return usagef("--text follows one job: leave --all out")
		}
		if all && (len(args) > 0 || t.flag != "") {
			return usagef("--all watches all jobs, so it takes no requestId")
		}
		var id job.ID
		if !all {
			var err error
			if id, err = t.id(cmd, args); err != nil {
				return err
			}
		}
		return untilInterrupted(cmd, func(ctx context.Context) error { return a.watch(ctx, cmd, id, text) })
	}
	return c
}

func (a *app) watch(ctx context.Context, cmd *cobra.Command, id job.ID, text bool) error {
	api := a.client()
	w := client.Watch{UserID: a.user, RequestID: id, Text: text, AwayFunc: func(error) { fmt.Fprintln(cmd.ErrOrStderr(), away) }}
	if id != "" {
		j, err := api.Get(ctx, id)
		if err != nil {
			return err
		}
		w.UserID, w.Since = j.Value.UserID, new(job.Seq)
	}
	b := &progress{p: a.printer(cmd.OutOrStdout())}
	defer b.clear()
	written := &written{p: b.p}
	defer written.end()
	_, err := watchEvents(ctx, api, w, func(e client.Event) (bool, error) {
		if !a.json() && written.takes(e) {
			return false, nil
		}
		return id != "" && ends(e), a.showEvent(b, e, id != "")
	})
	return err
}

// toneOf returns the colour of an event: red if an action did not succeed.
func toneOf(e client.Event) string {
	if e.Type() == job.EventAction && e.Contents().Outcome != job.OutcomeSucceeded {
		return red
	}
	return ""
}

// showEvent prints an event as a line. On a terminal, the progress of a single job is one changing
// line.
func (a *app) showEvent(b *progress, e client.Event, single bool) error {
	p := b.p
	switch {
	case a.json():
		return writeLine(p, e.JSON)
	case e.Name == client.Resync:
		b.note(
			"Some events are missing here: they are no longer kept, or the store has lost them. ringback list and status tell how things are.",
		)
		return nil
	case single && p.columns > 0 && e.Type() == job.EventActivity:
		d := e.Contents()
		b.line(d.Progress, d.Text())
		return nil
	}
	b.clear()
	name := e.Name
	if p.columns > 0 { // the kind's prefix would take up room
		name = fmt.Sprintf("%-10s", e.Name[strings.LastIndexByte(e.Name, ':')+1:])
	}
	p.hang(
		p.paint(faint, p.time(e.Time, time.TimeOnly))+"  "+p.paint(cyan, clean(name))+"  "+
			p.paint(faint, clean(e.RequestID.Short()))+"  ",
		margin, toneOf(e), clean(inWords(e)))
	return nil
}
