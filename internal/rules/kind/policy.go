package kind

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/job/limit"
	"ringback/internal/outbound"
	"ringback/internal/rules/approval"
	"ringback/internal/text/lazy"
)

// Policy is a kind's front matter, which determines how its jobs may run. Every key is
// optional. To add a key, add a field here and, unless every value is valid, its tags or a case
// for fault.
type Policy struct {
	// Description describes the kind to people.
	Description string `yaml:"description"`
	Title       string `yaml:"title"`  // A job's title in lists; {{input.<field>}} is filled in when the job is created.
	Events      string `yaml:"events"` // The prefix of the names of the kind's events; default the kind's name.
	// AllowedTools are the tools that the CLI may use without asking, in its own notation.
	// If empty, these are only the tools for the callbacks.
	AllowedTools []string `yaml:"allowed_tools"`
	Model        string   `yaml:"model"` // The CLI's --model; empty for its own default.
	// Callback selects how Claude calls back: with curl (default), or over MCP.
	Callback Callback `yaml:"callback" choice:"curl, mcp"`
	// MaxTurns limits Claude's round trips within one turn of the job (the CLI's
	// --max-turns); default 10.
	MaxTurns int `yaml:"max_turns" range:"1 to 1000"`
	// MaxBudgetUSD limits the cost of one turn in US dollars; 0 for no limit.
	MaxBudgetUSD float64 `yaml:"max_budget_usd"`
	// BudgetUSD limits the cost of a job in US dollars, over all attempts and rounds.
	// BudgetUSDPerDay limits the cost of all jobs of the kind on a day (UTC). 0 means no
	// limit.
	BudgetUSD       float64 `yaml:"budget_usd"`
	BudgetUSDPerDay float64 `yaml:"budget_usd_per_day"`
	// JobsAtOnce limits the jobs of the kind that have begun and not ended, and JobsPerDay the
	// jobs created on a day (UTC); 0 for no limit.
	JobsAtOnce int `yaml:"jobs_at_once" range:"0 (no limit) to 1000000"`
	JobsPerDay int `yaml:"jobs_per_day" range:"0 (no limit) to 1000000"`
	// OnBudget determines what happens when a budget is used up: ask (default), wait or fail.
	OnBudget job.OnBudget `yaml:"on_budget" choice:"ask, wait, fail"`
	// Timeout limits how long a turn may take to call back; 0 for CALLBACK_TIMEOUT.
	Timeout time.Duration `yaml:"timeout" zero:"CALLBACK_TIMEOUT"`
	// StallTimeout limits how long the CLI may print nothing while Claude works, and ToolTimeout
	// how long one tool call may run; default 10m and 1h. A turn that exceeds one is ended and
	// started again, which costs an attempt.
	StallTimeout time.Duration `yaml:"stall_timeout"`
	ToolTimeout  time.Duration `yaml:"tool_timeout"`
	// MaxAttempts is the number of consecutive turns without a result after which the job
	// fails; default 3.
	MaxAttempts int `yaml:"max_attempts" range:"1 to 20"`
	// MaxBlocks limits how often a turn that would end without a result gets a message
	// about what is missing and continues in the same process; default 3, 0 for never. The CLI ends a turn
	// after 8 in a row.
	MaxBlocks *int `yaml:"max_blocks" range:"0 to 8"`
	// Questions is on (default) if Claude may ask the user with the CLI's own AskUserQuestion, and
	// have a plan approved; off removes these tools.
	Questions string `yaml:"questions" choice:"on, off"`
	// Thinking is true to show Claude's thinking: clients that ask for text as it is written get it,
	// too, and the transcript keeps it.
	Thinking bool `yaml:"thinking"`
	// Priority orders jobs that wait for a worker: interactive (default) or batch.
	Priority job.Priority `yaml:"priority" choice:"interactive, batch"`
	Check    []*Rule      `yaml:"check"`   // Rules between fields of the input, and of the result, that no schema can express.
	Actions  []*Action    `yaml:"actions"` // The actions that the server performs for Claude.
	// Workspace makes the kind work on repositories.
	Workspace *Workspace `yaml:"workspace"`
	// Verifiers check each change: a list of "name: command".
	Verifiers Verifiers `yaml:"verifiers"`
	// VerifiersAtOnce is the number of verifiers that run at once; default 1, in the order of the
	// list. If it is more, each has separate copies of the repositories.
	VerifiersAtOnce int `yaml:"verifiers_at_once" range:"1 to 16"`
	// Network is the network access of turns and verifiers in a sandbox: a list of hosts,
	// full or none. By default a turn reaches only its model, and verifiers reach public
	// package registries.
	Network job.Network `yaml:"network"`
	// Limits are the resource limits of each program that runs for a job: turns of the
	// CLI, verifiers, finalizers and commands of actions. Verifiers and actions may have
	// their own.
	Limits limit.Limits `yaml:"limits"`
	// Review requires a person to approve each change, or to steer another round.
	Review bool `yaml:"review"`
	// MaxSteeringIterations limits the number of such rounds; default 5.
	MaxSteeringIterations int `yaml:"max_steering_iterations" range:"0 (the default, 5) to 100"`
	// Finalize are commands that process an approved change after its branch is pushed,
	// such as: gh pr create --fill --head "$RINGBACK_BRANCH".
	Finalize []string `yaml:"finalize"`
	// PullRequest opens a pull request for each pushed branch if its repository is on
	// GitHub and gh is on the server's PATH.
	PullRequest bool               `yaml:"pull_request"`
	Tools       approval.ToolRules `yaml:"tools"` // The rules for the CLI tools that a person must allow first, call by call.
}

// ToolRules returns Tools, together with the tools in allowed_tools: if calls are
// intercepted, no tool may bypass the interception.
func (p Policy) ToolRules() approval.ToolRules {
	t := p.Tools
	t.Allow = append(append([]string{}, t.Allow...), p.AllowedTools...)
	return t
}

// Blocks returns how many times a turn is kept from ending without a result.
func (p Policy) Blocks() int {
	if p.MaxBlocks == nil {
		return 3
	}
	return *p.MaxBlocks
}

// AsksQuestions reports whether Claude may ask the user with the CLI's own tools.
func (p Policy) AsksQuestions() bool { return p.Questions != "off" }

// RunsPrograms reports whether Claude may run anything except calls that report to the
// server, with or without asking.
func (p Policy) RunsPrograms() bool { return len(p.AllowedTools) > 0 || !p.Tools.Empty() }

// LimitsNetwork reports whether the kind, or an action, configures network access.
func (p Policy) LimitsNetwork() bool {
	return len(p.Network) > 0 || slices.ContainsFunc(p.Actions, func(a *Action) bool { return len(a.Network) > 0 })
}

// FetchesNothing returns the tool with which Claude may fetch pages although the kind's
// network is none; "" if there is no such tool.
func (p Policy) FetchesNothing() string {
	if !p.Network.IsNone() {
		return ""
	}
	return p.mention("WebFetch")
}

// Searches reports whether Claude may search the web, with or without asking.
func (p Policy) Searches() bool { return p.mention("WebSearch") != "" || p.mention("*") != "" }

// mention returns a rule by which Claude may use a tool, with or without asking; "" for none.
func (p Policy) mention(tool string) string {
	for _, rule := range slices.Concat(p.AllowedTools, p.Tools.Allow, p.Tools.Ask) {
		if rule == tool || strings.HasPrefix(rule, tool+"(") {
			return rule
		}
	}
	return ""
}

// LimitsProcesses reports whether the kind changes the limit of processes anywhere.
func (p Policy) LimitsProcesses() bool {
	limited := func(l limit.Limits) bool { return l.Processes != limit.Defaults.Processes }
	return limited(p.Limits) || slices.ContainsFunc(p.Verifiers, func(v job.Verifier) bool { return limited(v.Limits) }) ||
		slices.ContainsFunc(p.Actions, func(a *Action) bool { return limited(a.Limits) })
}

// WithoutEffect lists the keys that are set and change nothing, because the kind has no workspace.
func (p Policy) WithoutEffect() (keys []string) {
	if p.Workspace != nil {
		return nil
	}
	for _, key := range []struct {
		name string
		set  bool
	}{
		{"review", p.Review},
		{"verifiers", len(p.Verifiers) > 0},
		{"verifiers_at_once", p.VerifiersAtOnce > 1},
		{"finalize", len(p.Finalize) > 0},
		{"pull_request", p.PullRequest},
		{"max_steering_iterations", p.MaxSteeringIterations > 0},
	} {
		if key.set {
			keys = append(keys, key.name)
		}
	}
	return keys
}

func (p Policy) withDefaults(name string) Policy {
	p.Events = cmp.Or(p.Events, name)
	p.Callback = cmp.Or(p.Callback, Curl)
	p.MaxTurns = cmp.Or(p.MaxTurns, 10)
	p.StallTimeout = cmp.Or(p.StallTimeout, 10*time.Minute)
	p.ToolTimeout = cmp.Or(p.ToolTimeout, time.Hour)
	p.MaxAttempts = cmp.Or(p.MaxAttempts, 3)
	p.VerifiersAtOnce = cmp.Or(p.VerifiersAtOnce, 1)
	p.Priority = cmp.Or(p.Priority, job.Interactive)
	p.OnBudget = cmp.Or(p.OnBudget, job.AskOnBudget)
	p.Limits = p.Limits.Or(limit.Defaults)
	for _, a := range p.Actions {
		if a != nil { // nil is reported as a problem of the file
			a.Limits = a.Limits.Or(p.Limits)
		}
	}
	for i := range p.Verifiers {
		p.Verifiers[i].Limits = p.Verifiers[i].Limits.Or(p.Limits)
	}
	return p
}

var eventPrefix = lazy.Regexp(`^[a-z][a-zA-Z0-9_:-]{0,98}[a-zA-Z0-9_-]$`)

// unless returns "" if a value is fine, and else what is wrong with it.
func unless(fine bool, format string, args ...any) string {
	if fine {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// fault returns what is out of range in one key; empty if nothing is. The tags of a field name the range of a
// number, the choices of a text, and the default of a timeout of 0.
func (p *Policy) fault(field reflect.StructField) string {
	value := reflect.Indirect(reflect.ValueOf(p).Elem().FieldByIndex(field.Index))
	if choices := field.Tag.Get("choice"); choices != "" && !slices.Contains(strings.Split(choices, ", "), value.String()) {
		return fmt.Sprintf("found %q; allowed: %s", value, choices)
	}
	switch v := value.Interface().(type) {
	case int:
		var least, most int
		words := strings.Fields(field.Tag.Get("range"))
		_, _ = fmt.Sscan(words[0]+" "+words[len(words)-1], &least, &most)
		return unless(v >= least && v <= most, "found %d; expected %s", v, strings.Join(words, " "))
	case float64:
		return unless(v >= 0 && v <= MaxBudget, "found %g; expected 0 (no limit) to %d", v, MaxBudget)
	case time.Duration:
		fine := v == 0 || v >= time.Second && v <= 24*time.Hour
		return unless(fine, "found %s; expected 1s to 24h, or 0 for %s", v, cmp.Or(field.Tag.Get("zero"), "the default"))
	case job.Network:
		return networkFault(v)
	case approval.ToolRules:
		return p.toolsFault()
	case interface{ Fault() string }: // Workspace, limits and verifiers
		return v.Fault()
	}
	return p.textFault(policyKey(field))
}

// textFault returns what is wrong with a key that its type and tags do not describe; empty if nothing is.
func (p *Policy) textFault(key string) string {
	switch {
	case key == "title":
		return titleFault(p.Title)
	case key == "model" && (strings.HasPrefix(p.Model, "-") || strings.ContainsFunc(p.Model, func(r rune) bool { return r <= ' ' })):
		return fmt.Sprintf("found %q; expected the name of a model, such as sonnet", p.Model)
	case key == "events" && !eventPrefix().MatchString(p.Events):
		return fmt.Sprintf("found %q; expected letters, digits, and : _ -, beginning with a small letter, not ending in :", p.Events)
	case key == "allowed_tools":
		return approval.ToolRules{Allow: p.AllowedTools}.NameFault()
	}
	return ""
}

// MaxBudget is the largest budget of a job or a kind, in US dollars.
const MaxBudget = 10_000

// Quota returns the limits on the number of jobs of the kind.
func (p Policy) Quota() job.Quota { return job.Quota{AtOnce: p.JobsAtOnce, PerDay: p.JobsPerDay} }

// toolsFault returns what is wrong with the rules for tools. Rules that deny calling
// back would make every job of the kind fail without an explanation.
func (p *Policy) toolsFault() string {
	if fault := p.Tools.Fault(); fault != "" || p.Callback == MCP {
		return fault
	}
	const callback = "curl -sS -X POST http://localhost:3001/api/claude/result -H 'Content-Type: application/json' -d \"@result.json\""
	rule := p.Tools.Denies(approval.ToolCall{Name: "Bash"}, map[string]any{"command": callback})
	return unless(rule == "", "deny: %s: Claude calls back with curl, which that denies; set callback: mcp, or deny less", rule)
}

// networkFault returns what is wrong with a list of hosts; "" if nothing is.
func networkFault(n job.Network) string {
	if n.IsFull() || n.IsNone() {
		return ""
	}
	if _, err := outbound.Named(n); err != nil {
		return err.Error()
	}
	return ""
}
