package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

// BenchmarkTextBesideFanOut delivers two events a second to 5,000 listeners of a job, while its Claude
// writes and some of them get the text as it is written.
func BenchmarkTextBesideFanOut(b *testing.B) {
	const listeners, events, pause = 5000, 20, 500 * time.Millisecond
	for _, c := range []struct {
		name    string
		writes  bool
		readers int
	}{{"nothing is written", false, 0}, {"nobody reads", true, 0}, {"one reads", true, 1}, {"all read", true, listeners}} {
		b.Run(strings.ReplaceAll(c.name, " ", "-"), func(b *testing.B) {
			dir := b.TempDir()
			n := rig.Start(b, vars{
				"REDIS_URL": rig.StartRedis(b).URL, "CLAUDE_BIN": chatterbox(b, dir, c.writes), "CALLBACK_RATE": "100000", "LOG_LEVEL": "WARN",
				"WEBSOCKETS": strconv.Itoa(2 * listeners), "WEBSOCKETS_PER_USER": strconv.Itoa(2 * listeners), "WEBSOCKETS_PER_ADDRESS": strconv.Itoa(2 * listeners),
			})
			id := n.Create(b, object{"userId": "u1"})
			var prompt []byte
			must.Eventually(b, "Claude to begin", func() bool {
				prompt, _ = os.ReadFile(filepath.Join(dir, "prompt"))
				return rig.Setting(string(prompt), "HMAC_SIGNATURE") != ""
			})
			envelope := object{"requestId": id, "hmac": rig.Setting(string(prompt), "HMAC_SIGNATURE")}
			var heard, pieces atomic.Int64
			for i := range listeners {
				query := "userId=u1&requestId=" + id
				if i < c.readers {
					query += "&text=true"
				}
				count(b, n, query, &heard, &pieces)
			}
			client := poster()
			for b.Loop() {
				var took []time.Duration
				heard.Store(0)
				pieces.Store(0)
				cpu, begun := cpuOf(b, n.Cmd.Process.Pid), time.Now()
				for i := range events {
					next := time.Now().Add(pause)
					body, _ := json.Marshal(rig.With(envelope, object{"message": fmt.Sprint("step ", i)}))
					sent := time.Now()
					post(b, client, n.URL+"/api/claude/progress", body)
					for want := int64((i + 1) * listeners); heard.Load() < want; {
						time.Sleep(time.Millisecond)
					}
					took = append(took, time.Since(sent))
					time.Sleep(time.Until(next))
				}
				elapsed := time.Since(begun).Seconds()
				slices.Sort(took)
				b.ReportMetric(float64((cpuOf(b, n.Cmd.Process.Pid)-cpu).Milliseconds())/elapsed, "server-cpu-ms/s")
				b.ReportMetric(float64(took[events/2].Milliseconds()), "p50-ms/event")
				b.ReportMetric(float64(took[events-1].Milliseconds()), "max-ms/event")
				b.ReportMetric(float64(pieces.Load())/elapsed, "pieces/s")
			}
		})
	}
}

// count counts what a listener gets.
func count(b *testing.B, n *rig.Node, query string, heard, pieces *atomic.Int64) {
	b.Helper()
	conn := harness.Dial(b, n.URL, query, nil)
	go func() {
		for {
			_, text, err := conn.ReadMessage()
			switch {
			case err != nil:
				return
			case bytes.Contains(text, []byte(`:activity"`)):
				heard.Add(1)
			case bytes.Contains(text, []byte(`:text"`)):
				pieces.Add(1)
			}
		}
	}()
}

// chatterbox is a CLI that keeps its prompt, and writes 20 times a second if it writes.
func chatterbox(b *testing.B, dir string, writes bool) string {
	b.Helper()
	text := map[bool]string{true: "text", false: "image"}[writes] // of an image, nothing is sent
	return rig.Script(b, `
cat > `+dir+`/prompt.part && mv `+dir+`/prompt.part `+dir+`/prompt
event() { echo '{"type":"stream_event","event":'"$1"',"session_id":"s","parent_tool_use_id":null}'; }
echo '{"type":"system","subtype":"init"}'
event '{"type":"content_block_start","index":0,"content_block":{"type":"`+text+`","text":""}}'
while sleep 0.05; do
	event '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" some words"}}'
done
`)
}
