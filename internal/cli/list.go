package cli

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/text/excerpt"
)

type listFlags struct {
	filter       client.Filter
	states       []string
	since, until string
	quiet, watch bool
	all          bool
}

func (a *app) listCommand() *cobra.Command {
	var f listFlags
	c := &cobra.Command{
		Use: "list", Short: "List jobs, newest first", Args: atMost(0, ""),
		Example: `  ringback list --status failed --since 1h
  ringback list --tag nightly --search "lentil soup" --since 2d --until 1d
  ringback list --watch --user u1 --status pending,running
  ringback list -q --status pending`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.complete(a); err != nil {
				return err
			}
			if other := firstChanged(cmd, limitFlag, "cursor", "watch"); f.all && other != "" {
				return usagef("--all lists all pages, so it cannot be combined with --%s", other)
			}
			if f.watch {
				return a.watchList(cmd, f)
			}
			list := a.api.List
			if f.all {
				list = a.listAll
			}
			page, err := list(cmd.Context(), f.filter)
			if err != nil {
				return err
			}
			if f.quiet && !a.json() {
				a.printer(cmd.OutOrStdout()).ids(page.Value.Jobs)
				return nil
			}
			return show(a, cmd, page, nil, printer.jobs)
		},
	}
	flags := c.Flags()
	f.add(a, c)
	flags.IntVar(&f.filter.Limit, limitFlag, 20, "how `many`, at most 500")
	flags.BoolVar(&f.all, "all", false, "all pages")
	flags.StringVar(&f.filter.Cursor, "cursor", "", "`where` to continue, as printed by the previous page")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only the full ids, one per line")
	flags.BoolVarP(&f.watch, "watch", "w", false, "keep printing a line for each change, until Ctrl-C; as JSON lines with -o json")
	return c
}

// selectingFlags are the flags that listFlags.add adds.
var selectingFlags = []string{"kind", "status", "tag", "search", "since", "until"}

func (f *listFlags) add(a *app, c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.filter.Kind, "kind", "", "only jobs of this `kind`")
	flags.StringArrayVar(&f.states, "status", nil, "only jobs of this `status`, or of several: a,b; repeatable")
	flags.StringVar(&f.filter.Tag, "tag", "", "only jobs with this `tag`")
	flags.StringVar(&f.filter.Text, "search", "", "only jobs whose title, kind, id or tags have each of these `words`")
	flags.StringVar(
		&f.since, "since", "",
		"only jobs created since then: a `time` span such as 90s, 1h or 2d, or a time such as 2026-03-02T18:00:00Z",
	)
	flags.StringVar(&f.until, "until", "", "only jobs created before then: a `time` as for --since")
	takesOnly(c, "status", job.States[:])
	completeFlagWith(c, "kind", a.completeKinds())
}

func (a *app) listAll(ctx context.Context, f client.Filter) (all client.Answer[client.Page], err error) {
	found := []json.RawMessage{}
	f.Limit = maxLimit
	for {
		page, err := a.api.List(ctx, f)
		if err != nil {
			return all, err
		}
		found = append(found, listIn(page.JSON, "jobs")...)
		all.Value.Jobs = append(all.Value.Jobs, page.Value.Jobs...)
		if f.Cursor = page.Value.NextCursor; f.Cursor == "" {
			break
		}
	}
	all.JSON = job.MustJSON(map[string]any{"jobs": found})
	return all, nil
}

// firstChanged returns the first of these flags that is on the command line, or "".
func firstChanged(cmd *cobra.Command, names ...string) string {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

func (f *listFlags) complete(a *app) error {
	f.filter.UserID, f.filter.States = a.user, job.NamesIn[job.State](f.states...)
	var err error
	if f.filter.Since, err = timeOf("--since", f.since, a.NowFunc()); err != nil {
		return err
	}
	f.filter.Until, err = timeOf("--until", f.until, a.NowFunc())
	return err
}

// timeOf parses a flag's value as a duration before now or as a time. It returns zero for "".
func timeOf(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if span, err := time.ParseDuration(text); err == nil && span >= 0 {
		return now.Add(-span), nil
	}
	return time.Time{}, usagef(
		"%s must be a time span such as 90s, 1h or 2d, or a time such as 2026-03-02T18:00:00Z, not %s", flag, Quoted(text),
	)
}

func (p printer) ids(jobs []job.Job) {
	for _, j := range jobs {
		p.printf("%s\n", clean(string(j.ID)))
	}
}

func (p printer) jobs(page client.Page) {
	if len(page.Jobs) == 0 {
		p.printf("No jobs.\n")
	} else if cut := tableOf(p, jobHeader(), page.Jobs, p.jobRow); cut {
		p.hint("Read what is cut off here with: ringback status " + clean(page.Jobs[0].ID.Short()))
	}
	if page.NextCursor == "" {
		return
	}
	searched := ""
	if !page.SearchedTo.IsZero() {
		searched = "Searched back to " + page.SearchedTo.UTC().Format(time.RFC3339) + ". "
	}
	p.hint(searched + "More with: ringback list --all, or --cursor " + Quoted(clean(page.NextCursor)))
}

// jobHeader returns the column names of jobRow. The most important come first, so that a narrow
// terminal does not cut them off.
func jobHeader() []string {
	return []string{"JOB", "STATUS", "AGE", "TOOK", "KIND", "TITLE", "USER", "DETAIL"}
}

func (p printer) jobRow(j job.Job) []string {
	about, title := detail(j), j.Title
	if p.columns == 0 { // otherwise the row is cut
		about = shortened(about)
	} else {
		title = excerpt.Letters(title, mostTitleCell)
	}
	kind, took := j.Kind, ""
	if j.Simulated {
		kind += " (simulated)"
	}
	if !j.FinishedAt.IsZero() {
		took = span(j.FinishedAt.Sub(j.CreatedAt))
	}
	return []string{j.ID.Short(), string(j.State), span(p.now().Sub(j.CreatedAt)), took, kind, title, j.UserID, about}
}

// mostTitleCell is the number of characters of a title that a row on a terminal shows.
const mostTitleCell = 40

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

func (w *listWatcher) update(ctx context.Context) error {
	page, err := w.app.api.List(ctx, w.flags.filter)
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
