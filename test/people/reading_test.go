package people

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringback/internal/store/storetest"
	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

// slowReader is a CLI that reads replies, each only when the test allows it.
type slowReader struct {
	t   testing.TB
	n   *rig.Node
	dir string
	// id and envelope belong to the job that has asked, for which the test plays Claude.
	id       string
	envelope object
}

// startSlowReader starts a server whose CLI stores each prompt as a file, and then waits
// for the file "go", which contains its interpretation of the reply.
func startSlowReader(t testing.TB, env vars) *slowReader {
	t.Helper()
	s := &slowReader{t: t, dir: t.TempDir()}
	all := vars{"HOLD": "0s", "CLAUDE_BIN": rig.Script(t, harness.CallsBack+`
dir='`+s.dir+`'
printf '%s\n' "$prompt" > "$dir/$(value REQUEST_ID).tmp"
mv "$dir/$(value REQUEST_ID).tmp" "$dir/$(value REQUEST_ID).prompt"
until [ -e "$dir/go" ]; do sleep 0.02; done
sed "s/^{/{\"requestId\":\"$(value REQUEST_ID)\",\"hmac\":\"$(value HMAC_SIGNATURE)\",/" "$dir/go" |
  curl -sS -X POST "$(value CALLBACK_BASE_URL)/api/claude/result" -H 'Content-Type: application/json' -d @-
`)}
	maps.Copy(all, env)
	s.n = rig.Start(t, all)
	s.ask(rig.RatioQuestion())
	return s
}

// ask starts a job that waits at a question.
func (s *slowReader) ask(question object) {
	s.t.Helper()
	s.id, s.envelope = s.n.Manual(s.t, object{"userId": "u1", "sessionId": "s1"})
	s.n.Want(s.t, 200, "POST", "/api/claude/checkpoints", rig.With(s.envelope, question))
}

func (s *slowReader) say(text string) {
	s.t.Helper()
	s.n.Say(s.t, "s1", text)
}

// reads waits until Claude has got a prompt that contains a text.
func (s *slowReader) reads(text string) {
	s.t.Helper()
	must.Eventually(s.t, "Claude to read "+text, func() bool {
		return slices.ContainsFunc(s.prompts(), func(p string) bool { return strings.Contains(p, text) })
	})
}

func (s *slowReader) prompts() []string {
	s.t.Helper()
	files, _ := filepath.Glob(filepath.Join(s.dir, "*.prompt"))
	var texts []string
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(s.t)
		texts = append(texts, string(text))
	}
	return texts
}

// finds provides Claude's interpretation of the reply.
func (s *slowReader) finds(meaning object) {
	s.t.Helper()
	file := filepath.Join(s.dir, "go")
	must.OK(s.t, os.WriteFile(file+".tmp", []byte(rig.JSON(meaning)), 0o600))
	must.OK(s.t, os.Rename(file+".tmp", file))
}

// first returns the checkpoint at which the job stopped first.
func (s *slowReader) first() object {
	s.t.Helper()
	list := s.n.Want(s.t, 200, "GET", "/api/checkpoints?userId=u1", nil)["checkpoints"].([]any)
	return list[len(list)-1].(object)
}

// said returns an exchange, one line for each message.
func said(exchange any) []string {
	var lines []string
	list, _ := exchange.([]any)
	for _, u := range list {
		lines = append(lines, fmt.Sprint(u.(object)["sender"], ": ", u.(object)["content"]))
	}
	return lines
}

func TestALaterReplySupersedesTheReading(t *testing.T) {
	t.Parallel()
	s := startSlowReader(t, nil)
	s.say("cinema style")
	s.reads("cinema style")
	s.say("use 1:1")
	s.n.Await(t, s.id, "running")
	must.Eventually(t, "the reading to be ended", func() bool { return len(rig.ProcessesIn(s.n.Dir)) == 0 })
	s.finds(object{"action": "values", "values": object{"aspect_ratio": "16:9"}, "confidence": 1})
	answer := s.first()["reply"].(object)
	must.Equal[any](t, object{"aspect_ratio": "1:1"}, answer["values"])
	must.Equal(t, []string{"user: cinema style", "user: use 1:1"}, said(answer["exchange"]))
}

func TestTheEndOfAJobEndsTheReadingOfItsReply(t *testing.T) {
	t.Parallel()
	s := startSlowReader(t, nil)
	s.say("cinema style")
	s.reads("cinema style")
	s.n.Want(t, 200, "POST", "/api/jobs/"+s.id+"/cancel", nil)
	must.Eventually(t, "the reading to be ended", func() bool { return len(rig.ProcessesIn(s.n.Dir)) == 0 })
}

// Only the server itself sees the jobs that read replies.
func TestReadingsAreHidden(t *testing.T) {
	t.Parallel()
	s := startSlowReader(t, nil)
	events := s.n.Listen(t, "userId=u1")
	s.say("cinema style")
	s.reads("cinema style")
	hidden := func(what string, list any) {
		t.Helper()
		if text := rig.JSON(list); strings.Contains(text, `"kind":"reading"`) || strings.Contains(text, "reader:") {
			t.Errorf("%s shows the reading: %s", what, text)
		}
	}
	s.n.Want(t, 400, "GET", "/api/jobs?kind=reading", nil)
	for _, query := range []string{"", "?userId=ringback:reader:u1", "?status=running"} {
		hidden("GET /api/jobs"+query, s.n.Want(t, 200, "GET", "/api/jobs"+query, nil)["jobs"])
	}
	s.finds(object{"action": "values", "values": object{"aspect_ratio": "16:9"}, "confidence": 1})
	hidden("the WebSocket", events.Until("recipes:suggestions:running"))
	must.Equal[any](t, 1.0, s.first()["reply"].(object)["confidence"], "the reply says how certain the reading is:")
	hidden("GET /api/stats", s.n.Want(t, 200, "GET", "/api/stats", nil))
	if status, answer := s.n.Do(t, "POST", "/api/jobs", object{"kind": "reading", "input": object{"question": "?", "reply": "!"}}); status != 404 {
		t.Errorf("a reading that a caller asked for was answered %d %v", status, answer)
	}
}

// Whatever the timing of messages and readings, none is lost and none counts twice.
func TestNoneOfManyMessagesIsLost(t *testing.T) {
	t.Parallel()
	s := startSlowReader(t, vars{"REDIS_URL": rig.StartRedis(t).URL})
	const many = 16
	var senders sync.WaitGroup
	for i := range many {
		senders.Go(func() {
			text := fmt.Sprintf("like my %dth film", i+10)
			if i == many/2 {
				text = "use 1:1"
			}
			if i == many-2 { // Claude's result arrives in between
				s.finds(object{"action": "unclear", "confidence": 0.1, "ask": "Wide or tall?"})
			}
			s.say(text)
		})
	}
	senders.Wait()
	s.n.Await(t, s.id, "running")
	counted := map[string]int{}
	list := s.n.Want(t, 200, "GET", "/api/checkpoints?status=answered", nil)["checkpoints"].([]any)
	answer := list[0].(object)["reply"].(object)
	for _, line := range said(answer["exchange"]) {
		counted[strings.TrimPrefix(line, "user: ")]++
	}
	if answer["exchange"] == nil { // the answer was the first message
		counted[answer["text"].(string)]++
	}
	for _, m := range s.n.Messages(t, "s1", "") { // messages after the answer wait for the next turn
		if m["sender"] == "user" && m["props"] == nil && m["requestId"] == nil {
			counted[m["content"].(string)]++
		}
	}
	for i := range many {
		text := fmt.Sprintf("like my %dth film", i+10)
		if i == many/2 {
			text = "use 1:1"
		}
		must.Equal(t, 1, counted[text], text, "counts … times")
	}
}

// A reply is not interpreted at a used-up budget of its user; the question is asked again at once.
func TestAReplyAtAUsedUpBudgetIsAskedBack(t *testing.T) {
	t.Parallel()
	redis := rig.StartRedis(t)
	day := rig.SetTimeOfDay(t, redis, storetest.Noon).Format(time.DateOnly)
	s := startSlowReader(t, vars{"REDIS_URL": redis.URL, "BUDGET_USD_PER_USER_PER_DAY": "1"})
	redis.Do(t, "hset", "rb:{00}:spent:"+day, "user:u1", "2000000000")
	redis.Do(t, "expire", "rb:{00}:spent:"+day, "86400")
	asked := s.first()["id"]
	s.say("cinema style")
	must.Eventually(t, "the question to be asked again", func() bool {
		question, _ := s.n.Want(t, 200, "GET", "/api/jobs/"+s.id, nil)["checkpoint"].(object)
		return question["status"] == "open" && question["id"] != asked
	})
	if prompts := s.prompts(); len(prompts) > 0 {
		t.Errorf("Claude was asked %s", prompts)
	}
}
