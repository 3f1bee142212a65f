package model

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"ringback/internal/job/price"
)

// Use is the usage of a request so far, as reported by the API.
type Use struct {
	Model string
	// Usage is the usage that no iteration accounts for.
	price.Usage
	// Iterations are the inferences of the response, if the API lists them. Compactions and advisors are
	// only there, and not in the API's total.
	Iterations []Iteration
	// Unpriced is a number in the API's report that has no price; "" for none.
	Unpriced string
}

// Iteration is one inference. Model is empty if the API does not name it.
type Iteration struct {
	Model string
	price.Usage
}

// None reports whether the API has reported nothing.
func (u Use) None() bool {
	return u.Usage == price.Usage{Fast: u.Fast, US: u.US} && len(u.Iterations) == 0
}

// Begun reports whether the API has reported what it has read, which it does before it writes.
func (u Use) Begun() bool { return u.Input+u.CacheRead+u.CacheWrite > 0 || len(u.Iterations) > 0 }

// counts is the usage of a response or of one iteration.
type counts struct {
	Input         int64 `json:"input_tokens"`
	Output        int64 `json:"output_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
	Created       struct {
		Hour int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	Tools struct {
		WebSearches int64 `json:"web_search_requests"`
	} `json:"server_tool_use"`
}

type iteration struct {
	Type  string `json:"type"`
	Model string `json:"model"`
	counts
}

// tokens is the usage in a response. Later ones of a stream are cumulative, and leave out
// what has not changed.
type tokens struct {
	counts
	Iterations []iteration `json:"iterations"`
	Speed      string      `json:"speed"`
	Geo        string      `json:"inference_geo"`

	// unpriced is a number without a price.
	unpriced string
}

// priced are the numbers of a usage report that are charged, and the numbers and objects that only break
// others down or repeat them, also those of gateways.
var priced = []string{
	"input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens",
	"cache_creation.ephemeral_5m_input_tokens", "cache_creation.ephemeral_1h_input_tokens",
	"server_tool_use.web_search_requests", "server_tool_use.web_fetch_requests", "output_tokens_details", "fallback_credit",
	"total_tokens", "prompt_tokens", "completion_tokens", "prompt_tokens_details", "completion_tokens_details", "cost",
	"cost_details",
}

// read updates the usage with a report of the API.
func (t *tokens) read(report json.RawMessage) bool {
	before := t.Iterations
	t.Iterations = nil // so that no entry keeps numbers of an earlier one
	if len(report) == 0 || json.Unmarshal(report, t) != nil {
		t.Iterations = before
		return false
	}
	if t.Iterations == nil {
		t.Iterations = before
	}
	dec := json.NewDecoder(bytes.NewReader(report))
	_ = walk(dec, nil, func(path []string, value any) {
		name := strings.TrimPrefix(strings.Join(path, "."), "iterations..")
		whole, _, _ := strings.Cut(name, ".")
		if n, _ := value.(float64); n > 0 && !slices.Contains(priced, name) && !slices.Contains(priced, whole) {
			t.unpriced = name
		}
	})
	return true
}

// block is a text of the model, or a call of a tool.
type block struct {
	Text string `json:"text"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

// message is a response of the model, or the part of it that an event contains.
type message struct {
	Model   string          `json:"model"`
	Usage   json.RawMessage `json:"usage"`
	Content []block         `json:"content"`
}

// maxTokens is more than any request uses. It bounds the numbers of a gateway.
const maxTokens = 100_000_000

// usage returns the usage at the speed and the place of the whole response. The dearer ones apply to those
// that are not known.
func (t tokens) usage(c counts) price.Usage {
	bounded := func(n int64) int64 { return min(max(n, 0), maxTokens) }
	return price.Usage{
		Input: bounded(c.Input), Output: bounded(c.Output), CacheRead: bounded(c.CacheRead),
		CacheWrite: bounded(c.CacheCreation), CacheWrite1h: bounded(c.Created.Hour), WebSearches: bounded(c.Tools.WebSearches),
		Fast: !slices.Contains([]string{"", "standard"}, t.Speed), US: !slices.Contains([]string{"", "global", "not_available"}, t.Geo),
	}
}

func (t tokens) of(model string) Use {
	use := Use{Model: model, Usage: t.usage(t.counts), Unpriced: t.unpriced}
	for _, i := range t.Iterations {
		one := Iteration{i.Model, t.usage(i.counts)}
		use.Iterations = append(use.Iterations, one)
		if i.Type == "message" || i.Type == "fallback_message" { // the total contains no others
			use.Usage = use.Minus(one.Usage)
		}
	}
	return use
}

// watched is a response of the model that is parsed on its way to the turn: for errors
// after its beginning, and for the request's usage.
type watched struct {
	io.ReadCloser
	answers *Answers
	// exchange is updated before the turn gets the data.
	exchange *exchange
	isStream bool

	model  string
	tokens tokens
	// begun is true if the model has begun to respond, ended if the complete usage was
	// reported.
	begun, ended bool
	// said is the number of bytes that the model has written so far, and text the text of the current
	// block.
	said int64
	text strings.Builder
	// line is the current line of a stream, or the whole of another response.
	line  []byte
	event string
}

// maxWhole is the maximum size of a response that is not streamed.
const maxWhole = 32 << 20

// bytesPerToken is the minimum number of bytes per token, for estimating the output of
// responses that were aborted before the API reported it.
const bytesPerToken = 3

// Read implements [io.Reader].
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if w.isStream {
		w.readLines(p[:n])
	} else if len(w.line)+n <= maxWhole {
		w.line = append(w.line, p[:n]...)
	}
	if err != nil {
		w.end()
	}
	return n, err
}

// Close implements [io.Closer]. The turn may disconnect during a response.
func (w *watched) Close() error {
	w.end()
	return w.ReadCloser.Close()
}

func (w *watched) readLines(piece []byte) {
	for len(piece) > 0 {
		text, after, ended := bytes.Cut(piece, []byte("\n"))
		w.line = append(w.line, text[:min(len(text), maxError-len(w.line))]...)
		if ended {
			w.endLine()
		}
		piece = after
	}
}

func (w *watched) endLine() {
	line := bytes.TrimSpace(w.line)
	w.line = w.line[:0]
	if name, isName := bytes.CutPrefix(line, []byte("event:")); isName {
		w.event = string(bytes.TrimSpace(name))
		return
	}
	text, isData := bytes.CutPrefix(line, []byte("data:"))
	if !isData {
		return
	}
	var e struct {
		Message message         `json:"message"`
		Usage   json.RawMessage `json:"usage"`
		Block   struct {
			block
			Redacted string `json:"data"`
		} `json:"content_block"`
		Delta struct {
			Text      string `json:"text"`
			Thinking  string `json:"thinking"`
			Signature string `json:"signature"` // contains the thoughts, also if the API does not show them
			Input     string `json:"partial_json"`
		} `json:"delta"`
	}
	_ = json.Unmarshal(text, &e)
	switch w.event {
	case "error":
		w.answers.refuse(readError(text))
	case "message_start":
		w.tokens.read(e.Message.Usage)
		w.model, w.begun = e.Message.Model, true
		w.report()
	case "message_delta":
		w.ended = w.tokens.read(e.Usage) || w.ended
		w.report()
	case "content_block_start":
		w.said += int64(len(e.Block.Redacted))
		w.text.Reset()
		w.text.WriteString(e.Block.Text)
		w.answers.call(e.Block.block)
	case "content_block_stop":
		w.answers.say(w.text.String())
	case "content_block_delta":
		w.text.WriteString(e.Delta.Text)
		w.said += int64(len(e.Delta.Text) + len(e.Delta.Thinking) + len(e.Delta.Signature) + len(e.Delta.Input))
		w.exchange.write(w.written())
	}
}

// end counts what is known when a response has ended or was aborted.
func (w *watched) end() {
	if w.isStream {
		w.answers.say(w.text.String()) // the beginning of a text, if the response was cut off
		if w.begun && !w.ended {
			w.tokens.Output = max(w.tokens.Output, w.written())
			w.report()
		}
		return
	}
	var whole message
	if json.Unmarshal(w.line, &whole) == nil {
		for _, b := range whole.Content {
			w.answers.say(b.Text)
			w.answers.call(b)
		}
		w.model, w.ended = whole.Model, w.tokens.read(whole.Usage)
		w.report()
	}
	w.line = nil
}

// written estimates the output so far, in tokens.
func (w *watched) written() int64 { return (w.said + bytesPerToken - 1) / bytesPerToken }

func (w *watched) report() { w.exchange.use(w.tokens.of(w.model), w.ended) }
