package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Fitness lists the problems found in a Redis. Each text continues "the Redis at …".
type Fitness struct {
	// Faults are problems that would lose jobs or prevent them from running.
	Faults []string
	// Warnings are problems that the operator should know about.
	Warnings []string
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
		return err
	})
	return Fitness{distinctTexts(all.Faults), distinctTexts(all.Warnings)}, err
}

// distinctTexts returns the texts without repetitions, sorted.
func distinctTexts(texts []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(texts)))
}

// judgeRefusal distinguishes a Redis that will never accept us from one that is unavailable.
func judgeRefusal(err error) (f Fitness, unjudged error) {
	switch text := err.Error(); {
	case errorCode(err) == "WRONGPASS" || errorCode(err) == "NOAUTH":
		f.fault("does not let this user in (%s): correct user and password in REDIS_URL", errorCode(err))
	case errorCode(err) == "NOPERM":
		_, command, _ := strings.Cut(text, "'")
		command, _, _ = strings.Cut(command, "'")
		f.lack([]string{"+" + command})
	case strings.Contains(text, "cluster support disabled"):
		f.fault("is no Cluster, which several hosts in REDIS_URL stand for: name one, or Sentinels with ?master_name=")
	default:
		return f, err
	}
	return f, nil
}

// judgeServer checks one server. whole is true if it must have all keys.
func judgeServer(ctx context.Context, c redis.UniversalClient, whole bool, replicas int) (Fitness, error) {
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
	return f, f.judgeCommands(ctx, c, commands, whole)
}

// judgeReplicas checks whether enough replicas can confirm writes.
func (f *Fitness) judgeReplicas(info map[string]string, want int) {
	if info["role"] == "" {
		return // not reported; there is already a warning
	}
	online := 0
	for name, value := range info {
		if strings.HasPrefix(name, "slave") && strings.Contains(value, "state=online") {
			online++
		}
	}
	if online < want {
		f.fault("has %d replicas in step, and REDIS_WAIT=%d waits for more: results would be answered with 503", online, want)
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
		f.warn("does not tell this user (INFO): %s. See to it that these are as docs/operations.md says", strings.Join(unknown, ", "))
	}
	return f
}

const isReplica = "is a replica, which takes no writes: name its primary, or use ?master_name="

// parseVersion parses major and minor of a version such as 7.0.15.
func parseVersion(text string) (version [2]int, ok bool) {
	parts := strings.SplitN(text, ".", 3)
	if len(parts) < 2 {
		return version, false
	}
	for i := range version {
		n, err := strconv.Atoi(parts[i])
		if err != nil {
			return version, false
		}
		version[i] = n
	}
	return version, true
}

// parseInfo parses the reply to INFO.
func parseInfo(text string) map[string]string {
	fields := map[string]string{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if name, value, ok := strings.Cut(strings.TrimSpace(lines.Text()), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}
