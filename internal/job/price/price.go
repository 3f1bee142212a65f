// Package price computes what requests to the model cost, from a dated table of prices.
package price

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"ringback/internal/text/lazy"
)

// Nano is an amount of money in billionths of a US dollar.
type Nano int64

// Dollar is one US dollar.
const Dollar Nano = 1e9

// FromUSD converts an amount in dollars. An amount above 0 is never rounded to 0, which as a budget
// means no limit.
func FromUSD(usd float64) Nano {
	n := Nano(math.Round(usd * float64(Dollar)))
	if usd > 0 {
		return max(n, 1)
	}
	return n
}

// USD returns the amount in dollars.
func (n Nano) USD() float64 { return float64(n) / float64(Dollar) }

// Usage is the usage of a request, in tokens and searches.
type Usage struct {
	// Input, CacheRead and CacheWrite are separate: their sum is the prompt.
	Input, Output, CacheRead, CacheWrite int64
	CacheWrite1h                         int64 // The part of CacheWrite that is cached for an hour.
	WebSearches                          int64 // The number of searches by the API's own tool.
	// Fast is true for the API's fast mode, US for inference in the United States only.
	Fast, US bool
}

// Minus returns how far u exceeds v.
func (u Usage) Minus(v Usage) Usage {
	u.Input, u.Output = max(0, u.Input-v.Input), max(0, u.Output-v.Output)
	u.CacheRead, u.CacheWrite = max(0, u.CacheRead-v.CacheRead), max(0, u.CacheWrite-v.CacheWrite)
	u.CacheWrite1h, u.WebSearches = max(0, u.CacheWrite1h-v.CacheWrite1h), max(0, u.WebSearches-v.WebSearches)
	return u
}

// rates are prices in US dollars per million tokens.
type rates struct {
	Input        float64 `json:"input"`
	Output       float64 `json:"output"`
	CacheWrite   float64 `json:"cacheWrite"`
	CacheWrite1h float64 `json:"cacheWrite1h"`
	CacheRead    float64 `json:"cacheRead"`
}

func (r rates) max(other rates) rates {
	return rates{
		Input: max(r.Input, other.Input), Output: max(r.Output, other.Output),
		CacheWrite:   max(r.CacheWrite, other.CacheWrite),
		CacheWrite1h: max(r.CacheWrite1h, other.CacheWrite1h), CacheRead: max(r.CacheRead, other.CacheRead),
	}
}

// longRates replace the rates of prompts with more than Above tokens.
type longRates struct {
	Above int64 `json:"above"`
	rates
}

type entry struct {
	Models []string `json:"models"`
	rates
	Long *longRates `json:"long,omitempty"`
}

func (e entry) of(prompt int64) rates {
	if e.Long != nil && prompt > e.Long.Above {
		return e.Long.rates
	}
	return e.rates
}

// Table is a list of prices.
type Table struct {
	Date      string  `json:"date"`      // The day on which the prices were looked up.
	WebSearch float64 `json:"webSearch"` // The price of one search in US dollars.
	// FastFactor and UsFactor multiply the prices of tokens in fast mode and of inference in
	// the United States only.
	FastFactor float64 `json:"fastFactor"`
	UsFactor   float64 `json:"usFactor"`
	Prices     []entry `json:"prices"`
}

//go:embed prices.json
var embedded []byte

// Load reads a table from a file, or the embedded one if path is empty.
func Load(path string) (*Table, error) {
	text := embedded
	if path != "" {
		var err error
		if text, err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var t Table
	if err := dec.Decode(&t); err != nil {
		return nil, fmt.Errorf("expected a table like internal/job/price/prices.json: %w", err)
	}
	return &t, t.check()
}

func (t *Table) check() error {
	var faults []error
	if _, err := time.Parse(time.DateOnly, t.Date); err != nil {
		faults = append(faults, fmt.Errorf("date: found %q; expected the day of the prices, such as 2026-11-23", t.Date))
	}
	if len(t.Prices) == 0 {
		faults = append(faults, errors.New("prices: expected at least one entry"))
	}
	if t.WebSearch < 0 || t.FastFactor < 1 || t.UsFactor < 1 {
		faults = append(faults, errors.New("webSearch, fastFactor, usFactor: expected a price in US dollars, and factors of at least 1"))
	}
	for i, e := range t.Prices {
		if len(e.Models) == 0 || !e.valid() || e.Long != nil && !e.Long.valid() {
			faults = append(faults, fmt.Errorf("prices[%d]: expected models, and input, output, cacheWrite, cacheWrite1h and cacheRead above 0, in US dollars per million tokens", i))
		}
	}
	return errors.Join(faults...)
}

func (r rates) valid() bool {
	return r.Input > 0 && r.Output > 0 && r.CacheWrite > 0 && r.CacheWrite1h > 0 && r.CacheRead > 0
}

// Cost returns the price of a request. known is false if the model is not in the table: then
// the highest price of its family applies, or else of the whole table.
func (t *Table) Cost(model string, u Usage) (cost Nano, known bool) {
	prompt := u.Input + u.CacheRead + u.CacheWrite
	r, known := t.rates(model, prompt)
	hour := min(u.CacheWrite1h, u.CacheWrite)
	usd := (float64(u.Input)*r.Input + float64(u.Output)*r.Output + float64(u.CacheRead)*r.CacheRead +
		float64(u.CacheWrite-hour)*r.CacheWrite + float64(hour)*r.CacheWrite1h) / 1e6
	if u.Fast {
		usd *= t.FastFactor
	}
	if u.US {
		usd *= t.UsFactor
	}
	return FromUSD(usd + float64(u.WebSearches)*t.WebSearch), known
}

func (t *Table) rates(model string, prompt int64) (r rates, known bool) {
	length := 0
	for _, e := range t.Prices {
		for _, name := range e.Models {
			if len(name) > length && isModel(model, name) {
				r, length = e.of(prompt), len(name)
			}
		}
	}
	if length > 0 {
		return r, true
	}
	return t.highest(t.family(model), prompt), false
}

// highest returns the highest rates of a family, or of all models if family is empty.
func (t *Table) highest(family string, prompt int64) (r rates) {
	for _, e := range t.Prices {
		for _, name := range e.Models {
			if strings.Contains(name, family) {
				r = r.max(e.of(prompt))
			}
		}
	}
	return r
}

// family returns the word that a model's name shares with others in the table, such as
// opus.
func (t *Table) family(model string) string {
	for _, e := range t.Prices {
		for _, name := range e.Models {
			for word := range strings.SplitSeq(name, "-") {
				if word != "claude" && strings.Trim(word, "0123456789") != "" && strings.Contains(model, word) {
					return word
				}
			}
		}
	}
	return ""
}

// isModel reports whether a model's name matches a listed one: exactly, with a date or a
// cloud's version as a suffix, or with a gateway's prefix. claude-opus-5-7 is not
// claude-opus-5.
func isModel(model, listed string) bool {
	before, after, found := strings.Cut(strings.ToLower(model), listed)
	return found && (before == "" || strings.HasSuffix(before, "/") || strings.HasSuffix(before, ".")) && suffix().MatchString(after)
}

var suffix = lazy.Regexp(`^($|[-@]20\d{6}|-v\d|-latest$|\[|:)`)
