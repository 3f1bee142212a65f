package callback_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store/storetest"
	"ringback/internal/turn/action"
	"ringback/internal/web/callback"
	"ringback/internal/web/httpjson"
	"ringback/test/must"
)

// BenchmarkCallback measures the handling of the most frequent callbacks, with a store on loopback.
func BenchmarkCallback(b *testing.B) {
	log := slog.New(slog.DiscardHandler)
	kinds := storetest.Kinds(b, kind.Builtin(), ownKinds)
	s := storetest.New(b, storetest.PrivateRedis(b), lifecycle.Options{})
	jobs := lifecycle.New(s.Store, kinds, lifecycle.Options{CallbackTimeout: time.Hour, UserLimit: 10})
	people := checkpoint.New(s.Store, jobs, checkpoint.Options{}, log)
	handler := must.Get(callback.New(s.Store, jobs, people, action.New(s.Store, jobs, action.Options{}, log), callback.Options{Rate: 1e9}, log))(b)
	web := echo.New()
	web.HTTPErrorHandler = httpjson.ErrorHandler(log)
	handler.Register(web)
	j := must.Get(jobs.Create(b.Context(), lifecycle.Request{UserID: "u1", ByBackEnd: true, Kind: "careful", SessionID: "s1", Input: object{}}))(b)
	if (&storetest.Service{Store: s.Store, Service: jobs}).Next(b, "n") == nil {
		b.Fatal("no turn waits")
	}
	signature := must.Get(s.Jobs.Signature(b.Context(), j.ID))(b)
	for name, of := range map[string]struct {
		path string
		body object
	}{
		"progress":  {"progress", object{"message": "Reading the plan", "progress": 40, "type": "thinking"}},
		"tool call": {"tool-calls", uses("toolu_1", "ls -la")},
		"large tool call": {"tool-calls", object{
			"tool_name": "Write", "tool_use_id": "toolu_1", "cwd": "/work",
			"tool_input": object{"file_path": "/work/a.go", "content": strings.Repeat("a line of code\n", 10_000)},
		}},
	} {
		of.body["requestId"], of.body["hmac"] = j.ID, signature
		text := must.Get(json.Marshal(of.body))(b)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out := httptest.NewRecorder()
				r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/api/claude/"+of.path, bytes.NewReader(text))
				r.Header.Set("Content-Type", "application/json")
				web.ServeHTTP(out, r)
				if out.Code != http.StatusOK {
					b.Fatal(out.Body)
				}
			}
		})
	}
}
