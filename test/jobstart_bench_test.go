package test

import (
	"bytes"
	"fmt"
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

	"github.com/gorilla/websocket"

	"ringback/test/harness"
)

// BenchmarkJobs runs whole jobs on a CLI that does nothing but call back, with and without
// a sandbox, next to a loop that starts the same program against a bare handler: one after
// the other, and eight at once.
func BenchmarkJobs(b *testing.B) {
	dir := b.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // the jobs of a server that runs as root have another user
		b.Fatal(err)
	}
	cli := filepath.Join(dir, "noopcli")
	if out, err := exec.Command("go", "build", "-o", cli, "ringback/test/noopcli").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	for _, atOnce := range []int{1, 8} {
		for _, sandbox := range []string{"require", "off"} {
			b.Run(fmt.Sprintf("at-once=%d/sandbox=%s", atOnce, sandbox), func(b *testing.B) { benchmarkJobs(b, cli, sandbox, atOnce) })
		}
		b.Run(fmt.Sprintf("at-once=%d/bare", atOnce), func(b *testing.B) { benchmarkBareStarts(b, cli, atOnce) })
	}
}

func benchmarkJobs(b *testing.B, cli, sandbox string, atOnce int) {
	b.Helper()
	server := startRedis(b)
	// Looking for secrets would take as long as a job does.
	s := harness.StartUnscanned(b, vars{
		"REDIS_URL": server.url, "CLAUDE_BIN": cli, "WORKERS": strconv.Itoa(atOnce), "LOG_LEVEL": "WARN", "SANDBOX": sandbox,
		"CALLBACK_RATE": "100000",
	}, nil)
	pid, redis := s.Cmd.Process.Pid, server.Cmd.Process.Pid
	conn, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+"/ws?userId=u1", nil)
	if err != nil {
		b.Fatal(err)
	}
	resp.Body.Close()
	defer conn.Close()
	created, latencies := map[string]time.Time{}, []time.Duration{}
	b.ResetTimer()
	ownBefore, childrenBefore, redisBefore := cpuOf(b, pid), childCPUOf(b, pid), cpuOf(b, redis)
	create := func() {
		at := time.Now()
		answer := s.Want(b, http.StatusAccepted, harness.Request{Method: "POST", Path: "/api/jobs", Body: object{"kind": "meal-suggestions", "userId": "u1", "input": mealInput()}})
		created[answer["requestId"].(string)] = at
	}
	for range min(atOnce, b.N) {
		create()
	}
	for received, asked := 0, min(atOnce, b.N); received < b.N; {
		var frame struct {
			Event     string
			RequestID string
			Data      struct{ Message any }
		}
		if err := conn.ReadJSON(&frame); err != nil {
			b.Fatal(err)
		}
		switch frame.Event {
		case "recipes:suggestions:activity":
			message, _ := frame.Data.Message.(string)
			if started, err := strconv.ParseInt(message, 10, 64); err == nil {
				latencies = append(latencies, time.UnixMicro(started).Sub(created[frame.RequestID]))
			}
		case "recipes:suggestions:received":
			received++
			if asked < b.N {
				asked++
				create()
			}
		case "recipes:suggestions:error":
			b.Fatalf("a job failed: %+v\n%s", frame, s.Log)
		}
	}
	b.StopTimer()
	time.Sleep(time.Second) // the last processes are waited for a little later
	perJob := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(b.N) }
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(perJob(cpuOf(b, pid)-ownBefore), "server-cpu-ms/job")
	b.ReportMetric(perJob(childCPUOf(b, pid)-childrenBefore), "children-cpu-ms/job")
	b.ReportMetric(perJob(cpuOf(b, redis)-redisBefore), "redis-cpu-ms/job")
	slices.Sort(latencies)
	b.ReportMetric(latencies[len(latencies)/2].Seconds()*1000, "create-to-process-ms")
}

// benchmarkBareStarts is what the processes of jobs cost alone.
func benchmarkBareStarts(b *testing.B, cli string, atOnce int) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	prompt := "- REQUEST_ID: x\n- HMAC_SIGNATURE: y\n- CALLBACK_BASE_URL: http://" + l.Addr().String() + "\n"
	workers := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	before := childCPUOf(b, os.Getpid())
	b.ResetTimer()
	for range b.N {
		workers <- struct{}{}
		running.Go(func() {
			defer func() { <-workers }()
			cmd := exec.Command(cli)
			var errs bytes.Buffer
			cmd.Stdin, cmd.Stderr = strings.NewReader(prompt), &errs
			if err := cmd.Run(); err != nil {
				b.Errorf("%v: %s", err, &errs)
			}
		})
	}
	running.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric((childCPUOf(b, os.Getpid())-before).Seconds()*1000/float64(b.N), "children-cpu-ms/job")
}
