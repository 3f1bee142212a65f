package money

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// atLimit responds with a rate limit until it is lifted, and records the conversations that
// it rejected.
type atLimit struct {
	// reply returns the response.
	reply  func() messagesapi.Reply
	lifted atomic.Bool
	mu     sync.Mutex
	met    []string // conversations, in order, each request
}

func (l *atLimit) script(r messagesapi.Request) messagesapi.Reply {
	if l.lifted.Load() {
		return rig.Submit(r)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.met = append(l.met, r.Conversation)
	return l.reply()
}

// conversations returns those that have reached the limit.
func (l *atLimit) conversations() map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := map[string]bool{}
	for _, c := range l.met {
		found[c] = true
	}
	return found
}

// awaitLimit waits until a job waits for the end of a limit.
func awaitLimit(t *testing.T, n *rig.Node, id string) (record object) {
	t.Helper()
	must.Eventually(t, "the job to wait for the end of the limit", func() bool {
		record = n.Want(t, 200, "GET", "/api/jobs/"+id, nil)
		return record["phase"] == "waiting_for_limit"
	})
	return record
}

// TestRealCLIAtALimitCostsNoAttempt tests each of Claude's limits, as reported by the real
// CLI.
func TestRealCLIAtALimitCostsNoAttempt(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	account := vars{"CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-none", "ANTHROPIC_API_KEY": ""}
	resets := sync.OnceValue(func() time.Time { return time.Now().Add(15 * time.Second).Truncate(time.Second) })
	fail := func(status int) func() messagesapi.Reply {
		return func() messagesapi.Reply { return messagesapi.Fail(status) }
	}
	for name, c := range sample.Cases(t, 1, map[string]struct {
		reply func() messagesapi.Reply
		env   vars
		code  string
	}{
		"used up":    {func() messagesapi.Reply { return messagesapi.UsageLimit(resets()) }, account, "usage_limit"},
		"too fast":   {fail(429), nil, "rate_limited"},
		"overloaded": {fail(529), nil, "overloaded"},
		"signed out": {fail(401), account, "signed_out"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := &atLimit{reply: c.reply}
			env := vars{"RETRY_BACKOFF": "600ms"}
			maps.Copy(env, c.env)
			n, _ := rig.RealClaude(t, env, limit.script)
			events := n.Listen(t, "userId=u1")
			first := n.Create(t, object{"userId": "u1"})
			record := awaitLimit(t, n, first)
			failure, _ := record["lastFailure"].(object)
			if record["status"] != "pending" || record["attempt"] != nil || failure["errorCode"] != c.code {
				t.Errorf("the job waits with %v", record)
			}
			until, err := time.Parse(time.RFC3339, fmt.Sprint(record["phaseUntil"]))
			if err != nil || c.code == "usage_limit" && !until.Equal(resets()) {
				t.Errorf("it waits until %v, want %v", record["phaseUntil"], resets())
			}

			second := n.Create(t, object{"userId": "u2"}) // must not be started during the limit
			ready := n.WantReady(t)
			if !strings.Contains(rig.JSON(ready), c.code) || !strings.Contains(rig.JSON(ready), "No job is started") {
				t.Errorf("/readyz says %v", ready)
			}
			if body := n.Metrics(t); !strings.Contains(body, `ringback_claude_limited{code="`+c.code+`"} 1`) {
				t.Errorf("/metrics says nothing of the limit")
			}
			limit.lifted.Store(true)
			must.Equal(t, 1, len(limit.conversations()), "jobs ran into the limit")
			for _, id := range []string{first, second} {
				if record := n.Await(t, id, "received"); record["attempt"] != nil {
					t.Errorf("it cost attempts: %v", record)
				}
			}
			told := fmt.Sprint(events.Until("recipes:suggestions:received"))
			if !strings.Contains(told, "waiting_for_limit") || !strings.Contains(told, c.code) || !strings.Contains(told, "phaseUntil") {
				t.Errorf("the user was told %s", told)
			}
			if ready := n.WantReady(t); ready["limits"] != nil {
				t.Errorf("afterwards /readyz says %v", ready)
			}
		})
	}
}
