package bench

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"ringback/internal/store"
	"ringback/test/must"
	"ringback/test/rig"
)

const (
	// lengthOfJobs is how long a job of a crowd takes, and workersOfCrowd how many run at once.
	lengthOfJobs   = time.Second
	workersOfCrowd = 4
	// promisedWait is the longest wait of 95 of 100 interactive jobs, whatever batch jobs wait.
	promisedWait = 2*lengthOfJobs/workersOfCrowd + time.Second
)

// waits measures how long interactive jobs wait for a worker while a crowd waits, too.
func (t *ratios) waits(b *testing.B) {
	const crowdKey, otherKey = "the-key-of-the-crowd", "the-key-of-others"
	users := func(n int, of func(string) bool) (all []string) {
		for i := 0; len(all) < n; i++ {
			if user := fmt.Sprint("crowd-", i); of(user) {
				all = append(all, user)
			}
		}
		return all
	}
	anyOf := func(string) bool { return true }
	inOne := func(user string) bool {
		h := fnv.New32a()
		h.Write([]byte(user))
		return h.Sum32()%store.Partitions == 3
	}
	for _, crowd := range []struct {
		name, priority string
		users          []string
		// by is the API key of the jobs that are measured, and every the time between two of them. A key has half
		// of the workers beside another that could use all.
		by    string
		every time.Duration
	}{
		{"400 users' batch jobs", "batch", users(400, anyOf), crowdKey, lengthOfJobs / 2},
		{"batch, 128 users of a partition", "batch", users(128, inOne), crowdKey, lengthOfJobs / 2},
		{"2,000 users' batch jobs", "batch", users(2000, anyOf), crowdKey, lengthOfJobs / 2},
		{"2,000 users of another API key", "interactive", users(2000, anyOf), otherKey, lengthOfJobs},
	} {
		n := rig.Start(b, vars{
			"REDIS_URL": rig.StartRedis(b).URL, "WORKERS": strconv.Itoa(workersOfCrowd), "LOG_LEVEL": "WARN", "CALLBACK_RATE": "100000",
			"CLAUDE_BIN": rig.Script(b, fmt.Sprint("sleep ", lengthOfJobs.Seconds(), "\nexec ", buildNoopCLI(b), "\n")),
			"API_KEYS":   crowdKey + "," + otherKey,
		})
		n.Key = crowdKey
		createAll(b, n, crowd.users, crowd.priority)
		n.Key = crowd.by
		waits := waitsOfOthers(b, n, 40, crowd.every)
		t.row("waits beside "+crowd.name, "p50", at(waits, 50), 0, "")
		t.row("", "p95", at(waits, 95), 0, fmt.Sprint(promisedWait.Milliseconds(), " ms"))
		t.row("", "longest", at(waits, 100), 0, "")
	}
}

// createAll creates a job of each user.
func createAll(b *testing.B, n *rig.Node, users []string, priority string) {
	b.Helper()
	var clients sync.WaitGroup
	for some := range slices.Chunk(users, (len(users)+7)/8) {
		clients.Go(func() {
			for _, user := range some {
				n.Create(b, object{"userId": user, "options": object{"priority": priority}})
			}
		})
	}
	clients.Wait()
}

// waitsOfOthers creates interactive jobs of different users, and returns in order how long each waited for a
// worker.
func waitsOfOthers(b *testing.B, n *rig.Node, jobs int, pause time.Duration) (waits []time.Duration) {
	b.Helper()
	created := map[string]time.Time{}
	every := time.NewTicker(pause)
	defer every.Stop()
	for i := range jobs {
		<-every.C
		begun := time.Now()
		created[n.Create(b, object{"userId": fmt.Sprint("other-", i), "options": object{"priority": "interactive"}})] = begun
	}
	patience := time.Now().Add(time.Minute)
	for id, begun := range created {
		started := time.Time{}
		for started.IsZero() && time.Now().Before(patience) {
			if started = startOf(b, n, id); started.IsZero() {
				<-every.C
			}
		}
		if started.IsZero() { // it still waits
			started = time.Now()
		}
		waits = append(waits, started.Sub(begun))
	}
	slices.Sort(waits)
	return waits
}

// startOf returns when the CLI of a job was started; zero if it was not.
func startOf(b *testing.B, n *rig.Node, id string) time.Time {
	b.Helper()
	for _, e := range n.StoredEvents(b, id, "") {
		if message, ok := e["data"].(map[string]any)["message"].(string); ok {
			return time.UnixMicro(must.Get(strconv.ParseInt(message, 10, 64))(b)).Add(-lengthOfJobs)
		}
	}
	return time.Time{}
}
