package machines

import (
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ringback/test/harness"
	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
	"ringback/test/scan"
)

// hosts are machines that share only a network with a Redis and a scripted model: one that
// serves the API, and others that run turns, each with its own files.
type hosts struct {
	*rig.Node // serves the API
	t         *testing.T
	model     *messagesapi.Server

	network *harness.Network
	env     vars // of all nodes
	workers map[string]*worker
}

// worker is a host that runs turns, and its server; nil if it is stopped.
type worker struct {
	host *harness.Host
	env  vars
	node *rig.Node
}

const hostsKey = "a-key-of-the-hosts-back-end"

func startHosts(t *testing.T, env vars, script messagesapi.Script) *hosts {
	t.Helper()
	bin := messagesapi.FindCLI(t)
	network := harness.NewNetwork(t)
	h := &hosts{t: t, network: network, model: messagesapi.StartAt(t, network.Addr, script), workers: map[string]*worker{}}
	h.env = vars{
		"REDIS_URL": rig.StartRedisAt(t, scan.Suite, network.Addr).URL, "API_KEYS": hostsKey, "NODE_TIMEOUT": "2s", "HOLD": "0s", "CLAUDE_BIN": bin,
		"RETRY_BACKOFF": "100ms", "ANTHROPIC_BASE_URL": h.model.URL, "ANTHROPIC_API_KEY": "none", "CLAUDE_CODE_MAX_RETRIES": "1", "SANDBOX": "auto",
	}
	maps.Copy(h.env, env)
	at := network.Host(t)
	h.Node = rig.StartOn(t, at, h.with(vars{"LISTEN_ADDR": net.JoinHostPort(at.Addr, "3001")}), "api")
	h.Key = hostsKey
	return h
}

func (h *hosts) with(env vars) vars {
	all := maps.Clone(h.env)
	maps.Copy(all, env)
	return all
}

// work makes only one host's server run turns: the others are stopped first.
func (h *hosts) work(name string) *worker {
	h.t.Helper()
	for other := range h.workers {
		h.rest(other)
	}
	w := h.workers[name]
	if w == nil {
		home := h.t.TempDir()
		w = &worker{host: h.network.Host(h.t), env: h.with(vars{
			"LISTEN_ADDR": "127.0.0.1:3001", // each has its own loopback
			"DATA_DIR":    h.t.TempDir(), "HOME": home, "CLAUDE_CONFIG_DIR": filepath.Join(home, ".claude"),
		})}
		h.workers[name] = w
	}
	w.node = rig.StartOn(h.t, w.host, w.env, "worker")
	return w
}

// rest stops the server of a host, once its turns have ended.
func (h *hosts) rest(name string) {
	h.t.Helper()
	w := h.workers[name]
	if w.node == nil {
		return
	}
	must.Eventually(h.t, "the turns of the host to end", func() bool {
		log := w.node.Log.String()
		return strings.Count(log, `msg="turn started"`) == strings.Count(log, `msg="turn ended"`)
	})
	w.node.Stop(h.t, syscall.SIGTERM)
	w.node = nil
}

// transcript returns the transcript of a job's turns.
func (h *hosts) transcript(id string) string {
	h.t.Helper()
	_, text := h.Raw(h.t, "GET", "/api/jobs/"+id+"/transcript", "Authorization", "Bearer "+hostsKey)
	return text
}

// latest returns the conversation as the model last saw it.
func (h *hosts) latest() string {
	requests := h.model.Requests()
	return requests[len(requests)-1].Text()
}

const (
	brought = "The conversation was brought here from another machine"
	retold  = "Claude begins a new one, and gets the chat so far"
)

// A conversation moves from host to host with its job, and back: each turn knows all
// previous ones, wherever they ran.
func TestConversationMovesBetweenHosts(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	for name, c := range sample.Cases(t, 1, map[string]struct {
		env     vars
		prompts []int // the number of prompts in one conversation, after the first turn
		says    string
		not     string
	}{
		"with a copy":              {nil, []int{2, 3}, brought, retold},
		"with a copy, unconfined":  {vars{"SANDBOX": "off"}, []int{2, 3}, brought, retold},
		"without one":              {vars{"CONVERSATION_LIMIT": "0"}, []int{1, 1}, retold, brought},
		"with one that is too big": {vars{"CONVERSATION_LIMIT": "1KiB"}, []int{1, 1}, retold, brought},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := startHosts(t, c.env, playTalk)
			h.work("first")
			id := h.Create(t, object{"kind": "media", "userId": "u1", "sessionId": "s1", "input": object{"prompt": "a lake", "aspect_ratio": "invalid"}})
			h.OpenCheckpoint(t, id, "awaiting_input")
			h.work("second")
			h.Say(t, "s1", "Use 16:9")
			record := h.Await(t, id, "received")
			if record["attempt"] != nil || record["turn"] != 2.0 {
				t.Errorf("the job is %v", record)
			}
			h.wantStory(id, c.prompts[0], c.says, c.not)

			h.work("first") // which has an older state of the conversation
			follower := h.Write(t, "u1", "s1", "Thank you. The same again, please")
			record = h.Await(t, follower, "received")
			if record["attempt"] != nil || record["turn"] != 1.0 {
				t.Errorf("what follows is %v", record)
			}
			h.wantStory(follower, c.prompts[1], c.says, c.not)
		})
	}
}

// playTalk plays a Claude that asks in its first turn, and submits in each later one.
func playTalk(r messagesapi.Request) messagesapi.Reply {
	prompt := r.Text()
	turn := strings.Count(prompt, "- REQUEST_ID:")
	payload, file := object{"url": "media/image.svg", "aspect_ratio": "16:9", "message": "Here it is."}, "result.json"
	if turn == 1 && !strings.Contains(prompt, "What Happened So Far") {
		payload, file = rig.RatioQuestion(), "checkpoint.json"
	}
	return rig.InOrder(len(r.Results())-2*(turn-1), rig.Posts(prompt, file, payload)...)
}

// wantStory checks what the model knows of a conversation, and what people are shown.
func (h *hosts) wantStory(id string, prompts int, says, not string) {
	h.t.Helper()
	if got := strings.Count(h.latest(), "- REQUEST_ID:"); got != prompts {
		h.t.Errorf("the model has seen %d prompts in this conversation, want %d:\n%s", got, prompts, h.latest())
	}
	must.Equal(h.t, says == retold, strings.Contains(h.latest(), "What Happened So Far"), "the story is told")
	text := h.transcript(id)
	if !strings.Contains(text, says) || strings.Contains(text, not) {
		h.t.Errorf("the transcript says of the conversation:\n%s", text)
	}
	for name, w := range h.workers {
		if w.node != nil && !strings.Contains(w.node.Log.String(), says) {
			h.t.Errorf("the log of the %s host does not say %q", name, says)
		}
	}
}

// What a person approves on one host is done once on another, where the conversation continues.
func TestApprovalsMoveBetweenHosts(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	file, exists := rig.Touched(t)
	h := startHosts(t, vars{"PROMPTS_DIR": rig.CarefulKind(t), "SANDBOX": "off"}, rig.PlayCommands("touch "+file))
	h.work("first")
	id := h.Create(t, object{"kind": "careful", "userId": "u1", "sessionId": "s1", "input": object{}})
	checkpoint := h.OpenCheckpoint(t, id, "awaiting_approval")
	h.work("second")
	if exists() {
		t.Fatal("the command has run")
	}
	h.Reply(t, checkpoint["id"].(string), object{"decision": "approve"})
	if record := h.Await(t, id, "received"); record["attempt"] != nil || !exists() {
		t.Errorf("the command has run: %v, the job is %v", exists(), record)
	}
	must.Contain(t, h.transcript(id), brought, "the transcript")
}

// A host that is disconnected loses its turn to another; when it is back, it ends what it
// runs, and the job has one result.
func TestHostThatIsCutOffLosesItsTurn(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	begun := filepath.Join(t.TempDir(), "begun")
	prompts := rig.KindsDir(t, "slow.md", "---\nallowed_tools: [Bash]\n---\nDo it.")
	h := startHosts(t, vars{"PROMPTS_DIR": prompts, "SANDBOX": "off"}, func(r messagesapi.Request) messagesapi.Reply {
		if _, err := os.Stat(begun); err != nil {
			return messagesapi.Bash(fmt.Sprintf("touch %s; sleep 100", begun))
		}
		return rig.InOrder(len(r.Results()), rig.Posts(r.Text(), "result.json", object{})...)
	})
	first := h.work("first")
	id := h.Create(t, object{"kind": "slow", "userId": "u1", "input": object{}})
	must.Eventually(t, "the turn to be under way", func() bool { _, err := os.Stat(begun); return err == nil })
	cut := first.node
	first.host.Cut(t)
	first.node = nil // keep it running
	h.work("second")
	record := h.Await(t, id, "received")
	must.Equal(t, 2.0, record["turn"], "the job is", record)
	first.host.Join(t)
	must.Eventually(t, "the host that was cut off to end its processes", func() bool { return len(rig.ProcessesIn(first.env["DATA_DIR"])) == 0 })
	if got := h.Want(t, 200, "GET", "/api/jobs/"+id, nil); got["turn"] != 2.0 || got["status"] != "received" {
		t.Errorf("afterwards the job is %v", got)
	}
	cut.Stop(t, syscall.SIGTERM)
}
