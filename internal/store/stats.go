package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/job/price"
	"ringback/internal/rules/lifecycle"
)

// Counts returns the counts by type of checkpoint, and their sum under "", over all nodes.
func (cs Checkpoints) Counts(ctx context.Context) (map[job.CheckpointType]job.CheckpointCounts, error) {
	counts, err := readEach(ctx, cs.s, allPartitions(), func(pipe redis.Pipeliner, p Partition) *redis.MapStringStringCmd {
		return pipe.HGetAll(ctx, p.key("stats"))
	})
	all := map[job.CheckpointType]job.CheckpointCounts{}
	for _, part := range counts {
		for name, text := range part {
			kind, what, _ := strings.Cut(name, ":")
			for _, of := range []job.CheckpointType{job.CheckpointType(kind), ""} {
				stats := all[of]
				addTo(&stats, what, int64(atoi(text)))
				all[of] = stats
			}
		}
	}
	return all, err
}

// addTo adds to the count of an outcome.
func addTo(a *job.CheckpointCounts, what string, n int64) {
	if what == "ms" {
		a.Waited += time.Duration(n) * time.Millisecond
	} else if counter := map[string]*int64{
		"opened": &a.Opened, "answered": &a.Answered, "clarified": &a.Clarified, "expired": &a.Expired,
		"cancelled": &a.Cancelled, "held": &a.Held, "approve": &a.Approved, "deny": &a.Denied,
	}[what]; counter != nil {
		*counter += n
	}
}

// RetainedDays is the number of days for which daily counts are kept and shown.
const RetainedDays = 30

// Daily returns the counts of the last RetainedDays days, oldest first, today last. It includes days on
// which nothing happened.
func (j Jobs) Daily(ctx context.Context) ([]job.Day, error) {
	var dates, keys []string
	for d := range RetainedDays {
		dates = append(dates, j.s.clock.now().AddDate(0, 0, d-RetainedDays+1).Format(time.DateOnly))
		for p := range Partition(Partitions) {
			keys = append(keys, p.key("daily", dates[d]))
		}
	}
	parts, err := readEach(
		ctx, j.s, keys, func(pipe redis.Pipeliner, key string) *redis.MapStringStringCmd { return pipe.HGetAll(ctx, key) },
	)
	if err != nil {
		return nil, err
	}
	days := make([]job.Day, RetainedDays)
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
	day := job.Day{
		Date: date, CostUSD: map[string]float64{}, FirstCallback: classesOf(lifecycle.FirstCallback, counts),
		Approvals: classesOf(lifecycle.Approval, counts),
	}
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
