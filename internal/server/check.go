package server

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"ringback/internal/rules/kind"
	"ringback/internal/sandbox/process"
	"ringback/internal/server/config"
	"ringback/internal/store"
	"ringback/internal/store/redisd"
	"ringback/internal/turn/action"
	"ringback/internal/turn/claude"
)

// Finding is a result of ringback check.
type Finding struct {
	// Check names what was checked, for programs.
	Check  string `json:"check"`
	Weight Weight `json:"result"`
	Text   string `json:"text"`
}

// Weight is the severity of a finding.
type Weight string

// The weights: all is well, a note, and something that does not work.
const (
	Fine    Weight = "ok"
	Note    Weight = "note"
	Trouble Weight = "problem"
)

func problem(format string, args ...any) Finding {
	return Finding{Weight: Trouble, Text: fmt.Sprintf(format, args...)}
}

func note(format string, args ...any) Finding {
	return Finding{Weight: Note, Text: fmt.Sprintf(format, args...)}
}

func fine(format string, args ...any) Finding {
	return Finding{Weight: Fine, Text: fmt.Sprintf(format, args...)}
}

// patience limits the time that each part of the setup may take to answer.
const patience = 10 * time.Second

// CheckOptions select what is not checked unasked.
type CheckOptions struct {
	// Live makes a call of the model, which costs money. Notify sends a message to each receiver of
	// notifications.
	Live, Notify bool
}

// setup is what is checked.
type setup struct {
	config.Config
	CheckOptions
	kinds *kind.Registry
	// confined is the sandbox that would be in force; err is the reason why none may be missing.
	confined sandbox
	err      error
	// fails is set if something does not work.
	fails bool
}

// checks are the parts of ringback check, in their order. The last one needs all others.
var checks = [...]struct {
	name string
	find func(context.Context, *setup) []Finding
}{
	{"settings", checkSettings},
	{"kinds", checkKinds},
	{"data_dir", checkDisk},
	{"prices", checkPrices},
	{"user", checkUser},
	{"callbacks", checkCallbacks},
	{"listeners", checkListeners},
	{"keys", checkKeys},
	{"sandbox", checkSandbox},
	{"rules", checkRules},
	{"questions", checkQuestions},
	{"cli", checkCLI},
	{"sign_in", checkSignIn},
	{"store", checkStore},
	{"repositories", checkRepositories},
	{"notifications", checkNotifications},
	{"jobs", checkJobs},
}

// CheckSetup checks what a server with this configuration would need. It changes nothing, and neither costs
// money nor notifies people unasked.
func CheckSetup(ctx context.Context, c config.Config, kinds *kind.Registry, o CheckOptions) (all []Finding) {
	s := &setup{Config: c, CheckOptions: o, kinds: kinds}
	s.confined, s.err = findSandbox(ctx, c)
	for _, check := range checks {
		for _, f := range check.find(ctx, s) {
			f.Check = check.name
			s.fails = s.fails || f.Weight == Trouble
			all = append(all, f)
		}
	}
	return all
}

func checkSettings(_ context.Context, s *setup) []Finding {
	return noteEach("", setupWarnings(s.Config, s.confined, s.kinds))
}

func checkKinds(_ context.Context, s *setup) (found []Finding) {
	for _, k := range s.kinds.All() {
		for _, text := range kindProblems(s.Config, k) {
			found = append(found, problem("%s", text))
		}
		if needs := k.NeedsCallbacks(); needs != "" && !s.UseCallback {
			found = append(
				found,
				note("USE_CALLBACK_CLAUDE=false: jobs of the kind %s are refused, because it works by callbacks (%s)", k.Name, needs),
			)
		}
	}
	return found
}

func checkPrices(_ context.Context, s *setup) []Finding {
	if _, err := pricesOf(s.Config); err != nil {
		return []Finding{problem("%v", err)}
	}
	return nil
}

func checkUser(context.Context, *setup) []Finding {
	if os.Geteuid() == 0 {
		return []Finding{note("this is root: run the server as a separate user (docs/how-to/deploy.md)")}
	}
	return nil
}

// setupWarnings returns what a start of the server warns of, too.
func setupWarnings(c config.Config, confined sandbox, kinds *kind.Registry) []string {
	misspelt, others := misspeltSettings(c, kinds)
	return slices.Concat(
		misspelt, others, checkEnvFile(c), checkKeyFile(c), checkDescriptors(c), checkOwnAnswers(c, confined.InForce(), kinds),
	)
}

// kindProblems returns what keeps turns or actions of a kind from running on this machine, as
// found by preparing them without running them.
func kindProblems(c config.Config, k *kind.Kind) (problems []string) {
	for _, p := range action.CheckSetup(k, c.Environ) {
		problems = append(problems, p.Error())
	}
	if keys := k.Policy.WithoutEffect(); len(keys) > 0 {
		problems = append(problems, fmt.Sprintf("%s: only a kind with a workspace has changes to review, so this has no effect: %s", k.File, strings.Join(keys, ", ")))
	}
	if err := turnOptions(c).Check(k); err != nil {
		problems = append(problems, fmt.Sprintf("%s: %v", k.File, err))
	}
	return problems
}

// noteEach returns a note for each text.
func noteEach(before string, texts []string) (found []Finding) {
	for _, text := range texts {
		found = append(found, note("%s%s", before, text))
	}
	return found
}

// checkCallbacks looks for curl, and recommends MCP for the user's kinds that would lose nothing by it.
func checkCallbacks(_ context.Context, s *setup) (found []Finding) {
	var fits []string
	for _, k := range s.kinds.All() {
		if s.UseCallback && k.Dir != "" && k.FitsMCP() {
			fits = append(fits, k.Name)
		}
	}
	if _, err := exec.LookPath("curl"); err != nil && s.UseCallback && !s.FindClaude().Simulated {
		found = append(found, problem("curl is not on PATH, and Claude calls back with it: install curl, or set callback: mcp in every kind"))
	}
	if len(fits) > 0 {
		found = append(found, note(
			"callback: mcp fits these kinds, and takes about half the rounds and half the bytes that the model reads (docs/callbacks.md): %s",
			strings.Join(fits, ", "),
		))
	}
	return found
}

// checkQuestions names what the questions about actions leave out.
func checkQuestions(_ context.Context, s *setup) (found []Finding) {
	for _, k := range s.kinds.All() {
		for _, a := range k.Policy.Actions {
			if names := a.LeftOut(); len(names) > 0 {
				found = append(found, note(
					"%s:%d: actions: %s: the question does not contain %s: people who answer yes in words are asked again, with the whole input. Add {{input.%s}} to it",
					k.File, a.Line("question"), a.Name, strings.Join(names, ", "), names[0],
				))
			}
		}
	}
	return found
}

// checkRules describes the rules of kinds that do more, or less, than they seem to.
func checkRules(_ context.Context, s *setup) (found []Finding) {
	for _, k := range s.kinds.All() {
		rules := k.Policy.ToolRules()
		if unknown := rules.Unknown(); len(unknown) > 0 {
			found = append(found, note("the kind %s: the CLI probably has no tools of these names: %s", k.Name, strings.Join(unknown, ", ")))
		}
		if fault := rules.Fault(); fault != "" { // those of tools: are a problem of the file
			found = append(found, note("the kind %s: allowed_tools: %s", k.Name, fault))
		}
		if k.Policy.Tools.Empty() { // the CLI alone decides about allowed_tools
			continue
		}
		open := strings.Join(rules.Open(), ", ")
		switch {
		case open == "":
		case s.confined.InForce():
			found = append(found, note("the kind %s: these programs may run others, for which no deny or ask rule of a command then holds: %s", k.Name, open))
		default:
			found = append(found, note("the kind %s: these rules allow nothing without a sandbox, since the programs may run others: %s", k.Name, open))
		}
	}
	return found
}

// InSandbox reports whether the turns of a server with this configuration would run in a
// sandbox.
func InSandbox(ctx context.Context, c config.Config) bool {
	confined, err := findSandbox(ctx, c)
	return err == nil && confined.InForce()
}

// checkListeners reports addresses that this machine does not have, and those that other machines may reach
// although their callers need no key.
func checkListeners(ctx context.Context, s *setup) []Finding {
	for _, p := range addresses(s.Config) {
		if p.addr == "" {
			continue
		}
		if err := checkAddress(ctx, p.variable, p.addr); err != nil {
			return []Finding{problem("%v", err)}
		}
	}
	var found []Finding
	switch {
	case s.OwnCallbackListener():
		found = append(found, fine("callbacks are taken at %s alone, for CLIs that call %s", s.CallbackListenAddr, s.CallbackBaseURL))
	case s.Public():
		found = append(found, note(
			"LISTEN_ADDR %s takes callbacks too, where other machines can reach it: set CALLBACK_LISTEN_ADDR to an address that only CLIs reach",
			s.ListenAddr,
		))
	}
	if !config.IsLoopback(s.OperatorListenAddr) {
		found = append(found, note(
			"OPERATOR_LISTEN_ADDR %s asks for no key: let only those machines reach it that watch this server (a firewall, a network policy)",
			s.OperatorListenAddr,
		))
	}
	return found
}

// checkCLI starts the CLI and asks for its version.
func checkCLI(ctx context.Context, s *setup) []Finding {
	cli := s.FindClaude()
	switch {
	case cli.Problem != "":
		return []Finding{problem("%s", cli.Problem)}
	case s.CheckClaude() != nil:
		return []Finding{problem("%s", s.CheckClaude())}
	case cli.Simulated:
		return []Finding{note("no Claude CLI (%s) on PATH: jobs would run on the simulated Claude", cli.Bin)}
	}
	version, err := claude.Version(ctx, cli.Bin, s.Environ)
	if err != nil {
		return []Finding{problem("CLAUDE_BIN: %v", err)}
	}
	return []Finding{fine("claude %s: %s (this version of Ringback was tested with %s)", cli.Bin, version, claude.Tested)}
}

// checkSignIn reports which process holds the credential for the model, and whether there
// is one.
func checkSignIn(ctx context.Context, s *setup) []Finding {
	cli := s.FindClaude()
	if cli.Simulated || cli.Problem != "" {
		return nil
	}
	if claude.NotSignedIn(ctx, cli.Bin, s.Environ) {
		return []Finding{problem("Claude is not signed in: set ANTHROPIC_API_KEY, or ANTHROPIC_AUTH_TOKEN of a gateway, for the server; "+
			"or run %s as the server's user and sign in with /login", cli.Bin)}
	}
	const reach = "programs of a job can read that credential and use it, and requests to the model are not metered individually"
	api, served := claude.APIOf(s.Environ)
	switch {
	case !served:
		return []Finding{note("the CLI signs in by itself (%s): %s. Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN for the server alone; "+
			"for Bedrock, Vertex or Foundry set ANTHROPIC_BASE_URL and ANTHROPIC_AUTH_TOKEN of a gateway that signs (docs/sandbox.md)", claude.OwnSignIn(
			s.Environ,
		),
			reach)}
	case !s.confined.InForce():
		return []Finding{note("without a sandbox, the CLI signs in by itself: %s. Install bubblewrap (SANDBOX)", reach)}
	}
	return []Finding{fine("the server signs in at %s; no job sees the credential", api.URL.Host)}
}

// checkStore asks an external Redis whether jobs can be stored in it.
func checkStore(ctx context.Context, s *setup) []Finding {
	if s.RedisURL == "" {
		return []Finding{checkEmbedded(ctx)}
	}
	where := redisAt(s.RedisURL)
	client, err := store.Connect(s.RedisURL)
	if err != nil {
		return []Finding{problem("%v", err)}
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found, err := store.JudgeFitness(ctx, client, s.RedisWait)
	if err != nil {
		return []Finding{problem("%s does not answer: %v. Start it, or correct the address", where, err)}
	}
	var findings []Finding
	for _, text := range found.Faults {
		findings = append(findings, problem("%s %s", where, text))
	}
	if findings = append(findings, noteEach(where+" ", found.Warnings)...); len(findings) == 0 {
		findings = append(findings, fine("%s answers; its clock differs by %s", where, found.ClockOffset.Abs().Round(time.Millisecond)))
	}
	return findings
}

// checkEmbedded reports which store would hold the jobs if no Redis is configured.
func checkEmbedded(ctx context.Context) Finding {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found, err := redisd.ServerVersion(ctx)
	switch {
	case err != nil:
		return problem("the embedded store does not start: %v", err)
	case found == "":
		return note("no redis-server or valkey-server on PATH, and REDIS_URL is not set: jobs would be kept in memory only, and lost when the server stops")
	}
	return fine("embedded store: %s", found)
}

// checkEnvFile warns about a .env file that every user on the machine can read.
func checkEnvFile(c config.Config) []string {
	info, err := os.Stat(c.EnvFile)
	if c.EnvFile == "" || err != nil || info.Mode().Perm()&0o007 == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s can be read by every user of this machine: chmod o= it", c.EnvFile)}
}

// misspeltSettings returns warnings about variables that have no effect although their names are
// close to settings, and others about what else a .env file sets in vain. The latter are not for
// everyone with access to /readyz.
func misspeltSettings(c config.Config, kinds *kind.Registry) (misspelt, others []string) {
	var used []string // by commands of actions
	for _, k := range kinds.All() {
		for _, a := range k.Policy.Actions {
			for _, value := range a.Env {
				os.Expand(value, func(name string) string { used = append(used, name); return "" })
			}
		}
	}
	misspelt, others = c.Unread(func(name string) bool {
		return slices.Contains(used, name) || len(process.Pick([]string{name + "="}, process.Known()...)) > 0
	})
	if len(others) > 0 {
		others = []string{c.EnvFile + " sets what neither Ringback nor anything that it starts reads: " + strings.Join(others, ", ")}
	}
	return misspelt, others
}

// checkOwnAnswers warns if Claude could answer its own questions. Without keys and
// tokens, any process that can reach loopback may answer. Without a sandbox, the
// processes of a job of these kinds can.
func checkOwnAnswers(c config.Config, confined bool, kinds *kind.Registry) []string {
	if c.Secured() || confined {
		return nil
	}
	var found []string
	for _, k := range kinds.All() {
		if by := k.Reaches(); by != "" {
			found = append(found, fmt.Sprintf("%s (%s)", k.Name, by))
		}
	}
	if len(found) == 0 {
		return nil
	}
	return []string{"Claude could answer its own questions, and approve its actions, in jobs of these kinds, because they let it run commands or reach the network, no sandbox keeps it from the API, and the API requires no key: " +
		strings.Join(found, ", ") + ". Install bubblewrap (SANDBOX), or set API_KEYS, API_KEYS_FILE or JWT_SECRET."}
}
