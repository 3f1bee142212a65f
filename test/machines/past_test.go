package machines

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
	"ringback/test/scan"
)

// rewinding is a store that can go back to an earlier state.
type rewinding struct {
	env vars
	// lose calls write, loses its effects, and makes the store available again.
	lose func(t testing.TB, write func())
	// all is true if everything before is lost, too.
	all bool
}

// inPartition returns users whose events are in one partition.
func inPartition(p uint32, count int) []string {
	var users []string
	for i := 0; len(users) < count; i++ {
		user, h := fmt.Sprint("u", i), fnv.New32a()
		_, _ = h.Write([]byte(user))
		if h.Sum32()%16 == p {
			users = append(users, user)
		}
	}
	return users
}

// copyDir replaces a directory by a copy of another one.
func copyDir(t testing.TB, from, to string) {
	t.Helper()
	must.OK(t, os.RemoveAll(to))
	must.OK(t, os.CopyFS(to, os.DirFS(from)))
}

// anOlderFile is a Redis whose append-only file is replaced by an earlier one.
func anOlderFile(t testing.TB) rewinding {
	past := newPast(t)
	return rewinding{env: vars{"REDIS_URL": past.URL}, lose: func(t testing.TB, write func()) {
		past.keep(t)
		write()
		past.goBack(t)
	}}
}

// anEmptyOne is a Redis that is emptied while it is used.
func anEmptyOne(t testing.TB) rewinding {
	r := rig.StartRedis(t)
	return rewinding{env: vars{"REDIS_URL": r.URL}, all: true, lose: func(t testing.TB, write func()) {
		write()
		r.Do(t, "flushall")
	}}
}

// lag disconnects an up-to-date replica from its primary.
func lag(t testing.TB, primary, replica *harness.RedisServer) {
	t.Helper()
	follower, leader := replica.Client(), primary.Client()
	defer follower.Close()
	defer leader.Close()
	one := leader.Conn() // WAIT covers the writes before this connection's last command
	defer one.Close()
	must.OK(t, one.Ping(t.Context()).Err())
	if n, err := one.Wait(t.Context(), 1, must.Patience).Result(); err != nil || n < 1 {
		t.Fatalf("%d replicas have everything: %v", n, err)
	}
	must.OK(t, follower.ConfigSet(t.Context(), "masterauth", "another").Err())
	must.OK(t, leader.Do(t.Context(), "client", "kill", "type", "replica").Err())
	must.Eventually(t, "the replica to be cut off", func() bool { return !harness.RoleOf(t, follower).InStep })
}

// follow makes it follow a primary again.
func follow(t testing.TB, replica *harness.RedisServer) {
	t.Helper()
	follower := replica.Client()
	defer follower.Close()
	must.OK(t, follower.ConfigSet(t.Context(), "masterauth", scan.RedisPassword).Err())
}

// aFailover is a Redis with Sentinels, which promote a lagging replica.
func aFailover(t testing.TB) rewinding { return aFailoverOf(harness.StartSentinel(t)) }

func aFailoverOf(g *harness.SentinelGroup) rewinding {
	return rewinding{env: vars{"REDIS_URL": g.URL}, lose: func(t testing.TB, write func()) {
		g.AwaitReplica(t)
		primary := g.Primary(t)
		replica := g.Other(primary)
		lag(t, primary, replica)
		write()
		primary.Kill()
		must.Eventually(t, "the replica to be promoted", func() bool { return g.Primary(t) == replica })
		follow(t, replica)
		primary.Start(t)
	}}
}

// aFailoverToAnEarlierClock is the same with the clock of one of the two minutes behind
// that of the other.
func aFailoverToAnEarlierClock(t testing.TB) rewinding {
	g := harness.StartSentinel(t)
	replica := g.Other(g.Primary(t))
	replica.Kill()
	replica.MoveClock(t, -5*time.Minute)
	replica.Start(t)
	follower := replica.Client()
	defer follower.Close()
	must.Eventually(t, "the replica to follow again", func() bool { return harness.RoleOf(t, follower).InStep })
	return aFailoverOf(g)
}

// aFailoverInACluster is a Cluster in which the primary of the users' partition is replaced
// by a lagging replica.
func aFailoverInACluster(t testing.TB) rewinding {
	c := harness.StartCluster(t, 1)
	return rewinding{env: vars{"REDIS_URL": c.URL}, lose: func(t testing.TB, write func()) {
		c.AwaitWhole(t, 1)
		primary := primaryOf(t, c)
		replica := c.ReplicasOf(t, primary)[0]
		lag(t, primary, replica)
		write()
		primary.Kill()
		follower := replica.Client()
		defer follower.Close()
		must.Eventually(t, "the replica to be promoted", func() bool { return !harness.RoleOf(t, follower).Replica })
		follow(t, replica)
		primary.Start(t)
	}}
}

// The users of these tests are in one partition.
const (
	pastPartition = 5
	pastPrefix    = "rb:{05}"
)

// ear is a client that records its events.
type ear struct {
	user, at string
	mu       sync.Mutex
	frames   []object
	conn     *websocket.Conn
}

func hear(t testing.TB, n *rig.Node, user, since, at string) *ear {
	t.Helper()
	conn := harness.Dial(t, n.URL, "userId="+user+"&since="+since, nil)
	e := &ear{user: user, at: at, conn: conn}
	go func() {
		for {
			var frame object
			if conn.ReadJSON(&frame) != nil {
				return
			}
			e.mu.Lock()
			e.frames = append(e.frames, frame)
			e.mu.Unlock()
		}
	}()
	return e
}

func (e *ear) heard() []object {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.frames)
}

// last returns the id of the last event; "0" before.
func (e *ear) last() string {
	id := "0"
	for _, f := range e.heard() {
		if text, ok := f["id"].(string); ok {
			id = text
		}
	}
	return id
}

// resyncs returns the number of resyncs.
func (e *ear) resyncs() (n int) {
	for _, f := range e.heard() {
		if f["event"] == "resync" {
			n++
		}
	}
	return n
}

// hasHeard reports whether a progress report was received.
func (e *ear) hasHeard(message string) bool {
	return slices.ContainsFunc(e.heard(), func(f object) bool {
		data, _ := f["data"].(object)
		return data["message"] == message
	})
}

// meanings contains the event of each id that a user ever got.
type meanings map[string]string

// note fails the test if an id has another event than before.
func (m meanings) note(t testing.TB, user string, frames []object) {
	t.Helper()
	for _, f := range frames {
		id, ok := f["id"].(string)
		if !ok {
			continue
		}
		text := must.Get(json.Marshal(f))(t)
		if before := m[user+" "+id]; before != "" && before != string(text) {
			t.Errorf("event %s of %s means\n%s\nand\n%s", id, user, before, text)
		}
		m[user+" "+id] = string(text)
	}
}

// scene is two servers on a store, with clients at both.
type scene struct {
	t     testing.TB
	nodes []*rig.Node
	jobs  map[string]object // user -> envelope
	ears  []*ear
	means meanings
	said  int
}

func newScene(t testing.TB, r rewinding, users []string) *scene {
	t.Helper()
	s := &scene{t: t, jobs: map[string]object{}, means: meanings{}}
	s.nodes = []*rig.Node{rig.Start(t, r.env), rig.Start(t, r.env, "--role", "api")}
	for _, user := range users {
		s.begin(user)
	}
	for _, user := range users {
		for i, n := range s.nodes {
			s.ears = append(s.ears, hear(t, n, user, "0", fmt.Sprint("connected to ", i)))
		}
	}
	return s
}

// begin creates a job of a user that this test plays.
func (s *scene) begin(user string) {
	_, s.jobs[user] = s.nodes[0].Manual(s.t, object{"userId": user, "kind": "meal-suggestions", "input": rig.MealInput()})
}

// say reports progress of a user's job, through any server, until it is accepted, and waits
// until all connected clients have received it.
func (s *scene) say(user string) {
	s.t.Helper()
	s.said++
	message := fmt.Sprint("message ", s.said)
	n := s.nodes[s.said%len(s.nodes)]
	must.Eventually(s.t, "a report to be accepted", func() bool {
		status, _ := n.Do(s.t, "POST", "/api/claude/progress", rig.With(s.jobs[user], object{"message": message}))
		return status == http.StatusOK
	})
	for _, e := range s.ears {
		if e.user == user {
			must.Eventually(s.t, e.user+", "+e.at+", to hear "+message, func() bool { return e.hasHeard(message) })
		}
	}
}

// check checks that no id has two events, and that each ear has received, since its last
// resync, what the store has now.
func (s *scene) check() {
	s.t.Helper()
	for _, e := range s.ears {
		s.means.note(s.t, e.user, e.heard())
	}
	for user, envelope := range s.jobs {
		stored := s.events(envelope)
		s.means.note(s.t, user, stored)
		for _, e := range s.ears {
			if e.user == user {
				s.checkEar(e, stored)
			}
		}
	}
}

func (s *scene) events(envelope object) (found []object) {
	answer := s.nodes[0].Want(s.t, http.StatusOK, "GET", "/api/jobs/"+envelope["requestId"].(string)+"/events", nil)
	for _, e := range answer["events"].([]any) {
		found = append(found, e.(object))
	}
	return found
}

// checkEar waits until an ear has received each stored event that is not older than its
// first one since the last resync.
func (s *scene) checkEar(e *ear, stored []object) {
	s.t.Helper()
	for _, event := range stored {
		id := event["id"].(string)
		must.Eventually(s.t, e.user+", "+e.at+", to hear event "+id, func() bool {
			now := e.sinceResync()
			return len(now) == 0 || id < slices.Min(now) || slices.Contains(now, id)
		})
	}
}

// sinceResync returns the ids of the events since the last resync.
func (e *ear) sinceResync() (ids []string) {
	for _, f := range slices.Backward(e.heard()) {
		if f["event"] == "resync" {
			break
		}
		if id, ok := f["id"].(string); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// settled waits until the store can be used again.
func (s *scene) settled() {
	s.t.Helper()
	for _, n := range s.nodes {
		must.Eventually(s.t, "the store to be there again", func() bool {
			status, _ := n.Do(s.t, "GET", "/api/jobs?limit=1", nil)
			ready, _ := n.Ready(s.t)
			return status == http.StatusOK && ready == http.StatusOK
		})
	}
}

// A store goes back, twice, while clients are connected to two servers or reconnect: each
// client that has received lost events gets a resync, the others do not, and no id ever has
// two events.
func TestAStoreThatGoesBackInTime(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("redis-cli"); err != nil && os.Getenv("CI") == "" {
		t.Skip("redis-cli is not installed: run make deps")
	}
	for name, start := range sample.Cases(t, 1, map[string]func(testing.TB) rewinding{
		"an older file": anOlderFile, "an empty one": anEmptyOne,
		"a failover": aFailover, "a failover to an earlier clock": aFailoverToAnEarlierClock, "a failover in a Cluster": aFailoverInACluster,
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			users := inPartition(pastPartition, 3)
			r := start(t)
			s := newScene(t, r, users)
			s.sayAll(users)
			for round := 1; round <= 2; round++ {
				s.round(r, users[0], users[1], users[2], round)
			}
		})
	}
}

func (s *scene) sayAll(users []string) {
	s.t.Helper()
	for _, user := range users {
		s.say(user)
	}
}

// round loses the events of two users, and checks what clients receive.
func (s *scene) round(r rewinding, active, idle, safe string, round int) {
	s.t.Helper()
	accepted := rig.With(s.jobs[active], rig.MealResult(fmt.Sprint("Soup ", round)))
	r.lose(s.t, func() {
		s.sayAll([]string{active, idle, idle})
		s.nodes[0].Want(s.t, http.StatusOK, "POST", "/api/claude/suggestions", accepted)
		for _, e := range s.of(active) {
			must.Eventually(s.t, "the result to be heard", func() bool { return slices.Contains(rig.EventNames(e.heard()), "recipes:suggestions:received") })
		}
	})
	last := map[string]string{}
	for _, e := range s.ears {
		last[e.user] = e.last()
	}
	s.settled()
	for _, e := range slices.Concat(s.of(active), s.of(idle), s.of(safe)) {
		if e.user != safe || r.all {
			must.Eventually(s.t, e.user+", "+e.at+", to be told", func() bool { return e.resyncs() == round })
		}
	}
	if r.all {
		s.begin(active)
		s.begin(idle)
		s.begin(safe)
	}
	for _, user := range []string{active, idle} {
		s.comesBack(user, last[user])
	}
	if !r.all {
		for i, n := range s.nodes {
			s.ears = append(s.ears, hear(s.t, n, safe, last[safe], fmt.Sprint("back at ", i, " in round ", round)))
		}
		if got := s.nodes[0].Want(s.t, http.StatusOK, "GET", "/api/jobs/"+s.jobs[active]["requestId"].(string), nil)["status"]; got != "running" {
			s.t.Errorf("the job whose result was lost is %v", got)
		}
	}
	s.sayAll([]string{active, idle, safe}) // their events get the ids of the lost ones
	if round == 2 && !r.all {              // the acceptance was lost: it is accepted again
		s.nodes[0].Want(s.t, http.StatusOK, "POST", "/api/claude/suggestions", accepted)
	}
	s.check()
	for _, e := range s.of(safe) {
		if !r.all && e.resyncs() > 0 {
			s.t.Errorf("%s, %s, missed nothing and was told so", e.user, e.at)
		}
	}
}

func (s *scene) of(user string) (found []*ear) {
	for _, e := range s.ears {
		if e.user == user {
			found = append(found, e)
		}
	}
	return found
}

// comesBack reconnects a client that has received lost events.
func (s *scene) comesBack(user, since string) {
	s.t.Helper()
	for i, n := range s.nodes {
		e := hear(s.t, n, user, since, fmt.Sprint("back at ", i))
		must.Eventually(s.t, user+", "+e.at+", to be told", func() bool { return len(e.heard()) > 0 })
		if got := rig.EventNames(e.heard()); got[0] != "resync" || e.resyncs() != 1 {
			s.t.Errorf("%s heard %q", e.at, got)
		}
		e.conn.Close()
		id := s.jobs[user]["requestId"].(string)
		must.Equal(s.t, true, n.Want(s.t, http.StatusOK, "GET", "/api/jobs/"+id+"/events?since="+since, nil)["resync"], user, "events since", since, "are told without a word")
	}
}

// aPast is a Redis whose state can be saved and restored.
type aPast struct {
	*harness.RedisServer
	kept string
}

func newPast(t testing.TB) *aPast {
	t.Helper()
	return &aPast{rig.StartRedis(t), filepath.Join(t.TempDir(), "kept")}
}

func (p *aPast) keep(t testing.TB) { copyDir(t, filepath.Join(p.Dir, "appendonlydir"), p.kept) }

func (p *aPast) goBack(t testing.TB) {
	t.Helper()
	p.Kill()
	copyDir(t, p.kept, filepath.Join(p.Dir, "appendonlydir"))
	p.Start(t)
}

// Processes of a job that the store has lost, or of an outdated turn, are ended; a turn
// whose end was lost is started again. None of it costs an attempt.
func TestTurnsOfAStoreThatGoesBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// lose makes the store lose something about a job whose CLI waits for a file in
		// dir. It returns whether the job is still in the store.
		lose func(t *testing.T, s *lossOfTurn) bool
		// starts is how often Claude is started in total, and says a pattern of the log
		// about it.
		starts int
		says   string
	}{
		"the job": {func(t *testing.T, s *lossOfTurn) bool {
			s.create(t, "--role", "all")
			s.past.Do(t, "flushall")
			return false
		}, 1, "turn ended: job unknown to the store"},
		"the turn": {func(t *testing.T, s *lossOfTurn) bool {
			first := rig.Start(t, s.env, "--role", "api") // no node starts it yet
			s.id = first.Create(t, object{"userId": "u1"})
			s.past.keep(t)
			s.node = rig.Start(t, s.env)
			s.awaitCLI(t)
			s.past.goBack(t)
			must.Eventually(t, "the turn to be begun anew", func() bool { return len(starts(s.dir)) == 2 })
			signatures, err := os.ReadFile(filepath.Join(s.dir, "signatures"))
			must.OK(t, err)
			old, _, _ := strings.Cut(string(signatures), "\n")
			s.node.Want(t, 403, "POST", "/api/claude/progress", object{"requestId": s.id, "hmac": old, "message": "of the lost turn"})
			rig.Release(t, s.dir)
			return true
		}, 2, "turn ended: the store was restored to an earlier state|turn abandoned: owned by another node"},
		"the end of the turn": {func(t *testing.T, s *lossOfTurn) bool {
			s.create(t, "--role", "all")
			s.past.keep(t)
			rig.Release(t, s.dir)
			s.node.Await(t, s.id, "received")
			must.Eventually(t, "the end of the turn to be booked", func() bool { return strings.Contains(s.node.Log.String(), "turn ended") })
			s.past.goBack(t)
			must.Eventually(t, "the job to be run again", func() bool { return len(starts(s.dir)) == 2 })
			return true
		}, 2, "turn end lost by the store"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &lossOfTurn{past: newPast(t), dir: t.TempDir()}
			s.env = vars{"REDIS_URL": s.past.URL, "DATA_DIR": t.TempDir(), "CLAUDE_BIN": rig.PatientCLI(t, s.dir), "NODE_TIMEOUT": "1s"}
			if c.lose(t, s) {
				record := s.node.Await(t, s.id, "received")
				if record["attempt"] != nil && record["attempt"] != 0.0 {
					t.Errorf("it has cost an attempt: %v", record)
				}
			}
			must.Eventually(t, "no process to be left", func() bool { return len(rig.ProcessesIn(s.env["DATA_DIR"])) == 0 })
			must.Eventually(t, "the log to say "+c.says, func() bool { return regexp.MustCompile(c.says).MatchString(s.node.Log.String()) })
			must.Equal(t, c.starts, len(starts(s.dir)), "Claude was started … times")
		})
	}
}

// lossOfTurn is a server with a job.
type lossOfTurn struct {
	past *aPast
	env  vars
	dir  string
	node *rig.Node
	id   string
}

// create creates a job, and waits until its CLI runs.
func (s *lossOfTurn) create(t testing.TB, args ...string) {
	t.Helper()
	s.node = rig.Start(t, s.env, args...)
	s.id = s.node.Create(t, object{"userId": "u1"})
	s.awaitCLI(t)
}

func (s *lossOfTurn) awaitCLI(t testing.TB) {
	t.Helper()
	must.Eventually(t, "the CLI to start", func() bool { return len(starts(s.dir)) == 1 })
}
