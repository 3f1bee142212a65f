package store

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// EventEnvelope is an event on its way to clients.
type EventEnvelope struct {
	Seq job.Seq
	// After is the ID of the user's previous event; 0 if there is none.
	After     job.Seq
	RequestID job.ID
	UserID    string
	Type      job.EventType

	// event is the event without its data, which is in its stored form.
	event job.Event
	data  string
}

// Size returns about as many bytes as the event's frame has.
func (e EventEnvelope) Size() int { return len(e.data) }

// Subscriber receives what the store publishes. Functions that are nil are skipped. All except
// ResubscribedFunc are called from the same goroutine and must not block.
type Subscriber struct {
	// EventFunc is called for each event of every user.
	EventFunc func(EventEnvelope)
	// TextFunc is called for each piece of text that Claude writes.
	TextFunc func(TextEnvelope)
	// QueuedFunc is called when a turn was queued.
	QueuedFunc func(Queued)
	// TaskFunc is called when a task was added in a partition, and ClockFunc when the next clock to expire
	// was set.
	TaskFunc, ClockFunc func(Partition)
	// ResubscribedFunc is called when messages may have been missed: after each (re)connection, and
	// if the store does not have the events that this node received, such as after a failover that
	// lost some of them.
	ResubscribedFunc func()
}

// The payloads of wake messages, in addition to those that parseQueued parses.
const (
	wakeTask  = "outbox"
	wakeClock = "clock"
)

// subscribers are called in order.
type subscribers []Subscriber

// deliver calls a function of each subscriber, if set.
func deliver[T any](to subscribers, of func(Subscriber) func(T), what T) {
	for _, one := range to {
		if call := of(one); call != nil {
			call(what)
		}
	}
}

func (to subscribers) reset() {
	for _, one := range to {
		if one.ResubscribedFunc != nil {
			one.ResubscribedFunc()
		}
	}
}

// Subscribe delivers events until ctx ends. It uses one connection and reconnects automatically.
func (es Events) Subscribe(ctx context.Context, subscribed ...Subscriber) {
	to := subscribers(subscribed)
	channels := make([]string, 0, 3*Partitions)
	for p := range Partition(Partitions) {
		for _, name := range []string{"events", "wake", "text"} {
			channels = append(channels, p.key(name))
		}
	}
	sub := es.s.rdb.(redis.UniversalClient).Subscribe(ctx, channels...)
	defer sub.Close()
	context.AfterFunc(ctx, func() { sub.Close() })
	missed := make(chan struct{}, 1)
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() { es.s.watchPast(ctx, to, missed) })
	watching.Go(func() { es.s.watchClocks(ctx) })
	confirmed := 0
	for ctx.Err() == nil {
		message, err := sub.ReceiveTimeout(ctx, 10*time.Second)
		follows := true
		switch m := message.(type) {
		case *redis.Subscription:
			// A new connection confirms every channel again.
			if confirmed++; confirmed%len(channels) == 0 {
				es.s.past.forget()
				follows = false
			}
		case *redis.Message:
			follows = es.s.receive(m, to)
		default:
			if isTimeout(err) {
				err = sub.Ping(ctx)
			}
			es.s.checkSubscription(ctx, err)
		}
		if !follows {
			select {
			case missed <- struct{}{}:
			default:
			}
		}
	}
}

// receive passes a message on and reports whether it directly follows the previous ones.
func (s *Store) receive(m *redis.Message, to subscribers) bool {
	from, _ := parseKey(m.Channel)
	switch from.name {
	case "wake":
		switch m.Payload {
		case wakeTask:
			deliver(to, func(s Subscriber) func(Partition) { return s.TaskFunc }, from.partition)
		case wakeClock:
			deliver(to, func(s Subscriber) func(Partition) { return s.ClockFunc }, from.partition)
		default:
			deliver(to, func(s Subscriber) func(Queued) { return s.QueuedFunc }, parseQueued(from.partition, m.Payload))
		}
		return true
	case "text":
		if t, ok := parseText(m.Payload); ok {
			deliver(to, func(s Subscriber) func(TextEnvelope) { return s.TextFunc }, t)
		}
		return true
	}
	e, ok := parsePublished(m.Payload)
	if !ok {
		return true
	}
	follows := s.past.receive(from.partition, e)
	deliver(to, func(s Subscriber) func(EventEnvelope) { return s.EventFunc }, e.EventEnvelope)
	return follows
}

// reconnectInterval is the time between two attempts to reach a store that is unavailable.
const reconnectInterval = 200 * time.Millisecond

// checkSubscription waits if the connection is dead. go-redis reconnects on the next read.
func (s *Store) checkSubscription(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	s.log.Warn("event connection lost, reconnecting", "error", storeError(ctx, err))
	_ = lifecycle.Wait(ctx, reconnectInterval)
}

// published is an event as it was published.
type published struct {
	EventEnvelope
	// follows is the ID of the partition's previous event; 0 if there is none.
	follows job.Seq
}

// parsePublished parses "<seq> <user's before> <partition's before> <user>\n<event>".
func parsePublished(payload string) (e published, ok bool) {
	head, event, _ := strings.Cut(payload, "\n")
	words := strings.SplitN(head, " ", 4)
	if len(words) < 4 {
		return e, false
	}
	e.follows = seqOf(words[2])
	e.EventEnvelope, ok = parseEvent(seqOf(words[0]), seqOf(words[1]), words[3], event)
	return e, ok
}

// Replay is a range of a user's past events, read in one transaction.
type Replay struct {
	Events []EventEnvelope
	// Missed is true if since is not in the user's past: events after it are no longer kept, or the
	// store has gone back to a state without that event.
	Missed bool
	// Last is the ID of the user's latest event; 0 if there is none.
	Last job.Seq
}

// OfUser returns up to limit events of a user after since; since 0 is the oldest kept.
func (es Events) OfUser(ctx context.Context, userID string, since job.Seq, limit int64) (Replay, error) {
	p := partitionOf(userID)
	stream, from := p.key("events", userID), since.String()+"-0"
	pipe := es.s.rdb.TxPipeline()
	entries := pipe.XRangeN(ctx, stream, "("+from, "+", limit)
	oldest := pipe.XRangeN(ctx, stream, "-", "+", 1)
	at := pipe.XRangeN(ctx, stream, from, from, 1)
	last := pipe.Get(ctx, p.key("seq", userID))
	if _, err := pipe.Exec(ctx); err != nil {
		return Replay{}, err
	}
	r := Replay{Last: seqOf(last.Val())}
	for _, entry := range entries.Val() {
		seq, _, _ := strings.Cut(entry.ID, "-")
		event, _ := entry.Values["f"].(string)
		if e, ok := parseEvent(seqOf(seq), entryAfter(entry), userID, event); ok {
			r.Events = append(r.Events, e)
		}
	}
	before := job.Seq(0) // of the first event that is kept
	if first := oldest.Val(); len(first) > 0 {
		before = entryAfter(first[0])
	}
	r.Missed = since != r.Last && len(at.Val()) == 0 && since != before
	return r, nil
}

// entryAfter returns the ID of the user's event before an entry; 0 if there is none.
func entryAfter(entry redis.XMessage) job.Seq {
	before, _ := entry.Values["p"].(string)
	return seqOf(before)
}

func seqOf(text string) job.Seq {
	n, _ := strconv.ParseUint(text, 10, 63)
	return job.Seq(n)
}

// OfJob returns up to limit events of a job after since. missed is true if since is not in the
// past of the job's user: see Replay.
func (es Events) OfJob(
	ctx context.Context, j job.Job, since job.Seq, limit int,
) (found []EventEnvelope, missed bool, err error) {
	for first := true; len(found) < limit; first = false {
		page, err := es.OfUser(ctx, j.UserID, since, 1000)
		if err != nil {
			return nil, false, err
		}
		if first {
			missed = page.Missed
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
	return found, missed, nil
}
