package test

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/store"
)

// usersOfOnePartition returns users who share a partition.
func usersOfOnePartition(n int) []string {
	var s store.Store // it only names
	var users []string
	first := store.PartitionOf(job.ID(s.NewID(job.JobIDs, "user-0")))
	for i := 0; len(users) < n; i++ {
		user := fmt.Sprint("user-", i)
		if store.PartitionOf(job.ID(s.NewID(job.JobIDs, user))) == first {
			users = append(users, user)
		}
	}
	return users
}

// TestNoisyUsersDelayOnlyThemselves queues 100 jobs of each of two users, and then one of a third
// in the same partition: it is received before many more of the others' have begun.
func TestNoisyUsersDelayOnlyThemselves(t *testing.T) {
	t.Parallel()
	cli := filepath.Join(t.TempDir(), "noopcli")
	if out, err := exec.Command("go", "build", "-o", cli, "ringback/test/noopcli").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	onEachStore(t, func(t *testing.T, env vars) {
		maps.Copy(env, vars{"CLAUDE_BIN": cli, "WORKERS": "2", "USER_LIMIT": "2", "CALLBACK_RATE": "100000"})
		n := startNode(t, env)
		users := usersOfOnePartition(3)
		for i := range 200 {
			n.create(t, object{"userId": users[i%2]})
		}
		only := n.create(t, object{"userId": users[2]})
		n.await(t, only, "received")
		record := n.want(t, 200, "GET", "/api/jobs/"+only, nil)
		from, to := timeOf(t, record, "createdAt"), timeOf(t, record, "finishedAt")
		ended := 0
		for _, user := range users[:2] {
			for _, j := range n.want(t, 200, "GET", "/api/jobs?limit=100&userId="+user, nil)["jobs"].([]any) {
				if j := j.(object); j["finishedAt"] != nil && timeOf(t, j, "finishedAt").After(from) && timeOf(t, j, "finishedAt").Before(to) {
					ended++
				}
			}
		}
		if ended > 12 { // each worker's, twice the two users' turns, and what ends while the job runs
			t.Errorf("%d jobs of others ended before it was received", ended)
		}
	})
}

func timeOf(t *testing.T, record object, field string) time.Time {
	t.Helper()
	text, _ := record[field].(string)
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
