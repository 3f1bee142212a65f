package lifecycle_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// BenchmarkJob measures a whole job as the store sees it: its creation, the start of its turn and
// conversation, five progress reports, a result, the end of the turn. It also reports the CPU time
// of Redis' single thread.
func BenchmarkJob(b *testing.B) {
	client := storetest.PrivateRedis(b)
	db := store.New(client, storetest.WithDefaults(store.Options{}), slog.New(slog.DiscardHandler))
	must.OK(b, db.Prepare(b.Context()))
	s := &storetest.Service{Store: db, Service: lifecycle.New(db, nil, lifecycle.Options{})}
	ctx, begin := b.Context(), redisCPU(b, client)
	for i := 0; b.Loop(); i++ {
		must.OK(b, liveJob(ctx, s, fmt.Sprint("user", i%100)))
	}
	b.ReportMetric((redisCPU(b, client)-begin)*1e6/float64(b.N), "redis-µs/job")
}

func liveJob(ctx context.Context, s *storetest.Service, user string) error {
	n := newJob(user)
	message := job.Text(job.FromUser, "Do it.")
	n.Request = &message
	j, err := s.Start(ctx, n)
	if err != nil {
		return err
	}
	taken, _, err := s.Dequeue(ctx, store.PartitionOf(j.ID), "n")
	if err != nil {
		return err
	}
	if _, err := s.StartTurn(ctx, lifecycle.Worker{Node: "n"}, taken); err != nil {
		return err
	}
	if err := s.BeginConversation(ctx, j.ID, lifecycle.Holder{}, true); err != nil {
		return err
	}
	header, _, _, err := s.Calls.Header(ctx, j.ID)
	if err != nil {
		return err
	}
	for i := range 5 {
		if _, err := s.Calls.Progress(ctx, j.ID, header, json.RawMessage(`{"message":"Looking","type":"querying","progress":40}`), fmt.Sprint("digest-", i)); err != nil {
			return err
		}
	}
	result := job.Text(job.FromAssistant, "Done.")
	if _, err := s.Accept(ctx, j.ID, lifecycle.Submission{Digest: "d", Result: json.RawMessage(`{"answer":42}`), Message: &result}); err != nil {
		return err
	}
	_, err = s.EndTurn(ctx, lifecycle.TurnEnd{ID: j.ID, Turn: 1, Node: "n", Begun: true, Usage: job.Usage{InputTokens: 10, OutputTokens: 5, CostUSD: 0.01}})
	return err
}

// redisCPU returns the CPU time that Redis has used, in seconds.
func redisCPU(b *testing.B, client redis.UniversalClient) float64 {
	b.Helper()
	info := must.Get(client.Info(b.Context(), "cpu").Result())(b)
	var total float64
	for line := range strings.Lines(info) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), ":"); name == "used_cpu_user" || name == "used_cpu_sys" {
			seconds, _ := strconv.ParseFloat(value, 64)
			total += seconds
		}
	}
	return total
}
