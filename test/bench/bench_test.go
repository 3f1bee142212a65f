package bench

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/test/must"
)

// cpuOf returns the CPU time of a process.
func cpuOf(b *testing.B, pid int) time.Duration {
	b.Helper()
	return cpuFields(pid, 11)
}

// childCPUOf returns the CPU time of the children that a process has waited for, and of
// theirs.
func childCPUOf(b *testing.B, pid int) time.Duration {
	b.Helper()
	return cpuFields(pid, 13)
}

// cpuFields adds user and system time, which are adjacent in /proc/<pid>/stat.
func cpuFields(pid, first int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, _ := strconv.Atoi(fields[first])
	system, _ := strconv.Atoi(fields[first+1])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// poster posts on keep-alive connections.
func poster() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128}}
}

func post(b *testing.B, c *http.Client, url string, body []byte) {
	b.Helper()
	resp, err := c.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		b.Error(err)
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	must.Equal(b, http.StatusOK, resp.StatusCode)
}

// playBare makes the test binary the bare server, in a separate process so that its CPU
// time can be distinguished from the load's.
const playBare = "RINGBACK_BENCH_BARE"

func bareServer(b *testing.B, redisURL string) (url string, pid int) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), playBare+"="+redisURL)
	out := must.Get(cmd.StdoutPipe())(b)
	must.OK(b, cmd.Start())
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	must.Get(fmt.Fscan(out, &url))(b)
	return url, cmd.Process.Pid
}

func playBareServer(redisURL string) {
	options, err := redis.ParseURL(redisURL)
	if err != nil {
		return
	}
	options.PoolSize = 64
	rdb := redis.NewClient(options)
	script := redis.NewScript(`redis.call('HSET', KEYS[1], 'body', ARGV[1]) return 'ok'`)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return
	}
	fmt.Println("http://" + l.Addr().String())
	err = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := script.Run(r.Context(), rdb, []string{"bare"}, string(body)).Err(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"success":true}`)
	}))
	fmt.Fprintln(os.Stderr, err)
}
