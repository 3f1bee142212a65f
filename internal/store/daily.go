package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/lifecycle"
)

// DaysKept is for how many days the counts of a day are kept, and shown.
const DaysKept = 30

// Day is what was counted on a day, over all users, kinds and nodes.
type Day struct {
	// Date is the day, in UTC.
	Date string `json:"date"`
	// CostUSD is what turns that ended on it have cost, by kind.
	CostUSD map[string]float64 `json:"costUSD"`
	// FirstCallback counts those turns by how long it took until Claude first called back,
	// Approvals the decisions by how long they took.
	FirstCallback []Class `json:"firstCallback"`
	Approvals     []Class `json:"approvals"`
}

// Class counts what took no longer than UpToSeconds, and longer than the class before.
type Class struct {
	// UpToSeconds is nil in the last class: no bound.
	UpToSeconds *int  `json:"upToSeconds" jsonschema:"nullable"`
	Count       int64 `json:"count"`
}

// Daily returns the counts of the days kept, the oldest first, today last. Days on which
// nothing happened are among them.
func (s *Store) Daily(ctx context.Context) ([]Day, error) {
	pipe, today := s.rdb.Pipeline(), s.clock.now()
	dates, reads := make([]string, DaysKept), make([][]*redis.MapStringStringCmd, DaysKept)
	for d := range dates {
		dates[d] = today.AddDate(0, 0, d-DaysKept+1).Format(time.DateOnly)
		for p := range Partition(Partitions) {
			reads[d] = append(reads[d], pipe.HGetAll(ctx, p.key("daily", dates[d])))
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, storeError(err)
	}
	days := make([]Day, DaysKept)
	for d, date := range dates {
		counts := map[string]int64{}
		for _, read := range reads[d] {
			for name, text := range read.Val() {
				n, _ := strconv.ParseInt(text, 10, 64)
				counts[name] += n
			}
		}
		days[d] = dayOf(date, counts)
	}
	return days, nil
}

func dayOf(date string, counts map[string]int64) Day {
	day := Day{Date: date, CostUSD: map[string]float64{}, FirstCallback: classesOf(lifecycle.FirstCallback, counts), Approvals: classesOf(lifecycle.Approval, counts)}
	for name, n := range counts {
		if kind, ok := strings.CutPrefix(name, string(lifecycle.Cost)+":"); ok {
			day.CostUSD[kind] = float64(n) / 1e6
		}
	}
	return day
}

func classesOf(m lifecycle.Measure, counts map[string]int64) []Class {
	var classes []Class
	for _, bound := range lifecycle.Bounds[m] {
		classes = append(classes, Class{&bound, counts[string(m)+":"+strconv.Itoa(bound)]})
	}
	return append(classes, Class{nil, counts[string(m)+":"+lifecycle.Longer]})
}
