package notify_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/people/notify"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// receiver responds to each call with a status, and records the bodies it received by id.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	bodies map[string][]string
	taken  map[string]string
}

func startReceiver(t *testing.T, status int) *receiver {
	t.Helper()
	r := &receiver{status: status, bodies: map[string][]string{}, taken: map[string]string{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		id := req.Header.Get("Webhook-Id")
		r.bodies[id] = append(r.bodies[id], string(body))
		if r.status == http.StatusOK {
			r.taken[id] = string(body)
		}
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) answers(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// seen counts the notices that were sent, got those that were accepted.
func (r *receiver) seen() int { return r.count(func() int { return len(r.bodies) }) }
func (r *receiver) got() int  { return r.count(func() int { return len(r.taken) }) }

func (r *receiver) count(of func() int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return of()
}

// deliver runs an outbox on a store, with receivers for the webhook and Slack, until stop is called.
func deliver(t *testing.T, s *storetest.Service, webhook, slack *receiver) (stop func()) {
	t.Helper()
	hook := must.Get(notify.NewWebhook("a secret of the test", false))(t)
	return runOutbox(t, s, notify.Notifier{
		Addresses: notify.Addresses{Webhook: webhook.URL, Slack: slack.URL}, TrustedFunc: hook.Notify, GuardedFunc: hook.Notify,
	})
}

func runOutbox(t *testing.T, s *storetest.Service, notifier notify.Notifier) (stop func()) {
	t.Helper()
	o := notify.NewOutbox(s.Tasks, notify.Handlers{}, notifier, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { o.Run(ctx) })
	running.Go(func() { s.Events.Subscribe(ctx, store.Subscriber{TaskFunc: o.Task, ResubscribedFunc: o.Resubscribed}) })
	return func() { cancel(); running.Wait() }
}

var notified = lifecycle.Options{Notify: []lifecycle.TaskKind{lifecycle.TaskWebhook, lifecycle.TaskSlack}, ComposeFunc: notify.Compose("")}

// started returns a new job of a user; that of "other" has a large input.
func started(t *testing.T, s *storetest.Service, user string) job.Job {
	t.Helper()
	size := 1
	if user == "other" {
		size = 10000
	}
	j, err := s.Start(t.Context(), lifecycle.NewJob{
		Kind: "k", UserID: user, Input: json.RawMessage(`{"of":"` + user + `","at":"` + strings.Repeat("length ", size) + `"}`), EventPrefix: "k", Priority: job.Interactive, CallbackTimeout: time.Minute, MaxAttempts: 2,
	})
	must.OK(t, err)
	return j
}

// claimed returns a new job of a user whose turn runs.
func claimed(t *testing.T, s *storetest.Service, user string) job.Job {
	t.Helper()
	j := started(t, s, user)
	turn, err := s.Claim(t.Context(), store.PartitionOf(j.ID), lifecycle.Worker{Node: "n"})
	if err != nil || turn == nil {
		t.Fatal(turn, err)
	}
	return turn.Job
}

// A notice describes what happened, even if the job has changed since; and once the
// receiver accepts one, the others follow.
func TestANoticeSaysWhatHappened(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, notified, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		webhook, slack := startReceiver(t, http.StatusNotFound), startReceiver(t, http.StatusUnauthorized)
		defer deliver(t, s, webhook, slack)()
		j := claimed(t, s, "u")
		_, asked, _, err := s.Ask(t.Context(), lifecycle.NewCheckpoint{
			RequestID: j.ID, UserID: "u", SessionID: j.SessionID, Type: job.Confirmation, Message: "Do it?", Chat: job.Text(job.FromAssistant, "Do it?"), Digest: "q",
		})
		must.OK(t, err)
		must.Eventually(t, "the question to be refused", func() bool { return webhook.seen() == 1 && slack.seen() == 1 })
		c := must.Get(s.Checkpoints.Get(t.Context(), asked))(t)
		must.Get(s.Answer(t.Context(), c, lifecycle.Resolution{To: job.Answered, Reply: job.Reply{Decision: job.Deny}}))(t)
		// It ends twice, and is retried in between.
		for range 2 {
			must.OK(t, s.Cancel(t.Context(), j.ID, job.Actor{}))
			must.OK(t, s.Retry(t.Context(), j.ID))
		}
		must.Eventually(t, "the ends to be refused", func() bool { return webhook.seen() == 3 && slack.seen() == 3 })

		webhook.answers(http.StatusOK)
		slack.answers(http.StatusOK)
		must.OK(t, s.Cancel(t.Context(), started(t, s, "other").ID, job.Actor{}))
		must.Eventually(t, "all to be taken", func() bool { return webhook.got() == 4 && slack.got() == 4 })

		for _, r := range []*receiver{webhook, slack} {
			for id, bodies := range r.bodies {
				must.Equal(t, 1, len(slices.Compact(bodies)), id, "was sent with … bodies")
			}
		}
		statuses := map[string]int{}
		inOrder := map[int64]string{} // of the job that was asked about, by sequence
		for id, text := range webhook.taken {
			var body struct {
				Type     string
				Sequence int64
				Data     struct {
					Job        job.Job
					Checkpoint job.Checkpoint
				}
			}
			must.OK(t, json.Unmarshal([]byte(text), &body))
			statuses[body.Type+" "+string(body.Data.Job.State)+" "+string(body.Data.Checkpoint.Status)]++
			if body.Data.Job.ID == j.ID {
				inOrder[body.Sequence] = body.Type
			}
			if len(body.Data.Job.Input) < len(`{"of":"u"}`) {
				t.Errorf("%s has the input %s", id, body.Data.Job.Input)
			}
			if at := body.Data.Job.Checkpoint; at != nil && at.Message != "Do it?" {
				t.Errorf("the job waits at %+v", at)
			}
		}
		if statuses["checkpoint.opened awaiting_approval open"] != 1 || statuses["job.cancelled cancelled "] != 3 {
			t.Errorf("it was told %v", statuses)
		}
		var order []string
		for _, sequence := range slices.Sorted(maps.Keys(inOrder)) {
			order = append(order, inOrder[sequence])
		}
		must.Equal(t, []string{"checkpoint.opened", "job.cancelled", "job.cancelled"}, order)
		for id, text := range slack.taken {
			if strings.HasPrefix(id, "ended|") && !strings.Contains(text, "is cancelled.") {
				t.Errorf("Slack was told %s", text)
			}
		}
		must.Eventually(t, "nothing to be left", func() bool {
			left, err := rdb.Keys(t.Context(), "rb:*notice*").Result()
			return err == nil && len(left) == 0
		})
	})
}

// A receiver that was down for long gets all waiting notices as soon as it accepts one.
func TestTheOthersFollowWhenOneGetsThrough(t *testing.T) {
	t.Parallel()
	s, embedded := storetest.InProcess(t, store.Options{})
	service := &storetest.Service{Store: s, Service: lifecycle.New(s, nil, notified)}
	webhook, slack := startReceiver(t, http.StatusServiceUnavailable), startReceiver(t, http.StatusOK)
	defer deliver(t, service, webhook, slack)()
	const notices = 60
	users := []string{"a", "b", "c", "d", "e"}
	for i := range notices {
		must.OK(t, service.Cancel(t.Context(), started(t, service, users[i%len(users)]).ID, job.Actor{}))
	}
	must.Eventually(t, "all to be refused", func() bool { return webhook.seen() == notices })
	// According to their own schedules, they wait for hours.
	for p := range store.Partition(store.Partitions) {
		waiting := must.Get(embedded.Client.ZRange(t.Context(), outboxOf(p), 0, -1).Result())(t)
		for _, one := range waiting {
			embedded.Client.ZAdd(t.Context(), outboxOf(p), redis.Z{Score: float64(time.Now().Add(5 * time.Hour).UnixMilli()), Member: one})
		}
	}
	webhook.answers(http.StatusOK)
	must.OK(t, service.Cancel(t.Context(), started(t, service, "f").ID, job.Actor{}))
	must.Eventually(t, "all to be taken", func() bool { return webhook.got() == notices+1 })
}

// A notice that was given up is sent again unchanged.
func TestAGivenUpNoticeCanBeSentAgain(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, notified, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		webhook, slack := startReceiver(t, http.StatusGone), startReceiver(t, http.StatusOK)
		defer deliver(t, s, webhook, slack)()
		j := started(t, s, "u")
		must.OK(t, s.Cancel(t.Context(), j.ID, job.Actor{}))
		count := func(waiting, givenUp int64) {
			t.Helper()
			must.Eventually(t, "the counts", func() bool {
				counts, err := s.Tasks.NoticeCounts(t.Context())
				return err == nil && counts[0] == job.NotificationCount{Receiver: job.WebhookReceiver, Waiting: waiting, GivenUp: givenUp}
			})
		}
		count(0, 1)
		if err := s.Retry(t.Context(), j.ID); err != nil { // the notice describes the earlier state
			t.Fatal(err)
		}
		found, err := s.Tasks.Notifications(t.Context(), job.NotificationGivenUp, 10)
		if err != nil || len(found) != 1 || found[0].RequestID != j.ID || !strings.Contains(found[0].Error, "410") || found[0].Time.IsZero() {
			t.Fatalf("given up are %+v, %v", found, err)
		}
		webhook.answers(http.StatusOK)
		must.OK(t, s.Tasks.ResendNotice(t.Context(), found[0].ID))
		count(0, 0)
		for id, bodies := range webhook.bodies {
			if len(bodies) != 2 || bodies[0] != bodies[1] || !strings.Contains(bodies[0], `"type":"job.cancelled"`) {
				t.Errorf("%s was sent as %q", id, bodies)
			}
		}
		if err := s.Tasks.ResendNotice(t.Context(), found[0].ID); err == nil {
			t.Error("one that has got through can be sent again")
		}
	})
}

func outboxOf(p store.Partition) string {
	const digits = "0123456789abcdef"
	return "rb:{0" + digits[p:p+1] + "}:outbox"
}

// A server has an address of its own, or none. That says nothing about the others: one without an address
// leaves the notices to those that have it.
func TestAServerWithoutAnAddressLeavesNoticesToOthers(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, notified, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		webhook, slack := startReceiver(t, http.StatusOK), startReceiver(t, http.StatusOK)
		without := runOutbox(t, s, notify.Notifier{})
		for range 5 {
			must.OK(t, s.Cancel(t.Context(), started(t, s, "u").ID, job.Actor{}))
		}
		must.Eventually(t, "the server without an address to have looked", func() bool {
			all, err := s.Tasks.Notifications(t.Context(), job.NotificationWaiting, 100)
			return err == nil && len(all) == 10 && !slices.ContainsFunc(all, func(n job.Notification) bool { return !n.NextTry.After(n.Time) })
		})
		stop := deliver(t, s, webhook, slack)
		must.Eventually(t, "the other one to send them", func() bool { return webhook.got() == 5 && slack.got() == 5 })
		without()
		stop()
	})
}
