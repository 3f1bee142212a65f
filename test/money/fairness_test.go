package money

import (
	"fmt"
	"testing"
	"time"

	"ringback/test/must"
	"ringback/test/rig"
)

// While two users flood the only worker, any other user waits for the running turn and for
// one job of each of them, in whatever partition the users are.
func TestAQuietUserWaitsForOneJobOfEachOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := rig.Start(t, vars{"WORKERS": "1", "CLAUDE_BIN": rig.PatientCLI(t, dir)})
	noisy := []string{"noisy-1", "noisy-2"}
	for range 25 {
		for _, user := range noisy {
			n.Create(t, object{"userId": user})
		}
	}
	rig.Release(t, dir)
	var quiet []object
	for i := range 5 { // in about five partitions
		quiet = append(quiet, n.Await(t, n.Create(t, object{"userId": fmt.Sprint("quiet-", i)}), "received"))
	}
	ended := map[time.Time]bool{}
	for _, user := range noisy {
		for _, one := range n.Want(t, 200, "GET", "/api/jobs?limit=500&status=received&userId="+user, nil)["jobs"].([]any) {
			ended[timeIn(t, one.(object), "finishedAt")] = true
		}
	}
	for _, j := range quiet {
		before := 0
		for at := range ended {
			if at.After(timeIn(t, j, "createdAt")) && at.Before(timeIn(t, j, "finishedAt")) {
				before++
			}
		}
		if before > 1+len(noisy) {
			t.Errorf("%v waited for %d jobs of others", j["userId"], before)
		}
	}
	if len(ended) > 25 {
		t.Errorf("%d jobs of the noisy users have ended: there was no flood", len(ended))
	}
}

// An interactive job waits for no batch job but the one that runs, and a job of one API key for one of each other
// key, in whatever partition their users are.
func TestACrowdDelaysNobodyElse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ crowd, other, priority string }{
		"batch jobs of many users": {"the-key-of-the-crowd", "the-key-of-the-crowd", "batch"},
		"many users of one key":    {"the-key-of-the-crowd", "the-key-of-others", "interactive"},
	} {
		dir := t.TempDir()
		n := rig.Start(t, vars{"WORKERS": "1", "CLAUDE_BIN": rig.PatientCLI(t, dir), "API_KEYS": "the-key-of-the-crowd,the-key-of-others"})
		n.Key = c.crowd
		var crowd []string
		for i := range 40 {
			crowd = append(crowd, n.Create(t, object{"userId": fmt.Sprint("crowd-", i), "options": object{"priority": c.priority}}))
		}
		rig.Release(t, dir)
		n.Key = c.other
		j := n.Await(t, n.Create(t, object{"userId": "other"}), "received")
		before := 0
		for _, id := range crowd {
			if one := n.Want(t, 200, "GET", "/api/jobs/"+id, nil); one["status"] == "received" {
				at := timeIn(t, one, "finishedAt")
				if at.After(timeIn(t, j, "createdAt")) && at.Before(timeIn(t, j, "finishedAt")) {
					before++
				}
			}
		}
		if before > 2 {
			t.Errorf("%s: another's job waited for %d of them", name, before)
		}
	}
}

func timeIn(t *testing.T, record object, field string) time.Time {
	t.Helper()
	return must.Get(time.Parse(time.RFC3339Nano, fmt.Sprint(record[field])))(t)
}
