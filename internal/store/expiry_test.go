package store_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// What belongs to a chat expires together, the retention after the last that can still happen in it; what
// belongs to a job is deleted with it, and not before.
func TestWhatIsKeptIsKeptLongEnough(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	opts := lifecycle.Options{Retention: 7 * day, HumanTimeout: 3 * day, QueueTimeout: day}
	storetest.OnBoth(t, opts, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		n := newJob("u")
		n.SessionID = "chat"
		j := must.Get(s.Start(ctx, n))(t)
		// expiries returns the expiry of each key whose name contains a text, in days.
		expiries := func(part string) map[string]int {
			found := map[string]int{}
			for _, key := range rdb.Keys(ctx, "*"+part+"*").Val() {
				days := -1
				if ttl := rdb.PTTL(ctx, key).Val(); ttl > 0 {
					days = int((ttl + time.Hour) / day)
				}
				found[strings.Split(key, ":")[2]] = days
			}
			return found
		}
		want := func(when string, days int) {
			t.Helper()
			for name, found := range expiries("1:u:chat") {
				if found != days {
					t.Errorf("%s, %s expires in %d days, want %d", when, name, found, days)
				}
			}
		}
		want("while it waits for a worker", 8)
		s.Next(t, "n")
		for i, part := range []job.Part{
			{Type: job.ToolCallPart, ToolCallID: "t1", ToolName: "Bash", State: job.InputAvailable, Input: json.RawMessage(`{}`)},
			{Type: job.ToolResultPart, ToolCallID: "t1", ToolName: "Bash", State: job.OutputAvailable, Output: json.RawMessage(`"ok"`)},
		} {
			body := job.MessageBody{Sender: job.FromAssistant, Role: job.FromAssistant, MessageType: job.ToolMessage, Parts: []job.Part{part}}
			must.OK(t, s.AppendAssistantMessages(ctx, j.ID, 1, []lifecycle.AssistantMessage{{End: int64(i + 1), Body: body}}))
		}
		must.OK(t, s.Transcripts.Write(ctx, j.ID, 1, 0, []byte("{}\n")))
		must.OK(t, s.Transcripts.WriteStderr(ctx, j.ID, 1, []byte("x")))
		must.OK(t, s.Transcripts.AddNote(ctx, j.ID, 1, "note"))
		_, _, _, err := s.Ask(ctx, lifecycle.NewCheckpoint{
			RequestID: j.ID, UserID: "u", SessionID: "chat", Type: job.Confirmation, Message: "Do it?",
			Chat: job.Text(job.FromAssistant, "Do it?"), Digest: "d",
		})
		must.OK(t, err)
		want("while it waits for a person", 10)
		must.Get(s.AppendMessage(ctx, "u", "chat", job.Text(job.FromUser, "wait"), nil))(t)
		want("after a message while it waits", 10)
		must.OK(t, s.Cancel(ctx, j.ID, job.Actor{}))
		want("once it has ended", 7)
		must.Get(s.AppendMessage(ctx, "u", "chat", job.Text(job.FromUser, "thanks"), nil))(t)
		want("after another message", 7)
		for name, days := range expiries(fmt.Sprint(j.ID)) {
			if days >= 0 && name != "secret" {
				t.Errorf("%s expires in %d days, before its job is deleted", name, days)
			}
		}
		stopped := must.Get(s.Start(ctx, newJob("u2")))(t)
		must.OK(t, s.Cancel(ctx, stopped.ID, job.Actor{}))
		if days := expiries("session:2:u2")["session"]; days != 7 {
			t.Errorf("the chat of a job that never ran expires in %d days", days)
		}
	})
}

// A limit of Claude's may last longer than the retention, and another message shortens nothing.
func TestAChatOutlivesTheLimitItsJobWaitsFor(t *testing.T) {
	t.Parallel()
	const retention, limit = time.Hour, 8 * 24 * time.Hour
	opts := lifecycle.Options{Retention: retention, HumanTimeout: retention, QueueTimeout: retention}
	storetest.OnBoth(t, opts, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx, n := t.Context(), newJob("u")
		n.SessionID = "chat"
		j := must.Get(s.Start(ctx, n))(t)
		s.Next(t, "n")
		say := func() {
			must.Get(s.AppendMessage(ctx, "u", "chat", job.Text(job.FromUser, "and use the blue one"), new(lifecycle.Addressee)))(t)
		}
		keeps := func(when string) {
			t.Helper()
			for _, name := range []string{"session", "messages"} {
				if left := rdb.PTTL(ctx, keysLike(t, rdb, "*:"+name+":1:u:chat")).Val(); left < limit+retention/2 {
					t.Errorf("%s, its %s is kept for %s", when, name, left)
				}
			}
		}
		say()
		must.Get(s.EndTurn(ctx, lifecycle.TurnEnd{
			ID: j.ID, Turn: 1, Node: "n", Begun: true, Spoken: true, Code: job.CodeUsageLimit, Message: "used up",
			RateLimit: &lifecycle.RateLimit{Until: time.Now().Add(limit), Stated: true},
		}))(t)
		keeps("while it waits")
		say()
		keeps("after another message")
	})
}

// The CLI's record of a conversation is kept while its job waits, however long, and from the job's end on. It is
// stored about when the end of its turn is booked: before it, or after.
func TestAConversationOutlivesWhatItsJobWaitsFor(t *testing.T) {
	t.Parallel()
	const retention, limit, queue = time.Hour, 8 * 24 * time.Hour, 2 * 24 * time.Hour
	opts := lifecycle.Options{Retention: retention, HumanTimeout: retention, QueueTimeout: queue}
	storetest.OnBoth(t, opts, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		for _, before := range []bool{true, false} {
			ctx, n := t.Context(), newJob("u")
			n.SessionID = fmt.Sprint("stored before the end is booked: ", before)
			j := must.Get(s.Start(ctx, n))(t)
			turn := s.Next(t, "n")
			save := func() {
				_, _, err := s.Transcripts.SaveConversation(ctx, turn.Job, turn.Conversation, lifecycle.NameTurn(j.ID, 1), []byte("text"), 1000)
				must.OK(t, err)
			}
			keeps := func(when string, least, most time.Duration) {
				t.Helper()
				if left := rdb.PTTL(ctx, keysLike(t, rdb, "*:conversation:"+turn.Conversation)).Val(); left < least || left > most {
					t.Errorf("%s, %s: kept for %s, want %s to %s", n.SessionID, when, left, least, most)
				}
			}
			if before {
				save()
			}
			must.Get(s.EndTurn(ctx, lifecycle.TurnEnd{
				ID: j.ID, Turn: 1, Node: "n", Begun: true, Spoken: true, Code: job.CodeUsageLimit, Message: "used up",
				RateLimit: &lifecycle.RateLimit{Until: time.Now().Add(limit), Stated: true},
			}))(t)
			if !before {
				save()
			}
			keeps("while it waits for the limit", limit+retention/2, limit+2*retention)
			must.OK(t, s.Cancel(ctx, j.ID, job.Actor{}))
			keeps("once it has ended", retention/2, retention)
			must.OK(t, s.Retry(ctx, j.ID))
			keeps("while it waits again", queue+retention/2, queue+retention)
			must.OK(t, s.Cancel(ctx, j.ID, job.Actor{}))
		}
	})
}

// A question of a program outside may wait for longer than the retention, too.
func TestAChatOutlivesTheQuestionOfAProgramOutside(t *testing.T) {
	t.Parallel()
	const retention, wait = time.Hour, 30 * 24 * time.Hour
	storetest.OnBoth(t, lifecycle.Options{Retention: retention, HumanTimeout: wait}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		_, c, _, err := s.Ask(ctx, lifecycle.NewCheckpoint{
			UserID: "u", SessionID: "chat", Type: job.Confirmation, Message: "Do it?", Chat: job.Text(job.FromAssistant, "Do it?"), Digest: "d",
		})
		must.OK(t, err)
		must.Get(s.AppendMessage(ctx, "u", "chat", job.Text(job.FromUser, "wait"), nil))(t)
		session := keysLike(t, rdb, "*:session:1:u:chat")
		if ttl := rdb.TTL(ctx, session).Val(); ttl < wait {
			t.Errorf("the question waits for %s, and its chat expires in %s", wait, ttl)
		}
		asked := must.Get(s.Checkpoints.Get(ctx, c))(t)
		must.Get(s.Answer(ctx, asked, lifecycle.Resolution{To: job.Answered, Reply: job.Reply{Decision: job.Deny}}))(t)
		if ttl := rdb.TTL(ctx, session).Val(); ttl > retention {
			t.Errorf("once it is answered, its chat expires in %s", ttl)
		}
	})
}

// A chat knows what waits in it, also if one job's end lets another one of it begin, and nothing else.
func TestAChatKnowsWhatWaitsInIt(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{UserLimit: 1}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx, n := t.Context(), newJob("u")
		n.SessionID, n.MaxAttempts = "chat", 1
		first, second := must.Get(s.Start(ctx, n))(t), must.Get(s.Start(ctx, n))(t)
		session := keysLike(t, rdb, "*:session:1:u:chat")
		wants := func(when string, jobs ...job.ID) {
			t.Helper()
			var want, waits []string
			for _, id := range jobs {
				want = append(want, "waits:"+string(id))
			}
			for _, field := range rdb.HKeys(ctx, session).Val() {
				if strings.HasPrefix(field, "waits:") {
					waits = append(waits, field)
				}
			}
			slices.Sort(want)
			slices.Sort(waits)
			must.Equal(t, want, waits, when)
		}
		wants("at first", first.ID, second.ID)
		if s.Next(t, "n").Job.ID == second.ID { // created within the same millisecond
			first, second = second, first
		}
		if turn, err := s.Claim(ctx, store.PartitionOf(second.ID), lifecycle.Worker{Node: "n"}); turn != nil || err != nil {
			t.Fatalf("the second job runs beside the first: %v", err)
		}
		must.Get(s.EndTurn(ctx, lifecycle.TurnEnd{ID: first.ID, Turn: 1, Node: "n", Begun: true, Code: job.CodeCrashed}))(t)
		wants("once the first has failed, and the second may begin", second.ID)
		must.OK(t, s.Cancel(ctx, second.ID, job.Actor{}))
		wants("at the end")
		must.OK(t, rdb.HSet(ctx, session, "waits:req_gone", 1).Err())
		must.Get(s.AppendMessage(ctx, "u", "chat", job.Text(job.FromUser, "thanks"), nil))(t)
		wants("after a message, of what has lapsed")
	})
}

// What is kept under a name that others choose expires by itself, and does not pile up while its job lives.
func TestWhatIsNamedByOthersExpires(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		j := must.Get(s.Start(ctx, newJob("u")))(t)
		for _, id := range []string{"msg_1", "msg_2", "msg_1"} {
			if same := must.Get(s.Calls.NoteWebhook(ctx, j.ID, id, "digest of "+id))(t); !same {
				t.Errorf("%s is taken for another message", id)
			}
		}
		if same := must.Get(s.Calls.NoteWebhook(ctx, j.ID, "msg_2", "digest of another"))(t); same {
			t.Error("another message has the same id")
		}
		for _, host := range []string{"one.example", "two.example"} {
			must.OK(t, s.Tasks.DelayNotice(ctx, store.PartitionOf(j.ID), store.Task{Kind: lifecycle.TaskWebhook, Ref: "x"}, host, "away", time.Hour))
		}
		kept := keysOf(t, rdb, "*:webhook:*", "*:refused:*")
		must.Equal(t, 4, len(kept), "keys")
		for _, key := range kept {
			if rdb.PTTL(ctx, key).Val() <= 0 {
				t.Errorf("%s never expires", key)
			}
		}
		if unknown, err := s.Unknown(ctx); err != nil || len(unknown) > 0 {
			t.Errorf("keys that no list names: %v, %v", unknown, err)
		}
	})
}

// A chat lives on, and its old messages are dropped: what is known of their tool calls goes with them.
func TestAChatThatLivesOnDoesNotGrow(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx, n := t.Context(), newJob("u")
		n.SessionID = "chat"
		j := must.Get(s.Start(ctx, n))(t)
		s.Next(t, "n")
		end := int64(0)
		say := func(kind job.PartType, call string, state job.PartState) {
			end++
			part := job.Part{Type: kind, ToolCallID: call, ToolName: "Bash", State: state, Input: json.RawMessage(`{}`), Output: json.RawMessage(`{}`)}
			body := job.MessageBody{Sender: job.FromAssistant, Role: job.FromAssistant, MessageType: job.ToolMessage, Parts: []job.Part{part}}
			must.OK(t, s.AppendAssistantMessages(ctx, j.ID, 1, []lifecycle.AssistantMessage{{End: end, Body: body}}))
		}
		const calls = 5
		for i := range calls {
			say(job.ToolCallPart, fmt.Sprint("t", i), job.InputAvailable)
			say(job.ToolResultPart, fmt.Sprint("t", i), job.OutputAvailable)
		}
		touched := keysLike(t, rdb, "*:touched:1:u:chat")
		known := func() (fields int) {
			for _, field := range rdb.HKeys(ctx, touched).Val() {
				if strings.HasPrefix(field, "call:") {
					fields++
				}
			}
			return fields
		}
		must.Equal(t, calls, known(), "calls whose end is known")
		session := keysLike(t, rdb, "*:session:1:u:chat")
		for dropped := 1; dropped <= 2*calls; dropped++ { // as if the chat had 10,000 messages more
			must.OK(t, rdb.HSet(ctx, session, "n", 10_000+dropped-1).Err())
			must.Get(s.AppendMessage(ctx, "u", "chat", job.Text(job.FromUser, "go on"), nil))(t)
		}
		must.Equal(t, 0, known(), "calls are known of messages that were dropped")
		all, _, err := s.Chats.Messages(ctx, "u", "chat", 0, 100)
		if err != nil || len(all) != 2*calls || all[0].ID != 10_001 {
			t.Errorf("the chat has %d messages, %v", len(all), err)
		}
	})
}
