package cli

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
)

// listWatcher shows a list and then each job that changes.
type listWatcher struct {
	app   *app
	cmd   *cobra.Command
	flags listFlags
	// shown is the text last shown of each job.
	shown map[job.ID]string
	// widths are the widths of the columns, chosen once.
	widths []int
	away   bool
}

// watchList shows jobs as they are created and change, until Ctrl-C. It polls the list, because
// events cover one user and a list covers all.
func (a *app) watchList(cmd *cobra.Command, f listFlags) error {
	w := &listWatcher{app: a, cmd: cmd, flags: f, shown: map[job.ID]string{}}
	return a.untilLeft(cmd, nil, func(ctx context.Context) error {
		return a.poll(ctx, func() (bool, error) { return false, w.update(ctx) })
	})
}

// update fetches the list and shows what has changed.
func (w *listWatcher) update(ctx context.Context) error {
	page, err := w.app.client().List(ctx, w.flags.filter)
	if job.HasKind(err, job.Unavailable) && len(w.shown) > 0 {
		if !w.away {
			w.app.printer(w.cmd.ErrOrStderr()).printf("%s\n", away)
		}
		w.away = true
		return nil
	}
	if err != nil {
		return err
	}
	w.away = false
	raw := listIn(page.JSON, "jobs")
	for i, j := range slices.Backward(page.Value.Jobs) { // the newest comes last, as later changes do
		if err := w.show(j, raw[i], page.Value); err != nil {
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

// jobWidths returns column widths that fit the jobs now and after they change.
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
