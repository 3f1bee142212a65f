package claude

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/text/excerpt"
)

// Callback holds what a turn needs to call back. The signature is a bearer token:
// anyone with it can submit for this request.
type Callback struct {
	RequestID string
	BaseURL   string
	Signature string
}

// Prompt holds the contents of a turn's prompt.
type Prompt struct {
	Kind     *kind.Kind
	Callback Callback
	Input    json.RawMessage
	// Structured leaves out how to call back.
	Structured bool
	// Hold limits how long a call waits for the user's answer.
	Hold time.Duration
	// Answers are the questions that the user has answered so far, and PendingMessages the
	// user's messages since the last turn, both in order. The conversation contains the first
	// KnownAnswers of Answers.
	Answers      []job.Checkpoint
	KnownAnswers int
	// UsedUp are one-time approvals that have been used.
	UsedUp          []job.CheckpointID
	PendingMessages []job.Message
	// Change describes the job's work on repositories; nil if it has none.
	Change *job.Change
	// Lost is true if the files of the last submission are gone.
	Lost bool
	// Steering is another round that a reviewer asked for; nil for none.
	Steering *Steering
	// History is the session so far, for a conversation that starts over.
	History []job.Message
}

// First returns the prompt of a job's first turn: the kind's prompt, how to submit, and
// the input, fenced so that it cannot pose as instructions.
func (p Prompt) First() (string, error) {
	var input any
	if err := job.UnmarshalExact(p.Input, &input); err != nil {
		return "", fmt.Errorf("reading the input: %w", err)
	}
	system := kind.Render(p.Kind.Prompt, func(name string) string { return p.variable(name, input) })
	return write("first", promptData{Prompt: p, System: system})
}

// Later returns the prompt of another turn in the same conversation. The template "after …"
// explains each reason; detail is what was wrong with an unfinished turn.
func (p Prompt) Later(reason, detail string) (string, error) {
	data := promptData{Prompt: p, Detail: detail}
	why, err := write("after "+reason, data)
	if err != nil {
		return "", err
	}
	data.Why = strings.TrimSpace(why)
	return write("again", data)
}

// Written is the reason for a turn after the user has written again when a result was already
// accepted.
const Written = "written"

// variable returns the value of a template variable. An absent field of the input
// becomes "(not given)"; any other value is data, see inserted.
func (p Prompt) variable(name string, input any) string {
	switch name {
	case kind.VarRequestID:
		return p.Callback.RequestID
	case kind.VarBaseURL:
		return p.Callback.BaseURL
	case kind.VarSignature:
		return p.Callback.Signature
	}
	value := kind.FieldOf(input, name)
	if value == nil {
		return "(not given)"
	}
	return p.inserted(strings.TrimPrefix(name, "input."), value)
}

type promptData struct {
	Prompt
	// System is the kind's own prompt. Why is the reason for a later turn, and Detail what was wrong
	// with the last one.
	System, Why, Detail string
}

// Most returns how many suggestions all batches together may contain; 0 for no limit.
func (d promptData) Most() int {
	most, _ := d.Kind.Result.MostItems("suggestions")
	return max(most, 0)
}

// Endpoint returns the endpoint for the result.
func (p Prompt) Endpoint() string {
	if p.Kind.Batchable() {
		return "suggestions"
	}
	return "result"
}

// CurlAction returns the command that calls an action.
func (d promptData) CurlAction(name string) string { return d.Curl(actionEndpoint(name), actionFile) }

// Curl returns the command that posts a payload file.
func (d promptData) Curl(endpoint, file string) string {
	return Curl(d.Callback.BaseURL, endpoint, file, d.Hold)
}

type answer struct {
	Question string          `json:"question"`
	Props    json.RawMessage `json:"props,omitempty"`
	Reply    *job.Reply      `json:"reply"`
	Note     string          `json:"note,omitempty"`
}

func (d promptData) newAnswers() []job.Checkpoint {
	return d.Answers[min(d.KnownAnswers, len(d.Answers)):]
}

// IsNewRound reports whether the conversation does not contain the reviewer's request yet.
func (d promptData) IsNewRound() bool {
	isReview := func(c job.Checkpoint) bool { return c.Type == job.Review }
	return d.Steering != nil && slices.ContainsFunc(d.newAnswers(), isReview)
}

// Replies returns the user's new answers.
func (d promptData) Replies() []answer {
	fresh := d.newAnswers()
	answers := make([]answer, len(fresh))
	for i, c := range fresh {
		answers[i] = answer{Question: c.Message, Props: c.Props, Reply: c.Reply}
		if slices.Contains(d.UsedUp, c.ID) {
			answers[i].Note = usedUp
		}
	}
	return answers
}

const usedUp = "This allowed one call and allows nothing more. Ask again before you do the same again."

// AskedForChange reports whether the user's last new answer asks for something else. A
// reviewer's request has its own section.
func (d promptData) AskedForChange() bool {
	fresh := d.newAnswers()
	if len(fresh) == 0 {
		return false
	}
	last := fresh[len(fresh)-1]
	return last.Type != job.Review && last.Reply != nil && last.Reply.Decision == job.Steer
}

func utterances(messages []job.Message) []job.Utterance {
	texts := make([]job.Utterance, 0, len(messages))
	for _, m := range messages {
		if m.Content != "" {
			texts = append(texts, m.Utterance())
		}
	}
	return texts
}

func fencedJSON(v any) (string, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return escapeFence(text), err
}

// Words returns the text that gives Claude the messages that people write while a turn runs.
// token is the token of the offer.
func Words(token string, words []job.Utterance) (string, error) {
	return write("words", struct {
		Token string
		Words []job.Utterance
	}{token, words})
}

// Missing returns the text that Claude gets when it ends a turn without a result. details are
// what an empty result lacks; tasks are the background tasks that still run.
func Missing(k *kind.Kind, details []job.Detail, tasks []string) (string, error) {
	return write("stop", struct {
		promptData
		Details []job.Detail
		Tasks   []string
	}{promptData{Prompt: Prompt{Kind: k}}, details, tasks})
}

// FencedInput returns the input in a form that is safe in a fence.
func (d promptData) FencedInput() string {
	var out bytes.Buffer
	if err := json.Indent(&out, d.Input, "", "  "); err != nil {
		return escapeFence(d.Input)
	}
	return escapeFence(out.Bytes())
}

// escapeFence makes foreign text harmless, the JSON way. Without backticks, it cannot
// close a fence. Without "@", it cannot name a file: for each " @path" in a prompt, the
// CLI opens that file, wherever it is, and shows it to Claude.
func escapeFence(text []byte) string {
	return strings.NewReplacer("`", `\u0060`, "@", `\u0040`).Replace(string(text))
}

//go:embed prompt.tmpl
var promptText string

var form = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("prompt").Funcs(template.FuncMap{
		"tool":  MCPTool,
		"json":  fencedJSON,
		"fence": func(text any) string { return escapeFence(fmt.Appendf(nil, "%s", text)) },
		"said":  func(messages []job.Message) (string, error) { return fencedJSON(utterances(messages)) },
	}).Parse(promptText))
})

// write executes the template of a prompt, or of a message to a running turn.
func write(name string, data any) (string, error) {
	var out strings.Builder
	err := form().ExecuteTemplate(&out, name, data)
	return strings.TrimSpace(out.String()) + "\n", err
}

// Steering is a round of a change that a reviewer asked for.
type Steering struct {
	// Prompt is the reviewer's request.
	Prompt string
	// State describes the rounds so far, including this one.
	State job.SteeringState
	// Diff and Logs contain the output that the reviewer has seen.
	Diff []job.DiffOutput
	Logs []job.VerifierOutput
}

// lastLines limits the output of a failed verifier that Claude is shown, in bytes.
const lastLines = 4000

// Seen returns a summary of the diff.
func (s *Steering) Seen() string {
	var out strings.Builder
	for _, d := range s.Diff {
		fmt.Fprintf(&out, "%s: %s\n", d.Repository, d.Summary)
		for _, f := range d.Files {
			fmt.Fprintf(&out, "  %s %s (+%d/-%d)\n", f.Status, f.Path, f.Additions, f.Deletions)
		}
	}
	return escapeFence([]byte(strings.TrimSpace(out.String())))
}

// Failed returns the verifiers that failed, with the end of their output.
func (s *Steering) Failed() string {
	var out strings.Builder
	for _, v := range s.Logs {
		if v.Success {
			continue
		}
		text := excerpt.Tail(strings.TrimSpace(v.Stdout+"\n"+v.Stderr), lastLines)
		fmt.Fprintf(&out, "%s (exit code %d):\n%s\n", v.Verifier, v.ExitCode, text)
	}
	return escapeFence([]byte(strings.TrimSpace(out.String())))
}

// Round returns the number of this round in words.
func (s *Steering) Round() string {
	return job.RoundWords(s.State.CurrentIteration, s.State.MaxIterations)
}

// Earlier returns the prompts of the rounds before this one.
func (s *Steering) Earlier() string {
	var out strings.Builder
	for _, r := range s.State.History[:max(0, len(s.State.History)-1)] {
		fmt.Fprintf(&out, "For %s: %s\n", job.RoundWords(r.IterationNumber, 0), r.Prompt)
	}
	return escapeFence([]byte(strings.TrimSpace(out.String())))
}
