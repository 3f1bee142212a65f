package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

// listEvery is how often a list that is watched is asked for.
const listEvery = time.Second

// listWatcher shows a list, and then each job of it that changes.
type listWatcher struct {
	app   *app
	cmd   *cobra.Command
	flags listFlags
	// shown is what was last shown of each job.
	shown map[job.ID]string
	// widths are those of the columns, chosen once.
	widths []int
	away   bool
}

// watchList shows jobs as they come and change, until Ctrl-C. It asks for the
// list again and again: events are those of one user, a list is of all.
func (a *app) watchList(cmd *cobra.Command, f listFlags) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	w := &listWatcher{app: a, cmd: cmd, flags: f, shown: map[job.ID]string{}}
	for {
		if err := w.look(ctx); ctx.Err() != nil {
			return nil // Ctrl-C is how one stops watching
		} else if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(listEvery):
		}
	}
}

// look shows what has changed since the last look.
func (w *listWatcher) look(ctx context.Context) error {
	page, err := w.app.client().List(ctx, w.flags.filter)
	var e *job.Error
	if errors.As(err, &e) && e.Kind == job.Unavailable && len(w.shown) > 0 {
		if !w.away {
			w.app.printer(w.cmd.ErrOrStderr()).printf("The server is away; trying again …\n")
		}
		w.away = true
		return nil
	}
	if err != nil {
		return err
	}
	w.away = false
	var raw struct {
		Jobs []json.RawMessage `json:"jobs"`
	}
	if err := json.Unmarshal(page.JSON, &raw); err != nil {
		return err
	}
	for i, j := range slices.Backward(page.Value.Jobs) { // the newest comes last, as what changes does
		if err := w.show(j, raw.Jobs[i], page.Value); err != nil {
			return err
		}
	}
	return nil
}

func (w *listWatcher) show(j job.Job, text json.RawMessage, page client.Page) error {
	p := w.app.printer(w.cmd.OutOrStdout())
	state := string(j.State) + " " + detail(j)
	if w.app.json() {
		state = string(text)
	}
	before, known := w.shown[j.ID]
	w.shown[j.ID] = state
	switch {
	case known && (before == state || w.flags.quiet && !w.app.json()):
		return nil
	case w.app.json():
		return writeLine(p, text)
	case w.flags.quiet:
		p.ids([]job.Job{j})
		return nil
	}
	if w.widths == nil {
		w.widths = p.jobWidths(page)
		p.header(jobHeader(), w.widths)
	}
	p.row(p.jobRow(j), w.widths)
	return nil
}

// jobWidths are the columns' widths for jobs as they are and as they may become.
func (p printer) jobWidths(page client.Page) []int {
	rows := [][]string{jobHeader()}
	for _, j := range page.Jobs {
		row := p.jobRow(j)
		row[2], row[3] = "59 min", "59 min"
		rows = append(rows, row)
	}
	for _, s := range job.States {
		rows = append(rows, []string{"", string(s)})
	}
	return widths(rows)
}
