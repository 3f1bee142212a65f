package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

type listener struct {
	session, user string
	// last is the id of the newest message shown, and at is its time of creation.
	last  int64
	at    time.Time
	limit int
}

// listen shows a chat and new messages until ctx ends. Events only signal that there is something
// new. The messages themselves are fetched, so that none is missed or shown twice even if the
// connection is lost.
func (a *app) listen(ctx context.Context, cmd *cobra.Command, api *client.Client, l *listener) error {
	out := cmd.OutOrStdout()
	if err := a.catchUp(ctx, out, api, l); err != nil {
		return err
	}
	// All retained events, to cover what was added before the connection was established.
	events := client.Watch{UserID: l.user, Since: new(job.Seq), AwayFunc: func(error) { fmt.Fprintln(cmd.ErrOrStderr(), away) }}
	_, err := watchEvents(ctx, api, events, hasEnded, func(e client.Event) (bool, error) {
		if !l.concerns(e) {
			return false, nil
		}
		if e.Name == client.Resync {
			if err := l.resync(ctx, cmd, api); err != nil {
				return false, err
			}
		}
		return false, a.catchUp(ctx, out, api, l)
	})
	return err
}

// concerns reports whether an event means that the chat has something new.
func (l *listener) concerns(e client.Event) bool {
	if e.Name == client.Resync {
		return true
	}
	m := messageOf(e)
	return m.SessionID == l.session && m.ID > l.last
}

// resync starts over if the store has lost the newest message that was shown, because its id may
// now belong to another message.
func (l *listener) resync(ctx context.Context, cmd *cobra.Command, api *client.Client) error {
	if l.last == 0 {
		return nil
	}
	page, err := api.Messages(ctx, l.session, l.user, l.last-1, 1)
	if err != nil {
		return err
	}
	if found := page.Value.Messages; len(found) == 0 || !found[0].CreatedAt.Equal(l.at) {
		fmt.Fprintln(cmd.ErrOrStderr(), "The store has lost the latest messages. The chat as it is now:")
		l.last = 0
	}
	return nil
}

// catchUp shows all messages after the last one shown.
func (a *app) catchUp(ctx context.Context, out io.Writer, api *client.Client, l *listener) error {
	for {
		page, err := api.Messages(ctx, l.session, l.user, l.last, l.limit)
		if err != nil {
			return err
		}
		if a.json() {
			for _, message := range listIn(page.JSON, "messages") {
				if err := writeLine(out, message); err != nil {
					return err
				}
			}
		} else {
			a.printer(out).chat(ctx, api, page.Value.Messages)
		}
		for _, m := range page.Value.Messages {
			l.last, l.at, l.user = m.ID, m.CreatedAt, m.UserID
		}
		if page.Value.NextAfter == 0 {
			return nil
		}
	}
}

func writeLine(out io.Writer, text json.RawMessage) error {
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		return err
	}
	line.WriteByte('\n')
	_, err := line.WriteTo(out)
	return err
}
