package upstream

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"

	"ringback/internal/price"
)

// Use is the usage of a request so far, as reported by the API.
type Use struct {
	Model string
	price.Usage
}

// tokens is the usage in a response. Later ones of a stream are cumulative, and leave out
// what has not changed.
type tokens struct {
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
	Speed string `json:"speed"`
	Geo   string `json:"inference_geo"`
}

// block is a text of the model, or a call of a tool.
type block struct {
	Text string `json:"text"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

// maxTokens is more than any request uses. It bounds the numbers of a gateway.
const maxTokens = 100_000_000

func (t tokens) of(model string) Use {
	bounded := func(n int64) int64 { return min(max(n, 0), maxTokens) }
	return Use{model, price.Usage{
		Input: bounded(t.Input), Output: bounded(t.Output), CacheRead: bounded(t.CacheRead),
		CacheWrite: bounded(t.CacheCreation), CacheWrite1h: bounded(t.Created.Hour),
		WebSearches: bounded(t.Tools.WebSearches), Fast: t.Speed == "fast", US: t.Geo == "us",
	}}
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

// watch parses a response on its way.
func watch(r *http.Response, answers *Answers, x *exchange) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	r.Body = &watched{ReadCloser: r.Body, answers: answers, exchange: x, isStream: kind != "application/json"}
}

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
	switch w.event {
	case "error":
		w.answers.refuse(readError(text))
	case "message_start":
		var data struct {
			Message struct {
				Model string  `json:"model"`
				Usage *tokens `json:"usage"`
			} `json:"message"`
		}
		data.Message.Usage = &w.tokens
		_ = json.Unmarshal(text, &data)
		w.model, w.begun = data.Message.Model, true
		w.tell()
	case "message_delta":
		var data struct {
			Usage *tokens `json:"usage"`
		}
		data.Usage = &w.tokens
		_ = json.Unmarshal(text, &data)
		w.ended = true
		w.tell()
	case "content_block_start":
		var data struct {
			Block block `json:"content_block"`
		}
		_ = json.Unmarshal(text, &data)
		w.text.Reset()
		w.text.WriteString(data.Block.Text)
		w.answers.call(data.Block)
	case "content_block_stop":
		w.answers.say(w.text.String())
	case "content_block_delta":
		var data struct {
			Delta struct {
				Text     string `json:"text"`
				Thinking string `json:"thinking"`
				Input    string `json:"partial_json"`
			} `json:"delta"`
		}
		_ = json.Unmarshal(text, &data)
		w.text.WriteString(data.Delta.Text)
		w.said += int64(len(data.Delta.Text) + len(data.Delta.Thinking) + len(data.Delta.Input))
		w.exchange.write(w.written())
	}
}

// end counts what is known when a response has ended or was aborted.
func (w *watched) end() {
	if w.isStream {
		w.answers.say(w.text.String()) // the beginning of a text, if the response was cut off
		if w.begun && !w.ended {
			w.tokens.Output = max(w.tokens.Output, w.written())
			w.tell()
		}
		return
	}
	var whole struct {
		Model   string  `json:"model"`
		Usage   tokens  `json:"usage"`
		Content []block `json:"content"`
	}
	if json.Unmarshal(w.line, &whole) == nil {
		for _, b := range whole.Content {
			w.answers.say(b.Text)
			w.answers.call(b)
		}
		w.model, w.tokens = whole.Model, whole.Usage
		w.tell()
	}
	w.line = nil
}

// written estimates the output so far, in tokens.
func (w *watched) written() int64 { return (w.said + bytesPerToken - 1) / bytesPerToken }

// tell reports the current usage.
func (w *watched) tell() { w.exchange.use(w.tokens.of(w.model)) }
