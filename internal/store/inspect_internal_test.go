package store

import (
	"log/slog"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/test/must"
)

// A finding is reported and repaired only if the store is still as it was read.
func TestAFindingThatNoLongerAppliesIsNotReported(t *testing.T) {
	t.Parallel()
	s, p := New(NewClient(miniredis.RunT(t).Addr(), ""), Options{Retention: time.Hour}, slog.New(slog.DiscardHandler)), Partition(0)
	must.OK(t, s.rdb.SAdd(t.Context(), p.key("running", "u"), "j").Err())
	must.OK(t, s.rdb.ZAdd(t.Context(), p.key("jobs"), redis.Z{Score: 1, Member: "j"}).Err())
	must.OK(t, s.rdb.HSet(t.Context(), p.key("idempotency", "u"), "k", "j").Err())
	exists := func(list string) []any { return []any{"exists", p.key(list), "", ""} }
	for _, row := range []struct {
		guard []any
		holds bool
	}{
		{memberGuard("has", p, "running:u", "j"), true},
		{memberGuard("has", p, "running:u", "other"), false},
		{memberGuard("lacks", p, "running:u", "j"), false},
		{memberGuard("lacks", p, "running:u", "other"), true},
		{memberGuard("has", p, "jobs", "j"), true},
		{memberGuard("has", p, "jobs", "other"), false},
		{memberGuard("lacks", p, "jobs", "j"), false},
		{memberGuard("lacks", p, "jobs", "other"), true},
		{memberGuard("has", p, "idempotency:u", "k"), true},
		{memberGuard("lacks", p, "idempotency:u", "other"), true},
		{exists("jobs"), true},
		{exists("other"), false},
	} {
		reported := false
		i := &inspection{store: s, ctx: t.Context(), mend: true, report: func(job.Finding) { reported = true }}
		i.found(inspected{}, job.Finding{}, func(c *commit) { c.do("INCR", c.key("repairs")) }, row.guard)
		must.OK(t, i.err)
		must.Equal(t, row.holds, reported, "reported if", row.guard)
		repairs, _ := s.rdb.GetDel(t.Context(), p.key("repairs")).Int()
		must.Equal(t, row.holds, repairs == 1, "repaired if", row.guard)
	}
}
