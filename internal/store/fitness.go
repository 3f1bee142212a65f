package store

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Fitness lists the problems found in a Redis. Each text continues "the Redis at …".
type Fitness struct {
	// Faults are problems that would lose jobs or prevent them from running.
	Faults []string
	// Warnings are problems that the operator should know about.
	Warnings []string
	// ClockOffset is by how much the Redis' clock is ahead of this machine's.
	ClockOffset time.Duration
}

func (f *Fitness) fault(format string, args ...any) {
	f.Faults = append(f.Faults, fmt.Sprintf(format, args...))
}

func (f *Fitness) warn(format string, args ...any) {
	f.Warnings = append(f.Warnings, fmt.Sprintf(format, args...))
}

// JudgeFitness checks whether jobs can be kept in a Redis. In a Cluster it checks each primary.
// Each must have the given number of replicas. It changes nothing. What the user has no right to
// query becomes a warning. It returns an error if the Redis cannot be judged now, because it is
// unavailable or temporarily accepts no writes.
func JudgeFitness(ctx context.Context, rdb redis.UniversalClient, replicas int) (Fitness, error) {
	if err := rdb.Ping(ctx).Err(); err != nil {
		return judgeRefusal(err)
	}
	cluster, ok := rdb.(*redis.ClusterClient)
	if !ok {
		return judgeServer(ctx, rdb, true, replicas)
	}
	var all Fitness
	var mu sync.Mutex
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, primary *redis.Client) error {
		found, err := judgeServer(ctx, primary, false, replicas)
		mu.Lock()
		defer mu.Unlock()
		all.Faults, all.Warnings = append(all.Faults, found.Faults...), append(all.Warnings, found.Warnings...)
		if found.ClockOffset.Abs() > all.ClockOffset.Abs() {
			all.ClockOffset = found.ClockOffset
		}
		return err
	})
	all.Faults, all.Warnings = distinctTexts(all.Faults), distinctTexts(all.Warnings)
	return all, err
}

// distinctTexts returns the texts without repetitions, sorted.
func distinctTexts(texts []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(texts)))
}

// judgeRefusal distinguishes a Redis that will never accept us from one that is unavailable.
func judgeRefusal(err error) (f Fitness, unjudged error) {
	switch text := err.Error(); {
	case errorCode(err) == "WRONGPASS" || errorCode(err) == "NOAUTH":
		f.fault("rejects this user (%s): correct user and password in REDIS_URL", errorCode(err))
	case errorCode(err) == "NOPERM":
		f.lack([]string{lacks(err)})
	case strings.Contains(text, "cluster support disabled"):
		f.fault("is not a Cluster, but REDIS_URL has several hosts: name one, or Sentinels with ?master_name=")
	default:
		return f, err
	}
	return f, nil
}

// judgeServer checks one server. single is true if it must have all keys.
func judgeServer(ctx context.Context, c redis.UniversalClient, single bool, replicas int) (Fitness, error) {
	text, err := c.Info(ctx).Result()
	if answered := redis.Error(nil); err != nil && !errors.As(err, &answered) {
		return Fitness{}, err
	}
	info := parseInfo(text)
	f := judgeInfo(info)
	if len(f.Faults) > 0 {
		return f, nil // for example, a Sentinel supports none of our commands
	}
	commands := needed
	if replicas > 0 {
		f.judgeReplicas(info, replicas)
		commands += "wait 0 1\n"
	}
	f.judgeClock(ctx, c)
	return f, f.judgeCommands(ctx, c, commands, single)
}

// needed lists the commands that Ringback uses, directly and in its scripts, each in a form that would
// have no effect even if it ran. % is a key, & a channel. docs/operations.md lists them for users.
//
//go:embed rights.txt
var needed string

// Rights returns the rights that an ACL user needs, in the syntax of ACL SETUSER. Wait also needs
// +wait.
func Rights() []string {
	rights := []string{"~rb:*", "&rb:*", "+multi", "+exec"}
	for line := range strings.Lines(needed) {
		rights = append(rights, "+"+strings.Fields(line)[0])
	}
	return rights
}

// judgeCommands checks whether each command may be used. Redis refuses a command already when it is
// queued in a transaction. This transaction ends with an unknown command, so it is never run.
func (f *Fitness) judgeCommands(ctx context.Context, c redis.UniversalClient, commands string, single bool) error {
	pipe, names := c.TxPipeline(), strings.NewReplacer("%", Partition(0).key("probe"), "&", Partition(0).key("wake"))
	for line := range strings.Lines(names.Replace(commands)) {
		var words []any
		for word := range strings.FieldsSeq(line) {
			words = append(words, word)
		}
		pipe.Do(ctx, words...)
	}
	for p := range Partition(Partitions) {
		pipe.Exists(ctx, p.key("probe"))
	}
	pipe.Exists(ctx, sessionIndex("probe"))
	pipe.Do(ctx, "ringback-ends-this-transaction")
	answers, _ := pipe.Exec(ctx) // each has the error
	return f.judgeAnswers(answers[:len(answers)-1], single)
}

func (f *Fitness) judgeAnswers(answers []redis.Cmder, single bool) error {
	var lacking, unknown []string
	for _, cmd := range answers {
		err := cmd.Err()
		switch code := errorCode(err); {
		case err == nil: // the command is allowed, as with EXECABORT, unless that is about EXEC itself
		case code == "NOPERM", code == "EXECABORT" && lacks(err) != "":
			lacking = append(lacking, lacks(err))
		case code == "READONLY":
			f.fault("%s", isReplica)
			return nil
		case code == "MOVED" && single:
			f.fault("is one server of a Cluster: name several in REDIS_URL, separated by commas (its only address twice, if it has one)")
			return nil
		case code == "EXECABORT", code == "MOVED": // another server has that key
		case strings.Contains(err.Error(), "unknown command"):
			unknown = append(unknown, cmd.Name())
		default:
			return err
		}
	}
	f.lack(lacking)
	if len(unknown) > 0 {
		f.fault("does not support required commands: %s", strings.Join(unknown, ", "))
	}
	return nil
}

// lacks returns the right that Redis' error names; "" if it names none.
func lacks(err error) string {
	answered, _ := errors.AsType[redis.Error](err)
	_, text, refused := strings.Cut(answered.Error(), "NOPERM")
	_, command, named := strings.Cut(text, "'")
	command, _, _ = strings.Cut(command, "'")
	command, _, _ = strings.Cut(command, "|") // without its subcommand
	switch {
	case !refused:
		return ""
	case named:
		return "+" + command
	case strings.Contains(text, " channel"):
		return "&rb:*"
	}
	return "~rb:*"
}

func (f *Fitness) lack(rights []string) {
	if len(rights) > 0 {
		f.fault("does not grant this user required permissions: give it %s (ACL SETUSER)", strings.Join(distinctTexts(rights), " "))
	}
}

// maxClockOffset is the difference of two clocks above which people are told.
const maxClockOffset = 5 * time.Second

// judgeClock compares the server's clock with this machine's.
func (f *Fitness) judgeClock(ctx context.Context, c redis.UniversalClient) {
	before := time.Now()
	there, err := c.Time(ctx).Result()
	if err != nil {
		return // judgeCommands reports why
	}
	trip := time.Since(before)
	f.ClockOffset = there.Sub(before.Add(trip / 2))
	off, direction := f.ClockOffset.Abs(), "ahead of"
	if off <= maxClockOffset+trip/2 {
		return
	}
	if f.ClockOffset < 0 {
		direction = "behind"
	}
	f.warn(
		"has a clock that is %s %s this machine's: tokens expire, and webhooks are signed, at the wrong time. Set the wrong one of them (NTP)",
		off.Round(time.Second), direction,
	)
}

// judgeReplicas checks whether enough replicas can confirm writes, and whether a failover could
// choose another one.
func (f *Fitness) judgeReplicas(info map[string]string, want int) {
	if info["role"] == "" {
		return // not reported; there is already a warning
	}
	all, online := 0, 0
	for name, value := range info {
		if number, isReplica := strings.CutPrefix(name, "slave"); isReplica && strings.Trim(number, "0123456789") == "" {
			all++
			if strings.Contains(value, "state=online") {
				online++
			}
		}
	}
	switch {
	case online < want:
		f.fault("has %d replicas in step, and REDIS_WAIT=%d waits for more: results would be answered with 503", online, want)
	case all > want:
		f.warn(
			"has %d replicas, and REDIS_WAIT=%d waits for fewer: a failover to another of them loses what was answered. Only REDIS_WAIT=%d excludes this",
			all, want, all,
		)
	}
}

// oldest is the oldest supported version of Redis: major and minor.
var oldest = [2]int{6, 2}

// judgeInfo finds settings of a server that would lose jobs or prevent them from running. Valkey,
// KeyDB and Dragonfly report the version of Redis that they are compatible with.
func judgeInfo(info map[string]string) (f Fitness) {
	if info["redis_mode"] == "sentinel" {
		f.fault("is a Sentinel: name the group that it looks after, too: ?master_name=")
		return f
	}
	version, known := parseVersion(info["redis_version"])
	if known && slices.Compare(version[:], oldest[:]) < 0 {
		f.fault("is version %s; at least %d.%d is needed", info["redis_version"], oldest[0], oldest[1])
	}
	if info["role"] == "slave" {
		f.fault("%s", isReplica)
	}
	policy := info["maxmemory_policy"]
	if policy != "" && policy != "noeviction" {
		f.fault("may forget jobs when its memory is full (maxmemory-policy %s): set it to noeviction", policy)
	}
	used, limit := number(info["used_memory"]), number(info["maxmemory"])
	if limit > 0 && used > limit/10*9 {
		f.warn("has used more than 90 %% of its maxmemory: when that is full, it accepts no jobs and no results. Give it more, or lower RETENTION")
	}
	if info["aof_enabled"] == "0" {
		f.warn("keeps no append-only file: what was answered is lost when it stops (appendonly yes)")
	}
	var unknown []string
	for _, field := range []struct {
		name  string
		known bool
	}{
		{"its version", known || info["valkey_version"] != ""},
		{"whether it is a replica", info["role"] != ""},
		{"maxmemory-policy", policy != ""},
		{"appendonly", info["aof_enabled"] != ""},
	} {
		if !field.known {
			unknown = append(unknown, field.name)
		}
	}
	if len(unknown) > 0 {
		f.warn("does not show this user (INFO): %s. Make sure that these are set as described in docs/operations.md", strings.Join(unknown, ", "))
	}
	return f
}

const isReplica = "is a replica, which takes no writes: name its primary, or use ?master_name="

// parseVersion parses major and minor of a version such as 7.0.15.
func parseVersion(text string) (version [2]int, ok bool) {
	n, _ := fmt.Sscanf(text, "%d.%d", &version[0], &version[1])
	return version, n == len(version)
}

// number returns the number in a field of INFO; 0 if there is none.
func number(field string) uint64 {
	n, _ := strconv.ParseUint(field, 10, 64)
	return n
}

// parseInfo parses the reply to INFO.
func parseInfo(text string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}
