package machines

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringback/internal/store"
	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// replicated is a store with a replica of the users' partition.
type replicated struct {
	url string
	// servers returns the current primary of that partition and its replica.
	servers func(t testing.TB) (primary, replica *harness.RedisServer)
	// promoted waits until a replica has replaced its primary.
	promoted func(t testing.TB, replica *harness.RedisServer)
}

func sentinelWithReplica(t testing.TB) replicated {
	g := harness.StartSentinel(t)
	return replicated{
		url: g.URL,
		servers: func(t testing.TB) (primary, replica *harness.RedisServer) {
			g.AwaitReplica(t)
			primary = g.Primary(t)
			return primary, g.Other(primary)
		},
		promoted: func(t testing.TB, replica *harness.RedisServer) {
			must.Eventually(t, "the replica to be promoted", func() bool { return g.Primary(t) == replica })
		},
	}
}

func clusterWithReplicas(t testing.TB) replicated {
	c := harness.StartCluster(t, 1)
	return replicated{
		url: c.URL,
		servers: func(t testing.TB) (primary, replica *harness.RedisServer) {
			c.AwaitWhole(t, 1)
			primary = primaryOf(t, c)
			return primary, c.ReplicasOf(t, primary)[0]
		},
		promoted: func(t testing.TB, replica *harness.RedisServer) {
			client := replica.Client()
			defer client.Close()
			must.Eventually(t, "the replica to be promoted", func() bool { return !harness.RoleOf(t, client).Replica })
		},
	}
}

// primaryOf returns the server that has the users' partition.
func primaryOf(t testing.TB, c *harness.Cluster) (found *harness.RedisServer) {
	t.Helper()
	for _, r := range c.Primaries(t) {
		client := r.Client()
		if client.Exists(t.Context(), pastPrefix+":latest").Err() == nil {
			found = r
		}
		client.Close()
	}
	return found
}

// unconfirmedFor is how long servers of these tests wait for a replica. A replica that is
// available responds sooner, even on a busy machine.
const unconfirmedFor = 3 * time.Second

// unconfirmed sends a request that replicas must confirm, while they cannot.
func unconfirmed(t testing.TB, n *rig.Node, path string, body object) {
	t.Helper()
	begun := time.Now()
	status, answer := n.Do(t, "POST", path, body)
	if said := rig.JSON(answer); status != http.StatusServiceUnavailable || !strings.Contains(said, fmt.Sprintf("only 0 of 1 replicas confirmed it within %s", unconfirmedFor)) || !strings.Contains(said, "Before anything else, look at the job: it may have been done.") {
		t.Errorf("%s without a replica is answered %d %s", path, status, said)
	}
	if took := time.Since(begun); took < unconfirmedFor {
		t.Errorf("%s waited for %s only", path, took)
	}
}

// A result is answered with 200 only once a replica has it, so it is there when that
// replica takes over.
func TestAResultWaitsForReplicas(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	for name, start := range map[string]func(testing.TB) replicated{"Sentinel": sentinelWithReplica, "Cluster": clusterWithReplicas} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			env := vars{"REDIS_URL": r.url, "REDIS_WAIT": "1", "REDIS_WAIT_TIMEOUT": unconfirmedFor.String()}
			n, users := rig.Start(t, env), inPartition(pastPartition, 3)
			var ids []string
			var envelopes []object
			for _, user := range users {
				id, envelope := n.Manual(t, object{"userId": user, "kind": "meal-suggestions", "input": rig.MealInput()})
				ids, envelopes = append(ids, id), append(envelopes, envelope)
			}
			const path = "/api/claude/suggestions"
			n.Want(t, http.StatusOK, "POST", path, rig.With(envelopes[0], rig.MealResult("Soup")))

			primary, replica := r.servers(t)
			standing := primary.Client()
			defer standing.Close()
			must.OK(t, standing.HSet(t.Context(), fmt.Sprintf("rb:{%02x}:standing:%s", pastPartition, users[0]), "a1", rig.JSON(object{"id": "a1", "userId": users[0], "rule": "Bash", "createdAt": "2026-01-01T00:00:00Z"})).Err())
			_ = replica.Cmd.Process.Signal(syscall.SIGSTOP)
			soup, pie := rig.With(envelopes[0], rig.MealResult("Soup")), rig.With(envelopes[1], rig.MealResult("Pie"))
			unconfirmed(t, n, path, pie)
			unconfirmed(t, n, path, pie)  // stored, but not yet acknowledged
			unconfirmed(t, n, path, soup) // the earlier confirmation is not known
			unconfirmed(t, n, "/api/jobs", object{"userId": users[0], "kind": "meal-suggestions", "input": rig.MealInput(), "idempotencyKey": "once"})
			n.Want(t, http.StatusOK, "POST", "/api/claude/progress", rig.With(envelopes[2], object{"message": "Cooking"})) // may be lost
			unconfirmed(t, n, "/api/jobs/"+ids[2]+"/cancel", object{})
			revoke := func() int {
				status, _ := n.Do(t, "DELETE", "/api/approvals/a1?userId="+users[0], nil)
				return status
			}
			for range 2 { // it is gone after the first, which was not confirmed
				must.Equal(t, http.StatusServiceUnavailable, revoke(), "revoking an approval without a replica is answered")
			}
			_ = replica.Cmd.Process.Signal(syscall.SIGCONT)
			must.Eventually(t, "the result to be confirmed", func() bool { status, _ := n.Do(t, "POST", path, pie); return status == http.StatusOK })
			must.Equal(t, http.StatusNotFound, revoke(), "revoking what is gone is answered")

			primary.Kill()
			r.promoted(t, replica)
			for i, dish := range []string{"Soup", "Pie"} {
				var record object
				must.Eventually(t, "the promoted replica to answer", func() bool {
					status, answer := n.Do(t, "GET", "/api/jobs/"+ids[i], nil)
					record = answer
					return status == http.StatusOK
				})
				if got := rig.JSON(record); record["status"] != "received" || !strings.Contains(got, dish) {
					t.Errorf("the result with %s is lost: %s", dish, got)
				}
			}
			primary.Start(t) // as a replica
			must.Eventually(t, "what was asked for once to be confirmed", func() bool {
				status, _ := n.Do(t, "POST", "/api/jobs", object{"userId": users[0], "kind": "meal-suggestions", "input": rig.MealInput(), "idempotencyKey": "once"})
				return status == http.StatusAccepted
			})
			if left := n.Want(t, http.StatusOK, "GET", "/api/approvals?userId="+users[0], nil)["approvals"].([]any); len(left) != 0 {
				t.Errorf("what was revoked stands again: %v", left)
			}
			must.Equal(t, 2, len(n.Want(t, http.StatusOK, "GET", "/api/jobs?userId="+users[0], nil)["jobs"].([]any)), "jobs, want the two that were asked for")
		})
	}
}

// A setting that could never be satisfied is rejected at the start, and reported at run
// time.
func TestReplicasThatAreMissingAreSaid(t *testing.T) {
	t.Parallel()
	r, other := rig.StartRedis(t), rig.StartRedis(t)
	for name, c := range map[string]struct {
		env  vars
		says string
	}{
		"no replica":         {vars{"REDIS_URL": r.URL, "REDIS_WAIT": "1"}, "has 0 replicas in step, and REDIS_WAIT=1 waits for more"},
		"no right to wait":   {vars{"REDIS_URL": other.Restricted(t, store.Rights()...), "REDIS_WAIT": "1"}, "does not grant this user required permissions: give it +wait (ACL SETUSER)"},
		"the embedded Redis": {vars{"REDIS_URL": "", "REDIS_WAIT": "2"}, "REDIS_WAIT 2: the embedded Redis has no replicas"},
		"no number":          {vars{"REDIS_URL": r.URL, "REDIS_WAIT": "-1"}, "REDIS_WAIT -1: expected 0 to 100 replicas"},
		"no time":            {vars{"REDIS_URL": r.URL, "REDIS_WAIT_TIMEOUT": "0s"}, "REDIS_WAIT_TIMEOUT 0s: expected 10ms to 1m"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, command := range []string{"serve", "check"} {
				env := vars{"LISTEN_ADDR": "127.0.0.1:0", "CLAUDE_BIN": "simulate", "SANDBOX": "off"}
				maps.Copy(env, c.env)
				if code, out, _ := rig.Ringback(t, env, command); code == 0 || !strings.Contains(out, c.says) {
					t.Errorf("%s ended with %d: %s", command, code, out)
				}
			}
		})
	}
}

func TestAReplicaThatGoesIsSaid(t *testing.T) {
	t.Parallel()
	g := harness.StartSentinel(t)
	n := rig.Start(t, vars{"REDIS_URL": g.URL, "REDIS_WAIT": "1"})
	n.WantReady(t)
	replica := g.Other(g.Primary(t))
	replica.Kill()
	must.Eventually(t, "the server to say so", func() bool {
		status, answer := n.Ready(t)
		return status == http.StatusServiceUnavailable && strings.Contains(rig.JSON(answer), "the store has 0 replicas in step, and REDIS_WAIT=1 waits for more")
	})
	replica.Start(t)
	must.Eventually(t, "the server to be ready again", func() bool { status, _ := n.Ready(t); return status == http.StatusOK })
}
