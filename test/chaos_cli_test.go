package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// playChaos makes the test binary a CLI that repeats, reorders and doubles its
// callbacks, and notes in a file which of them were accepted.
const playChaos = "RINGBACK_SIMULATE_CHAOS"

// accepted is a callback that was answered with 200.
type accepted struct {
	ID    string `json:"id"`
	What  string `json:"what"` // progress or result
	Value string `json:"value"`
}

func playChaosCLI(dir string) int {
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 1
	}
	fmt.Println(`{"type":"system","subtype":"init"}`)
	c := chaosCLI{dir: dir, prompt: string(prompt), run: fmt.Sprintf("%d-%x", os.Getpid(), rand.Uint32())}
	var reports sync.WaitGroup
	for i := range 1 + rand.IntN(4) { // at the same time, so that their order is anyone's guess
		reports.Go(func() {
			pause(600)
			c.post("progress", fmt.Sprintf("report %d of %s", i, c.run), "message")
		})
		if rand.IntN(2) == 0 {
			reports.Wait()
		}
	}
	reports.Wait()
	if rand.IntN(8) == 0 {
		return rand.IntN(2) // forgets to submit
	}
	c.post("result", "result of "+c.run, "value")
	return 0
}

type chaosCLI struct{ dir, prompt, run string }

func pause(most int) { time.Sleep(time.Duration(rand.IntN(most)) * time.Millisecond) }

// post sends a callback until it is answered, like curl --retry, and now and
// then a second time.
func (c chaosCLI) post(what, value, field string) {
	id := setting(c.prompt, "REQUEST_ID")
	body, _ := json.Marshal(object{"requestId": id, "hmac": setting(c.prompt, "HMAC_SIGNATURE"), field: value})
	var sending sync.WaitGroup
	for range 1 + rand.IntN(2) {
		sending.Go(func() {
			if c.send(what, body) == http.StatusOK {
				c.note(accepted{id, what, value})
			}
		})
	}
	sending.Wait()
}

func (c chaosCLI) send(what string, body []byte) int {
	client := http.Client{Timeout: 5 * time.Second}
	for range 200 {
		resp, err := client.Post(setting(c.prompt, "CALLBACK_BASE_URL")+"/api/claude/"+what, "application/json", bytes.NewReader(body))
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if err == nil && resp.StatusCode < 500 && resp.StatusCode != http.StatusTooManyRequests {
				return resp.StatusCode
			}
		}
		pause(300)
	}
	return 0
}

func (c chaosCLI) note(a accepted) {
	f, err := os.OpenFile(filepath.Join(c.dir, "accepted"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	line, _ := json.Marshal(a)
	_, _ = f.Write(append(line, '\n'))
}
