package test

import (
	"os"
	"os/exec"
	"testing"

	"ringback/test/harness"
)

func TestRedisCluster(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("redis-cli"); err != nil && os.Getenv("CI") == "" {
		t.Skip("redis-cli is not installed: run make deps")
	}
	url := harness.StartCluster(t, 0).URL
	one := startNode(t, vars{"REDIS_URL": url})
	two := startNode(t, vars{"REDIS_URL": url}, "--role", "api")
	for _, user := range []string{"a", "b", "c", "d", "e", "f"} { // on different partitions
		events := two.listen(t, "userId="+user)
		id := two.create(t, object{"userId": user})
		if got := names(events.until("recipes:suggestions:received")); len(got) != 6 {
			t.Errorf("user %s heard %v", user, got)
		}
		one.await(t, id, "received")
	}
	if got := len(one.want(t, 200, "GET", "/api/jobs", nil)["jobs"].([]any)); got != 6 {
		t.Errorf("%d jobs are listed, want 6", got)
	}
	_, envelope := one.manual(t, object{"userId": "z"})
	two.want(t, 200, "POST", "/api/claude/suggestions/batch", with(envelope, object{"batch": 1, "suggestions": mealResult("Soup")["suggestions"]}))
	two.want(t, 200, "POST", "/api/claude/suggestions/batch", with(envelope, with(mealResult("Pie"), object{"batch": 2, "final": true})))
}
