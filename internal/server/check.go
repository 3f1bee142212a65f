package server

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ringback/internal/action"
	"ringback/internal/claude"
	"ringback/internal/config"
	"ringback/internal/kind"
	"ringback/internal/process"
	"ringback/internal/store"
)

// Finding is something that ringback check tells.
type Finding struct {
	Weight Weight
	Text   string
}

// Weight is how much a finding matters.
type Weight string

// The weights: all is well, something to know, something that does not work.
const (
	Fine    Weight = "ok"
	Note    Weight = "note"
	Trouble Weight = "problem"
)

func problem(format string, args ...any) Finding {
	return Finding{Trouble, fmt.Sprintf(format, args...)}
}
func note(format string, args ...any) Finding { return Finding{Note, fmt.Sprintf(format, args...)} }
func fine(format string, args ...any) Finding { return Finding{Fine, fmt.Sprintf(format, args...)} }

// patience is how long each part of the setup may take to answer.
const patience = 10 * time.Second

// CheckSetup looks at what a server with this configuration would need: its kinds'
// programs, its CLI and its store. It changes nothing.
func CheckSetup(ctx context.Context, c config.Config, kinds *kind.Registry) []Finding {
	var found []Finding
	for _, k := range kinds.All() {
		for _, p := range action.CheckSetup(k, c.Environ) {
			found = append(found, problem("%s", p.Error()))
		}
		if needs := k.NeedsCallbacks(); needs != "" && !c.UseCallback {
			found = append(found, note("USE_CALLBACK_CLAUDE=false: jobs of the kind %s are refused, for it works by callbacks (%s)", k.Name, needs))
		}
	}
	found = append(append(found, checkListeners(c)...), checkKeys(c)...)
	if err := checkDataDir(c.DataDir); err != nil {
		found = append(found, problem("%v", err))
	}
	for _, warning := range append(checkDescriptors(c), checkOwnAnswers(c, kinds)...) {
		found = append(found, note("%s", warning))
	}
	found = append(found, checkSandbox(ctx, c, kinds)...)
	return append(append(found, checkCLI(ctx, c)...), checkRedis(ctx, c)...)
}

// checkListeners says where callbacks are taken, where that is not at loopback.
func checkListeners(c config.Config) []Finding {
	switch {
	case c.OwnCallbackListener():
		return []Finding{fine("callbacks are taken at %s alone, for CLIs that call %s", c.CallbackListenAddr, c.CallbackBaseURL)}
	case c.Public():
		return []Finding{note("LISTEN_ADDR %s takes callbacks too, where other machines can reach it: set CALLBACK_LISTEN_ADDR to an address that only CLIs reach", c.ListenAddr)}
	}
	return nil
}

// checkCLI starts the CLI and asks for its version.
func checkCLI(ctx context.Context, c config.Config) []Finding {
	cli := c.FindClaude()
	switch {
	case cli.Problem != "":
		return []Finding{problem("%s", cli.Problem)}
	case c.CheckClaude() != nil:
		return []Finding{problem("%s", c.CheckClaude())}
	case cli.Simulated:
		return []Finding{note("no Claude CLI (%s) on PATH: jobs would run on the simulated Claude", cli.Bin)}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it did not answer within %s", patience))
	defer cancel()
	ended, err := process.Run(ctx, process.Command{Args: []string{cli.Bin, "--version"}, Env: claude.Environ(c.Environ, 0)})
	switch {
	case err != nil:
		return []Finding{problem("CLAUDE_BIN: %s does not start: %v", cli.Bin, err)}
	case ended.Code != 0:
		return []Finding{problem("CLAUDE_BIN: %s --version ended with exit code %d: %s", cli.Bin, ended.Code, firstLine(ended.Stderr+ended.Stdout))}
	}
	return []Finding{fine("claude %s: %s", cli.Bin, firstLine(ended.Stdout))}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line == "" {
		return "it printed nothing"
	}
	return line
}

// checkRedis asks a Redis of one's own whether jobs can be kept in it.
func checkRedis(ctx context.Context, c config.Config) []Finding {
	if c.RedisURL == "" {
		if !store.HasServer() {
			return []Finding{note("no redis-server or valkey-server on PATH, and REDIS_URL is not set: jobs would be kept in memory only, and lost when the server stops")}
		}
		return nil
	}
	where := "REDIS_URL: the Redis at " + hostOf(c.RedisURL)
	client, err := store.Connect(c.RedisURL)
	if err != nil {
		return []Finding{problem("%v", err)}
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := client.Ping(ctx).Err(); err != nil {
		return []Finding{problem("%s does not answer: %v. Start it, or correct the address", where, err)}
	}
	if err := client.Eval(ctx, "return 1", nil).Err(); err != nil {
		return []Finding{problem("%s runs no scripts: %v. Allow EVAL and EVALSHA to this user", where, err)}
	}
	info, err := client.Info(ctx).Result()
	if err != nil {
		return []Finding{note("%s does not say how it is set up: %v", where, err)}
	}
	found := unfit(where, parseInfo(info))
	if len(found) == 0 {
		found = []Finding{fine("%s answers", where)}
	}
	return found
}

// unfit finds what of a Redis's setup would lose jobs, or keep them from running.
func unfit(where string, info map[string]string) (found []Finding) {
	const oldest = 6.2 // XAUTOCLAIM, GETDEL and the like
	if version := majorMinor(info["redis_version"]); version > 0 && version < oldest {
		found = append(found, problem("%s is version %s; at least %g is needed", where, info["redis_version"], oldest))
	}
	if info["role"] == "slave" {
		found = append(found, problem("%s is a replica, which takes no writes: name its master, or use ?master_name=", where))
	}
	if policy := info["maxmemory_policy"]; policy != "" && policy != "noeviction" {
		found = append(found, problem("%s may forget jobs when its memory is full (maxmemory-policy %s): set it to noeviction", where, policy))
	}
	if info["aof_enabled"] == "0" {
		found = append(found, note("%s keeps no append-only file: what was answered is lost when it stops (appendonly yes)", where))
	}
	return found
}

func majorMinor(version string) float64 {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return 0
	}
	n, err := strconv.ParseFloat(parts[0]+"."+parts[1], 64)
	if err != nil {
		return 0
	}
	return n
}

// parseInfo reads the answer to INFO.
func parseInfo(text string) map[string]string {
	fields := map[string]string{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if name, value, ok := strings.Cut(strings.TrimSpace(lines.Text()), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}
