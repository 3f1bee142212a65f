package store

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/test/must"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// ticking is a store with a clock that the test sets.
type ticking struct {
	*Store
	redis *miniredis.Miniredis
	id    job.ID
	said  int
}

func newTicking(t *testing.T, now time.Time) *ticking {
	t.Helper()
	m := miniredis.RunT(t)
	m.SetTime(now)
	client := redis.NewClient(&redis.Options{Addr: m.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	s := &ticking{Store: New(client, Options{}, slog.New(slog.DiscardHandler)), redis: m}
	must.OK(t, s.Prepare(t.Context()))
	s.begin(t)
	return s
}

func (s *ticking) begin(t *testing.T) {
	t.Helper()
	j, err := lifecycle.New(s, nil, lifecycle.Options{}).Start(t.Context(), lifecycle.NewJob{
		Kind: "k", UserID: "u", Input: json.RawMessage(`{}`), EventPrefix: "k", Priority: job.Interactive, CallbackTimeout: time.Minute, MaxAttempts: 1,
	})
	must.OK(t, err)
	s.id = j.ID
}

// say appends an event and returns its ID.
func (s *ticking) say(t *testing.T) job.Seq {
	t.Helper()
	s.said++
	must.Get(s.Calls.Progress(t.Context(), s.id, JobHeader{UserID: "u", prefix: "k"}, json.RawMessage(`{}`), fmt.Sprintf("%012d", s.said)))(t)
	r := must.Get(s.Events.OfUser(t.Context(), "u", 0, 1000))(t)
	return r.Last
}

func TestIdsAreTheTimeAndRiseWhateverTheClockDoes(t *testing.T) {
	t.Parallel()
	s := newTicking(t, noon)
	var ids []job.Seq
	for _, clock := range []time.Duration{time.Second, time.Second, -time.Hour, -time.Hour, 2 * time.Second, 24 * time.Hour, 0} {
		s.redis.SetTime(noon.Add(clock))
		ids = append(ids, s.say(t))
	}
	if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Errorf("ids do not rise: %d", ids)
	}
	if want := job.Seq(noon.Add(24 * time.Hour).UnixMicro()); ids[0] != job.Seq(noon.Add(time.Second).UnixMicro()) || ids[5] != want || ids[6] != want+1 {
		t.Errorf("ids are not the time: %d", ids)
	}
	if ids[6] > 1<<53 {
		t.Errorf("%d is no exact number in JavaScript", ids[6])
	}
}

// The new primary's clock is minutes behind that of the old one, and the latest events are lost. A
// node that has received them, or has only seen the clock, must not reuse their IDs.
func TestIdsThatWereLostAreNotGivenAgainByAClockThatIsBehind(t *testing.T) {
	t.Parallel()
	for name, behind := range map[string]time.Duration{"minutes": 5 * time.Minute, "a year": 365 * 24 * time.Hour, "not at all": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTicking(t, noon)
			s.say(t)
			received := make(chan EventEnvelope, 100)
			go s.Events.Subscribe(t.Context(), Subscriber{EventFunc: func(e EventEnvelope) { received <- e }})
			var lost job.Seq
			for deadline := time.Now().Add(10 * time.Second); len(received) == 0 && time.Now().Before(deadline); {
				lost = s.say(t)
				time.Sleep(time.Millisecond)
			}
			for e := range received {
				if e.Seq == lost {
					break
				}
			}
			s.redis.FlushAll()
			s.redis.SetTime(noon.Add(-behind))
			s.begin(t)
			if id := s.say(t); id <= lost {
				t.Errorf("id %d was given, and before that up to %d", id, lost)
			}
			if r, err := s.Events.OfUser(t.Context(), "u", lost, 10); err != nil || !r.Missed {
				t.Errorf("who has received what is lost is not told: %v, %v", r, err)
			}
		})
	}
}
