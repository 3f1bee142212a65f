package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"ringback/internal/turn/claude"
	"ringback/test/harness"
)

// object is a JSON object.
type object = harness.Object

// playsClaude makes the test binary a CLI that follows the job's flow, and repeats,
// reorders and duplicates its callbacks. Its value is the journal's directory.
const playsClaude = "RINGBACK_SIMULATE_FAULTS"

// player is one process of the CLI.
type player struct {
	journal *journal
	prompt  prompt
	// conversation is the CLI's session id.
	conversation string
	// input is the job's; answers are the user's answers so far.
	input   struct{ Flow, Wish string }
	answers []givenAnswer
	// run distinguishes this process from others of the job.
	run string
}

// givenAnswer is a question that the user has answered, as described in a prompt.
type givenAnswer struct {
	Question string `json:"question"`
	Props    struct {
		Action string `json:"action"`
	} `json:"props"`
	Reply struct {
		Decision string         `json:"decision"`
		Values   map[string]any `json:"values"`
		Text     string         `json:"text"`
	} `json:"reply"`
	// Note is set if the answer was used up.
	Note string `json:"note"`
}

func playClaude(dir string) int {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 1
	}
	p := &player{journal: &journal{dir: dir}, run: fmt.Sprintf("%d-%x", os.Getpid(), rand.Uint32())}
	p.prompt = readPrompt(string(text))
	if p.prompt.callback.RequestID == "" { // a trial start: it needs the first line only
		fmt.Println(`{"type":"system","subtype":"init","session_id":"trial"}`)
		return 0
	}
	if err := p.recall(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Printf(`{"type":"system","subtype":"init","session_id":%q}`+"\n", p.conversation)
	p.note(turnBegan, p.run)
	err = p.play()
	if errors.Is(err, errStop) {
		err = nil
	}
	p.note(turnEnded, fmt.Sprint(p.run, " ", err))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Printf(`{"type":"result","subtype":"success","is_error":false,"session_id":%q,"result":"Done."}`+"\n", p.conversation)
	return 0
}

// prompt holds the values in a prompt; those that it lacks are empty.
type prompt struct {
	callback                         claude.Callback
	input, answers, written, history []byte
	steerRequest                     string
}

func readPrompt(text string) prompt {
	value := func(name string) string { return between(text, "\n- "+name+": ", "\n") }
	fence := func(heading string) []byte {
		return []byte(between(strings.ReplaceAll(between(text, heading, ""), "```json\n", "```\n"), "```\n", "\n```"))
	}
	return prompt{
		callback: claude.Callback{RequestID: value("REQUEST_ID"), BaseURL: value("CALLBACK_BASE_URL"), Signature: value("HMAC_SIGNATURE")},
		input:    fence("\n## The Request\n"), answers: fence("answers to your questions so far"),
		written: fence("written since your last turn"), history: fence("\n## What Happened So Far\n"),
		steerRequest: string(fence("What the reviewer wants:\n")),
	}
}

// between returns the text between two others; "" if it is not there.
func between(text, before, after string) string {
	_, rest, _ := strings.Cut(text, before)
	if after == "" {
		return rest
	}
	value, _, _ := strings.Cut(rest, after)
	return value
}

// memoryFile contains the input and the answers of a conversation, which later prompts do not repeat.
const memoryFile = ".conversation.json"

// recall resumes a conversation from the working directory: like the real CLI, it fails if
// the conversation was not begun there.
func (p *player) recall(args []string) error {
	resumed := slices.Index(args, "--resume")
	for _, option := range []string{"--resume", "--session-id"} {
		if i := slices.Index(args, option); i >= 0 && i+1 < len(args) {
			p.conversation = args[i+1]
		}
	}
	var memory struct {
		Of      string
		Input   json.RawMessage
		Answers []givenAnswer
	}
	if len(p.prompt.input) > 0 || resumed < 0 {
		memory.Of, memory.Input = p.conversation, p.prompt.input
	} else if text, err := os.ReadFile(memoryFile); err != nil || json.Unmarshal(text, &memory) != nil || memory.Of != p.conversation {
		return fmt.Errorf("No conversation found with session ID: %s", p.conversation)
	}
	if len(p.prompt.answers) > 0 {
		var fresh []givenAnswer
		if err := json.Unmarshal(p.prompt.answers, &fresh); err != nil {
			return err
		}
		memory.Answers = append(memory.Answers, fresh...)
	}
	p.answers = memory.Answers
	text, _ := json.Marshal(memory)
	if err := os.WriteFile(memoryFile, text, 0o600); err != nil {
		return err
	}
	return json.Unmarshal(memory.Input, &p.input)
}

func (p *player) note(what, value string) {
	p.journal.write(p.prompt.callback.RequestID, "claude", what, value)
}

func pause(most int) { time.Sleep(time.Duration(rand.IntN(most)) * time.Millisecond) }

// errStop ends a turn normally when a person is asked, or when the job is over.
var errStop = errors.New("the turn ends here")

// envelope adds the fields that identify the job and the turn to a payload.
func (p *player) envelope(payload object) object {
	all := object{"requestId": p.prompt.callback.RequestID, "hmac": p.prompt.callback.Signature}
	maps.Copy(all, payload)
	return all
}

// send posts a callback until there is a response, like curl --retry in the prompt.
func (p *player) send(path string, payload object, header map[string]string) (status int, answer object) {
	body, _ := json.Marshal(payload)
	client := http.Client{Timeout: 20 * time.Second}
	for range 300 {
		req, err := http.NewRequest(http.MethodPost, p.prompt.callback.BaseURL+"/api/claude/"+path, bytes.NewReader(body))
		if err != nil {
			return 0, nil
		}
		req.Close = true // the next may go to another node
		req.Header.Set("Content-Type", "application/json")
		for name, value := range header {
			req.Header.Set(name, value)
		}
		resp, err := client.Do(req)
		if err == nil {
			answer = nil
			err = json.NewDecoder(resp.Body).Decode(&answer)
			resp.Body.Close()
			if err == nil && resp.StatusCode < 500 && resp.StatusCode != http.StatusTooManyRequests {
				return resp.StatusCode, answer
			}
		}
		pause(300)
	}
	return 0, nil
}

// ask is send for a response with more than success; anything else ends the turn.
func (p *player) ask(path string, payload object) (object, error) {
	status, answer := p.send(path, p.envelope(payload), nil)
	text, _ := json.Marshal(answer)
	p.note(answered, fmt.Sprintf("%s: %d %.300s", path, status, text))
	switch status {
	case http.StatusOK:
		return answer, nil
	case http.StatusForbidden, http.StatusNotFound, http.StatusConflict:
		return nil, errStop // the job has another turn now, or is over
	}
	return nil, fmt.Errorf("%s was answered %d %s", path, status, text)
}
