package machines

import (
	"strings"
	"testing"
	"time"

	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// Redis' clock jumps by more than all timeouts, as after a failover to a host whose clock
// differs. Nothing becomes due too early or too late, and no node counts as lost.
func TestAJumpOfRedisClockChangesNothing(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	for name, jump := range map[string]time.Duration{"ahead": 10 * time.Minute, "back": -10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis := rig.StartRedis(t)
			redis.Kill()
			redis.MoveClock(t, 0)
			redis.Start(t)
			dir := t.TempDir()
			env := vars{
				"REDIS_URL": redis.URL, "CLAUDE_BIN": rig.PatientCLI(t, dir), "NODE_TIMEOUT": "2s",
				"PROMPTS_DIR": rig.KindsDir(t, "brief.md", "---\ntimeout: 6s\n---\nBe quick."),
			}
			nodes := []*rig.Node{rig.Start(t, env), rig.Start(t, env)}
			id := nodes[0].Create(t, object{"userId": "u1"})
			must.Eventually(t, "the CLI to start", func() bool { return len(starts(dir)) == 1 })
			_, envelope := nodes[0].Manual(t, object{"userId": "u2"})
			begun := time.Now()
			brief, _ := nodes[0].Manual(t, object{"userId": "u3", "kind": "brief"})
			redis.MoveClock(t, jump)

			progress := object{"message": "Working", "progress": 10}
			nodes[1].Want(t, 200, "POST", "/api/claude/progress", rig.With(envelope, progress))
			record := nodes[1].Await(t, brief, "expired")
			if waited := time.Since(begun); waited < 5*time.Second || waited > 45*time.Second {
				t.Errorf("a deadline of 6 s passed after %s", waited)
			}
			if created, err := time.Parse(time.RFC3339, record["createdAt"].(string)); err != nil || time.Since(created) > time.Minute {
				t.Errorf("the job was created at %s, %v", created, err)
			}
			must.Eventually(t, "a node to say so", func() bool {
				return strings.Contains(nodes[0].Log.String()+nodes[1].Log.String(), "Redis clock jumped")
			})
			nodes[1].Want(t, 200, "POST", "/api/claude/suggestions", rig.With(envelope, rig.MealResult("Soup")))
			rig.Release(t, dir)
			if record := nodes[0].Await(t, id, "received"); record["turn"] != 1.0 || record["attempt"] != nil {
				t.Errorf("it took %v turns, attempt %v", record["turn"], record["attempt"])
			}
			// What starts after the jump uses the same time.
			must.Equal(t, 1.0, nodes[1].Await(t, nodes[0].Create(t, object{"userId": "u1"}), "received")["turn"], "a job that came after the jump took more than one turn")
		})
	}
}
