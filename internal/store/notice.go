package store

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/text/gz"
)

// Notice is a notification that a task sends to an outside receiver.
type Notice struct {
	// Body is the body to send.
	Body []byte
	// Address came with the question that was answered; empty if the configured addresses apply.
	Address string
	// Age is the time since delivery was first tried.
	Age time.Duration
}

// maxNotice is the size limit for the body of a notice, in bytes.
const maxNotice = 64 << 20

// packedFrom is the size above which a body is compressed: below it, compression costs more than it
// saves.
const packedFrom = 8 << 10

// noticeWords returns the command that stores a notice.
func noticeWords(key string, n lifecycle.Notice, at time.Time) []any {
	words := []any{"HSET", key, "at", score(at)}
	switch size := len(n.Body); {
	case size > packedFrom:
		words = append(words, "body", gz.Pack(n.Body))
	case size > 0:
		words = append(words, "body", n.Body)
	}
	if n.Address != "" {
		words = append(words, "to", n.Address)
	}
	return words
}

// Notice reads the notice that a task sends.
func (ts Tasks) Notice(ctx context.Context, p Partition, t Task) (Notice, error) {
	pipe := ts.s.rdb.Pipeline()
	fields := pipe.HMGet(ctx, p.key("notice", t.member()), "body", "to")
	since := pipe.ZScore(ctx, p.key("notices", string(t.Kind)), t.member())
	if _, err := pipe.Exec(ctx); err != nil {
		return Notice{}, err
	}
	n := Notice{}
	if since.Val() > 0 {
		n.Age = max(0, ts.s.clock.now().Sub(scoreTime(since.Val())))
	}
	stored := texts(fields.Val())
	n.Address, n.Body = stored[1], []byte(stored[0])
	if gz.IsPacked(stored[0]) {
		body, err := gz.Unpack(n.Body, maxNotice)
		if err != nil {
			return Notice{}, &job.Error{Kind: job.Internal, Message: "The notice " + t.member() + " cannot be read", Cause: err}
		}
		n.Body = body
	}
	return n, nil
}

// refusing returns the key that is there if a receiver did not accept the last notice.
func refusing(receiver string) string { return Partition(0).key("refused", receiver) }

// DelayNotice schedules another try for a notice that its receiver did not accept: after a while,
// or as soon as the receiver accepts another one.
func (ts Tasks) DelayNotice(ctx context.Context, p Partition, t Task, receiver, why string, after time.Duration) error {
	// The mark comes first: without it, the notice would wait for its time, although the receiver accepts others.
	if err := ts.s.rdb.Set(ctx, refusing(receiver), "", noticeLife).Err(); err != nil {
		return err
	}
	_, err := ts.s.run(ctx, ts.s.scripts.notice, p, "late", t.member(), string(t.Kind), receiver, why, toMillis(after))
	return err
}

// mostHastened limits how many late notices of a partition become due when their receiver accepts one: Redis
// does nothing else during the script. The next that it accepts makes more of them due.
const mostHastened = 200

// NoticeAccepted makes notices due that wait for a receiver, which has just accepted one. It costs one
// command unless the receiver did not accept the previous one, or more of them wait.
func (ts Tasks) NoticeAccepted(ctx context.Context, receiver string) error {
	recovered, err := ts.s.rdb.Del(ctx, refusing(receiver)).Result()
	if err != nil || recovered == 0 {
		return err
	}
	var left atomic.Bool
	err = eachPartition(func(p Partition) error {
		more, err := ts.s.run(ctx, ts.s.scripts.notice, p, "hasten", receiver, mostHastened)
		if err == nil && more != int64(0) {
			left.Store(true)
		}
		return err
	})
	if left.Load() || err != nil {
		ts.s.rdb.Set(ctx, refusing(receiver), "", noticeLife) // the next notice that the receiver accepts does the rest
	}
	return err
}

// GiveUpNotice stops trying to send a notice. The notice is kept for a while, so that people can
// resend it.
func (ts Tasks) GiveUpNotice(ctx context.Context, p Partition, t Task, why string) error {
	_, err := ts.s.run(ctx, ts.s.scripts.notice, p, "giveup", t.member(), string(t.Kind), why, toMillis(ts.s.opts.Retention))
	return err
}

// noticeLife is longer than a notice is tried.
const noticeLife = 7 * 24 * time.Hour

// ResendNotice schedules a notice for now, and if it was given up, retries it for as long as a new
// one. It returns NotFound if there is no such notice.
func (ts Tasks) ResendNotice(ctx context.Context, id job.NotificationID) error {
	p, t, ok := taskOf(id)
	if !ok {
		return job.NoNotification(id)
	}
	answer, err := ts.s.run(ctx, ts.s.scripts.notice, p, "resend", t.member(), string(t.Kind), toMillis(noticeLife))
	if err == nil && answer != int64(1) {
		return job.NoNotification(id)
	}
	return err
}

// NoticeCounts counts the notices that wait and those that were given up, by receiver.
func (ts Tasks) NoticeCounts(ctx context.Context) ([]job.NotificationCount, error) {
	pipe := ts.s.rdb.Pipeline()
	counts := make([]job.NotificationCount, len(lifecycle.Notices))
	var add []func()
	for i, kind := range lifecycle.Notices {
		counts[i].Receiver = job.Receiver(kind)
		for p := range Partition(Partitions) {
			waiting := pipe.ZCard(ctx, p.key("notices", string(kind)))
			givenUp := pipe.ZCard(ctx, p.key("givenup", string(kind)))
			gone := pipe.ZRangeByScore(
				ctx, p.key("givenup", string(kind)), &redis.ZRangeBy{Min: "-inf", Max: ts.s.givenUpSince(), Count: 100},
			)
			add = append(add, func() {
				counts[i].Waiting += waiting.Val()
				counts[i].GivenUp += givenUp.Val() - int64(len(gone.Val()))
			})
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	for _, one := range add {
		one()
	}
	return counts, nil
}

// givenUpSince returns the score below which notices were given up so long ago that they are gone.
func (s *Store) givenUpSince() string { return score(s.clock.now().Add(-s.opts.Retention)) }

// Notifications lists the notices that wait, or those that were given up, oldest first, at most
// limit.
func (ts Tasks) Notifications(ctx context.Context, status job.NotificationStatus, limit int) ([]job.Notification, error) {
	list, from := "notices", "-inf"
	if status == job.NotificationGivenUp {
		list, from = "givenup", "("+ts.s.givenUpSince()
	}
	var keys []storedKey // of the notices
	for _, kind := range lifecycle.Notices {
		lists, err := readEach(ctx, ts.s, allPartitions(), func(pipe redis.Pipeliner, p Partition) *redis.StringSliceCmd {
			return pipe.ZRangeByScore(ctx, p.key(list, string(kind)), &redis.ZRangeBy{Min: from, Max: "+inf", Count: int64(limit)})
		})
		if err != nil {
			return nil, err
		}
		for p, members := range lists {
			for _, member := range members {
				keys = append(keys, storedKey{Partition(p), "notice", member})
			}
		}
	}
	fields, err := readEach(ctx, ts.s, keys, func(pipe redis.Pipeliner, k storedKey) *redis.SliceCmd {
		return pipe.HMGet(ctx, k.key(), "at", "to", "error")
	})
	if err != nil {
		return nil, err
	}
	dues, err := readEach(ctx, ts.s, keys, func(pipe redis.Pipeliner, k storedKey) *redis.FloatCmd {
		return pipe.ZScore(ctx, k.partition.key("outbox"), k.rest)
	})
	if err != nil {
		return nil, err
	}
	found := make([]job.Notification, len(keys))
	for i, k := range keys {
		found[i] = notification(k.rest, status, fields[i], dues[i])
	}
	slices.SortFunc(found, func(a, b job.Notification) int { return a.Time.Compare(b.Time) })
	return found[:min(len(found), limit)], nil
}

func notification(member string, status job.NotificationStatus, fields []any, due float64) job.Notification {
	t := parseTask(member)
	n := job.Notification{ID: idOf(member), Receiver: job.Receiver(t.Kind), Status: status}
	n.RequestID, n.CheckpointID = aboutOf(t)
	text := texts(fields)
	n.Time, n.Host, n.Error = millis(text[0]), job.HostOf(text[1]), text[2]
	if status == job.NotificationWaiting && due > 0 {
		n.NextTry = scoreTime(due)
	}
	return n
}

// idOf returns a notification's ID: its task's name, in characters that a URL allows unescaped.
func idOf(member string) job.NotificationID {
	return job.NotificationID(strings.ReplaceAll(member, "|", ":"))
}

// taskOf parses an ID returned by idOf; ok is false for text that was never one.
func taskOf(id job.NotificationID) (p Partition, t Task, ok bool) {
	t = parseTask(strings.ReplaceAll(string(id), ":", "|"))
	if !slices.Contains(lifecycle.Notices[:], t.Kind) {
		return 0, Task{}, false
	}
	about, checkpoint := aboutOf(t)
	if p, ok = partitionOfID(about); about == "" {
		p, ok = partitionOfCheckpoint(checkpoint)
	}
	return p, t, ok
}

// aboutOf parses the reference of a task that sends a notice: it is about a checkpoint that asks or
// whose reply had an outcome, or about the end of a job.
func aboutOf(t Task) (id job.ID, checkpoint job.CheckpointID) {
	if t.Kind == lifecycle.TaskResume {
		return "", job.CheckpointID(t.Ref)
	}
	what, ref, _ := strings.Cut(t.Ref, "|")
	ref, _, _ = strings.Cut(ref, "|") // the version that distinguishes it from another one
	if what != "ended" {
		return "", job.CheckpointID(ref)
	}
	return job.ID(ref), ""
}
