package store

import (
	"context"
	"embed"
	"strings"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/text/lazy"
)

//go:embed lua/*.lua
var luaFiles embed.FS

// scripts are loaded into Redis on first use. commit is the one for all transitions. The others
// exist for speed (progress) or for selection.
type scripts struct {
	// now is sent as text: a transaction cannot load it first.
	now string
	commit, progress, step, attach, dequeue, due, lost, tasks, renew, notice, heartbeat, hold, forget,
	clock, correct, join, usage, spent, reserve, quota *redis.Script
}

func loadScripts() scripts {
	keys, grace := readLua("keys"), readLua("grace")
	clock := grace + readLua("time")
	script := func(text ...string) *redis.Script { return redis.NewScript(keys + strings.Join(text, "")) }
	return scripts{
		now:       keys + grace + readLua("now"),
		commit:    script(readLua("event"), readLua("round"), readLua("chat"), readLua("commit")),
		progress:  script(grace, readLua("event"), readLua("waits"), readLua("progress")),
		step:      script(readLua("waits"), readLua("step")),
		attach:    script(clock, readLua("chat"), readLua("attach")),
		dequeue:   script(clock, readLua("round"), readLua("dequeue")),
		due:       script(clock, readLua("due")),
		lost:      script(readLua("lost")),
		tasks:     script(clock, readLua("tasks")),
		renew:     script(clock, readLua("renew")),
		notice:    script(clock, readLua("notice")),
		heartbeat: script(clock, readLua("heartbeat")),
		hold:      script(clock, readLua("hold")),
		forget:    script(clock, readLua("forget")),
		clock:     script(clock, readLua("clock")),
		correct:   script(clock, readLua("correct")),
		join:      script(clock, readLua("join")),
		usage:     script(readLua("usage")),
		spent:     script(clock, readLua("spent")),
		reserve:   script(clock, readLua("reserve")),
		quota:     script(readLua("quota")),
	}
}

// luaComment matches a line with a comment only.
var luaComment = lazy.Regexp(`(?m)^ *--.*\n`)

func readLua(name string) string {
	text, err := luaFiles.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic("store: " + err.Error()) // the file is embedded
	}
	return luaComment().ReplaceAllString(string(text), "")
}

func (s *Store) run(ctx context.Context, script *redis.Script, p Partition, args ...any) (any, error) {
	return script.Run(ctx, s.rdb, s.keysOf(p), args...).Result()
}

// readEach reads one value for each of many things, in one round trip. What is missing is a zero value, and so is
// what could not be read: then it also returns an error.
func readEach[T, V any, C interface{ Val() V }](
	ctx context.Context, s *Store, all []T, read func(redis.Pipeliner, T) C,
) ([]V, error) {
	pipe := s.rdb.Pipeline()
	reads := make([]C, len(all))
	for i, one := range all {
		reads[i] = read(pipe, one)
	}
	_, err := pipe.Exec(ctx)
	values := make([]V, len(all))
	for i, read := range reads {
		values[i] = read.Val()
	}
	return values, err
}

// runJob runs a script about one job; the job's ID is the script's first argument. It returns
// NotFound for text that was never a request ID.
func (s *Store) runJob(ctx context.Context, script *redis.Script, id job.ID, args ...any) (any, error) {
	p, err := locate(id)
	if err != nil {
		return nil, err
	}
	return s.run(ctx, script, p, append([]any{string(id)}, args...)...)
}
