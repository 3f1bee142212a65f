package upgrade

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
	"ringback/test/scan"
)

// worker is a CLI that submits a result, and for the kind careful first runs an action that people have to allow. It
// keeps in the directory $jobs which these are: the prompt of a later turn does not say so.
const worker = harness.CallsBack + `act() {
  curl -sS -X POST "$(value CALLBACK_BASE_URL)/api/claude/actions/deploy" -H 'Content-Type: application/json' --retry 50 --retry-delay 1 \
    --retry-connrefused -d "{\"requestId\":\"$(value REQUEST_ID)\",\"hmac\":\"$(value HMAC_SIGNATURE)\",\"input\":{\"name\":\"$(value REQUEST_ID)\"}$1}"
}
ended='{"type":"result","subtype":"success","is_error":false,"result":"Done.","total_cost_usd":0.01,"usage":{"input_tokens":10,"output_tokens":2}}'
case $prompt in *CAREFUL*) touch "$jobs/$(value REQUEST_ID)";; esac
if [ -e "$jobs/$(value REQUEST_ID)" ]; then
  for call in 1 2; do
    answer=$(act ',"confirmed":true')
    case $answer in *'"success"'*|*'Do not run it again'*) allowed=1; break;; esac
    act '' >&2
  done
  [ -n "$allowed" ] || { echo "$ended"; exit; }
fi
sleep 0.2
post result '"done":true'
echo "$ended"
`

// keys are the API keys of two back ends, which take turns in the queue, except in that of the first version.
var keys = [2]string{"the-key-of-the-shop", "the-key-of-the-news"}

// fleet is two servers of a store that get other versions.
type fleet struct {
	t      *testing.T
	env    [2]vars
	nodes  [2]*rig.Node
	jobs   []string
	client http.Client
}

// gives one of the servers a version, and kills the one that it had.
func (f *fleet) gives(i int, binary string) {
	f.t.Helper()
	if f.nodes[i] != nil {
		f.nodes[i].Kill(f.t)
	}
	f.nodes[i] = rig.StartWith(f.t, harness.Options{Env: f.env[i], Binary: binary, Scan: scan.Suite})
	f.nodes[i].Key = keys[0]
}

// tries asks the servers in turn until one answers, with the key of a back end.
func (f *fleet) tries(key, method, path string, body any) (status int, answer object) {
	f.t.Helper()
	text := must.Get(json.Marshal(body))(f.t)
	for _, n := range f.nodes {
		req := must.Get(http.NewRequestWithContext(f.t.Context(), method, n.URL+path, bytes.NewReader(text)))(f.t)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+key)
		resp, err := f.client.Do(req)
		if err != nil {
			continue
		}
		err = json.NewDecoder(resp.Body).Decode(&answer)
		_ = resp.Body.Close()
		if err == nil && resp.StatusCode != http.StatusServiceUnavailable {
			return resp.StatusCode, answer
		}
	}
	return 0, nil
}

// creates creates jobs, half of which people have to allow something.
func (f *fleet) creates(count int) {
	f.t.Helper()
	for i := range count {
		kind := []string{"plain", "careful"}[i%2]
		user := fmt.Sprint("u", len(f.jobs)%10)
		status, answer := f.tries(keys[i/2%2], http.MethodPost, "/api/jobs", object{"kind": kind, "input": object{}, "userId": user})
		must.Equal(f.t, http.StatusAccepted, status, "creating a job:", answer)
		f.jobs = append(f.jobs, answer["requestId"].(string))
	}
}

// done allows what jobs ask, and counts those that have their result.
func (f *fleet) done() (count int) {
	f.t.Helper()
	for _, id := range f.jobs {
		_, record := f.tries(keys[0], http.MethodGet, "/api/jobs/"+id, nil)
		switch record["status"] {
		case "received":
			count++
		case "awaiting_approval":
			asked, _ := record["checkpoint"].(object)
			f.tries(keys[0], http.MethodPost, "/api/jobs/"+id+"/approve", object{"checkpointId": asked["id"]})
		case "failed", "expired", "cancelled":
			f.t.Fatalf("a job is %s: %v", record["status"], record)
		}
	}
	return count
}

func (f *fleet) awaits(count int) {
	f.t.Helper()
	must.Eventually(f.t, fmt.Sprint(count, " results"), func() bool { return f.done() >= count })
}

// Jobs go on while the servers of a store get the next version one after the other, and go back: none is lost or
// stranded, and nothing is done twice.
func TestServersGetTheNextVersionOneAfterTheOther(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 8)
	for name, commit := range sample.Cases(t, 1, map[string]string{"from the first version of format 9": firstOf9, "from the last": lastOf9}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, redis, runs := harness.BuildAt(t, commit), rig.StartRedis(t), filepath.Join(t.TempDir(), "runs")
			f := &fleet{t: t}
			kinds := rig.KindsDir(t, "plain.md", "---\nmax_attempts: 10\n---\nWork.\n", "careful.md", fmt.Sprintf(`---
max_attempts: 10
actions:
  - name: deploy
    title: Deploy
    input: {type: object, required: [name], properties: {name: {type: string}}}
    command: [sh, -c, 'cat >> %[1]s; echo >> %[1]s']
---
CAREFUL.
`, runs))
			claude := rig.Script(t, "jobs="+t.TempDir()+"\n"+worker)
			for i := range f.env {
				f.env[i] = vars{
					"REDIS_URL": redis.URL, "LISTEN_ADDR": "127.0.0.1:" + harness.FreePort(t), "DATA_DIR": t.TempDir(), "CLAUDE_BIN": claude, "PROMPTS_DIR": kinds,
					"NODE_TIMEOUT": "2s", "HOLD": "200ms", "WORKERS": "4", "API_KEYS": strings.Join(keys[:], ","),
				}
				f.gives(i, old)
			}
			const today, each = "", 12
			for step, next := range []struct {
				server int
				binary string
			}{{0, today}, {1, today}, {0, old}, {1, old}, {1, today}, {0, today}} {
				if step < 5 {
					f.creates(each)
				}
				f.awaits(each * step / 2) // the others are at work, parked or waiting
				f.gives(next.server, next.binary)
			}
			f.awaits(len(f.jobs))
			f.once(runs)

			typed := rig.CommandLine(t, f.nodes[0])
			cli := func(words ...string) string { return typed(append(words, "--token", keys[0])...) }
			must.Contain(t, cli("migrate", "--check"), "The store is in format 9.")
			must.Equal(t, 0.0, f.nodes[0].Want(t, 200, "GET", "/api/doctor", nil)["found"], "what the doctor finds")
			must.Eventually(t, "the store to move", func() bool {
				return strings.Contains(cli("upgrade", "--finish"), "The store is in format 10.")
			})
			must.Eventually(t, "the records to be rewritten", func() bool {
				return strings.Contains(cli("migrate"), "Nothing is left in an older format.")
			})
			for _, n := range f.nodes {
				n.Stop(t, 15)
			}
			refused := serveRefused(t, old, f.env[0])
			must.Contain(t, refused, "a newer one has written it, in format 10", "the version before says")
		})
	}
}

// ranAsAllowed fails the test unless the action of a job ran once for each approval that was used. Of one that was
// running when its server was killed, it is not known.
func (f *fleet) ranAsAllowed(id string, count int) {
	f.t.Helper()
	used, unknown := map[string]bool{}, 0
	log := f.nodes[0].Respond(f.t, http.MethodGet, "/api/jobs/"+id+"/audit", nil).Text
	for line := range strings.Lines(log) {
		var entry struct{ Event, CheckpointID, Run, Outcome string }
		must.OK(f.t, json.Unmarshal([]byte(line), &entry))
		switch {
		case entry.Event == "started" && (entry.CheckpointID == "" || used[entry.CheckpointID]):
			f.t.Errorf("an approval was used twice: %s", log)
		case entry.Event == "started":
			used[entry.CheckpointID] = true
		case entry.Run != "" && entry.Outcome == "unknown":
			unknown++
		}
	}
	if count > len(used) || count < max(1, len(used))-unknown {
		f.t.Errorf("the action of %s ran %d times; it was allowed %d times, and %d ends are not known: %s", id, count, len(used), unknown, log)
	}
}

// once fails the test if something has happened twice.
func (f *fleet) once(runs string) {
	f.t.Helper()
	ran := string(must.Get(os.ReadFile(runs))(f.t))
	for i, id := range f.jobs {
		if i%2 == 1 {
			f.ranAsAllowed(id, strings.Count(ran, id))
		}
		received := 0
		for _, e := range f.nodes[0].StoredEvents(f.t, id, "") {
			if strings.HasSuffix(e["event"].(string), ":received") {
				received++
			}
		}
		must.Equal(f.t, 1, received, "the result of", id, "was announced")
	}
}

// serveRefused runs a server that ends at once, and returns what it prints.
func serveRefused(t *testing.T, binary string, env vars) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, "serve")
	cmd.Env = cmd.Environ()
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	said, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("it ended without an error")
	}
	return string(said)
}
