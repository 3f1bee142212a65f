package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"ringback/internal/cli"
	"ringback/internal/rules/approval"
	"ringback/internal/rules/kind"
	"ringback/internal/sandbox/process"
	"ringback/internal/server"
	"ringback/internal/server/config"
)

func checkCommand() *cobra.Command {
	var tool, name, output string
	var o server.CheckOptions
	c := &cobra.Command{
		Use: "check", Short: "Check the kinds and the setup, and report problems", Args: cobra.NoArgs,
		Long: `Check the kinds and the setup, and report problems.

git is asked for the repositories of the kinds. A server like the one to be started,
with a store of its own, runs a job of the simulated Claude and starts the CLI. Nothing
is paid for, and no one is notified, unless --live or --notify asks for it.

With --tool and --kind: show instead whether a tool call is allowed, asked for or
denied in jobs of that kind, by which rule and why. Paths are those of a job whose
working directory is the current one.`,
		Example: `  ringback check
  ringback check --live --notify
  ringback check --kind release --tool 'Bash: make deploy'
  ringback check --kind release --tool 'Write: docs/index.md'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := serverConfig()
			if err != nil {
				return err
			}
			switch {
			case tool != "" && name != "":
				return tryTool(cmd, c, name, tool)
			case tool != "" || name != "":
				return cli.UsageError(errors.New("--tool and --kind must be used together, such as --kind release --tool 'Bash: make deploy'"))
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop() // what a rehearsal has started ends first
			return checkAll(ctx, cmd, c, o, output)
		},
	}
	c.Flags().BoolVar(&o.Live, "live", false, "make one call of the model, and show what it cost")
	c.Flags().BoolVar(&o.Notify, "notify", false, "send a test message to WEBHOOK_URL and SLACK_WEBHOOK_URL")
	cli.OutputFlag(c, &output)
	c.Flags().StringVar(&tool, "tool", "", "show the verdict on this `call`, such as 'Bash: make deploy'")
	c.Flags().StringVar(&name, "kind", "", "the `kind` whose rules judge the call")
	return c
}

// report is the result of ringback check, for programs.
type report struct {
	Problems int              `json:"problems"`
	Findings []server.Finding `json:"findings"`
}

func checkAll(ctx context.Context, cmd *cobra.Command, c config.Config, o server.CheckOptions, output string) error {
	r := report{Findings: []server.Finding{}}
	kinds, problems := kind.Load(server.KindSources(c)...)
	for _, name := range kinds.Names() {
		r.Findings = append(r.Findings, server.Finding{Check: "kinds", Weight: server.Fine, Text: "kind " + name})
	}
	for _, p := range problems {
		r.Findings = append(r.Findings, server.Finding{Check: "kinds", Weight: server.Trouble, Text: p.Error()})
	}
	r.Findings = append(r.Findings, server.CheckSetup(ctx, c, kinds, o)...)
	if c.EnvFile != "" {
		r.Findings = append(r.Findings, server.Finding{Check: "settings", Weight: server.Fine, Text: c.EnvFile + " was read"})
	}
	for _, f := range r.Findings {
		if f.Weight == server.Trouble {
			r.Problems++
		}
	}
	err := cli.Show(cmd, output, r, func(w io.Writer) {
		for _, f := range r.Findings {
			fmt.Fprintf(w, "%-8s %s\n", f.Weight, f.Text)
		}
	})
	if err == nil && r.Problems > 0 {
		err = cli.Problems(r.Problems)
	}
	return err
}

func tryTool(cmd *cobra.Command, c config.Config, name, text string) error {
	out := cmd.OutOrStdout()
	call, err := approval.ParseToolCall(text)
	if err != nil {
		return cli.UsageError(fmt.Errorf("--tool: %w", err))
	}
	kinds, problems := kind.Load(server.KindSources(c)...)
	k, ok := kinds.Get(name)
	if !ok {
		for _, p := range problems {
			fmt.Fprintf(out, "problem  %s\n", p.Error())
		}
		return cli.UsageError(fmt.Errorf(
			"no valid kind %q; valid kinds: %s", name, strings.Join(kinds.Names(), ", "),
		))
	}
	if call.Dir, err = os.Getwd(); err != nil { // as in a job that works in the current directory
		return err
	}
	call.Home, call.Masked = process.Value(c.Environ, "HOME"), server.InSandbox(cmd.Context(), c)
	j := k.Policy.ToolRules().Judge(call)
	switch {
	case j.Verdict == approval.NoOpinion:
		fmt.Fprintf(out, "deny   %s; no rule applies, and Claude may only call back\n", j.Why)
	case j.Rule == "":
		fmt.Fprintf(out, "%-5s  %s\n", j.Verdict, j.Why)
	default:
		fmt.Fprintf(out, "%-5s  by %s: %s\n       %s\n", j.Verdict, listOf(k.Policy, j.Rule), j.Rule, j.Why)
	}
	if j.Verdict == approval.Ask {
		fmt.Fprintf(out, "       a yes for this job, or for always, permits: %s\n", j.Permits)
	}
	return nil
}

// listOf returns the name of the front matter's list that contains a rule.
func listOf(p kind.Policy, rule string) string {
	for _, list := range []struct {
		name  string
		rules []string
	}{{"tools: deny", p.Tools.Deny}, {"tools: ask", p.Tools.Ask}, {"tools: allow", p.Tools.Allow}} {
		if slices.Contains(list.rules, rule) {
			return list.name
		}
	}
	return "allowed_tools"
}
