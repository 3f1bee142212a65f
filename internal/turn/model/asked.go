package model

import (
	"bytes"
	"encoding/base64"
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
	// Other is another model that the API may call for the request, AnyModel for several or one of the API's
	// choice; "" for none.
	Other string
	// Bytes is the size of the request without images and documents, an upper bound of its tokens: no token
	// is shorter than a byte.
	Bytes int64
	// Media is the maximum number of tokens of its images and documents.
	Media int64
	// MaxOutput is the maximum length of the response, in tokens.
	MaxOutput int64
	// Stream is true if the response is streamed.
	Stream bool
	// Repeats is true if the API may call models several times for the request, and Hidden if these generate
	// output that the response does not contain. The API reports both at the end of the response.
	Repeats, Hidden bool
	// Fast is true for the API's fast mode, US for inference in the United States only, and
	// Hour if anything is to be cached for an hour.
	Fast, US, Hour bool
	// Unpriced is a feature of the API with a cost that is not reported as tokens; "" for none.
	Unpriced string
}

// AnyModel stands for a model that is not known. It is in no table of prices, so the highest price applies.
const AnyModel = "any"

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

// apiTool is a type of tools that the API defines.
type apiTool struct {
	prefix string
	// calls is true if the API itself does more for the tool than generate its input.
	calls bool
	// needs names what a kind's settings must contain, if the API contacts other hosts for the tool.
	needs string
}

// tools are those that cost tokens and web searches.
var tools = []apiTool{
	{"custom", false, ""},
	{"bash_", false, ""},
	{"text_editor_", false, ""},
	{"computer_", false, ""},
	{"memory_", false, ""},
	{"tool_search_tool_", true, ""},
	{"advisor_", true, ""}, // an advisor has a model
	{"web_search_", true, forSearch},
	{"web_fetch_", true, forFetch},
	{"mcp_toolset", true, forFetch},
}

// The settings of a kind that let the API contact other hosts.
const (
	forSearch = "WebSearch in allowed_tools"
	forFetch  = "network: full"
)

// inspection holds what is known of a request while it is parsed.
type inspection struct {
	api     API
	asked   Asked
	refused error
	// decisive are the fields that decide the price, of which the API may use either if there are two.
	decisive map[string]any
	// sources are the images and documents that are being parsed, by the depth of their object.
	sources map[int]source
}

// inspect parses what a request asks for. The API itself can call hosts for a request: for
// images and documents by URL, for MCP servers, and for its own tools. A turn must not send
// data out that way unless its kind allows it.
func (a API) inspect(body []byte) (Asked, error) {
	i := inspection{api: a, asked: Asked{Bytes: int64(len(body))}, decisive: map[string]any{}, sources: map[int]source{}}
	if !json.Valid(body) {
		return i.asked, &fault{http.StatusBadRequest, "invalid_request_error", "The request is not JSON."}
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	err := walk(dec, nil, i.value)
	if i.asked.MaxOutput <= 0 || i.asked.MaxOutput > maxOutput {
		i.asked.MaxOutput = maxOutput
	}
	return i.asked, errors.Join(err, i.refused)
}

// forbid refuses a request by which the API would contact other hosts.
func (i *inspection) forbid(what, setting string) {
	i.refused = &fault{
		http.StatusForbidden, "permission_error",
		"Ringback refused a request by which the model's API would " + what + ": nothing may leave this turn by that way. " +
			setting + " in the kind's settings allows it.",
	}
}

// value processes a value of a request, or the end of an object.
func (i *inspection) value(path []string, value any) {
	if isFree(path) {
		return
	}
	name := path[len(path)-1]
	if value == json.Delim('}') {
		i.endSource(path)
		return
	}
	switch part := path[0]; {
	case len(path) == 1:
		i.field(name, value)
	case len(path) == 3 && part == "tools":
		i.tool(name, value)
	case len(path) == 3 && part == "fallbacks":
		i.fallback(name, value)
	case len(path) == 4 && part == "context_management" && name == "type":
		i.edit(text(value))
	case path[len(path)-2] == "source":
		i.source(len(path)-1, name, value)
	}
	i.anywhere(path[0], name, value)
}

// anywhere processes a value that means the same wherever it is in a request.
func (i *inspection) anywhere(part, name string, value any) {
	switch {
	case name == "ttl" && text(value) == "1h":
		i.asked.Hour = true
	case i.api.Fetch:
	case name == "type" && text(value) == "url", part == "mcp_servers":
		i.forbid("call an address", forFetch)
	}
}

// field processes a field of a request. If it occurs twice, the higher price counts.
func (i *inspection) field(name string, value any) {
	if before, twice := i.decisive[name]; twice && before != value {
		i.refused = &fault{http.StatusBadRequest, "invalid_request_error", "The request has two values of " + strconv.Quote(name) + "."}
	}
	switch name {
	case "model":
		i.decisive[name] = value
		i.asked.Model = text(value)
	case "stream":
		i.decisive[name] = value
		i.asked.Stream = value == true
	case "inference_geo":
		i.asked.US = i.asked.US || value != nil && text(value) != "global"
	case "fallbacks":
		if value != nil { // the API chooses
			i.other(AnyModel)
		}
	default:
		i.output(name, value)
	}
}

// output processes a field that decides how much output a model may generate, and how fast.
func (i *inspection) output(name string, value any) {
	switch name {
	case "max_tokens":
		number, _ := value.(json.Number)
		if n, err := number.Int64(); err == nil {
			i.asked.MaxOutput = max(i.asked.MaxOutput, n)
		} else {
			i.asked.MaxOutput = maxOutput
		}
	case "speed":
		i.asked.Fast = i.asked.Fast || value != nil && text(value) != "standard"
	}
}

// fallback processes a field of a model to which the API may turn if the first one refuses.
func (i *inspection) fallback(name string, value any) {
	if name == "model" {
		i.other(text(value))
	}
	i.output(name, value)
}

// other records that the API may call another model.
func (i *inspection) other(model string) {
	i.asked.Repeats, i.asked.Hidden = true, true
	if model == "" || i.asked.Other != "" && i.asked.Other != model {
		model = AnyModel
	}
	i.asked.Other = model
}

func (i *inspection) tool(name string, value any) {
	if name == "model" && value != nil {
		i.other(text(value))
	}
	kind := text(value)
	if name != "type" || kind == "" {
		return
	}
	needs := forFetch
	at := slices.IndexFunc(tools, func(t apiTool) bool { return strings.HasPrefix(kind, t.prefix) })
	if at < 0 {
		i.asked.Unpriced = "tool " + strconv.Quote(kind)
	} else {
		i.asked.Repeats = i.asked.Repeats || tools[at].calls
		needs = tools[at].needs
	}
	switch {
	case needs == forSearch && !i.api.Search:
		i.forbid("search the web", needs)
	case needs == forFetch && !i.api.Fetch:
		i.forbid("use its tool "+strconv.Quote(kind), needs)
	}
}

// edit processes the type of a change that the API makes to the conversation before it calls the model.
func (i *inspection) edit(kind string) {
	switch {
	case strings.HasPrefix(kind, "clear_"):
	case strings.HasPrefix(kind, "compact_"):
		i.asked.Repeats, i.asked.Hidden = true, true
	default:
		i.asked.Unpriced = "context edit " + strconv.Quote(kind)
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
// the keys that lead to it; "" stands for an element of an array. The end of an object is
// a value, too. The path is valid until the function returns.
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
	end, err := dec.Token()
	if end == json.Delim('}') {
		valueFunc(path, end)
	}
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

const (
	// Window is the maximum number of tokens that any model reads at once.
	Window = 1_000_000
	// maxImage is the maximum number of tokens of an image: the API scales larger ones down.
	maxImage = 4784
)

type source struct {
	kind string
	// twice is true if it has two types, of which the API may use either.
	twice bool
	// size is the size of its data in bytes, and tokens what the data costs as an image or a document.
	size, tokens int64
}

// source processes a field of a source.
func (i *inspection) source(depth int, name string, value any) {
	s := i.sources[depth]
	switch data, _ := value.(string); name {
	case "type":
		s.twice = s.twice || s.kind != "" && s.kind != data
		s.kind = text(value)
	case "data":
		s.size += int64(len(data))
		s.tokens += mediaTokens(data)
	}
	i.sources[depth] = s
}

// endSource counts a source once all of its fields are known.
func (i *inspection) endSource(path []string) {
	s, isSource := i.sources[len(path)]
	if !isSource || path[len(path)-1] != "source" {
		return
	}
	delete(i.sources, len(path))
	switch {
	case s.kind == "base64" && !s.twice:
		i.asked.Bytes -= s.size
		i.asked.Media += s.tokens
	case s.kind == "file" || s.kind == "url" || s.twice: // the API gets the rest from elsewhere
		i.asked.Media += Window
	}
}

// mediaTokens returns the maximum number of tokens of an image or a document. How many pages a document
// has cannot be told from its bytes, because they may be compressed or occur repeatedly.
func mediaTokens(data string) int64 {
	head, _ := base64.StdEncoding.DecodeString(data[:min(len(data), 64)&^3])
	if strings.HasPrefix(http.DetectContentType(head), "image/") {
		return maxImage
	}
	return Window
}
