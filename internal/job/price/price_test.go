package price_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/internal/job/price"
	"ringback/test/must"
)

func table(t *testing.T, path string) *price.Table {
	t.Helper()
	return must.Get(price.Load(path))(t)
}

// A request costs its model's price, under each name that gateways and clouds give the
// model.
func TestCost(t *testing.T) {
	t.Parallel()
	prices := table(t, "")
	million := price.Usage{Input: 1e6}
	for name, c := range map[string]struct {
		model string
		usage price.Usage
		usd   float64
		known bool
	}{
		"dated":               {"claude-opus-4-5-20251101", million, 5, true},
		"undated":             {"claude-sonnet-4-6", million, 3, true},
		"first of a line":     {"claude-sonnet-4-20250514", million, 3, true},
		"at a gateway":        {"anthropic/claude-haiku-4-5", million, 1, true},
		"at a cloud":          {"us.anthropic.claude-opus-4-1-20250805-v1:0", million, 15, true},
		"every sort of token": {"claude-haiku-4-5", price.Usage{Input: 1e6, Output: 1e6, CacheRead: 1e6, CacheWrite: 2e6, CacheWrite1h: 1e6, WebSearches: 2}, 1 + 5 + .1 + 1.25 + 2 + .02, true},
		"a long prompt":       {"claude-haiku-5-5", price.Usage{CacheRead: 1e6}, .05, true},
		"a short prompt":      {"claude-haiku-5-5", price.Usage{CacheRead: 1e5}, .001, true},
		"fast, in the US":     {"claude-opus-5", price.Usage{Input: 1e6, Fast: true, US: true}, 33, true},
		"one token":           {"claude-haiku-5-5", price.Usage{CacheRead: 1}, 1e-8, true},
		"a later version":     {"claude-opus-5-7", million, 15, false},
		"another family":      {"claude-scripted", million, 15, false},
		"no name":             {"", million, 15, false},
		"nothing":             {"claude-opus-5", price.Usage{}, 0, true},
	} {
		cost, known := prices.Cost(c.model, c.usage)
		if cost != price.FromUSD(c.usd) || known != c.known {
			t.Errorf("%s: costs %v, known %v; want %v, %v", name, cost.USD(), known, c.usd, c.known)
		}
	}
}

// An operator's table replaces the embedded one, and errors in it are reported.
func TestATableOfTheOperators(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "prices.json")
	for text, want := range map[string]string{
		`{"date":"2026-12-01","webSearch":0,"fastFactor":1,"usFactor":1,"prices":[{"models":["mine"],"input":1,"output":2,"cacheWrite":1,"cacheWrite1h":1,"cacheRead":1}]}`: "",
		`{"date":"today","webSearch":0,"fastFactor":1,"usFactor":1,"prices":[{"models":["mine"],"input":0}]}`:                                                               "date: found \"today\"",
		`{"dates":1}`: `unknown field "dates"`,
		`{"date":"2026-12-01","fastFactor":0,"usFactor":1}`: "fastFactor",
	} {
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
		prices, err := price.Load(file)
		if want == "" {
			if cost, known := prices.Cost("mine", price.Usage{Output: 1e6}); err != nil || cost != 2*price.Dollar || !known {
				t.Errorf("a request costs %v, %v", cost, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %s", text, err, want)
		}
	}
	if _, err := price.Load(file + "x"); err == nil {
		t.Error("a file that is not there was read")
	}
}

// A budget of less than the smallest amount is one, not none.
func TestNoAmountIsRoundedToNone(t *testing.T) {
	t.Parallel()
	for usd, want := range map[float64]price.Nano{0: 0, 1e-10: 1, 5e-324: 1, 1e-9: 1, 1.4e-9: 1, 1.6e-9: 2, -1e-10: 0, 1: price.Dollar} {
		must.Equal(t, want, price.FromUSD(usd), usd, "USD are")
	}
}
