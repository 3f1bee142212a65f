package machines

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/internal/store"
	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
	"ringback/test/scan"
)

func TestAnUnfitRedisIsRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	forgetting, replica, poor := rig.StartRedis(t), rig.StartRedis(t), rig.StartRedis(t)
	forgetting.Do(t, "config", "set", "maxmemory-policy", "allkeys-lru")
	replica.Do(t, "replicaof", "127.0.0.1", "1")
	rights := strings.Fields(strings.ReplaceAll(strings.Join(store.Rights(), " "), "+hset ", ""))
	cluster, _, _ := strings.Cut(harness.StartCluster(t, 0).URL, ",")
	for name, c := range map[string]struct{ url, says string }{
		"one that forgets":        {forgetting.URL, "may forget jobs when its memory is full (maxmemory-policy allkeys-lru): set it to noeviction"},
		"a replica":               {replica.URL, "is a replica, which takes no writes: name its primary, or use ?master_name="},
		"a user without a right":  {poor.Restricted(t, rights...), "does not grant this user required permissions: give it +hset (ACL SETUSER)"},
		"a database, not allowed": {poor.Restricted(t) + "/1", "does not grant this user required permissions: give it +select (ACL SETUSER)"},
		"a wrong password":        {strings.Replace(poor.URL, "default:", "default:not-", 1), "rejects this user (WRONGPASS): correct user and password in REDIS_URL"},
		"one server of a Cluster": {cluster, "is one server of a Cluster: name several in REDIS_URL, separated by commas"},
		"several, but no Cluster": {poor.URL + "," + "127.0.0.1:" + poor.Port, "is not a Cluster, but REDIS_URL has several hosts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, command := range []string{"serve", "check"} {
				code, out, _ := rig.Ringback(t, vars{"REDIS_URL": c.url, "LISTEN_ADDR": "127.0.0.1:0", "CLAUDE_BIN": "simulate", "SANDBOX": "off"}, command)
				if code != 1 || !strings.Contains(out, "REDIS_URL: the Redis at 127.0.0.1:") || !strings.Contains(out, c.says) {
					t.Errorf("%s ended with %d: %s", command, code, out)
				}
				must.NotContain(t, out, scan.RedisPassword, command, "shows the password")
			}
		})
	}
}

// retryAfter sends a request and returns the response's Retry-After.
func retryAfter(t testing.TB, n *rig.Node, path string, body object) (status int, after string) {
	t.Helper()
	resp := must.Get(http.Post(n.URL+path, "application/json", strings.NewReader(rig.JSON(body))))(t)
	defer resp.Body.Close()
	return resp.StatusCode, resp.Header.Get("Retry-After")
}

// A setting that was correct at the start can be changed later.
func TestARedisThatIsChangedWhileItRunsIsSaid(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	r := rig.StartRedis(t)
	n := rig.Start(t, vars{"REDIS_URL": r.Restricted(t, append(store.Rights(), "+info")...)})
	n.WantReady(t)
	for _, c := range []struct {
		spoil, mend []string
		says        string
	}{
		{[]string{"config", "set", "maxmemory-policy", "volatile-lru"}, []string{"config", "set", "maxmemory-policy", "noeviction"}, "the store may forget jobs"},
		{[]string{"acl", "setuser", "ringback", "-evalsha"}, []string{"acl", "setuser", "ringback", "+evalsha"}, "give it +evalsha"},
		{[]string{"config", "set", "min-replicas-to-write", "1"}, []string{"config", "set", "min-replicas-to-write", "0"}, "the store cannot be used: NOREPLICAS"},
		{[]string{"replicaof", "127.0.0.1", "1"}, []string{"replicaof", "no", "one"}, "the store is a replica"},
	} {
		r.Do(t, c.spoil...)
		must.Eventually(t, "the server to say: "+c.says, func() bool {
			status, answer := n.Ready(t)
			return status == http.StatusServiceUnavailable && strings.Contains(rig.JSON(answer), c.says)
		})
		r.Do(t, c.mend...)
		must.Eventually(t, "the server to be ready again", func() bool { status, _ := n.Ready(t); return status == http.StatusOK })
	}
	must.Equal(t, 3, strings.Count(n.Log.String(), "store unfit: a restart of this server would fail"), "three faults are logged … times")
	r.Do(t, "config", "set", "appendonly", "no")
	must.Eventually(t, "the server to warn", func() bool {
		return strings.Contains(rig.JSON(n.WantReady(t)), "the store keeps no append-only file")
	})
	r.Do(t, "config", "set", "appendonly", "yes")
}

// A Redis that cannot save rejects writes: clients retry.
func TestARedisWhoseDiskFailsIsAnsweredFor(t *testing.T) {
	t.Parallel()
	r := rig.StartRedis(t)
	n := rig.Start(t, vars{"REDIS_URL": r.URL})
	id, envelope := n.Manual(t, object{"kind": "meal-suggestions", "input": rig.MealInput(), "userId": "u1"})
	inTheWay := filepath.Join(r.Dir, "dump.rdb")
	must.OK(t, os.Mkdir(inTheWay, 0o700))
	r.Do(t, "config", "set", "save", "3600 100000")
	r.Do(t, "bgsave")
	must.Eventually(t, "a new job to be refused for now", func() bool {
		status, _ := n.Do(t, "POST", "/api/suggestions?userId=u2", rig.MealInput())
		return status == http.StatusServiceUnavailable
	})
	for path, body := range map[string]object{
		"/api/claude/suggestions":     rig.With(envelope, rig.MealResult("Soup")),
		"/api/claude/progress":        rig.With(envelope, object{"message": "Cooking"}),
		"/api/jobs/" + id + "/cancel": {},
	} {
		if status, after := retryAfter(t, n, path, body); status != http.StatusServiceUnavailable || after == "" {
			t.Errorf("%s is answered with %d, Retry-After %q", path, status, after)
		}
	}
	must.Eventually(t, "the server not to be ready", func() bool {
		_, answer := n.Ready(t)
		return strings.Contains(rig.JSON(answer), "MISCONF")
	})
	must.OK(t, os.Remove(inTheWay))
	r.Do(t, "bgsave")
	must.Eventually(t, "the result to be taken", func() bool {
		status, _ := n.Do(t, "POST", "/api/claude/suggestions", rig.With(envelope, rig.MealResult("Soup")))
		return status == http.StatusOK
	})
	n.Await(t, id, "received")
	n.Create(t, object{"userId": "u2"})
}
