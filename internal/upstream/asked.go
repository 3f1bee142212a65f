package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ringback/internal/job"
)

// Asked contains the parameters of a request to the model that affect its cost.
type Asked struct {
	Model string
	// Bytes is the size of the request, an upper bound of its tokens: no token is shorter
	// than a byte.
	Bytes int64
	// MaxOutput is the maximum length of the response, in tokens.
	MaxOutput int64
	// Stream is true if the response is streamed.
	Stream bool
	// Fast is true for the API's fast mode, US for inference in the United States only, and
	// Hour if anything is to be cached for an hour.
	Fast, US, Hour bool
}

const (
	// maxBody is the API's maximum size of a request, in bytes.
	maxBody = 32 << 20
	// largeBody is the size above which a turn's requests are read one after another, so
	// that a turn cannot make the server hold many of them in memory.
	largeBody = 1 << 20
	// maxOutput is the maximum length of any model's response, in tokens.
	maxOutput = 128_000
)

// fault is the reason that a request is not forwarded, in the form of an API error.
type fault struct {
	status  int
	kind    string
	message string
}

func (f *fault) Error() string { return f.message }

// read reads a request into memory and checks what it asks for. The request's new body is
// kept in memory until it has been sent.
func (a API) read(r *http.Request) (Asked, *sending, error) {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return Asked{}, nil, &fault{
			http.StatusUnsupportedMediaType, "invalid_request_error",
			"Ringback passes on only requests that are not compressed.",
		}
	}
	free := func() {}
	if a.large != nil && (r.ContentLength < 0 || r.ContentLength > largeBody) {
		select {
		case a.large <- struct{}{}:
			free = sync.OnceFunc(func() { <-a.large })
		case <-r.Context().Done():
			return Asked{}, nil, r.Context().Err()
		}
	}
	var asked Asked
	body, err := readAll(r)
	if err == nil {
		asked, err = a.inspect(body)
	}
	if err != nil {
		free()
		return Asked{}, nil, err
	}
	out := &sending{Reader: bytes.NewReader(body), tokens: tokensIn(body), freeFunc: free}
	r.Body, r.ContentLength, r.TransferEncoding = out, int64(len(body)), nil
	return asked, out, nil
}

func readAll(r *http.Request) ([]byte, error) {
	tooLarge := &fault{http.StatusRequestEntityTooLarge, "request_too_large", "The request is larger than the model's API takes."}
	if r.ContentLength > maxBody {
		return nil, tooLarge
	}
	var body bytes.Buffer
	body.Grow(int(max(r.ContentLength, 0)) + bytes.MinRead)
	if _, err := body.ReadFrom(io.LimitReader(r.Body, maxBody+1)); err != nil {
		return nil, err
	}
	if body.Len() > maxBody {
		return nil, tooLarge
	}
	return body.Bytes(), nil
}

// sending is the body of an outgoing request. Its memory is released once it has been sent,
// because the response may take minutes.
type sending struct {
	*bytes.Reader
	// tokens are the tokens of the offers in the request.
	tokens []string
	// sentFunc is called when the last part is about to be sent; may be nil.
	sentFunc func()
	freeFunc func()
}

// Read implements [io.Reader].
func (s *sending) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == nil && s.Len() == 0 {
		if s.sentFunc != nil {
			s.sentFunc()
		}
		_ = s.Close()
	}
	return n, err
}

// Close implements [io.Closer].
func (s *sending) Close() error {
	s.Reset(nil)
	s.freeFunc()
	return nil
}

// clientTools are prefixes of the types of tools that the client runs itself, as far as the
// API defines them, and of those for which the API contacts nothing but a model.
var clientTools = []string{"bash_", "text_editor_", "computer_", "memory_", "tool_search_tool_", "advisor_"}

// inspect parses what a request asks for. The API itself can call hosts for a request: for
// images and documents by URL, for MCP servers, and for its own tools. A turn must not send
// data out that way unless its kind allows it.
func (a API) inspect(body []byte) (Asked, error) {
	asked := Asked{Bytes: int64(len(body))}
	if !json.Valid(body) {
		return asked, &fault{http.StatusBadRequest, "invalid_request_error", "The request is not JSON."}
	}
	var refused error
	named := map[string]any{}
	forbid := func(what, key string) {
		refused = &fault{
			http.StatusForbidden, "permission_error",
			"Ringback refused a request by which the model's API would " + what + ": nothing may leave this turn by that way. " +
				key + " in the kind's settings allows it.",
		}
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	err := walk(dec, nil, func(path []string, value any) {
		if isFree(path) {
			return
		}
		name := path[len(path)-1]
		switch len(path) {
		case 1:
			if before, twice := named[name]; twice && before != value {
				refused = &fault{http.StatusBadRequest, "invalid_request_error", "The request has two values of " + strconv.Quote(name) + "."}
			}
			if name == "model" || name == "stream" { // they decide the price, and the API may use either
				named[name] = value
			}
			asked.note(name, value)
		case 3:
			if path[0] != "tools" || name != "type" {
				break
			}
			kind := text(value)
			isClients := func(prefix string) bool { return strings.HasPrefix(kind, prefix) }
			switch {
			case kind == "" || kind == "custom" || slices.ContainsFunc(clientTools, isClients):
			case strings.HasPrefix(kind, "web_search_"):
				if !a.Search {
					forbid("search the web", "WebSearch among the allowed_tools")
				}
			case !a.Fetch:
				forbid("use its tool "+strconv.Quote(kind), "network: full")
			}
		}
		switch {
		case name == "ttl" && text(value) == "1h":
			asked.Hour = true
		case a.Fetch:
		case name == "type" && text(value) == "url", path[0] == "mcp_servers":
			forbid("call an address", "network: full")
		}
	})
	if asked.MaxOutput <= 0 || asked.MaxOutput > maxOutput {
		asked.MaxOutput = maxOutput
	}
	return asked, errors.Join(err, refused)
}

// note records a field of a request. If it occurs twice, the higher price counts.
func (a *Asked) note(name string, value any) {
	switch name {
	case "model":
		a.Model = text(value)
	case "max_tokens":
		number, _ := value.(json.Number)
		if n, err := number.Int64(); err == nil {
			a.MaxOutput = max(a.MaxOutput, n)
		} else {
			a.MaxOutput = maxOutput
		}
	case "stream":
		a.Stream = value == true
	case "speed":
		a.Fast = a.Fast || text(value) == "fast"
	case "inference_geo":
		a.US = a.US || text(value) == "us"
	}
}

// isFree reports whether a path is in a part with arbitrary fields, which have no meaning
// to the API: a tool's input, and the schemas of tools and responses.
func isFree(path []string) bool {
	if len(path) == 0 {
		return true
	}
	name := path[len(path)-1]
	switch path[0] {
	case "tools":
		return len(path) > 3 && name != "ttl"
	case "messages":
		return slices.Contains(path[:len(path)-1], "input")
	case "output_config", "output_format":
		return true
	}
	return false
}

// maxShort is the maximum size of a key or a word defined by the API, in bytes.
const maxShort = 200

// text returns a value that is a short string; "" for others.
func text(value any) string {
	if s, _ := value.(string); len(s) <= maxShort {
		return s
	}
	return ""
}

// walk calls a function for each value in JSON that is neither an object nor an array, with
// the keys that lead to it; "" stands for an element of an array. The path is valid until
// the function returns.
func walk(dec *json.Decoder, path []string, valueFunc func(path []string, value any)) error {
	value, err := dec.Token()
	opened, isOpened := value.(json.Delim)
	if err == nil && !isOpened {
		valueFunc(path, value)
	}
	if err != nil || !isOpened {
		return err
	}
	for dec.More() {
		var key json.Token
		if opened == '{' {
			if key, err = dec.Token(); err != nil {
				return err
			}
		}
		if err := walk(dec, append(path, text(key)), valueFunc); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}

// mostTokens limits the tokens of a request. The last ones are kept, because they may be
// new. It is more than the messages of one offer can contain imitations of: those follow its token.
const mostTokens = 1000

// tokensIn returns the tokens of the offers in a request, at most the last mostTokens.
func tokensIn(body []byte) (tokens []string) {
	all := job.OfferToken().FindAll(body, -1)
	for _, token := range all[max(0, len(all)-mostTokens):] {
		tokens = append(tokens, string(token))
	}
	return tokens
}

// asFault converts an error of reading a request to an API error.
func asFault(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	return &fault{http.StatusBadRequest, "invalid_request_error", "The request broke off."}
}
