package fault

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/sample"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(playsClaude); dir != "" {
		if os.Args[1] == "--version" {
			os.Exit(0)
		}
		os.Exit(playClaude(dir))
	}
	flag.Parse()
	os.Exit(harness.Main(m))
}

// settings are the settings of a run, from the environment.
type settings struct {
	// seed repeats the choice of flows, faults and decisions (FAULT_SEED).
	seed uint64
	// jobs is the number of jobs on each topology (FAULT_JOBS).
	jobs int
	// topology is the one to run on, "" for all (FAULT_TOPOLOGY).
	topology string
	// flow is that of all jobs, "" for a mixture (FAULT_FLOW); faults is what the names of all faults
	// contain (FAULT_FAULTS).
	flow, faults string
}

// fewJobs is the number of jobs in a run among the other tests.
const fewJobs = 14

func readSettings() settings {
	s := settings{seed: rand.Uint64(), jobs: fewJobs, topology: os.Getenv("FAULT_TOPOLOGY"), flow: os.Getenv("FAULT_FLOW"), faults: os.Getenv("FAULT_FAULTS")}
	if n, err := strconv.Atoi(os.Getenv("FAULT_JOBS")); err == nil {
		s.jobs = n
	}
	if n, err := strconv.ParseUint(os.Getenv("FAULT_SEED"), 10, 64); err == nil {
		s.seed = n
	}
	return s
}

// topologies are the stores to test.
var topologies = []topology{
	{name: "embedded", nodes: 1, start: startEmbedded},
	{name: "one", nodes: 3, start: startOne},
	{name: "sentinel", nodes: 3, start: startSentinel},
	{name: "lagging", nodes: 3, start: startLagging, forgets: true},
	{name: "waiting", nodes: 3, start: startWaiting},
	{name: "cluster", nodes: 3, start: startCluster},
	{name: "hosts", nodes: 2, start: startHosts},
	{name: "small", nodes: 1, start: startEmbedded, smallStore: true},
	{name: "bad", nodes: 2, start: startBad},
	{name: "batch", nodes: 2, start: startOne, crowd: crowd{users: 40, options: object{"priority": "batch"}}},
	{name: "users", nodes: 2, start: startKeys, crowd: crowd{users: 40, key: "key-of-the-crowd"}},
}

// TestFaults is the suite: see the package comment. FAULT_SEED repeats the choices of a
// run, FAULT_JOBS is the number of jobs on each topology, FAULT_TOPOLOGY selects one of
// them, FAULT_FLOW one flow of jobs, FAULT_FAULTS the faults by a part of their name.
func TestFaults(t *testing.T) {
	t.Parallel()
	s := readSettings()
	chosen := sample.Of(t, 1, topologies)
	if s.topology != "" {
		chosen = slices.DeleteFunc(slices.Clone(topologies), func(top topology) bool { return top.name != s.topology })
	}
	if len(chosen) == 0 {
		t.Fatalf("FAULT_TOPOLOGY is %q, which is none of the stores", s.topology)
	}
	for _, top := range chosen {
		t.Run(top.name, func(t *testing.T) {
			t.Parallel()
			t.Logf("FAULT_TOPOLOGY=%s FAULT_SEED=%d FAULT_JOBS=%d", top.name, s.seed, s.jobs)
			run(t, top, s)
		})
	}
}

// run runs jobs on one topology during faults, and then checks the results.
func run(t *testing.T, top topology, s settings) {
	t.Helper()
	began := time.Now()
	w := newWorld(t, top, s)
	ears := w.startListeners()
	var people, causing, flooding sync.WaitGroup
	var flood []*jobSeen
	ctx, stop := context.WithCancel(t.Context())
	chaos, calm := context.WithCancel(ctx)
	people.Go(func() { w.answerPeople(ctx) })
	causing.Go(func() { w.causeFaults(chaos) })

	flooding.Go(func() { flood = w.flood() })
	jobs := w.runClients(s.jobs)
	flooding.Wait()
	jobs = append(jobs, flood...)
	calm()
	causing.Wait()
	w.repair()
	jobs = w.withLater(w.again(jobs))

	w.checkJobs(jobs)
	w.checkNotices(jobs)
	w.checkFairness(jobs)
	ears.check(jobs)
	stop()
	people.Wait()
	ears.stop()
	w.checkLeftovers()
	w.report(jobs, time.Since(began))
}

// report prints statistics of the run, for docs/reliability.md.
func (w *world) report(jobs []*jobSeen, took time.Duration) {
	flows := map[string]int{}
	for _, j := range jobs {
		flows[j.flow]++
	}
	w.t.Logf("%s: %d jobs in %s: %v", w.topology.name, len(jobs), took.Round(time.Second), flows)
	w.t.Logf("%s: faults %v", w.topology.name, w.faults.counts())
	w.t.Logf("%s: journal %v", w.topology.name, w.journal.counts())
	w.t.Logf("%s: turns of changes that were accepted already: %d", w.topology.name, w.madeAgain(jobs))
}

// madeAgain counts the turns of unreviewed changes that began after a result was accepted.
func (w *world) madeAgain(jobs []*jobSeen) (count int) {
	notes := w.journal.read()
	for _, j := range jobs {
		accepted := j.flow != flowShip
		for _, n := range notes[j.id] {
			if n.What == turnBegan && accepted && j.flow == flowShip {
				count++
			}
			accepted = accepted || n.What == acceptedResult
		}
	}
	return count
}

// kindsDirs writes the kinds of the suite into directories for PROMPTS_DIR and
// SCHEMAS_DIR.
func kindsDirs(t testing.TB, witness string) (prompts, schemas string) {
	t.Helper()
	prompts, schemas = t.TempDir(), t.TempDir()
	const attempts = "max_attempts: 20\n" // most turns are interrupted by a fault
	for name, policy := range map[string]string{
		"plain":  "",
		"asking": "",
		"acting": fmt.Sprintf(`actions:
  - name: deploy
    title: Deploy
    question: 'Deploy "{{input.name}}"?'
    input: {type: object, required: [name], properties: {name: {type: string}}}
    command: [sh, -c, 'echo "$1" >> %s', deploy, '{{input.name}}']
`, witness),
		"careful":  "tools: {ask: [Bash]}\n",
		"shipping": "workspace: {}\nverifiers: [{present: test -s change.txt}]\n",
		"changing": "workspace: {}\nreview: true\nmax_steering_iterations: 5\nverifiers: [{present: test -s change.txt}]\n",
	} {
		write(t, filepath.Join(prompts, name+".md"), "---\n"+attempts+policy+"---\nDo it.\n")
		field := "value"
		if name == "changing" || name == "shipping" {
			field = "summary"
		}
		write(t, filepath.Join(schemas, name+".result.json"), fmt.Sprintf(`{"type":"object","required":["%[1]s"],"properties":{"%[1]s":{"type":"string"}}}`, field))
	}
	return prompts, schemas
}

func write(t testing.TB, file, text string) {
	t.Helper()
	must.OK(t, os.WriteFile(file, []byte(text), 0o600))
}
