package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/price"
)

// DaysKept is the number of days for which daily counts are kept and shown.
const DaysKept = 30

// Daily returns the counts of the last DaysKept days, oldest first, today last. It includes days on
// which nothing happened.
func (s *Store) Daily(ctx context.Context) ([]job.Day, error) {
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
	days := make([]job.Day, DaysKept)
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

func dayOf(date string, counts map[string]int64) job.Day {
	day := job.Day{Date: date, CostUSD: map[string]float64{}, FirstCallback: classesOf(lifecycle.FirstCallback, counts), Approvals: classesOf(lifecycle.Approval, counts)}
	for name, n := range counts {
		if kind, ok := strings.CutPrefix(name, string(lifecycle.Spent)+":"); ok {
			day.CostUSD[kind] += price.Nano(n).USD()
		}
	}
	return day
}

func classesOf(m lifecycle.Measure, counts map[string]int64) []job.Class {
	var classes []job.Class
	for _, bound := range lifecycle.Bounds[m] {
		classes = append(classes, job.Class{UpToSeconds: &bound, Count: counts[string(m)+":"+strconv.Itoa(bound)]})
	}
	return append(classes, job.Class{Count: counts[string(m)+":"+lifecycle.Longer]})
}
