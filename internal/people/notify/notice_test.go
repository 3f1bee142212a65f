package notify_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringback/internal/job"
	"ringback/internal/people/notify"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/test/must"
)

const (
	jobID, askedID, outsideID, mutedID = "req_1", "chk_1", "chk_2", "chk_3"
)

func at(clock string) time.Time {
	t, err := time.Parse(time.RFC3339, "2026-03-01T"+clock+"Z")
	if err != nil {
		panic(err)
	}
	return t
}

// noticeOf returns the notice stored with a task: of one job that has asked and then ended,
// and of questions of an external orchestrator. For all other tasks, nothing is stored any
// more.
func noticeOf(t task) store.Notice {
	about := lifecycle.Notice{Job: &job.Job{ID: jobID, Kind: "ship", State: job.Received, UpdatedAt: at("12:00:00")}}
	var n store.Notice
	switch {
	case strings.HasPrefix(t.ref, "outcome|"):
		asked, _ := checkpointOf(job.CheckpointID(strings.TrimPrefix(t.ref, "outcome|")))
		asked.Outcome = &job.Outcome{Status: job.OutcomeFailed, Message: "disk full", At: at("13:00:00")}
		about.Checkpoint = &asked
	case t.kind == lifecycle.TaskResume, strings.HasPrefix(t.ref, "opened|"):
		asked, known := checkpointOf(job.CheckpointID(strings.TrimPrefix(t.ref, "opened|")))
		if !known {
			return n
		}
		about.Checkpoint = &asked
		var props job.Props
		if json.Unmarshal(asked.Props, &props) == nil {
			n.Address = props.ResumeURL
		}
	case !strings.HasPrefix(t.ref, "ended|"+jobID):
		return n
	}
	body, err := notify.Compose("")(t.kind, about)
	if err != nil {
		panic(err)
	}
	n.Body = body
	return n
}

func checkpointOf(id job.CheckpointID) (job.Checkpoint, bool) {
	asked := job.Checkpoint{ID: id, SessionID: "s1", UserID: "u1", Message: "Which format?", CreatedAt: at("10:00:00"), AnsweredAt: at("11:00:00")}
	switch id {
	case askedID:
		asked.RequestID, asked.Type = jobID, job.Confirmation
	case outsideID:
		asked.Type, asked.Props = job.InformationRequest, json.RawMessage(`{"run_id":"run-7","resume_url":"https://theirs.example/resume"}`)
		asked.Reply = &job.Reply{Text: "16:9"}
	case mutedID:
		asked.Type = job.InformationRequest
	default:
		return job.Checkpoint{}, false
	}
	return asked, true
}

// call is one body that was sent.
type call struct {
	By, Address, ID, Type, Time string
	Has                         []string
}

func TestWhatTheOutsideIsTold(t *testing.T) {
	t.Parallel()
	both := notify.Addresses{Webhook: "https://hook.example", Slack: "https://slack.example"}
	cases := []struct {
		name      string
		task      task
		addresses notify.Addresses
		want      *call
	}{
		{
			"the webhook, that a job asks",
			task{lifecycle.TaskWebhook, "opened|chk_1"},
			both,
			&call{"trusted", "https://hook.example", "opened|chk_1", "checkpoint.opened", "2026-03-01T10:00:00Z", []string{`"job":{"requestId":"req_1"`, `"checkpoint":{"id":"chk_1"`}},
		},
		{
			"the webhook, that what was allowed has failed",
			task{lifecycle.TaskWebhook, "outcome|chk_1"},
			both,
			&call{"trusted", "https://hook.example", "outcome|chk_1", "checkpoint.outcome", "2026-03-01T13:00:00Z", []string{`"outcome":{"status":"failed","message":"disk full"`}},
		},
		{
			"Slack, that what was allowed has failed",
			task{lifecycle.TaskSlack, "outcome|chk_1"},
			both,
			&call{"trusted", "https://slack.example", "outcome|chk_1", "", "", []string{"was allowed (chk_1). It failed: disk full"}},
		},
		{
			"the webhook, that a job has ended",
			task{lifecycle.TaskWebhook, "ended|req_1|1"},
			both,
			&call{"trusted", "https://hook.example", "ended|req_1|1", "job.received", "2026-03-01T12:00:00Z", []string{`"job":{"requestId":"req_1"`}},
		},
		{
			"Slack, that a job asks",
			task{lifecycle.TaskSlack, "opened|chk_1"},
			both,
			&call{"trusted", "https://slack.example", "opened|chk_1", "", "", []string{"Which format?", "Job req_1 waits for the answer."}},
		},
		{
			"Slack, that a job has ended",
			task{lifecycle.TaskSlack, "ended|req_1|1"},
			both,
			&call{"trusted", "https://slack.example", "ended|req_1|1", "", "", []string{"Job req_1 (ship) is received."}},
		},
		{
			"whoever asked from outside, at the address that came with the question",
			task{lifecycle.TaskResume, outsideID},
			both,
			&call{"guarded", "https://theirs.example/resume", outsideID, "checkpoint.answered", "2026-03-01T11:00:00Z", []string{`"run_id":"run-7"`, `"checkpoint_type":"information_request"`, `"sessionId":"s1"`, `"text":"16:9"`}},
		},
		{
			"whoever asked from outside without an address, at the configured one",
			task{lifecycle.TaskResume, mutedID},
			both,
			&call{"trusted", "https://hook.example", mutedID, "checkpoint.answered", "2026-03-01T11:00:00Z", []string{`"run_id":""`}},
		},
		{"nobody, where no address is configured any more", task{lifecycle.TaskWebhook, "ended|req_1|1"}, notify.Addresses{Slack: both.Slack}, nil},
		{"nobody in Slack, where only a webhook is configured", task{lifecycle.TaskSlack, "ended|req_1|1"}, notify.Addresses{Webhook: both.Webhook}, nil},
		{"nobody, where whoever asked from outside reads the messages", task{lifecycle.TaskResume, mutedID}, notify.Addresses{Slack: both.Slack}, nil},
		{"nobody of a question that was deleted", task{lifecycle.TaskWebhook, "opened|chk_9"}, both, nil},
		{"nobody of a job that was deleted", task{lifecycle.TaskSlack, "ended|req_9|1"}, both, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var sent []call
				sendAs := func(by string) notify.SendFunc {
					return func(_ context.Context, address, id string, body []byte) error {
						sent = append(sent, read(t, by, address, id, body, c.want))
						return nil
					}
				}
				q := newQueue(c.task)
				runWith(t, q, notify.Handlers{}, notify.Notifier{
					Addresses: c.addresses, TrustedFunc: sendAs("trusted"), GuardedFunc: sendAs("guarded"),
				})
				time.Sleep(time.Hour)
				synctest.Wait()
				var want []call
				if c.want != nil {
					want = append(want, *c.want)
				}
				must.Equal(t, want, sent, "sent")
				must.Equal(t, 0, q.left(), "the task is left")
			})
		})
	}
}

// read parses a body, and keeps those of the wanted texts that it contains.
func read(t *testing.T, by, address, id string, body []byte, want *call) call {
	t.Helper()
	var head struct{ Type, Timestamp string }
	if err := json.Unmarshal(body, &head); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	c := call{By: by, Address: address, ID: id, Type: head.Type, Time: head.Timestamp}
	if want == nil {
		return c
	}
	for _, text := range want.Has {
		if strings.Contains(string(body), text) {
			c.Has = append(c.Has, text)
		} else {
			t.Logf("%q is not in %s", text, body)
		}
	}
	return c
}

func TestOnlyConfiguredAddressesMakeTasks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		addresses notify.Addresses
		want      []lifecycle.TaskKind
	}{
		"none":      {notify.Addresses{}, nil},
		"a webhook": {notify.Addresses{Webhook: "https://hook.example"}, []lifecycle.TaskKind{lifecycle.TaskWebhook}},
		"both":      {notify.Addresses{Webhook: "https://hook.example", Slack: "https://slack.example"}, []lifecycle.TaskKind{lifecycle.TaskWebhook, lifecycle.TaskSlack}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			must.Equal(t, c.want, c.addresses.Ways(), "want - got +")
		})
	}
}
