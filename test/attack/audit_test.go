package attack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/client"
	"ringback/internal/job"
	"ringback/test/harness"
	"ringback/test/must"
)

// audited is a job whose audit log is in a Redis that the test can write to.
type audited struct {
	t        *testing.T
	s        *harness.Server
	rdb      *redis.Client
	id       string
	envelope harness.Object
	log, rec string // the keys of the log and of the job's record
}

const deployKind = `---
actions:
  - name: deploy
    title: Deploy
    question: 'Deploy "{{input.name}}"?'
    input: {type: object, required: [name], properties: {name: {type: string}}}
    yes: {label: 'Yes', message: 'Yes.'}
    no: {label: 'No', message: 'No.'}
    command: ['true']
---
Deploy.`

func startAudited(t *testing.T, env harness.Vars) *audited {
	t.Helper()
	a := &audited{t: t}
	var url string
	url, a.rdb = harness.Redis(t)
	kinds := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(kinds, "gated.md"), []byte(deployKind), 0o600))
	all := harness.Vars{"REDIS_URL": url, "PROMPTS_DIR": kinds, "HOLD": "0s"}
	maps.Copy(all, env)
	a.s = harness.Start(t, all, nil)
	a.id, a.envelope = a.s.Manual(t, nil, harness.Object{"kind": "gated", "input": harness.Object{}, "userId": "u1", "sessionId": "s1"})
	a.findKeys()
	return a
}

// another returns another job on the same server.
func (a *audited) another() *audited {
	a.t.Helper()
	b := *a
	b.id, b.envelope = a.s.Manual(a.t, nil, harness.Object{"kind": "gated", "input": harness.Object{}, "userId": "u1"})
	b.findKeys()
	return &b
}

func (a *audited) findKeys() {
	a.t.Helper()
	records, err := a.rdb.Keys(a.t.Context(), "*:job:"+a.id).Result()
	if err != nil || len(records) != 1 {
		a.t.Fatalf("the job's record is in %v (%v)", records, err)
	}
	a.rec, a.log = records[0], strings.Replace(records[0], ":job:", ":audit:", 1)
}

// deploy makes an action be asked for, approved and run: four entries of the log.
func (a *audited) deploy(name string) {
	a.t.Helper()
	call := harness.Object{"input": harness.Object{"name": name}}
	maps.Copy(call, a.envelope)
	action := harness.Request{Method: "POST", Path: "/api/claude/actions/deploy", Body: call}
	a.s.Want(a.t, 200, action)
	asked := a.s.Want(a.t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + a.id})
	checkpoint, _ := asked["checkpoint"].(map[string]any)
	id, _ := checkpoint["id"].(string)
	a.s.Want(a.t, 200, harness.Request{Method: "POST", Path: "/api/checkpoints/" + id + "/reply", Body: harness.Object{"decision": "approve"}})
	harness.Eventually(a.t, "the job to go on", func() bool {
		return a.s.Want(a.t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + a.id})["status"] == "running"
	})
	call["confirmed"] = true
	values := a.s.Want(a.t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + a.id + "/callback"})
	call["hmac"] = values["hmac"]
	if done := a.s.Want(a.t, 200, action); done["status"] != "success" {
		a.t.Fatalf("the action did not run: %v", done)
	}
	a.envelope["hmac"] = values["hmac"]
}

// verify runs ringback audit --verify and returns its output, and whether the log is
// intact.
func (a *audited) verify(args ...string) (string, bool) {
	a.t.Helper()
	cmd := exec.Command(harness.Binary(), append([]string{"audit", a.id, "--verify", "--server", a.s.URL}, args...)...)
	cmd.Env = []string{"HOME=" + a.t.TempDir(), "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// faults returns what verifying reports, without starting a process each time.
func (a *audited) faults() string {
	a.t.Helper()
	c := client.New(a.s.URL)
	log, err := c.Audit(a.t.Context(), job.ID(a.id))
	must.OK(a.t, err)
	j := must.Get(c.Get(a.t.Context(), job.ID(a.id)))(a.t)
	return fmt.Sprint(job.VerifyAudit(j.Value, log.Entries(), log.Head, "").Faults)
}

func (a *audited) entries() []string {
	a.t.Helper()
	texts, err := a.rdb.LRange(a.t.Context(), a.log, 0, -1).Result()
	must.OK(a.t, err)
	return texts
}

// store replaces the log.
func (a *audited) store(entries []string) {
	a.t.Helper()
	must.OK(a.t, a.rdb.Del(a.t.Context(), a.log).Err())
	for _, text := range entries {
		must.OK(a.t, a.rdb.RPush(a.t.Context(), a.log, text).Err())
	}
}

func (a *audited) setHead(head string) {
	a.t.Helper()
	var err error
	if head == "" {
		err = a.rdb.HDel(a.t.Context(), a.rec, "auditHead").Err()
	} else {
		err = a.rdb.HSet(a.t.Context(), a.rec, "auditHead", head).Err()
	}
	must.OK(a.t, err)
}

// rechained recomputes the digests of a log, as an attacker would who knows how.
func rechained(t *testing.T, entries []string) ([]string, string) {
	t.Helper()
	head := new(job.AuditHead)
	var out []string
	for _, text := range entries {
		var e job.AuditEntry
		must.OK(t, json.Unmarshal([]byte(text), &e))
		entry, next, err := head.Append(e, e.Origin)
		must.OK(t, err)
		out, head = append(out, string(entry)), next
	}
	text, err := json.Marshal(head)
	must.OK(t, err)
	return out, string(text)
}

// An attacker with write access to Redis cannot change recorded decisions without
// detection.
func TestAuditLogsThatWereTamperedWith(t *testing.T) {
	t.Parallel()
	a := startAudited(t, nil)
	a.deploy("one & <only>")
	a.deploy("two")
	whole := a.entries()
	if len(whole) != 8 {
		t.Fatalf("the log has %d entries: %v", len(whole), whole)
	}
	head, err := a.rdb.HGet(t.Context(), a.rec, "auditHead").Result()
	must.OK(t, err)
	if said, ok := a.verify(); !ok || !strings.Contains(said, "Entries: 8") {
		t.Fatalf("of a log that nobody touched it is said: %s", said)
	}

	edit := func(i int, from, to string) func([]string) []string {
		return func(log []string) []string {
			if !strings.Contains(log[i], from) {
				t.Errorf("entry %d does not hold %s: %s", i+1, from, log[i])
			}
			log[i] = strings.Replace(log[i], from, to, 1)
			return log
		}
	}
	foreign := `{"time":"2026-03-01T10:00:02Z","requestId":"` + a.id + `","event":"approve","by":{"userId":"u1","via":"api"}}`
	partly := func(log []string, from int) []string {
		out, _ := rechained(t, log[from:])
		return append(log[:from:from], out...)
	}
	for name, c := range map[string]struct {
		change func(log []string) []string
		says   string
	}{
		"who decided":                                {edit(1, `"via":"api"`, `"via":"slack"`), "entry 3"},
		"what was allowed":                           {edit(1, `"event":"approve"`, `"event":"deny"`), "entry 3"},
		"the input":                                  {edit(0, `only`, `many`), "entry 2"},
		"a space more":                               {edit(4, `{"previous"`, `{ "previous"`), "entry 6"},
		"the same in another spelling":               {edit(0, `\u0026`, `&`), "entry 2"},
		"a field twice":                              {edit(2, `{`, `{"event":"nothing",`), "entry 4"},
		"a field of another case":                    {edit(2, `"event"`, `"Event"`), "entry 4"},
		"the last one":                               {edit(7, `"outcome":"success"`, `"outcome":"error"`), "entry 8"},
		"the last one's past":                        {edit(7, `"previous":"`, `"previous":"0`), "entry 8"},
		"no JSON any more":                           {edit(3, `{`, ``), "entry 4"},
		"the first is gone":                          {func(log []string) []string { return log[1:] }, "beginning"},
		"the second is gone":                         {func(log []string) []string { return slices.Delete(log, 1, 2) }, "8 entries were written, 7 are here"},
		"one in the middle is gone":                  {func(log []string) []string { return slices.Delete(log, 4, 5) }, "entry 5"},
		"the last is gone":                           {func(log []string) []string { return log[:7] }, "8 entries were written, 7 are here"},
		"the second half is gone":                    {func(log []string) []string { return log[:4] }, "8 entries were written, 4 are here"},
		"all are gone":                               {func([]string) []string { return nil }, "8 entries were written, 0 are here"},
		"two have changed places":                    {func(log []string) []string { log[1], log[2] = log[2], log[1]; return log }, "entry 2"},
		"the last two have changed places":           {func(log []string) []string { log[6], log[7] = log[7], log[6]; return log }, "entry 8"},
		"the order is turned round":                  {func(log []string) []string { slices.Reverse(log); return log }, "entry 8"},
		"the runs have changed places":               {func(log []string) []string { return append(log[4:], log[:4]...) }, "entry 5"},
		"one stands twice":                           {func(log []string) []string { return slices.Insert(log, 2, log[1]) }, "entry 3"},
		"a foreign one at the front":                 {func(log []string) []string { return slices.Insert(log, 0, foreign) }, "entry 2"},
		"a foreign one in the middle":                {func(log []string) []string { return slices.Insert(log, 3, foreign) }, "entry 4"},
		"a foreign one at the end":                   {func(log []string) []string { return append(log, foreign) }, "entry 9"},
		"one of the second run in the first's place": {func(log []string) []string { log[1] = log[5]; return log }, "entry 2"},
		"the end chained anew":                       {func(log []string) []string { return partly(edit(5, `approve`, `deny`)(log), 5) }, "entry 6"},
		"all chained anew": {func(log []string) []string {
			out, _ := rechained(t, edit(5, `approve`, `deny`)(log))
			return out
		}, "entry 8"},
		"one that follows nothing known": {edit(1, `"previous":"`, `"previous":"unknown","was":"`), "entry 3"},
		"the first half without digests": {func(log []string) []string {
			for i := range 4 {
				log[i] = `{"was` + strings.TrimPrefix(log[i], `{"previous`)
			}
			return log
		}, "entry 2"},
	} {
		a.store(c.change(slices.Clone(whole)))
		if said := a.faults(); !strings.Contains(said, c.says) {
			t.Errorf("%s: it is said: %s", name, said)
		}
	}
	if said, ok := a.verify(); ok || !strings.Contains(said, "is not as it was written") {
		t.Errorf("it is said: %s", said)
	}
	a.store(whole)
	for name, c := range map[string]struct{ head, says string }{
		"no head":              {"", "it was removed"},
		"a head of nothing":    {`{"count":0}`, "0 entries were written, 8 are here"},
		"a smaller head":       {`{"count":1,"digest":"` + job.Digest([]byte(whole[0])) + `"}`, "1 entries were written"},
		"the end of the first": {`{"count":8,"digest":"` + job.Digest([]byte(whole[3])) + `"}`, "entry 8"},
	} {
		a.setHead(c.head)
		if said := a.faults(); !strings.Contains(said, c.says) {
			t.Errorf("%s: it is said: %s", name, said)
		}
	}
	a.setHead(head)
	if said, ok := a.verify("-o", "json"); !ok || !strings.Contains(said, `"entries": 8`) {
		t.Errorf("of a log that was put back it is said: %s", said)
	}
}

// A whole log, with its head, does not verify as that of another job, or of a job that has the id of an
// earlier one.
func TestAnAuditLogInThePlaceOfAnother(t *testing.T) {
	t.Parallel()
	a := startAudited(t, nil)
	b := a.another()
	a.deploy("one")
	b.deploy("one")
	head := must.Get(a.rdb.HGet(t.Context(), a.rec, "auditHead").Result())(t)
	b.store(a.entries())
	b.setHead(head)
	if said, ok := b.verify(); ok || !strings.Contains(said, `entry 1  is of the job "`+a.id) {
		t.Errorf("of another job's log it is said: %s", said)
	}
	created := must.Get(a.rdb.HGet(t.Context(), a.rec, "created").Int64())(t)
	must.OK(t, a.rdb.HSet(t.Context(), a.rec, "created", created+1).Err())
	if said, ok := a.verify(); ok || !strings.Contains(said, "entry 1  does not begin this job's log") {
		t.Errorf("of the log of an earlier job with the id it is said: %s", said)
	}
	must.OK(t, a.rdb.HSet(t.Context(), a.rec, "created", created).Err())
	if said, ok := a.verify(); !ok || strings.Contains(said, "older version") {
		t.Errorf("of its own log it is said: %s", said)
	}
	var stored struct{ Origin string }
	must.OK(t, json.Unmarshal([]byte(head), &stored))
	old, digest := slices.Clone(a.entries()), ""
	old[0] = strings.Replace(old[0], `"origin":"`+stored.Origin+`",`, "", 1)
	old, digest = rechained(t, old)
	a.store(old)
	a.setHead(digest)
	if said, ok := a.verify(); !ok || !strings.Contains(said, "An older version began this log") {
		t.Errorf("of a log without an origin it is said: %s", said)
	}
}

// The job's final webhook contains the head. It reveals that a log was completely
// rewritten, even with the record.
func TestTheWebhookKnowsTheEndOfTheLog(t *testing.T) {
	t.Parallel()
	ended := make(chan job.AuditHead, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var notice struct {
			Type string
			Data struct{ Job struct{ Audit job.AuditHead } }
		}
		if json.Unmarshal(body, &notice) == nil && notice.Type == "job.cancelled" {
			ended <- notice.Data.Job.Audit
		}
	}))
	t.Cleanup(receiver.Close)
	a := startAudited(t, harness.Vars{"WEBHOOK_URL": receiver.URL, "WEBHOOK_PRIVATE": "true"})
	a.deploy("one")
	a.s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/jobs/" + a.id + "/cancel"})
	told := <-ended
	if said, ok := a.verify("--head", told.Digest); !ok || told.Count != 4 {
		t.Fatalf("with the head %v of the webhook, it is said: %s", told, said)
	}
	whole := a.entries()
	first := slices.Clone(whole)
	first[1] = strings.Replace(first[1], "approve", "deny", 1)
	forged, head := rechained(t, first)
	cut, cutHead := rechained(t, whole[:3])
	bare := make([]string, len(whole))
	for i, text := range whole {
		bare[i] = string(withoutPrevious(t, text))
	}
	for name, c := range map[string]struct {
		log  []string
		head string
		// seen is true if it is detected without the webhook, too.
		seen bool
	}{
		"changed":         {forged, head, false},
		"cut off":         {cut, cutHead, false},
		"emptied":         {nil, `{"count":0}`, false},
		"without digests": {bare, "", true},
		"gone":            {nil, "", true},
	} {
		a.store(c.log)
		a.setHead(c.head)
		if said, ok := a.verify(); ok == c.seen {
			t.Errorf("%s: it is said: %s", name, said)
		}
		if said, ok := a.verify("--head", told.Digest); ok || !strings.Contains(said, "known digest") {
			t.Errorf("%s: with the webhook's head it is said: %s", name, said)
		}
	}
}

func withoutPrevious(t *testing.T, text string) []byte {
	t.Helper()
	var e job.AuditEntry
	must.OK(t, json.Unmarshal([]byte(text), &e))
	e.Previous = ""
	out, err := json.Marshal(e)
	must.OK(t, err)
	return bytes.TrimSpace(out)
}
