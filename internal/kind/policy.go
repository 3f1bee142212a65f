package kind

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"ringback/internal/job"
)

// Policy is a kind's front matter: how its jobs may run. Every field may be
// left out.
type Policy struct {
	// Description tells people what the kind is for.
	Description string `yaml:"description"`
	// Events begins the names of the kind's events; default the kind's name.
	Events string `yaml:"events"`
	// AllowedTools is what the CLI may use without asking, in its own notation;
	// empty: what the callbacks need and no more.
	AllowedTools []string `yaml:"allowed_tools"`
	// Model is the CLI's --model; empty: its own default.
	Model string `yaml:"model"`
	// MaxTurns is how many times Claude may go to and fro within one turn of the
	// job (the CLI's --max-turns); default 10.
	MaxTurns int `yaml:"max_turns"`
	// MaxBudgetUSD is what one turn may cost in US dollars; 0: no limit.
	MaxBudgetUSD float64 `yaml:"max_budget_usd"`
	// Timeout is how long a turn has to call back; 0: CALLBACK_TIMEOUT.
	Timeout time.Duration `yaml:"timeout"`
	// MaxAttempts is how many turns in a row may end without a result before the
	// job has failed; default 3.
	MaxAttempts int `yaml:"max_attempts"`
	// Priority orders jobs that wait for a worker: interactive (default) or batch.
	Priority job.Priority `yaml:"priority"`
}

func (p Policy) withDefaults(name string) Policy {
	if p.Events == "" {
		p.Events = name
	}
	if p.MaxTurns == 0 {
		p.MaxTurns = 10
	}
	if p.MaxAttempts == 0 {
		p.MaxAttempts = 3
	}
	if p.Priority == "" {
		p.Priority = job.Interactive
	}
	return p
}

var eventPrefix = regexp.MustCompile(`^[a-z][a-zA-Z0-9_:-]{0,99}$`)

// faults lists what is out of range, by the name of the key.
func (p Policy) faults() map[string]string {
	faults := map[string]string{}
	check := func(ok bool, key, format string, args ...any) {
		if !ok {
			faults[key] = fmt.Sprintf(format, args...)
		}
	}
	check(p.MaxTurns >= 0 && p.MaxTurns <= 1000, "max_turns", "found %d; expected 1 to 1000", p.MaxTurns)
	check(p.MaxAttempts >= 0 && p.MaxAttempts <= 20, "max_attempts", "found %d; expected 1 to 20", p.MaxAttempts)
	check(p.MaxBudgetUSD >= 0, "max_budget_usd", "found %g; expected more than 0", p.MaxBudgetUSD)
	check(p.Timeout == 0 || p.Timeout >= time.Second, "timeout", "found %s; expected at least 1s", p.Timeout)
	check(p.Priority == "" || p.Priority == job.Interactive || p.Priority == job.Batch,
		"priority", "found %q; allowed: interactive, batch", p.Priority)
	check(p.Events == "" || eventPrefix.MatchString(p.Events),
		"events", "found %q; expected letters, digits, and : _ -, beginning with a small letter", p.Events)
	return faults
}

// ParsePrompt splits a prompt file into its policy and its body. bodyLine is
// the line on which the body begins. Problems name lines of the file.
func ParsePrompt(text []byte) (policy Policy, body string, bodyLine int, problems []Problem) {
	front, body, bodyLine, err := splitFrontMatter(text)
	if err != nil {
		return Policy{}, "", 1, []Problem{{Line: 1, Message: err.Error()}}
	}
	if len(bytes.TrimSpace(front)) == 0 {
		return Policy{}, body, bodyLine, nil
	}
	if err := yaml.UnmarshalWithOptions(front, &policy, yaml.Strict()); err != nil {
		return Policy{}, body, bodyLine, []Problem{yamlProblem(err)}
	}
	for key, fault := range policy.faults() {
		problems = append(problems, Problem{Line: lineOfKey(front, key) + 1, Message: key + ": " + fault})
	}
	return policy, body, bodyLine, problems
}

const fence = "---"

// splitFrontMatter separates what stands between the first two lines of "---".
func splitFrontMatter(text []byte) (front []byte, body string, bodyLine int, err error) {
	text = bytes.TrimPrefix(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\uFEFF"))
	rest, ok := bytes.CutPrefix(text, []byte(fence+"\n"))
	if !ok {
		return nil, strings.TrimSpace(string(text)), 1, nil
	}
	line := 2
	for at := 0; at < len(rest); line++ {
		end := bytes.IndexByte(rest[at:], '\n')
		if end < 0 {
			end = len(rest) - at
		}
		if strings.TrimRight(string(rest[at:at+end]), " \t") == fence {
			after := rest[min(at+end+1, len(rest)):]
			trimmed := strings.TrimLeft(string(after), " \t\n")
			skipped := strings.Count(string(after[:len(after)-len(trimmed)]), "\n")
			return rest[:at], strings.TrimSpace(trimmed), line + 1 + skipped, nil
		}
		at += end + 1
	}
	return nil, "", 1, errors.New("the front matter is not closed: a second line of --- is missing")
}

func yamlProblem(err error) Problem {
	p := Problem{Line: 1, Message: err.Error()}
	if positioned, ok := errors.AsType[yaml.Error](err); ok {
		p.Message = positioned.GetMessage()
		if t := positioned.GetToken(); t != nil && t.Position != nil {
			p.Line = t.Position.Line + 1 // the fence is line 1
		}
	}
	return p
}

func lineOfKey(front []byte, key string) int {
	for i, line := range bytes.Split(front, []byte("\n")) {
		if bytes.HasPrefix(line, []byte(key+":")) {
			return i + 1
		}
	}
	return 1
}
