package bench

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

func buildNoopCLI(b *testing.B) (path string) {
	b.Helper()
	dir := b.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // jobs of a root server run as another user
		b.Fatal(err)
	}
	cli := filepath.Join(dir, "noopcli")
	if out, err := exec.Command("go", "build", "-o", cli, "ringback/test/noopcli").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return cli
}

// runJobs runs jobs concurrently, and returns the cost of each; latency is the time from
// its creation to the start of its process.
func runJobs(b *testing.B, cli, sandbox string, atOnce, jobs int) (each cost, elapsed time.Duration) {
	b.Helper()
	server := rig.StartRedis(b)
	// Scanning for secrets would take as long as a job does.
	s := harness.StartWith(b, harness.Options{Env: vars{
		"REDIS_URL": server.URL, "CLAUDE_BIN": cli, "WORKERS": strconv.Itoa(atOnce), "LOG_LEVEL": "WARN", "SANDBOX": sandbox,
		"CALLBACK_RATE": "100000",
	}})
	pid, redis := s.Cmd.Process.Pid, server.Cmd.Process.Pid
	conn := harness.Dial(b, s.URL, "userId=u1", nil)
	created, latencies := map[string]time.Time{}, []time.Duration{}
	b.ResetTimer()
	ownBefore, childrenBefore, redisBefore := cpuOf(b, pid), childCPUOf(b, pid), cpuOf(b, redis)
	create := func() {
		at := time.Now()
		answer := s.Want(b, http.StatusAccepted, harness.Request{Method: "POST", Path: "/api/jobs", Body: object{"kind": "meal-suggestions", "userId": "u1", "input": rig.MealInput()}})
		created[answer["requestId"].(string)] = at
	}
	begin := time.Now()
	for range min(atOnce, jobs) {
		create()
	}
	for received, asked := 0, min(atOnce, jobs); received < jobs; {
		var frame struct {
			Event     string
			RequestID string
			Data      struct{ Message any }
		}
		must.OK(b, conn.ReadJSON(&frame))
		switch frame.Event {
		case "recipes:suggestions:activity":
			message, _ := frame.Data.Message.(string)
			if started, err := strconv.ParseInt(message, 10, 64); err == nil {
				latencies = append(latencies, time.UnixMicro(started).Sub(created[frame.RequestID]))
			}
		case "recipes:suggestions:received":
			received++
			if asked < jobs {
				asked++
				create()
			}
		case "recipes:suggestions:error":
			b.Fatalf("a job failed: %+v\n%s", frame, s.Log)
		}
	}
	b.StopTimer()
	elapsed = time.Since(begin)
	time.Sleep(time.Second) // the last processes are reaped a little later
	n := time.Duration(jobs)
	slices.Sort(latencies)
	return cost{
		server: (cpuOf(b, pid) - ownBefore) / n, children: (childCPUOf(b, pid) - childrenBefore) / n, redis: (cpuOf(b, redis) - redisBefore) / n,
		latency: latencies,
	}, elapsed
}

// runBare starts a command concurrently, and returns the cost of each.
func runBare(b *testing.B, atOnce, jobs int, command ...string) (each cost, elapsed time.Duration) {
	b.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(b)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	prompt := "- REQUEST_ID: x\n- HMAC_SIGNATURE: y\n- CALLBACK_BASE_URL: http://" + l.Addr().String() + "\n"
	workers := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	before := childCPUOf(b, os.Getpid())
	b.ResetTimer()
	begin := time.Now()
	for range jobs {
		workers <- struct{}{}
		running.Go(func() {
			defer func() { <-workers }()
			cmd := exec.Command(command[0], command[1:]...)
			var errs bytes.Buffer
			cmd.Stdin, cmd.Stderr = strings.NewReader(prompt), &errs
			if err := cmd.Run(); err != nil {
				b.Errorf("%v: %s", err, &errs)
			}
		})
	}
	running.Wait()
	b.StopTimer()
	return cost{children: (childCPUOf(b, os.Getpid()) - before) / time.Duration(jobs)}, time.Since(begin)
}
