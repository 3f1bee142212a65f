package machines

import (
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

// Two versions with different store formats must not use the store at the same time.
func TestVersionsThatDoNotGoTogetherDoNotRunTogether(t *testing.T) {
	t.Parallel()
	store := rig.StartRedis(t)
	client := store.Client()
	defer client.Close()
	ctx := t.Context()
	alive := func(key, member string) {
		t.Helper()
		must.OK(t, client.ZAdd(ctx, key, redis.Z{Score: float64(time.Now().Add(time.Hour).UnixMilli()), Member: member}).Err())
	}
	env := vars{"REDIS_URL": store.URL, "NODE_TIMEOUT": "2s", "CLAUDE_BIN": "simulate"}
	refused := func(naming string) {
		t.Helper()
		serve := exec.CommandContext(ctx, harness.Binary(), "serve")
		serve.Env = append(serve.Environ(), "LISTEN_ADDR=127.0.0.1:0", "DATA_DIR="+t.TempDir(), "REDIS_URL="+store.URL, "CLAUDE_BIN=simulate")
		said, err := serve.CombinedOutput()
		if err == nil || !strings.Contains(string(said), naming) {
			t.Errorf("a server beside one of another format says %s, %v", said, err)
		}
	}
	alive("rb:{00}:servers", "3 shop-1 at 10.0.0.1:3001")
	refused("in format 3")
	client.Del(ctx, "rb:{00}:servers")
	alive("rb:{00}:servers", "99 shop-2 at 10.0.0.1:3001")
	refused("in format 99")
	client.Del(ctx, "rb:{00}:servers")

	// Any number of nodes of the same version may run, and one that stops leaves nothing
	// behind.
	first, second := rig.Start(t, env), rig.Start(t, env, "--role", "api")
	if known, err := client.ZCard(ctx, "rb:{00}:servers").Result(); err != nil || known != 2 {
		t.Errorf("%d servers are known, %v", known, err)
	}
	second.Stop(t, syscall.SIGTERM)
	if known, err := client.ZCard(ctx, "rb:{00}:servers").Result(); err != nil || known != 1 {
		t.Errorf("%d servers are known once one has stopped, %v", known, err)
	}

	// A node that was silent while a newer version took over the store ends itself.
	id := first.Create(t, object{"userId": "u1"})
	first.Await(t, id, "received")
	if status, _ := first.Ready(t); status != http.StatusOK {
		t.Errorf("/readyz answered %d", status)
	}
	client.Set(ctx, "rb:{00}:format", 99, 0)
	first.AwaitExit(t)
	if said := first.Log.String(); !strings.Contains(said, "its format is 99") && !strings.Contains(said, "in format 99") {
		t.Errorf("it ends without saying why: %s", said)
	}
}
