package store

import (
	"context"
	"embed"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

//go:embed lua/*.lua
var luaFiles embed.FS

// scripts holds one transition each, compiled by Redis on first use.
type scripts struct {
	create, claim, progress, result, batch, end, retry, turnEnd, due, recover, heartbeat, giveUp *redis.Script
	ask, reply, park, delivered, tell, say, take                                                 *redis.Script
	act, acted, heard, approved, note, extend, phase, enqueueSteer                               *redis.Script
}

func loadScripts() scripts {
	event := readLua("event")
	lib := event + stateMachine() + readLua("lib")
	script := func(name string) *redis.Script { return redis.NewScript(lib + readLua(name)) }
	return scripts{
		create: script("create"), claim: script("claim"), progress: redis.NewScript(event + readLua("progress")), result: script("result"),
		batch: script("batch"), end: script("end"), retry: script("retry"), turnEnd: script("turn_end"),
		due: script("due"), recover: script("recover"), heartbeat: script("heartbeat"), giveUp: script("give_up"),
		ask: script("ask"), reply: script("reply"), park: script("park"), delivered: redis.NewScript(event + readLua("delivered")),
		tell: script("tell"), say: script("say"), take: script("take"),
		act: script("act"), acted: script("acted"), heard: redis.NewScript(event + readLua("heard")), approved: script("approved"), note: script("note"), extend: script("extend"),
		enqueueSteer: script("enqueue_steer"), phase: script("phase"),
	}
}

func readLua(name string) string {
	text, err := luaFiles.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic("store: " + err.Error()) // the file is compiled in
	}
	return string(text)
}

func (s *Store) run(ctx context.Context, script *redis.Script, p Partition, args ...any) (any, error) {
	answer, err := script.Run(ctx, s.rdb, []string{p.prefix()}, args...).Result()
	if err != nil {
		return nil, storeError(err)
	}
	return answer, nil
}

// runJob runs a script about one job, whose id is its first argument. Error:
// NotFound for text that was never a request id.
func (s *Store) runJob(ctx context.Context, script *redis.Script, id job.ID, args ...any) (any, error) {
	p, err := locate(id)
	if err != nil {
		return nil, err
	}
	return s.run(ctx, script, p, append([]any{string(id)}, args...)...)
}

// storeError tells a store that is away, for which waiting helps, from a fault
// of ours.
func storeError(err error) error {
	if err == nil || errors.Is(err, redis.Nil) {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	var answered redis.Error
	if errors.As(err, &answered) && !temporary(answered) {
		return &job.Error{Kind: job.Internal, Message: "The store refused a command", Cause: err}
	}
	return &job.Error{
		Kind: job.Unavailable, Message: "The store is not reachable", Cause: err,
		Hint: "Nothing was changed. Send the same request again in a few seconds.",
	}
}

// temporary reports whether Redis itself says that it cannot answer just now.
func temporary(err redis.Error) bool {
	for _, prefix := range []string{"LOADING", "BUSY", "READONLY", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "OOM", "NOREPLICAS"} {
		if strings.HasPrefix(err.Error(), prefix) {
			return true
		}
	}
	return false
}
