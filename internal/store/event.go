package store

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

// EventEnvelope is an event on its way to clients. Frame is the JSON they receive.
type EventEnvelope struct {
	Seq       job.Seq
	RequestID job.ID
	UserID    string
	Type      job.EventType
	Frame     []byte
}

// Subscriber receives what the store publishes, by those of its functions that are
// set. They are called from one goroutine and must not block.
type Subscriber struct {
	// EventFunc is called for each event of every user.
	EventFunc func(EventEnvelope)
	// QueuedFunc is called when a turn was queued in a partition, TaskFunc when there is a
	// task, and ClockFunc when a clock was set that is the next to run down.
	QueuedFunc, TaskFunc, ClockFunc func(Partition)
	// ResubscribedFunc is called after a (re)connection: anything may have been missed.
	ResubscribedFunc func()
}

// subscribers are told in their order.
type subscribers []Subscriber

func (to subscribers) event(e EventEnvelope) {
	for _, one := range to {
		if one.EventFunc != nil {
			one.EventFunc(e)
		}
	}
}

// wake tells what there is to do in a partition: what was queued is named by its priority.
func (to subscribers) wake(p Partition, what string) {
	for _, one := range to {
		call := one.QueuedFunc
		switch what {
		case wakeTask:
			call = one.TaskFunc
		case wakeClock:
			call = one.ClockFunc
		}
		if call != nil {
			call(p)
		}
	}
}

// What is published beside the priorities of the queues.
const (
	wakeTask  = "outbox"
	wakeClock = "clock"
)

func (to subscribers) reset() {
	for _, one := range to {
		if one.ResubscribedFunc != nil {
			one.ResubscribedFunc()
		}
	}
}

// Subscribe delivers events until ctx ends, over one connection, and connects
// again by itself.
func (s *Store) Subscribe(ctx context.Context, subscribed ...Subscriber) {
	to := subscribers(subscribed)
	channels := make([]string, 0, 2*Partitions)
	wakes := make(map[string]Partition, Partitions)
	for p := range Partition(Partitions) {
		channels = append(channels, p.key("events"), p.key("wake"))
		wakes[p.key("wake")] = p
	}
	sub := s.rdb.Subscribe(ctx, channels...)
	defer sub.Close()
	context.AfterFunc(ctx, func() { sub.Close() })
	confirmed := 0
	for ctx.Err() == nil {
		message, err := sub.ReceiveTimeout(ctx, 10*time.Second)
		switch m := message.(type) {
		case *redis.Subscription:
			// A new connection confirms every channel again.
			if confirmed++; confirmed%len(channels) == 0 {
				to.reset()
			}
		case *redis.Message:
			if p, ok := wakes[m.Channel]; ok {
				to.wake(p, m.Payload)
			} else if event, ok := parsePublished(m.Payload); ok {
				to.event(event)
			}
		default:
			s.checkSubscription(ctx, sub, err)
		}
	}
}

// checkSubscription finds a connection that died in silence. go-redis dials
// again on the next read.
func (s *Store) checkSubscription(ctx context.Context, sub *redis.PubSub, err error) {
	if isTimeout(err) {
		err = sub.Ping(ctx)
	}
	if err == nil || ctx.Err() != nil {
		return
	}
	s.log.Warn("lost the connection for events, connecting again", "error", err)
	select {
	case <-ctx.Done():
	case <-time.After(200 * time.Millisecond):
	}
}

// parsePublished reads "<seq> <request id> <happening> <user>\n<frame>".
func parsePublished(payload string) (EventEnvelope, bool) {
	head, frame, ok := strings.Cut(payload, "\n")
	if !ok {
		return EventEnvelope{}, false
	}
	parts := strings.SplitN(head, " ", 4)
	if len(parts) != 4 {
		return EventEnvelope{}, false
	}
	seq, err := strconv.ParseUint(parts[0], 10, 63)
	return EventEnvelope{
		Seq: job.Seq(seq), RequestID: job.ID(parts[1]), Type: job.EventType(parts[2]), UserID: parts[3],
		Frame: []byte(frame),
	}, err == nil
}

// Replay is a stretch of a user's past events.
type Replay struct {
	Events []EventEnvelope
	// Missed is whether events between since and the first of Events were
	// forgotten.
	Missed bool
	// Last is the id of the user's latest event, 0 when there is none. It is read
	// after Events, so there may be events between the two.
	Last job.Seq
}

// Events returns up to limit events of a user after since.
func (s *Store) Events(ctx context.Context, userID string, since job.Seq, limit int64) (Replay, error) {
	p := partitionOf(userID)
	pipe := s.rdb.Pipeline()
	entries := pipe.XRangeN(ctx, p.key("events", userID), "("+since.String()+"-0", "+", limit)
	oldest := pipe.XRangeN(ctx, p.key("events", userID), "-", "+", 1)
	marks := pipe.MGet(ctx, p.key("seq", userID), p.key("base", userID))
	if _, err := pipe.Exec(ctx); err != nil {
		return Replay{}, storeError(err)
	}
	r := Replay{Last: seqOf(marks.Val()[0])}
	for _, entry := range entries.Val() {
		if e, ok := parseEntry(entry, userID); ok {
			r.Events = append(r.Events, e)
		}
	}
	r.Missed = missed(since, seqOf(marks.Val()[1]), oldest.Val())
	return r, nil
}

// missed reports whether an event after since is no longer kept. base is the
// id before the user's first event since the user was last forgotten.
func missed(since, base job.Seq, oldest []redis.XMessage) bool {
	if since > 0 && since < base {
		return true
	}
	if len(oldest) == 0 {
		return false
	}
	first := entrySeq(oldest[0])
	return first > base+1 && since < first-1
}

func parseEntry(entry redis.XMessage, userID string) (EventEnvelope, bool) {
	frame, ok := entry.Values["f"].(string)
	if !ok {
		return EventEnvelope{}, false
	}
	var head struct {
		Event     string `json:"event"`
		RequestID job.ID `json:"requestId"`
	}
	// The frame's data follows these two fields; the decoder need not read on.
	if json.NewDecoder(bytes.NewReader([]byte(frame))).Decode(&head) != nil {
		return EventEnvelope{}, false
	}
	_, happening := cutLast(head.Event)
	return EventEnvelope{
		Seq: entrySeq(entry), RequestID: head.RequestID, UserID: userID,
		Type: job.EventType(happening), Frame: []byte(frame),
	}, true
}

func cutLast(name string) (prefix, last string) {
	if prefix, ok := strings.CutSuffix(name, ":"+string(job.EventResolved)); ok {
		return prefix, string(job.EventResolved)
	}
	i := strings.LastIndexByte(name, ':')
	return name[:max(i, 0)], name[i+1:]
}

func entrySeq(entry redis.XMessage) job.Seq {
	n, _, _ := strings.Cut(entry.ID, "-")
	return seqOf(n)
}

func seqOf(v any) job.Seq {
	text, _ := v.(string)
	n, _ := strconv.ParseUint(text, 10, 63)
	return job.Seq(n)
}

// JobEvents returns up to limit events of one job after since.
func (s *Store) JobEvents(ctx context.Context, j job.Job, since job.Seq, limit int) ([]EventEnvelope, error) {
	var found []EventEnvelope
	for len(found) < limit {
		page, err := s.Events(ctx, j.UserID, since, 1000)
		if err != nil {
			return nil, err
		}
		for _, e := range page.Events {
			if e.RequestID == j.ID && len(found) < limit {
				found = append(found, e)
			}
			since = e.Seq
		}
		if len(page.Events) < 1000 {
			break
		}
	}
	return found, nil
}
