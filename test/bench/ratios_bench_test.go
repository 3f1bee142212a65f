package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"golang.org/x/sys/unix"

	"ringback/internal/job"
	"ringback/schemas"
	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

// BenchmarkRatios compares the server's cost with the least possible cost, in one run: each
// pair three times, alternately, and the median counts. It compares processor time, which
// other work on the machine affects less than throughput. The table is printed at the end.
// The floors are:
//
//   - for callbacks, a bare handler that makes one EVALSHA to the same Redis;
//   - for a result, decoding it, validating it with the library and checking its signature, in
//     process;
//   - for jobs, a loop that starts the same program, and one that starts it by bwrap.
//
// Waits for a worker have no floor, but a target: what docs/scaling.md promises.
func BenchmarkRatios(b *testing.B) {
	t := &ratios{}
	b.Run("callbacks", t.callbacks)
	b.Run("results", t.results)
	b.Run("jobs", t.jobs)
	b.Run("waits", t.waits)
	fmt.Print(t.table())
}

// ratios collects the rows of the table.
type ratios struct{ rows [][]string }

// cost is the cost of one operation.
type cost struct {
	server, redis, children time.Duration
	// elapsed is the time per operation with concurrency.
	elapsed time.Duration
	// latency contains the duration of each operation.
	latency []time.Duration
}

const repetitions = 3

// compare measures both alternately and returns the medians.
func compare(ours, floor func() cost) (o, f cost) {
	var all, floors []cost
	for range repetitions {
		all, floors = append(all, ours()), append(floors, floor())
	}
	return median(all), median(floors)
}

func median(costs []cost) (m cost) {
	middle := func(of func(cost) time.Duration) time.Duration {
		values := make([]time.Duration, len(costs))
		for i, c := range costs {
			values[i] = of(c)
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	m.server = middle(func(c cost) time.Duration { return c.server })
	m.redis = middle(func(c cost) time.Duration { return c.redis })
	m.children = middle(func(c cost) time.Duration { return c.children })
	m.elapsed = middle(func(c cost) time.Duration { return c.elapsed })
	for _, c := range costs {
		m.latency = append(m.latency, c.latency...)
	}
	slices.Sort(m.latency)
	return m
}

// row adds a row; with a floor of 0, nothing is compared.
func (t *ratios) row(workload, of string, ours, floor time.Duration, target string) {
	against, ratio := "", ""
	if floor > 0 {
		against, ratio = shown(floor), fmt.Sprintf("%.2f", float64(ours)/float64(floor))
	}
	t.rows = append(t.rows, []string{workload, of, shown(ours), against, ratio, target})
}

func shown(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprint(d.Microseconds(), " µs")
	}
	return fmt.Sprintf("%.1f ms", d.Seconds()*1000)
}

// latencies adds a row for each percentile.
func (t *ratios) latencies(workload string, ours, floor []time.Duration) {
	for _, p := range []float64{50, 99, 99.9} {
		t.row(workload, fmt.Sprint("latency p", p), at(ours, p), at(floor, p), "")
	}
}

// at returns a percentile of durations, which are in order.
func at(all []time.Duration, percent float64) time.Duration {
	return all[int(float64(len(all)-1)*percent/100)]
}

func (t *ratios) table() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nworkload\tper operation\tringback\tfloor\tratio\ttarget")
	for _, row := range t.rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush()
	return out.String()
}

// callbacks compares progress reports: on keep-alive connections, on a new connection each
// as curl makes it, and at a fixed rate.
func (t *ratios) callbacks(b *testing.B) {
	const jobs, listeners, kept, anew, atRate = 200, 10, 4000, 2000, 1500
	redis := rig.StartRedis(b)
	n := rig.Start(b, vars{"REDIS_URL": redis.URL, "CALLBACK_RATE": "100000", "LOG_LEVEL": "WARN"})
	pid, redisPID := n.Cmd.Process.Pid, redis.Cmd.Process.Pid
	bareURL, barePID := bareServer(b, redis.URL)
	envelopes := make([]object, jobs)
	for i := range envelopes {
		_, envelopes[i] = n.Manual(b, object{"userId": fmt.Sprint("u", i%100)})
	}
	var heard atomic.Int64
	for i := range listeners {
		countFrames(b, n.URL, fmt.Sprint("userId=u", i), &heard)
	}
	signature := regexp.MustCompile(`"[0-9a-f]{64}"`)
	var sent atomic.Int64
	report := func() []byte {
		i := sent.Add(1)
		body, _ := json.Marshal(rig.With(envelopes[i%jobs], object{"message": fmt.Sprint("Reading page ", i, " of the history"), "progress": i % 100}))
		return body
	}
	unsigned := func() []byte { // a signature that is not in the store
		return signature.ReplaceAll(report(), []byte(`"`+strings.Repeat("0", 64)+`"`))
	}
	load := func(url string, pid, operations, connections int, reuse bool, body func() []byte) func() cost {
		return func() cost {
			return measure(b, pid, redisPID, operations, func() { saturate(b, url, operations, connections, reuse, body) })
		}
	}
	ours, bare := n.URL+"/api/claude/progress", bareURL
	saturate(b, ours, 500, 64, true, report)
	saturate(b, bare, 500, 64, true, unsigned)
	o, f := compare(load(ours, pid, kept, 64, true, report), load(bare, barePID, kept, 64, true, unsigned))
	t.row("progress, 64 connections", "server", o.server, f.server, "1.3")
	t.row("", "redis", o.redis, f.redis, "")
	o, f = compare(load(ours, pid, anew, 8, false, report), load(bare, barePID, anew, 8, false, unsigned))
	t.row("progress, a new connection each", "server", o.server, f.server, "1.1")
	t.row("", "redis", o.redis, f.redis, "")
	o, f = compare(func() cost { return paced(b, ours, atRate, report) }, func() cost { return paced(b, bare, atRate, unsigned) })
	t.latencies("progress, 500 a second", o.latency, f.latency)
}

// results compares results of 11 KB.
func (t *ratios) results(b *testing.B) {
	const results, users = 150, 10
	redis := rig.StartRedis(b)
	n := rig.Start(b, vars{"REDIS_URL": redis.URL, "CALLBACK_RATE": "100000", "LOG_LEVEL": "WARN"})
	floor := newResultFloor(b)
	ours := func() cost {
		bodies := make([][]byte, results)
		for i := range bodies {
			_, envelope := n.Manual(b, object{"userId": fmt.Sprint("u", i%users)})
			bodies[i], _ = json.Marshal(rig.With(envelope, largeResult()))
		}
		var next atomic.Int64
		return measure(b, n.Cmd.Process.Pid, redis.Cmd.Process.Pid, results, func() {
			saturate(b, n.URL+"/api/claude/suggestions", results, 16, true, func() []byte { return bodies[next.Add(1)-1] })
		})
	}
	o, f := compare(ours, func() cost { return floor.run(b, results) })
	t.row("a result of 11 KB", "server", o.server, f.server, "2.2")
	t.row("", "redis", o.redis, 0, "")
}

// jobs compares whole jobs, eight at once, with a loop that starts the same program.
func (t *ratios) jobs(b *testing.B) {
	const jobs, atOnce = 60, 8
	cli := buildNoopCLI(b)
	bwrap := []string{"bwrap", "--dev-bind", "/", "/", "--unshare-all", "--share-net", "--die-with-parent", cli}
	for _, of := range []struct {
		sandbox, target string
		bare            []string
	}{{"off", "1.7", []string{cli}}, {"require", "3.3", bwrap}} {
		o, f := compare(func() cost {
			each, elapsed := runJobs(b, cli, of.sandbox, atOnce, jobs)
			each.elapsed = elapsed / jobs
			return each
		}, func() cost {
			each, elapsed := runBare(b, atOnce, jobs, of.bare...)
			each.elapsed = elapsed / jobs
			return each
		})
		if of.sandbox != "off" {
			f.children = 0 // bwrap does not report what its process has used
		}
		t.row("a job, SANDBOX="+of.sandbox, "time, eight at once", o.elapsed, f.elapsed, of.target)
		t.row("", "processes", o.children, f.children, "")
		t.row("", "server", o.server, 0, "")
		t.row("", "redis", o.redis, 0, "")
		t.row("", "creation to process p50", o.latency[len(o.latency)/2], 0, "")
	}
}

// measure runs operations and returns the cost of each to a server and Redis.
func measure(b *testing.B, pid, redisPID, operations int, do func()) cost {
	b.Helper()
	server, redis := cpuOf(b, pid), cpuOf(b, redisPID)
	do()
	n := time.Duration(operations)
	return cost{server: (cpuOf(b, pid) - server) / n, redis: (cpuOf(b, redisPID) - redis) / n}
}

// saturate posts as fast as possible on a number of connections; reuse is true to keep them
// alive.
func saturate(b *testing.B, url string, operations, connections int, reuse bool, body func() []byte) {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(operations))
	var clients sync.WaitGroup
	for range connections {
		clients.Go(func() {
			c := &rawClient{t: b, url: url}
			defer c.close()
			for left.Add(-1) >= 0 {
				c.post(body())
				if !reuse {
					c.close()
				}
			}
		})
	}
	clients.Wait()
}

// rawClient posts over one connection with little overhead, to leave the machine to the
// servers.
type rawClient struct {
	t    testing.TB
	url  string
	conn net.Conn
	read *bufio.Reader
	head string
}

func (c *rawClient) post(body []byte) {
	if c.conn == nil {
		rest, _ := strings.CutPrefix(c.url, "http://")
		host, path, _ := strings.Cut(rest, "/")
		conn, err := net.Dial("tcp", host)
		if err != nil {
			c.t.Error(err)
			return
		}
		c.conn, c.read = conn, bufio.NewReader(conn)
		c.head = "POST /" + path + " HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\nContent-Type: application/json\r\nContent-Length: "
	}
	if _, err := c.conn.Write(fmt.Appendf(nil, "%s%d\r\n\r\n%s", c.head, len(body), body)); err != nil {
		c.t.Error(err)
		return
	}
	resp, err := http.ReadResponse(c.read, nil)
	if err != nil {
		c.t.Error(err)
		return
	}
	answer, _ := io.ReadAll(resp.Body)
	must.Equal(c.t, http.StatusOK, resp.StatusCode, answer)
}

func (c *rawClient) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// paced posts 500 times a second, regardless of the responses, and returns the time of each
// since it was due.
func paced(b *testing.B, url string, operations int, body func() []byte) cost {
	b.Helper()
	const every = 2 * time.Millisecond
	due := make(chan time.Time, operations)
	took := make([]time.Duration, operations)
	var done atomic.Int64
	var clients sync.WaitGroup
	for range 32 {
		clients.Go(func() {
			c := &rawClient{t: b, url: url}
			defer c.close()
			for at := range due {
				c.post(body())
				took[done.Add(1)-1] = time.Since(at)
			}
		})
	}
	begin := time.Now()
	for i := range operations {
		at := begin.Add(time.Duration(i) * every)
		time.Sleep(time.Until(at))
		due <- at
	}
	close(due)
	clients.Wait()
	return cost{latency: took}
}

// countFrames connects a WebSocket and counts the frames.
func countFrames(b *testing.B, url, query string, heard *atomic.Int64) {
	b.Helper()
	conn := harness.Dial(b, url, query, nil)
	go func() {
		for {
			if _, _, err := conn.ReadMessage(); err != nil {
				return
			}
			heard.Add(1)
		}
	}()
}

// largeResult is a result of seven full recipes.
func largeResult() object {
	var suggestions []any
	for day := range 7 {
		recipe := object{
			"name": fmt.Sprint("Dish ", day), "description": "A dish for a working day that needs one pot and little attention.", "source": "Own recipe",
			"cuisine": "Italian", "difficulty": "easy", "servings": 4, "prepMinutes": 15, "cookMinutes": 25, "tags": []string{"quick", "vegan", "one-pot"},
			"nutrition": object{"kcal": 520, "proteinGrams": 21, "carbsGrams": 60, "fatGrams": 18, "fiberGrams": 9},
		}
		var ingredients []object
		for i := range 16 {
			ingredients = append(ingredients, object{"name": fmt.Sprint("ingredient ", i), "amount": 12.5, "unit": "g", "note": "chopped"})
		}
		var steps []string
		for i := range 5 {
			steps = append(steps, fmt.Sprint(i+1, ". Cut and fry everything over medium heat for 5 minutes, stirring now and then."))
		}
		recipe["ingredients"], recipe["steps"] = ingredients, steps
		suggestions = append(suggestions, object{"date": fmt.Sprintf("2026-03-%02d", day+2), "mealType": "dinner", "recipe": recipe})
	}
	return object{"suggestions": suggestions, "reasoning": "Seven dishes that take turns between vegetables, fish and pulses."}
}

// resultFloor is the least work that a result requires.
type resultFloor struct {
	schema *jsonschema.Schema
	body   []byte
	secret job.Secret
}

func newResultFloor(b *testing.B) resultFloor {
	b.Helper()
	source := must.Get(schemas.FS.ReadFile("meal-suggestions.result.json"))(b)
	c := jsonschema.NewCompiler()
	c.Draft, c.AssertFormat = jsonschema.Draft2020, true
	must.OK(b, c.AddResource("result.json", bytes.NewReader(source)))
	compiled := must.Get(c.Compile("result.json"))(b)
	body, _ := json.Marshal(largeResult())
	return resultFloor{compiled, body, job.NewSecret()}
}

func (f resultFloor) run(b *testing.B, results int) cost {
	b.Helper()
	id := job.ID("req_00_" + strings.Repeat("a", 26))
	digest := f.secret.Sign(id).Digest()
	runtime.LockOSThread() // other work of this process does not count
	defer runtime.UnlockOSThread()
	before := threadCPU(b)
	for range results {
		var v any
		dec := json.NewDecoder(bytes.NewReader(f.body))
		dec.UseNumber()
		must.OK(b, dec.Decode(&v))
		must.OK(b, f.schema.Validate(v))
		if !f.secret.Sign(id).Matches(digest) {
			b.Fatal("the signature does not match")
		}
	}
	return cost{server: (threadCPU(b) - before) / time.Duration(results)}
}

// threadCPU returns the processor time of this thread.
func threadCPU(b *testing.B) time.Duration {
	b.Helper()
	var used unix.Rusage
	must.OK(b, unix.Getrusage(unix.RUSAGE_THREAD, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
