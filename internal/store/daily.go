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
	var dates, keys []string
	for d := range DaysKept {
		dates = append(dates, s.clock.now().AddDate(0, 0, d-DaysKept+1).Format(time.DateOnly))
		for p := range Partition(Partitions) {
			keys = append(keys, p.key("daily", dates[d]))
		}
	}
	parts, err := readEach(ctx, s, keys, func(pipe redis.Pipeliner, key string) *redis.MapStringStringCmd { return pipe.HGetAll(ctx, key) })
	if err != nil {
		return nil, err
	}
	days := make([]job.Day, DaysKept)
	for d, date := range dates {
		counts := map[string]int64{}
		for _, part := range parts[d*Partitions : (d+1)*Partitions] {
			for name, text := range part {
				counts[name] += int64(atoi(text))
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
