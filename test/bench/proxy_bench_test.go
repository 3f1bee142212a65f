package bench

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"ringback/test/must"
	"ringback/test/rig"
)

// streamer is a CLI that makes one request of the real one's size, and reads the response.
const streamer = `#!/bin/sh
case "$1" in --version) echo "2.1.329 (Claude Code)"; exit;; esac
{ printf '{"model":"claude-sonnet-5","max_tokens":32000,"stream":true,"system":"'; head -c 88000 /dev/zero | tr '\0' x; printf '"}'; } > body
exec curl -sSN -o /dev/null -d @body "$ANTHROPIC_BASE_URL/v1/messages"
`

// BenchmarkTurnsThatStream measures the server's cost of forwarding the responses of the
// model's API to 100 concurrent turns, each with 50 chunks a second, under a budget.
func BenchmarkTurnsThatStream(b *testing.B) {
	const turns, pieces, pause = 100, 500, 20 * time.Millisecond
	var began atomic.Int64
	goOn := make(chan bool)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: message_start\ndata: {\"message\":{\"model\":\"claude-sonnet-5\",\"usage\":{\"input_tokens\":22000,\"output_tokens\":1}}}\n\n")
		_ = http.NewResponseController(w).Flush()
		began.Add(1)
		<-goOn
		for range pieces {
			time.Sleep(pause)
			_, _ = io.WriteString(w, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"some words\"}}\n\n")
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = io.WriteString(w, "event: message_delta\ndata: {\"usage\":{\"output_tokens\":1500}}\n\n")
	}))
	b.Cleanup(api.Close)
	cli := filepath.Join(b.TempDir(), "claude")
	must.OK(b, os.WriteFile(cli, []byte(streamer), 0o755))
	n := rig.Start(b, vars{
		"REDIS_URL": rig.StartRedis(b).URL, "CLAUDE_BIN": cli, "SANDBOX": "require", "WORKERS": strconv.Itoa(turns), "USER_LIMIT": strconv.Itoa(turns), "LOG_LEVEL": "WARN",
		"ANTHROPIC_BASE_URL": api.URL, "ANTHROPIC_API_KEY": "none", "BUDGET_USD_PER_DAY": "1000000",
		"PROMPTS_DIR": rig.KindsDir(b, "stream.md", "---\nmax_attempts: 1\nmax_blocks: 0\n---\nStream."), "SCHEMAS_DIR": rig.KindsDir(b, "stream.result.json", `{"type":"object"}`),
	})
	idle := residentMB(b, n.Cmd.Process.Pid)
	b.ResetTimer()
	for range turns {
		n.Create(b, object{"kind": "stream", "userId": "u1", "input": object{}})
	}
	must.Eventually(b, "all turns to stream", func() bool { return began.Load() == turns })
	before, start := cpuOf(b, n.Cmd.Process.Pid), time.Now()
	close(goOn)
	time.Sleep(pieces * pause * 9 / 10)
	took, cpu, resident := time.Since(start), cpuOf(b, n.Cmd.Process.Pid)-before, residentMB(b, n.Cmd.Process.Pid)
	b.ReportMetric(idle, "idle-MB")
	b.ReportMetric(resident, "streaming-MB")
	b.ReportMetric(100*cpu.Seconds()/took.Seconds(), "cpu-%")
}
