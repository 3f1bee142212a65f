package model_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"ringback/internal/turn/model"
	"ringback/test/must"
)

// The tokens in a request are recorded before the API gets it, whatever imitates them.
func TestTokensAreHeardBeforeTheRequestGoesOut(t *testing.T) {
	t.Parallel()
	one, two := "word_"+strings.Repeat("a", 26), "word_"+strings.Repeat("b", 26)
	body := `{"a":"` + strings.Repeat("x", 70_000) + one + " word_ short " + two + strings.Repeat(" word_imitated", 1500) + `y"}`
	for name, c := range map[string]struct {
		err  error
		path string
		want []string
	}{
		"heard":        {nil, "/v1/messages", []string{one, two}},
		"not noted":    {errors.New("the store is away"), "/v1/messages", []string{one, two}},
		"another path": {nil, "/v1/messages/count_tokens", nil},
	} {
		var heard []string
		var arrived string
		s := api(t, model.API{DeliveredFunc: func(_ context.Context, tokens []string) error {
			for _, token := range tokens {
				if token == one || token == two {
					heard = append(heard, token)
				}
			}
			return c.err
		}}, func(_ http.ResponseWriter, r *http.Request) {
			text, err := io.ReadAll(r.Body)
			if err == nil {
				arrived = string(text)
			}
			if err == nil && len(heard) != len(c.want) {
				t.Errorf("%s: the API has the request before it is noted", name)
			}
		})
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+c.path, iotest.HalfReader(strings.NewReader(body))))(t)
		r.ContentLength = int64(len(body))
		answer, err := client.Do(r)
		if err == nil {
			_ = answer.Body.Close()
		}
		if !slices.Equal(heard, c.want) || (arrived == body) != (c.err == nil) {
			t.Errorf("%s: heard %q, and %d of %d bytes arrived", name, heard, len(arrived), len(body))
		}
	}
}

// A request's maximum cost is determined from it, however it is written.
func TestWhatARequestAsksFor(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]model.Asked{
		`{"model":"claude-opus-5","max_tokens":32000,"stream":true,"messages":[{"role":"user","content":"max_tokens\":1"}]}`: {Model: "claude-opus-5", MaxOutput: 32000, Stream: true},
		"{ \"max_tokens\"\n:\t1 ,\"max_tokens\":900,\"m\\u006fdel\":\"\\u006d\"}":                                            {Model: "m", MaxOutput: 900},
		`{"max_tokens":1e5}`:            {MaxOutput: 128_000},
		`{"max_tokens":-5}`:             {MaxOutput: 128_000},
		`{"max_tokens":99999999999999}`: {MaxOutput: 128_000},
		`{"speed":"fast","inference_geo":"us","max_tokens":7,"system":[{"type":"text","text":"\\","cache_control":{"type":"ephemeral","ttl":"1h"}}]}`: {MaxOutput: 7, Fast: true, US: true, Hour: true},
		`{"messages":[{"model":"x","max_tokens":5,"stream":true}],"a":{"speed":"fast"}}`:                                                              {MaxOutput: 128_000},
	} {
		var asked model.Asked
		s := api(t, model.API{AdmitFunc: func(_ context.Context, a model.Asked) (func(model.Report), error) {
			asked = a
			return func(model.Report) {}, nil
		}}, func(http.ResponseWriter, *http.Request) {})
		want.Bytes = int64(len(body))
		if answer := send(t, "POST", s.URL+"/v1/messages", body, nil); answer.StatusCode != http.StatusOK || asked != want {
			t.Errorf("%s is answered %d, and asks for %+v, want %+v", body, answer.StatusCode, asked, want)
		}
	}
}

// What the API may do for a request beyond one response to its bytes is known before it is sent.
func TestWhatARequestMayCostBesides(t *testing.T) {
	t.Parallel()
	picture := func(width, height int) string {
		var out bytes.Buffer
		must.OK(t, png.Encode(&out, image.NewGray(image.Rect(0, 0, width, height))))
		return base64.StdEncoding.EncodeToString(out.Bytes())
	}
	large, small := picture(8000, 8000), picture(100, 30)
	of := func(source string) string {
		return `{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"image","source":{` + source + `}}]}]}]}`
	}
	data := func(s string) string { return `"type":"base64","data":"` + s + `"` }
	for _, c := range []struct {
		name, body string
		free       int // bytes that are no text
		want       model.Asked
	}{
		{"an image counts as the largest one", of(data(small)), len(small), model.Asked{Media: 4784}},
		{"two of them", `{"a":` + of(data(small)) + `,"b":` + of(`"data":"`+large+`","type":"base64"`) + `}`, len(small) + len(large), model.Asked{Media: 2 * 4784}},
		{"a WebP", of(data("UklGRiQAAABXRUJQVlA4")), 20, model.Asked{Media: 4784}},
		{"a document, whose pages may be compressed", of(data("JVBERi0xLjc=")), 12, model.Asked{Media: model.Window}},
		{"text that looks like an image", of(`"type":"text","data":"` + small + `"`), 0, model.Asked{}},
		{"an image that may be text", of(`"type":"text",` + data(small)), 0, model.Asked{Media: model.Window}},
		{"a stored file", of(`"type":"file","file_id":"f"`), 0, model.Asked{Media: model.Window}},
		{"input of a tool is text", `{"messages":[{"content":[{"type":"tool_use","input":{"source":{` + data(small) + `}}}]}]}`, 0, model.Asked{}},
		{"an advisor", `{"tools":[{"type":"advisor_20260301","model":"claude-opus-5"}]}`, 0, model.Asked{Other: "claude-opus-5", Repeats: true, Hidden: true}},
		{"a compaction", `{"context_management":{"edits":[{"type":"clear_thinking_20251015"},{"type":"compact_20260112"}]}}`, 0, model.Asked{Repeats: true, Hidden: true}},
		{"models for what the first refuses", `{"fallbacks":[{"model":"a","max_tokens":9,"speed":"fast"},{"model":"b"}]}`, 0, model.Asked{Other: model.AnyModel, Repeats: true, Hidden: true, Fast: true, MaxOutput: 9}},
		{"one of the API's choice", `{"fallbacks":"default"}`, 0, model.Asked{Other: model.AnyModel, Repeats: true, Hidden: true}},
		{"searches", `{"tools":[{"type":"web_search_20250305"}]}`, 0, model.Asked{Repeats: true}},
		{"tools of the CLI", `{"tools":[{"name":"Bash","model":null,"type":null},{"type":"custom"},{"type":"bash_20250124"}],"fallbacks":null,"speed":null,"inference_geo":null}`, 0, model.Asked{}},
		{"a tool that is charged by the hour", `{"tools":[{"type":"code_execution_20250825"}]}`, 0, model.Asked{Unpriced: `tool "code_execution_20250825"`}},
		{"an unknown tool", `{"tools":[{"type":"oracle_20300101"}]}`, 0, model.Asked{Unpriced: `tool "oracle_20300101"`}},
		{"an unknown edit", `{"context_management":{"edits":[{"type":"clear_tool_uses_20250919"},{"type":"rewrite_20300101"}]}}`, 0, model.Asked{Unpriced: `context edit "rewrite_20300101"`}},
		{"an unknown speed and place", `{"speed":"ludicrous","inference_geo":"moon"}`, 0, model.Asked{Fast: true, US: true}},
	} {
		var asked model.Asked
		s := api(t, model.API{Fetch: true, Search: true, AdmitFunc: func(_ context.Context, a model.Asked) (func(model.Report), error) {
			asked = a
			return func(model.Report) {}, nil
		}}, func(http.ResponseWriter, *http.Request) {})
		c.want.Bytes = int64(len(c.body) - c.free)
		c.want.MaxOutput = cmp.Or(c.want.MaxOutput, 128_000)
		send(t, "POST", s.URL+"/v1/messages", c.body, nil)
		must.Equal(t, c.want, asked, c.name)
	}
}

// A request with two models, or one that may be streamed or not, is not sent: its cost would depend
// on which the API uses.
func TestARequestWithTwoPricesIsRefused(t *testing.T) {
	t.Parallel()
	for body, status := range map[string]int{
		`{"model":"claude-opus-5","model":"claude-haiku-4-5"}`:                        400,
		`{"model":"claude-opus-5","m\u006fdel":"claude-haiku-4-5"}`:                   400,
		`{"model":"claude-haiku-4-5","model":5,"model":"claude-haiku-4-5"}`:           400,
		`{"stream":false,"stream":true}`:                                              400,
		`{"stream":true,"stream":"true"}`:                                             400,
		`{"model":"m","model":"m","stream":true,"stream":true}`:                       200,
		`{"model":"m","MODEL":"n","metadata":{"model":"o"},"messages":[{"model":1}]}`: 200,
	} {
		var sent bool
		s := api(t, model.API{}, func(http.ResponseWriter, *http.Request) { sent = true })
		if answer := send(t, "POST", s.URL+"/v1/messages", body, nil); answer.StatusCode != status || sent != (status == 200) {
			t.Errorf("%s is answered %d, sent: %t", body, answer.StatusCode, sent)
		}
	}
}

// The API itself can call hosts, which a turn must not make it do unless its kind allows
// it.
func TestTheAPICallsNobodyForATurn(t *testing.T) {
	t.Parallel()
	const (
		none = iota
		search
		fetch
	)
	long := strings.Repeat(" ", 100_000)
	for body, needs := range map[string]int{
		`{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"AA=="}},{"type":"text","text":"{\"type\":\"url\"}"}]}]}`: none,
		`{"messages":[{"role":"assistant","content":[{"type":"tool_use","name":"Bash","input":{"type":"url","url":"https://a.example"}}]}],
			"tools":[{"name":"Bash","input_examples":[{"type":"url"}],"input_schema":{"properties":{"type":{"const":"url","type":"url"}}}},{"type":"custom","name":"x"},{"type":"advisor_20260301"},{"type":"bash_20250124"}],"output_config":{"format":{"schema":{"examples":[{"type":"url"}]}}}}`: none,
		`{"messages":[{"content":[{"type":"web_search_tool_result","content":[{"type":"web_search_result","url":"https://a.example"}]}]}],"mcp_servers":[],"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]}}`: none,
		`{"tools":[{"type":"web_search_20250305","name":"web_search"}]}`:                                                                                search,
		`{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://evil.example/?secret"}}]}]}`:                      fetch,
		`{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"document","source":{"url":"https://a","type" : "url"}}]}]}]}`: fetch,
		`{"messages":[{"content":[{"source":{"\u0074ype":"u\u0072l"}}]}]}`:                                                                              fetch,
		`{"messages":[{"content":[{"source":{"type":"base64","type":"url"}}]}]}`:                                                                        fetch,
		`{"system":[{"type":"text"},{"type":"document","source":{"type":"url"}}]}`:                                                                      fetch,
		`{"a":"` + long + `","messages":[{"content":[{"source":{"type":"url"}}]}]}`:                                                                     fetch,
		`{"mcp_servers":[{"type":"url","url":"https://evil.example/mcp","name":"x"}]}`:                                                                  fetch,
		`{"mcp_servers":[{"type":"sse","name":"x"}]}`:                                                                                                   fetch,
		`{"tools":[{"type":"web_fetch_20250910","name":"web_fetch"}]}`:                                                                                  fetch,
		`{"tools":[{"type":"code_execution_20250825","name":"code_execution"}]}`:                                                                        fetch,
		`{"tools":[{"name":"x"},{"type":"mcp_toolset","mcp_server_name":"x"}]}`:                                                                         fetch,
	} {
		for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens"} {
			for may := none; may <= fetch; may++ {
				if may == search && needs == fetch || may == fetch && needs == search { // separate settings
					continue
				}
				arrived := false
				s := api(t, model.API{Fetch: may == fetch, Search: may == search}, func(http.ResponseWriter, *http.Request) { arrived = true })
				answer := send(t, "POST", s.URL+path, body, nil)
				if want := may >= needs; arrived != want || answer.StatusCode != map[bool]int{true: 200, false: 403}[want] {
					t.Errorf("%.300s: %d, arrived %v, with permission %d", body, answer.StatusCode, arrived, may)
				}
			}
		}
	}
}

// An ambiguous request is not forwarded.
func TestWhatCannotBeReadIsNotPassedOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body   string
		header http.Header
		want   int
	}{
		"compressed":     {"{}", http.Header{"Content-Encoding": {"gzip"}}, 415},
		"no JSON":        {"model=x", nil, 400},
		"two values":     {"{}{}", nil, 400},
		"another coding": {"\xff\xfe{\x00}\x00", nil, 400},
		"a comment":      {"{/**/}", nil, 400},
		"nothing":        {"", nil, 400},
		"too much":       {"{" + strings.Repeat(" ", 33<<20) + "}", nil, 413},
	} {
		s := api(t, model.API{}, func(http.ResponseWriter, *http.Request) { t.Errorf("%s: it was passed on", name) })
		must.Equal(t, c.want, send(t, "POST", s.URL+"/v1/messages", c.body, c.header).StatusCode, name, "the answer is")
	}
}

// A request that its turn aborts is followed until the API has reported what it read.
func TestARequestThatIsBrokenOffCounts(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]bool{"before the answer": false, "within the answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last := make(chan model.Report, 1)
			goOn, asked := make(chan bool), make(chan bool)
			s := api(t, model.API{AdmitFunc: func(context.Context, model.Asked) (func(model.Report), error) {
				return func(r model.Report) {
					if r.Ended {
						last <- r
					}
				}, nil
			}}, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.ReadAll(r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				if begin {
					_, _ = io.WriteString(w, started)
					_ = http.NewResponseController(w).Flush()
				}
				close(asked)
				if !begin {
					<-goOn
					_, _ = io.WriteString(w, started)
					_ = http.NewResponseController(w).Flush()
				}
				<-r.Context().Done()
			})
			ctx, leave := context.WithCancel(t.Context())
			r := must.Get(http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/messages", strings.NewReader("{}")))(t)
			go func() {
				<-asked
				leave()
				close(goOn)
			}()
			if answer, err := client.Do(r); err == nil {
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
			}
			if r := <-last; r.Use.Input != 7 || r.Use.CacheRead != 300 || r.Unknown {
				t.Errorf("it is counted as %+v", r)
			}
		})
	}
}

// A turn cannot make the server hold more than one large request at a time.
func TestLargeRequestsAreReadOneAfterAnother(t *testing.T) {
	t.Parallel()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	real := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	t.Cleanup(real.Close)
	u, _ := url.Parse(real.URL)
	go whole(model.API{URL: u, Transport: model.NewTransport(nil)}).Serve(l)
	size := 2 << 20
	slow := must.Get(net.Dial("tcp", l.Addr().String()))(t)
	fmt.Fprintf(slow, "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n{", size)
	small, large := "{}", "{"+strings.Repeat(" ", size)+"}"
	must.Equal(t, http.StatusOK, send(t, "POST", "http://"+l.Addr().String()+"/v1/messages", small, nil).StatusCode, "a small request beside it is answered")
	done := make(chan int)
	go func() { done <- send(t, "POST", "http://"+l.Addr().String()+"/v1/messages", large, nil).StatusCode }()
	select {
	case <-done:
		t.Error("two large requests were read at once")
	case <-time.After(50 * time.Millisecond):
	}
	_ = slow.Close()
	must.Equal(t, http.StatusOK, <-done, "the second is answered")
}
