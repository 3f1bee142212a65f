package console

import (
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// A chart's summary and table contain the same information as its bars.
func TestChartsOfDays(t *testing.T) {
	t.Parallel()
	five := 5
	classes := func(short, long int64) []job.Class {
		return []job.Class{{UpToSeconds: &five, Count: short}, {Count: long}}
	}
	days := []job.Day{
		{Date: "2026-01-02", CostUSD: map[string]float64{"a": 1, "b": 3}, FirstCallback: classes(18, 1), Approvals: classes(0, 0)},
		{Date: "2026-01-03", CostUSD: map[string]float64{"b": 1}, FirstCallback: classes(1, 0), Approvals: classes(0, 0)},
		{Date: "2026-01-04"},
	}
	charts := chartsOf(days)
	if len(charts) != 2 {
		t.Fatalf("there are %d charts: nothing was decided", len(charts))
	}
	cost, callbacks := charts[0], charts[1]
	must.Equal(t, "$5.00 in 3 days, at most $4.00 on one", cost.Summary)
	must.Equal(t, []chartKey{{"c1", "b", "$4.00"}, {"c2", "a", "$1.00"}}, cost.Legend)
	must.Equal(t, [][]string{{"2026-01-02", "$3.00", "$1.00"}, {"2026-01-03", "$1.00", "$0"}}, cost.Rows)
	if first := cost.Bars[0]; len(cost.Bars) != 3 || first.Height != 75 || first.Y != 25 || cost.Bars[1].Y != 0 || first.Title != "2 Jan, b: $3.00" {
		t.Errorf("the bars are %+v", cost.Bars)
	}
	must.Equal(t, "20 turns: 50 % up to 5 s, 95 % up to 5 s", callbacks.Summary)
	days[2].FirstCallback = classes(0, 4)
	must.Equal(t, "24 turns: 50 % up to 5 s, 5 longer than 5 s", chartsOf(days)[1].Summary)
	days[2].FirstCallback = classes(0, 40)
	must.Equal(t, "60 turns: 41 longer than 5 s", chartsOf(days)[1].Summary)
	must.Equal(t, 18, days[0].FirstCallback[0].Count, "drawing a chart has changed the numbers")
}
