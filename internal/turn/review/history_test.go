package review_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/internal/turn/review"
	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/sample"
)

// Whatever goes wrong while a change of several repositories is published, and whatever people decide
// then: what is pushed was approved, and a received job's remotes have what was approved last.
func TestAnyHistoryPublishesExactlyWhatWasApproved(t *testing.T) {
	t.Parallel()
	seeds := make([]uint64, 12)
	for n := range seeds {
		seeds[n] = uint64(n)
	}
	for _, seed := range sample.Of(t, 6, seeds) {
		t.Run(fmt.Sprint("history ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 51))
			h := newHistory(t, "asked", 2+random.IntN(2), random)
			for range 16 {
				h.breakThings()
				h.advance(h.random.IntN(3) == 0)
				h.check()
			}
			h.end()
		})
	}
}

// history is the life of one job, whose turns run on two machines.
type history struct {
	*team
	random  *rand.Rand
	id      job.ID
	remotes map[string]string // by the name of the repository
	nodes   map[string]*review.Workflow
	// broken is a directory with a file for each repository whose finalizer fails.
	broken string
	// turn runs on a node; nil if none does.
	turn *lifecycle.Turn
	node string
	// call is called before each call of the store; its error is that of the call.
	call func() error
	// approved are the trees of the approval that has not been withdrawn.
	approved map[string]string
	// pushes counts the pushes that were checked, by repository.
	pushes map[string]int
	log    []string
}

func newHistory(t *testing.T, kindName string, repositories int, random *rand.Rand) *history {
	t.Helper()
	broken := t.TempDir()
	rest := "\nworkspace: {}\nmax_attempts: 20\nmax_steering_iterations: 99\n" +
		"finalize: ['echo $RINGBACK_REPOSITORY >>" + broken + "/ran', 'test ! -e " + broken + "/$RINGBACK_REPOSITORY']\n---\nChange it."
	kinds := fstest.MapFS{"asked.md": {Data: []byte("---\nreview: true" + rest)}, "unasked.md": {Data: []byte("---\nreview: false" + rest)}}
	h := &history{
		team: newTeam(t, kinds), random: random, broken: broken,
		remotes: map[string]string{}, nodes: map[string]*review.Workflow{}, pushes: map[string]int{},
	}
	for _, node := range []string{"n", "m"} {
		h.nodes[node] = h.team.node(node, t.TempDir(), slog.DiscardHandler)
	}
	var repos []any
	for n := range repositories {
		name := fmt.Sprintf("r%d", n)
		h.remotes[name] = filepath.Join(t.TempDir(), name+".git")
		h.git("", "clone", "--quiet", "--bare", h.remote, h.remotes[name])
		harness.WriteProgram(t, filepath.Join(h.remotes[name], "hooks", "pre-receive"),
			"#!/bin/sh\nread old new ref && git rev-parse \"$new^{tree}\" >>pushes && test ! -e refuse\n")
		repos = append(repos, map[string]any{"url": h.remotes[name]})
	}
	h.redis.Client.AddHook(storetest.Hook(func(do func() error, _ ...redis.Cmder) error {
		if h.call != nil {
			if err := h.call(); err != nil {
				return err
			}
		}
		return do()
	}))
	created := must.Get(h.jobs.Create(t.Context(), lifecycle.Request{
		UserID: "u1", ByBackEnd: true, Kind: kindName, Input: map[string]any{"prompt": "Do it", "repos": repos},
	}))(t)
	h.id = created.ID
	return h
}

func (h *history) note(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

// breakThings makes some remotes refuse pushes, and some finalizers fail.
func (h *history) breakThings() {
	h.t.Helper()
	for name, remote := range h.remotes {
		for path, n := range map[string]int{filepath.Join(remote, "refuse"): 3, filepath.Join(h.broken, name): 5} {
			_ = os.Remove(path)
			if h.random.IntN(n) == 0 {
				must.OK(h.t, os.WriteFile(path, nil, 0o600))
				h.note("%s is there", filepath.Base(path))
			}
		}
	}
}

// advance takes the job one step further; something unusual happens if disturbed is true.
func (h *history) advance(disturbed bool) {
	h.t.Helper()
	switch j := h.get(h.id); {
	case j.State == job.Received:
	case j.State.Terminal():
		h.note("a retry of the %s job", j.State)
		must.OK(h.t, h.jobs.Retry(h.t.Context(), h.id))
	case j.Checkpoint != nil:
		h.answer(*j.Checkpoint, disturbed)
	case j.State == job.Pending:
		h.begin()
	default:
		h.runTurn(disturbed)
	}
}

// answer approves what a review shows; if disturbed is true, the person decides something else.
func (h *history) answer(c job.Checkpoint, disturbed bool) {
	h.t.Helper()
	var props job.Props
	must.OK(h.t, json.Unmarshal(c.Props, &props))
	r := checkpoint.Reply{Decision: job.Approve}
	if disturbed {
		r = []checkpoint.Reply{{Decision: job.Cancel}, {Decision: job.Steer, Text: "again"}}[h.random.IntN(2)]
	}
	h.approved = nil
	if r.Decision == job.Approve {
		h.approved = props.Trees
	}
	h.note("%s %v", r.Decision, props.Trees)
	must.Get(h.people.Reply(h.t.Context(), c, r))(h.t)
}

// begin starts the next turn on either machine.
func (h *history) begin() {
	h.t.Helper()
	s := &storetest.Service{Store: h.store, Service: h.jobs}
	must.OK(h.t, s.FireDue(h.t.Context(), store.PartitionOf(h.id)))
	h.node = []string{"n", "m"}[h.random.IntN(2)]
	if h.turn = h.claim(h.node); h.turn != nil {
		h.note("turn %d on %s", h.turn.Job.Turn, h.node)
	}
}

// runTurn does what a node does with its turn. A disturbed one loses the store or its server at some
// call, or the job is cancelled then.
func (h *history) runTurn(disturbed bool) {
	h.t.Helper()
	step := h.next()
	if step == nil {
		h.claude(h.anything)
		step = h.next()
	}
	left, kill := h.random.IntN(40), h.random.IntN(2) == 0
	if disturbed {
		h.call = func() error {
			if left--; left >= 0 {
				return nil
			}
			if kill {
				return errAway
			}
			h.call = nil
			h.check() // nothing may be pushed after the cancellation
			h.note("cancelled: %v", h.jobs.Cancel(h.t.Context(), h.id, job.Actor{}))
			h.approved = nil
			return nil
		}
	}
	err := step.Run(h.t.Context())
	h.call = nil
	h.note("%T: %v", step, err)
	if disturbed && kill && left < 0 {
		h.loseNode()
		return
	}
	end := lifecycle.TurnEnd{ID: h.id, Turn: h.turn.Job.Turn, Node: h.node, Begun: true, Spoken: true, Again: true}
	if err != nil {
		end.Code, end.Message = job.CodeFinalize, err.Error()
		end.Again = h.random.IntN(4) > 0
	}
	must.Get(h.jobs.EndTurn(h.t.Context(), end))(h.t)
}

// next returns what the node does with the turn now.
func (h *history) next() review.Step {
	h.t.Helper()
	return h.change(h.nodes[h.node], h.get(h.id)).Next(h.answers(h.id))
}

// loseNode takes the turn from a node that was killed. Sometimes the node is back at once and has kept
// its turn.
func (h *history) loseNode() {
	h.t.Helper()
	if h.random.IntN(2) == 0 {
		return
	}
	h.note("%s is lost", h.node)
	for _, taken := range must.Get(h.store.Nodes.Lost(h.t.Context(), h.node))(h.t) {
		must.Get(h.jobs.LoseNode(h.t.Context(), taken))(h.t)
	}
}

// anything changes a repository, undoes its change, or does nothing.
func (h *history) anything(_, file string) {
	switch version := h.random.IntN(4); version {
	case 0:
		_ = os.Remove(file)
	case 1, 2:
		must.OK(h.t, os.WriteFile(file, fmt.Append(nil, version, "\n"), 0o600))
	}
}

// claude does Claude's part of a turn. change is called for each repository, with the path of a file.
func (h *history) claude(change func(repository, file string)) {
	h.t.Helper()
	j := h.get(h.id)
	if j.Submitted {
		must.OK(h.t, h.jobs.LeaveSubmission(h.t.Context(), h.id, lifecycle.Holder{Turn: j.Turn, Node: h.node}))
	}
	c := h.change(h.nodes[h.node], j)
	must.OK(h.t, c.Prepare(h.t.Context()))
	for name := range h.remotes {
		change(name, filepath.Join(c.Dir(), name, "new.txt"))
	}
	outcome := must.Get(h.jobs.Accept(h.t.Context(), h.id, lifecycle.Submission{
		Digest: strconv.Itoa(j.Turn), Result: json.RawMessage(`{"summary":"Wrote it."}`),
	}))(h.t)
	must.Equal(h.t, lifecycle.Accepted, outcome.Kind, "submitted is")
}

// check compares what was pushed since the last check with what is approved.
func (h *history) check() {
	h.t.Helper()
	for name, remote := range h.remotes {
		text, _ := os.ReadFile(filepath.Join(remote, "pushes"))
		trees := strings.Fields(string(text))
		for _, tree := range trees[h.pushes[name]:] {
			if tree != h.approved[name] {
				h.t.Fatalf("%s got %s, approved is %v:\n%s", name, tree, h.approved, strings.Join(h.log, "\n"))
			}
		}
		h.pushes[name] = len(trees)
	}
}

// end takes the job to its end without any trouble, and compares the remotes with the last approval.
func (h *history) end() {
	h.t.Helper()
	for name, remote := range h.remotes {
		_ = os.Remove(filepath.Join(remote, "refuse"))
		_ = os.Remove(filepath.Join(h.broken, name))
	}
	for range 20 {
		h.advance(false)
		h.check()
	}
	must.Equal(h.t, job.Received, h.get(h.id).State, strings.Join(h.log, "\n"))
	for name, remote := range h.remotes {
		at := "main" // where nothing was pushed, nothing had changed
		if h.git(remote, "branch", "--list", "ringback/*") != "" {
			at = "ringback/" + string(h.id)
		}
		must.Equal(h.t, h.approved[name], h.git(remote, "rev-parse", at+"^{tree}"), name, strings.Join(h.log, "\n"))
	}
}

// work runs a turn in which Claude writes a text into a file of each named repository, and removes it
// if the text is empty.
func (h *history) work(texts map[string]string) {
	h.t.Helper()
	h.begin()
	if step := h.next(); step != nil {
		h.t.Fatalf("next is %T, not Claude", step)
	}
	h.claude(func(name, file string) {
		if text, named := texts[name]; named {
			must.OK(h.t, os.WriteFile(file, []byte(text), 0o600))
			if text == "" {
				must.OK(h.t, os.Remove(file))
			}
		}
	})
	h.runTurn(false)
}

// decides answers the review. What follows an approval is published.
func (h *history) decides(d job.Decision) {
	h.t.Helper()
	r := checkpoint.Reply{Decision: d}
	if d == job.Steer {
		r.Text = "more"
	}
	must.Get(h.people.Reply(h.t.Context(), *h.get(h.id).Checkpoint, r))(h.t)
	if d == job.Approve {
		h.begin()
		h.runTurn(false)
	}
}

// refuse makes a remote refuse pushes until it is called again.
func (h *history) refuse(name string) {
	h.t.Helper()
	file := filepath.Join(h.remotes[name], "refuse")
	if os.Remove(file) != nil {
		must.OK(h.t, os.WriteFile(file, nil, 0o600))
	}
}

// dieAfterPush approves the change, and kills the node when a remote has got a text, before it is
// recorded. Then the job is cancelled and retried.
func (h *history) dieAfterPush(name, text string) {
	h.t.Helper()
	must.Get(h.people.Reply(h.t.Context(), *h.get(h.id).Checkpoint, checkpoint.Reply{Decision: job.Approve}))(h.t)
	h.begin()
	h.call = func() error {
		if h.pushed(name) == text {
			return errAway
		}
		return nil
	}
	must.Fail(h.t, h.next().Run(h.t.Context()), "")
	h.call = nil
	h.cancel()
	must.OK(h.t, h.jobs.Retry(h.t.Context(), h.id))
}

// cancel cancels the job, and its turn ends.
func (h *history) cancel() {
	h.t.Helper()
	must.OK(h.t, h.jobs.Cancel(h.t.Context(), h.id, job.Actor{}))
	h.endTurn()
}

// endTurn records the end of the turn.
func (h *history) endTurn() {
	h.t.Helper()
	must.Get(h.jobs.EndTurn(h.t.Context(), lifecycle.TurnEnd{ID: h.id, Turn: h.turn.Job.Turn, Node: h.node, Begun: true, Spoken: true, Again: true}))(h.t)
}

// pushed returns the file on the job's branch; "" if there is none.
func (h *history) pushed(name string) string {
	branch := "ringback/" + string(h.id)
	if h.git(h.remotes[name], "branch", "--list", branch) == "" || h.git(h.remotes[name], "ls-tree", branch) == "" {
		return ""
	}
	return h.git(h.remotes[name], "show", branch+":new.txt")
}

func TestAnEntryCountsForTheTreeThatItPublished(t *testing.T) {
	t.Parallel()
	type texts = map[string]string
	for name, c := range map[string]struct {
		kind    string
		history func(*history)
		asked   int
		want    texts
	}{
		"a repository that changes in the second round only": {"asked", func(h *history) {
			h.work(texts{"r1": "1"})
			h.refuse("r1")
			h.decides(job.Approve)
			h.refuse("r1")
			h.decides(job.Steer)
			h.work(texts{"r0": "2", "r1": "2"})
			h.decides(job.Approve)
		}, 3, texts{"r0": "2", "r1": "2"}},
		"a repository that was published in the first round, and changed again": {"asked", func(h *history) {
			h.work(texts{"r0": "1", "r1": "1"})
			h.refuse("r1")
			h.decides(job.Approve)
			h.refuse("r1")
			h.decides(job.Steer)
			h.work(texts{"r0": "2", "r1": "1"})
			h.decides(job.Approve)
		}, 3, texts{"r0": "2", "r1": "1"}},
		"a repository that was published, and whose change was undone": {"asked", func(h *history) {
			h.work(texts{"r0": "1", "r1": "1"})
			h.refuse("r1")
			h.decides(job.Approve)
			h.refuse("r1")
			h.decides(job.Steer)
			h.work(texts{"r0": "", "r1": "2"})
			h.decides(job.Approve)
		}, 3, texts{"r0": "", "r1": "2"}},
		"a server that died before it recorded a push, and a change that was undone then": {"asked", func(h *history) {
			h.work(texts{"r0": "1"})
			h.dieAfterPush("r0", "1")
			h.work(texts{"r0": "", "r1": "1"})
			h.decides(job.Approve)
		}, 2, texts{"r0": "", "r1": "1"}},
		"a server that died before it recorded a push, and a tree that was published before": {"asked", func(h *history) {
			h.work(texts{"r0": "1", "r1": "1"})
			h.refuse("r1")
			h.decides(job.Approve)
			h.decides(job.Steer)
			h.work(texts{"r0": "2"})
			h.dieAfterPush("r0", "2")
			h.refuse("r1")
			h.work(texts{"r0": "1"})
			h.decides(job.Approve)
		}, 4, texts{"r0": "1", "r1": "1"}},
		"a retry of a change that nobody reviews": {"unasked", func(h *history) {
			h.refuse("r1")
			h.work(texts{"r0": "1", "r1": "1"})
			h.refuse("r1")
			must.OK(h.t, h.jobs.Retry(h.t.Context(), h.id))
			h.work(texts{"r0": "2", "r1": "2"})
		}, 0, texts{"r0": "2", "r1": "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, c.kind, 2, rand.New(rand.NewPCG(1, 1)))
			c.history(h)
			must.Equal(t, job.Received, h.get(h.id).State)
			must.Equal(t, c.asked, h.asked(h.id), "people were asked … times")
			must.Equal(t, c.want, texts{"r0": h.pushed("r0"), "r1": h.pushed("r1")})
		})
	}
}

// A finalizer that has succeeded does not run again with the next approval, nor in another repository. The
// audit log names the approval of each outcome.
func TestAnotherApprovalRunsTheFinalizersThatFailed(t *testing.T) {
	t.Parallel()
	h := newHistory(t, "asked", 2, rand.New(rand.NewPCG(1, 1)))
	h.work(map[string]string{"r0": "1", "r1": "1"})
	must.OK(t, os.WriteFile(filepath.Join(h.broken, "r0"), nil, 0o600))
	first := h.get(h.id).Checkpoint.ID
	h.decides(job.Approve)
	must.OK(t, os.Remove(filepath.Join(h.broken, "r0")))
	second := h.get(h.id).Checkpoint.ID
	h.decides(job.Approve)
	entries, _, err := h.store.Jobs.Audit(t.Context(), h.id)
	must.OK(t, err)
	var finished []job.CheckpointID
	for _, text := range entries {
		var e job.AuditEntry
		must.OK(t, json.Unmarshal(text, &e))
		if e.Event == "finished" {
			finished = append(finished, e.CheckpointID)
		}
	}
	must.Equal(t, []job.CheckpointID{first, first, second}, finished)
	must.Equal(t, job.Received, h.get(h.id).State)
	must.Equal(t, "r0\nr1\n", string(must.Get(os.ReadFile(filepath.Join(h.broken, "ran")))(t)))
}

// Whoever ends a job after a part of its change was published learns what is public: in the question, in the
// outcome of the approval, and in the chat.
func TestWhatIsPublicIsTold(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(h *history){
		"a rejection":    func(h *history) { h.decides(job.Deny) },
		"a cancellation": func(h *history) { must.OK(h.t, h.jobs.Cancel(h.t.Context(), h.id, job.Actor{})) },
		"its expiry": func(h *history) {
			must.OK(h.t, h.jobs.End(h.t.Context(), h.id, job.Expired, job.CodeFinalize, "Nobody answered.", lifecycle.Holder{}))
		},
		"a rejection of another round": func(h *history) {
			h.decides(job.Steer)
			h.work(map[string]string{"r1": "2"})
			h.decides(job.Deny)
		},
		"a cancellation in another round": func(h *history) {
			h.decides(job.Steer)
			must.OK(h.t, h.jobs.Cancel(h.t.Context(), h.id, job.Actor{}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, "asked", 2, rand.New(rand.NewPCG(1, 1)))
			h.work(map[string]string{"r0": "1", "r1": "1"})
			h.refuse("r1")
			h.decides(job.Approve)
			h.refuse("r1")
			public := "r0: pushed to ringback/" + string(h.id)
			must.Contain(t, strings.ReplaceAll(h.get(h.id).Checkpoint.Message, "`", ""), public, "the question")
			ends(h)
			j := h.get(h.id)
			must.Equal(t, true, j.State.Terminal(), "the job has ended")
			must.Contain(t, strings.ReplaceAll(j.FailedActions[0].Message, "`", ""), public, "the outcome of the approval")
			messages, _, err := h.store.Chats.Messages(t.Context(), j.UserID, j.SessionID, 0, 100)
			must.OK(t, err)
			must.Contain(t, strings.ReplaceAll(messages[len(messages)-1].Content, "`", ""), public, "the end of the chat")
		})
	}
}

// Whatever fails, and at whatever moment a job ends while it publishes: what its remotes have then is named in
// the job, at the end of its chat, and in what came of the approval.
func TestEveryEndNamesWhatIsPublic(t *testing.T) {
	t.Parallel()
	type attack struct {
		how, fails string
		call       int
	}
	var attacks []attack
	for _, how := range []string{"cancelled", "expired", "failed", "killed and cancelled"} {
		for _, fails := range []string{"nothing", "the first finalizer", "the second finalizer of r0", "the push of r1"} {
			for call := range 40 {
				attacks = append(attacks, attack{how, fails, call})
			}
			attacks = append(attacks, attack{"rejected", fails, 1000}) // at the review
		}
	}
	for _, a := range sample.Of(t, 10, attacks) {
		t.Run(fmt.Sprintf("%s at call %d, %s fails", a.how, a.call, a.fails), func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, "asked", 2, rand.New(rand.NewPCG(1, 1)))
			h.work(map[string]string{"r0": "1", "r1": "1"})
			switch a.fails {
			case "the first finalizer":
				must.OK(t, os.Mkdir(filepath.Join(h.broken, "ran"), 0o700))
			case "the second finalizer of r0":
				must.OK(t, os.WriteFile(filepath.Join(h.broken, "r0"), nil, 0o600))
			case "the push of r1":
				h.refuse("r1")
			}
			must.Get(h.people.Reply(t.Context(), *h.get(h.id).Checkpoint, checkpoint.Reply{Decision: job.Approve}))(t)
			h.begin()
			h.endWhilePublishing(a.how, a.call)
			h.namesWhatIsPublic()
		})
	}
}

// endWhilePublishing publishes, and ends the job before a call of the store; after all of them if they are fewer.
func (h *history) endWhilePublishing(how string, call int) {
	h.t.Helper()
	end := func() {
		h.call = nil
		switch how {
		case "expired":
			must.OK(h.t, h.jobs.End(h.t.Context(), h.id, job.Expired, job.CodeFinalize, "It took too long.", lifecycle.Holder{}))
		case "failed":
			must.OK(h.t, h.jobs.End(h.t.Context(), h.id, job.Failed, job.CodeFinalize, "It failed.", lifecycle.Holder{}))
		case "rejected":
			h.decides(job.Deny)
		default:
			must.OK(h.t, h.jobs.Cancel(h.t.Context(), h.id, job.Actor{}))
		}
	}
	step := h.next()
	h.call = func() error {
		if call--; call >= 0 {
			return nil
		}
		if strings.HasPrefix(how, "killed") {
			return errAway
		}
		end()
		return nil
	}
	_ = step.Run(h.t.Context())
	h.call = nil
	if !h.get(h.id).State.Terminal() {
		end()
	}
}

// namesWhatIsPublic compares what the remotes have with what people are told of it.
func (h *history) namesWhatIsPublic() {
	h.t.Helper()
	j := h.get(h.id)
	if j.State == job.Received {
		return
	}
	messages, _, err := h.store.Chats.Messages(h.t.Context(), j.UserID, j.SessionID, 0, 100)
	must.OK(h.t, err)
	told := messages[len(messages)-1].Content
	for name, remote := range h.remotes {
		if h.pushed(name) == "" {
			continue
		}
		commit := h.git(remote, "rev-parse", "ringback/"+string(h.id))
		must.Contain(h.t, told, commit, name, "is public, but the end of the chat is")
		must.Contain(h.t, fmt.Sprint(j.PublishedCommits), name+" ringback/"+string(h.id)+" "+commit)
		must.Contain(h.t, j.FailedActions[0].Message, commit, "what came of the approval")
	}
}

// An approval is withdrawn with a cancellation and expires with its job. A failure leaves it: what was
// approved is published by a retry.
func TestARetryPublishesOnlyWhatIsStillApproved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		to     job.State
		claude bool
	}{
		"after a cancellation": {job.Cancelled, true},
		"after it has expired": {job.Expired, true},
		"after a failure":      {job.Failed, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, "asked", 2, rand.New(rand.NewPCG(1, 1)))
			h.work(map[string]string{"r0": "1"})
			must.Get(h.people.Reply(t.Context(), *h.get(h.id).Checkpoint, checkpoint.Reply{Decision: job.Approve}))(t)
			h.begin()
			must.OK(t, h.jobs.End(t.Context(), h.id, c.to, job.CodeFinalize, "It ended.", lifecycle.Holder{}))
			h.endTurn()
			must.OK(t, h.jobs.Retry(t.Context(), h.id))
			if !c.claude {
				h.begin()
				h.runTurn(false)
				must.Equal(t, "1", h.pushed("r0"))
				return
			}
			h.work(nil)
			must.Equal(t, "", h.pushed("r0"), "before another approval it was pushed")
			must.Equal(t, 2, h.asked(h.id), "people were asked … times")
			h.decides(job.Approve)
			must.Equal(t, "1", h.pushed("r0"))
		})
	}
}
