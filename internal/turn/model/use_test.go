package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/job/price"
	"ringback/internal/turn/model"
	"ringback/test/must"
)

const (
	started = "event: message_start\ndata: " + `{"type":"message_start","message":{"model":"m","usage":{"input_tokens":7,"cache_creation_input_tokens":20,"cache_read_input_tokens":300,"cache_creation":{"ephemeral_1h_input_tokens":5},"output_tokens":1}}}` + "\n\n"
	wrote   = "event: content_block_delta\ndata: " + `{"delta":{"type":"text_delta","text":"abcdefghijkl"}}` + "\n\nevent: content_block_delta\ndata: " + `{"delta":{"partial_json":"{\"usage\":{\"input_tokens\":99999999}}"}}` + "\n\n"
	ended   = "event: message_delta\ndata: " + `{"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":40,"server_tool_use":{"web_search_requests":2}}}` + "\n\nevent: message_stop\ndata: {}\n\n"
)

// A request's usage is taken from the API's own response, even if that is aborted.
func TestWhatARequestUses(t *testing.T) {
	t.Parallel()
	begun := price.Usage{Input: 7, Output: 1, CacheRead: 300, CacheWrite: 20, CacheWrite1h: 5}
	whole := begun
	whole.Output, whole.WebSearches = 40, 2
	brokenOff := begun
	brokenOff.Output = 16 // 46 bytes
	for name, c := range map[string]struct {
		kind, body string
		status     int
		breaks     bool
		want       price.Usage
		unknown    bool
	}{
		"a stream":                    {"text/event-stream", started + wrote + ended, 200, false, whole, false},
		"one that breaks off":         {"text/event-stream", started + wrote, 200, true, brokenOff, false},
		"one that breaks off at once": {"text/event-stream", started, 200, true, begun, false},
		"one that ends too early":     {"text/event-stream", started + wrote, 200, false, brokenOff, false},
		"JSON":                        {"application/json; charset=utf-8", `{"model":"m","content":[{"text":"x"}],"usage":{"input_tokens":7,"cache_read_input_tokens":null,"output_tokens":3}}`, 200, false, price.Usage{Input: 7, Output: 3}, false},
		"impossible numbers":          {"application/json", `{"model":"m","usage":{"input_tokens":-7,"output_tokens":1000000000000}}`, 200, false, price.Usage{Output: 1e8}, false},
		"overloaded":                  {"application/json", `{"type":"error","usage":{"input_tokens":7}}`, 529, false, price.Usage{}, false},
		"text of the model":           {"text/event-stream", wrote, 200, false, price.Usage{}, true},
		"nothing":                     {"text/event-stream", "", 200, false, price.Usage{}, true},
		"half of JSON":                {"application/json", `{"model":"m","usage":{"inp`, 200, true, price.Usage{}, true},
		"what nobody can read":        {"application/json", "\x1f\x8b\x08", 200, false, price.Usage{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told []model.Report
			s := api(t, model.API{AdmitFunc: func(context.Context, model.Asked) (func(model.Report), error) {
				return func(r model.Report) { told = append(told, r) }, nil
			}}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				w.WriteHeader(c.status)
				for _, piece := range strings.SplitAfter(c.body, "e") {
					_, _ = io.WriteString(w, piece)
					_ = http.NewResponseController(w).Flush()
				}
				if c.breaks {
					panic(http.ErrAbortHandler)
				}
			})
			_, _ = io.Copy(io.Discard, call(t, "POST", s.URL+"/v1/messages", http.Header{}).Body)
			s.Close() // waits for the request to end
			last := told[len(told)-1]
			want := model.Use{Model: "m", Usage: c.want}
			if c.want == (price.Usage{}) {
				want = model.Use{}
			}
			if diff := cmp.Diff(want, last.Use); diff != "" || !last.Ended || last.Unknown != c.unknown {
				t.Errorf("the last report is %+v: %s", last, diff)
			}
		})
	}
}

// Inferences that are not in the API's total count as well, each with its model. A number that this version
// does not know is reported rather than ignored.
func TestWhatTheTotalLeavesOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		usage, end string // the reports at the beginning and the end of the response
		repeats    bool
		want       model.Use
		unknown    bool
	}{
		"a compaction": {
			`{"input_tokens":23000,"output_tokens":1}`,
			`{"output_tokens":1000,"iterations":[{"type":"compaction","input_tokens":180000,"output_tokens":3500},{"type":"message","input_tokens":23000,"output_tokens":1000}]}`,
			true,
			model.Use{Model: "m", Iterations: []model.Iteration{{Usage: price.Usage{Input: 180_000, Output: 3500}}, {Usage: price.Usage{Input: 23_000, Output: 1000}}}},
			false,
		},
		"an advisor by another model": {
			`{"input_tokens":400,"output_tokens":1,"iterations":null}`,
			`{"output_tokens":90,"iterations":[{"type":"message","model":"m","input_tokens":400,"output_tokens":40},{"type":"advisor_message","model":"a","input_tokens":800,"cache_creation_input_tokens":6,"cache_creation":{"ephemeral_1h_input_tokens":5},"output_tokens":1600}]}`,
			true,
			model.Use{Model: "m", Usage: price.Usage{Output: 50}, Iterations: []model.Iteration{{Model: "m", Usage: price.Usage{Input: 400, Output: 40}}, {Model: "a", Usage: price.Usage{Input: 800, CacheWrite: 6, CacheWrite1h: 5, Output: 1600}}}},
			false,
		},
		"inferences of an unknown type, without any of the model's own": {
			`{"input_tokens":7,"output_tokens":1}`, `{"output_tokens":4,"iterations":[{"type":"rehearsal","input_tokens":50}]}`, false,
			model.Use{Model: "m", Usage: price.Usage{Input: 7, Output: 4}, Iterations: []model.Iteration{{Usage: price.Usage{Input: 50}}}},
			false,
		},
		"a compaction that breaks off": {`{"input_tokens":7,"output_tokens":1}`, ``, true, model.Use{Model: "m", Usage: price.Usage{Input: 7, Output: 1}}, true},
		"an end that cannot be read":   {`{"input_tokens":7,"output_tokens":1}`, `[]`, true, model.Use{Model: "m", Usage: price.Usage{Input: 7, Output: 1}}, true},
		"a beginning without numbers":  {`{"input_tokens":0,"output_tokens":1}`, ``, false, model.Use{Model: "m", Usage: price.Usage{Output: 1}}, true},
		"no numbers at all":            {`{}`, `{}`, false, model.Use{Model: "m"}, true},
		"an unknown speed and place": {
			`{"input_tokens":7,"speed":"ludicrous","inference_geo":"moon"}`, `{"output_tokens":1}`, false,
			model.Use{Model: "m", Usage: price.Usage{Input: 7, Output: 1, Fast: true, US: true}},
			false,
		},
		"unknown numbers": {
			`{"input_tokens":7}`, `{"output_tokens":1,"server_tool_use":{"web_fetch_requests":3,"moon_requests":2}}`, false,
			model.Use{Model: "m", Usage: price.Usage{Input: 7, Output: 1}, Unpriced: "server_tool_use.moon_requests"},
			false,
		},
		"an unknown number of an inference": {
			`{"input_tokens":7}`, `{"output_tokens":1,"iterations":[{"type":"message","input_tokens":7,"output_tokens":1,"cache_creation":{"ephemeral_1w_input_tokens":9}}]}`, false,
			model.Use{Model: "m", Iterations: []model.Iteration{{Usage: price.Usage{Input: 7, Output: 1}}}, Unpriced: "cache_creation.ephemeral_1w_input_tokens"},
			false,
		},
		"details, and what a gateway adds": {
			`{"input_tokens":7,"moon_tokens":0}`, `{"output_tokens":1,"output_tokens_details":{"thinking_tokens":1},"total_tokens":8,"cost":0.1,"cost_details":{"x":1},"service_tier":"standard"}`, false,
			model.Use{Model: "m", Usage: price.Usage{Input: 7, Output: 1}},
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var last model.Report
			tools := `[]`
			if c.repeats {
				tools = `[{"type":"advisor_20260301","model":"a"}]`
			}
			s := api(t, model.API{AdmitFunc: func(context.Context, model.Asked) (func(model.Report), error) {
				return func(r model.Report) { last = r }, nil
			}}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprintf(w, "event: message_start\ndata: {\"message\":{\"model\":\"m\",\"usage\":%s}}\n\n", c.usage)
				if c.end != "" {
					fmt.Fprintf(w, "event: message_delta\ndata: {\"usage\":%s}\n\n", c.end)
				}
			})
			_, _ = io.Copy(io.Discard, send(t, "POST", s.URL+"/v1/messages", `{"stream":true,"tools":`+tools+`}`, nil).Body)
			s.Close() // waits for the request to end
			if diff := cmp.Diff(c.want, last.Use); diff != "" || !last.Ended || last.Unknown != c.unknown {
				t.Errorf("the last report is %+v: %s", last, diff)
			}
		})
	}
}

// A request that must not be sent is rejected in a way that the CLI does not retry, and
// every other one is tracked until it has ended.
func TestRequestsAreAdmitted(t *testing.T) {
	t.Parallel()
	var open, asked atomic.Int64
	var refused atomic.Bool
	s := api(t, model.API{AdmitFunc: func(_ context.Context, asked model.Asked) (func(model.Report), error) {
		if asked.Bytes != 2 || asked.MaxOutput != 128_000 {
			t.Errorf("the request asks for %+v", asked)
		}
		if refused.Load() {
			return nil, errors.New("The money is spent.")
		}
		open.Add(1)
		return func(r model.Report) {
			if r.Ended {
				open.Add(-1)
			}
		}, nil
	}}, func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		must.Equal(t, 1, open.Load(), "requests are open")
	})
	must.Equal(t, http.StatusOK, call(t, "POST", s.URL+"/v1/messages", http.Header{}).StatusCode, "the answer is")
	refused.Store(true)
	answer := call(t, "POST", s.URL+"/v1/messages?beta=true", http.Header{})
	if text, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusPaymentRequired || !strings.Contains(string(text), "The money is spent.") || asked.Load() != 1 {
		t.Errorf("the answer is %d %s, and the model was asked %d times", answer.StatusCode, text, asked.Load())
	}
	if s.Close(); open.Load() != 0 {
		t.Errorf("%d requests are open", open.Load())
	}
}

// client has its own connections: every server that a test closes closes those of
// http.DefaultClient, also while another test uses them.
var client = &http.Client{Transport: &http.Transport{}}

// api starts an API and a server that forwards to it, and returns the latter.
func api(t *testing.T, way model.API, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	real := httptest.NewServer(handler)
	t.Cleanup(real.Close)
	way.URL, _ = url.Parse(real.URL)
	way.Transport = model.NewTransport(nil)
	s := httptest.NewServer(whole(way))
	t.Cleanup(s.Close)
	return s
}

// The server knows what the model has written, however the API sends it.
func TestWhatTheModelHasSaid(t *testing.T) {
	t.Parallel()
	const (
		text  = "event: content_block_start\ndata: " + `{"content_block":{"type":"text","text":""}}` + "\n\n" + wrote
		stop  = "event: content_block_stop\ndata: {}\n\n"
		call  = "event: content_block_start\ndata: " + `{"content_block":{"type":"tool_use","id":"toolu_1","name":"Bash"}}` + "\n\n"
		thing = "event: content_block_delta\ndata: " + `{"delta":{"type":"thinking_delta","thinking":"abcdefghijkl"}}` + "\n\n"
	)
	for name, c := range map[string]struct {
		kind, body string
		said, not  []string
		called     bool
	}{
		"a stream":                 {"text/event-stream", started + text + stop + call + stop + ended, []string{"abcdefghijkl", " abcdefghijkl\n"}, []string{"abc", "toolu_1", "Bash"}, true},
		"two texts":                {"text/event-stream", started + text + stop + text + stop + ended, []string{"abcdefghijkl"}, []string{"abcdefghijklabcdefghijkl"}, false},
		"a stream that is cut off": {"text/event-stream", started + text, []string{"abcdefghijkl"}, nil, false},
		"thoughts":                 {"text/event-stream", started + thing + stop + ended, nil, []string{"abcdefghijkl"}, false},
		"JSON":                     {"application/json", `{"model":"m","content":[{"type":"text","text":"abc"},{"type":"tool_use","id":"toolu_1","name":"Bash"}]}`, []string{"abc"}, []string{"m"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := &model.Answers{}
			s := api(t, model.API{Answers: answers, AdmitFunc: func(context.Context, model.Asked) (func(model.Report), error) {
				return func(model.Report) {}, nil
			}}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				_, _ = io.WriteString(w, c.body)
			})
			answer := send(t, http.MethodPost, s.URL+"/v1/messages", `{"model":"m","max_tokens":1}`, nil)
			_, _ = io.Copy(io.Discard, answer.Body)
			for _, text := range c.said {
				must.Equal(t, true, answers.Said(text), text)
			}
			for _, text := range c.not {
				must.Equal(t, false, answers.Said(text), text)
			}
			must.Equal(t, c.called, answers.Called("toolu_1", "Bash"), "the call")
			must.Equal(t, false, answers.Called("toolu_1", "Write") || answers.Called("toolu_2", "Bash"), "another call")
		})
	}
}
