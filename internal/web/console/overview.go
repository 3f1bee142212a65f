package console

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"ringback/client"
	"ringback/internal/job"
)

type overviewView struct {
	// Counts are the numbers of jobs by state; nil if the visitor has no access to them.
	Counts          map[job.State]int64
	Failed, Running []job.Job
	Questions       []question
	// Limits and Warnings are why jobs do not run; none if the visitor has no access to them.
	Limits   []job.Limit
	Warnings []string
	// Budgets are today's budgets; none if the visitor has no access to them.
	Budgets []client.Budget
	// People describes how fast people answer questions; nil if the visitor has no access to it.
	People *client.CheckpointStats
	// Charts cover the last days; none if the visitor has no access to them.
	Charts []chart
}

// Count returns the number of jobs in a state, as text.
func (o overviewView) Count(state string) string { return thousands(o.Counts[job.State(state)]) }

func (c *Console) overview(v *visit) error {
	ctx := v.Request().Context()
	shown := overviewView{}
	for state, into := range map[job.State]*[]job.Job{job.Failed: &shown.Failed, job.Running: &shown.Running} {
		found, err := v.api().List(ctx, client.Filter{States: []job.State{state}, Limit: 6})
		if err != nil {
			return err
		}
		*into = found.Value.Jobs
	}
	open, err := v.api().Checkpoints(ctx, client.CheckpointFilter{Status: job.Open, Limit: 5})
	if err != nil {
		return err
	}
	for _, one := range open.Value.Checkpoints {
		shown.Questions = append(shown.Questions, v.newQuestion(one))
	}
	if v.Who.UserID == "" {
		stats, err := v.api().Stats(ctx, "")
		if err != nil {
			return err
		}
		shown.Counts, shown.Budgets = stats.Value.Jobs.ByStatus, stats.Value.Budgets
		shown.People, shown.Charts = &stats.Value.Total, chartsOf(stats.Value.Days)
		ready, err := v.api().Ready(ctx)
		if err != nil {
			return err
		}
		shown.Limits, shown.Warnings = ready.Value.Limits, slices.Concat(ready.Value.Problems, ready.Value.Warnings)
	}
	return v.render(
		http.StatusOK, "overview", page{Title: "Overview", Tab: "overview", Watch: v.follow(), Follow: true, Data: shown},
	)
}

// chart is a picture of numbers. It also contains them as a table, so that no information is only
// in the picture.
type chart struct {
	ID, Title string
	// Summary describes the picture in words.
	Summary string
	// Bars are positioned in a field of 1000 by 100.
	Bars []chartBar
	// Labels are below the picture, each with an equal share of the width.
	Labels []string
	// Legend names the colours; empty if there is only one.
	Legend []chartKey
	// Head and Rows are the table.
	Head []string
	Rows [][]string
}

type chartBar struct {
	X, Y, Width, Height float64
	Class, Title        string
}

type chartKey struct{ Class, Label, Text string }

func chartsOf(days []job.Day) []chart {
	if len(days) == 0 {
		return nil
	}
	var callbacks, approvals [][]job.Class
	for _, day := range days {
		callbacks, approvals = append(callbacks, day.FirstCallback), append(approvals, day.Approvals)
	}
	charts := []chart{
		costChart(days),
		durationChart("callbacks", "Time to Claude's first callback", "turn", callbacks),
		durationChart("decisions", "Time to a decision", "decision", approvals),
	}
	return slices.DeleteFunc(charts, func(c chart) bool { return len(c.Bars) == 0 })
}

const mostColours = 5

func costChart(days []job.Day) chart {
	totals, most, sum := map[string]float64{}, 0.0, 0.0
	for _, day := range days {
		cost := 0.0
		for kind, usd := range day.CostUSD {
			totals[kind] += usd
			cost += usd
		}
		most, sum = max(most, cost), sum+cost
	}
	kinds := slices.SortedFunc(maps.Keys(totals), func(a, b string) int {
		return cmp.Or(cmp.Compare(totals[b], totals[a]), cmp.Compare(a, b))
	})
	c := chart{
		ID: "cost", Title: "Cost per day", Summary: fmt.Sprintf("%s in %d days, at most %s on one", usd(sum), len(days), usd(most)),
		Labels: []string{dayText(days[0].Date), dayText(days[len(days)/2].Date), dayText(days[len(days)-1].Date)},
		Head:   append([]string{"Day (UTC)"}, kinds...),
	}
	for i, kind := range kinds {
		c.Legend = append(c.Legend, chartKey{colour(i), kind, usd(totals[kind])})
	}
	for d, day := range days {
		row, top := []string{day.Date}, 100.0
		for i, kind := range kinds {
			row = append(row, usd(day.CostUSD[kind]))
			if day.CostUSD[kind] == 0 {
				continue
			}
			height := day.CostUSD[kind] / most * 100
			top -= height
			title := fmt.Sprintf("%s, %s: %s", dayText(day.Date), kind, usd(day.CostUSD[kind]))
			c.add(d, len(days), chartBar{Y: top, Height: height, Class: colour(i), Title: title})
		}
		if len(day.CostUSD) > 0 {
			c.Rows = append(c.Rows, row)
		}
	}
	return c
}

// add adds a bar in one of the columns.
func (c *chart) add(column, columns int, b chartBar) {
	width := 1000 / float64(columns)
	b.X, b.Width = float64(column)*width+width*.1, width*.8
	c.Bars = append(c.Bars, b)
}

func colour(i int) string { return fmt.Sprintf("c%d", min(i, mostColours)+1) }

func dayText(date string) string {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	return day.Format("2 Jan")
}

func durationChart(id, title, what string, days [][]job.Class) chart {
	classes := slices.Clone(days[0])
	for _, day := range days[1:] {
		for i := range min(len(classes), len(day)) {
			classes[i].Count += day[i].Count
		}
	}
	var most, sum int64
	for _, class := range classes {
		most, sum = max(most, class.Count), sum+class.Count
	}
	c := chart{
		ID: id, Title: title, Head: []string{"Up to", "How many"},
		Summary: durationSummary(plural(int(sum), what), classes, sum),
	}
	for i, class := range classes {
		c.Labels = append(c.Labels, classText(class, "s", "m", "h"))
		c.Rows = append(c.Rows, []string{classText(class, " s", " min", " h"), thousands(class.Count)})
		if class.Count > 0 {
			height := max(float64(class.Count)/float64(most)*100, 1)
			title := classText(class, " s", " min", " h") + ": " + thousands(class.Count)
			c.add(i, len(classes), chartBar{Y: 100 - height, Height: height, Class: colour(0), Title: title})
		}
	}
	return c
}

// durationSummary describes a distribution in words: within which time half and most of all were over, as far
// as the classes tell; otherwise, how many took longer.
func durationSummary(all string, classes []job.Class, sum int64) string {
	var parts []string
	within, counted := "", int64(0)
	for _, class := range classes {
		before := counted
		counted += class.Count
		if class.UpToSeconds == nil && before*100 < sum*95 {
			parts = append(parts, thousands(class.Count)+" longer than "+within)
			break
		}
		within = classText(class, " s", " min", " h")
		for _, percent := range [...]int64{50, 95} {
			if before*100 < sum*percent && counted*100 >= sum*percent {
				parts = append(parts, fmt.Sprintf("%d %% up to %s", percent, within))
			}
		}
	}
	return all + ": " + strings.Join(parts, ", ")
}

func classText(c job.Class, second, minute, hour string) string {
	switch {
	case c.UpToSeconds == nil:
		return "longer"
	case *c.UpToSeconds%3600 == 0:
		return fmt.Sprint(*c.UpToSeconds/3600, hour)
	case *c.UpToSeconds%60 == 0:
		return fmt.Sprint(*c.UpToSeconds/60, minute)
	}
	return fmt.Sprint(*c.UpToSeconds, second)
}
