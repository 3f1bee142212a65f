package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"ringback/internal/cli"
	"ringback/internal/client"
	"ringback/internal/config"
	"ringback/internal/server"
)

func serveCommand() *cobra.Command {
	o := server.Options{Version: version}
	var role string
	var demo bool
	cmd := &cobra.Command{
		Use: "serve", Short: "Run a server", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Role = server.Role(role)
			if o.Role != server.All && o.Role != server.API && o.Role != server.Worker {
				return cli.FlagError(cmd, fmt.Errorf("--role is all, api or worker, not %q", role))
			}
			c, err := serverConfig()
			if err != nil {
				return err
			}
			o.Config = c
			if demo && c.LogLevel == slog.LevelInfo {
				c.LogLevel = slog.LevelWarn // the job is what there is to see
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			o.Started = func(r server.Running) {
				banner(cmd.ErrOrStderr(), r)
				if demo {
					go runDemo(ctx, r.URL, c, cmd.OutOrStdout())
				}
			}
			return server.Serve(ctx, o, newLogger(c, os.Stderr))
		},
	}
	f := cmd.Flags()
	f.StringVar(&role, "role", "all", "all, api (no turns) or worker (turns)")
	f.BoolVar(&o.Drain, "drain", false, "when stopping, wait for running turns instead of leaving them to the next start")
	f.DurationVar(&o.DrainTimeout, "drain-timeout", 5*time.Minute, "how long to wait for them")
	f.BoolVar(&demo, "demo", false, "run one meal-suggestions job after the start and show it")
	return cmd
}

func banner(w io.Writer, r server.Running) {
	fmt.Fprintf(w, "Ringback listens on %s\n  store   %s\n  claude  %s\n", r.URL, r.Store, r.Claude)
	if r.EnvFile != "" {
		fmt.Fprintf(w, "  env     %s\n", r.EnvFile)
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "  WARNING %s\n", warning)
	}
}

func newLogger(c config.Config, w *os.File) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == "text" || c.LogFormat == "auto" && term.IsTerminal(int(w.Fd())) {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

// runDemo shows a newcomer a whole job.
func runDemo(ctx context.Context, url string, c config.Config, out io.Writer) {
	token := c.Token
	if token == "" && len(c.APIKeys) > 0 {
		token = c.APIKeys[0]
	}
	from := time.Now()
	input, err := json.Marshal(map[string]any{
		"dateRangeStart": from.Format(time.DateOnly), "dateRangeEnd": from.AddDate(0, 0, 4).Format(time.DateOnly),
		"servings": 4, "preferences": "quick on weekdays",
	})
	if err != nil {
		return
	}
	fmt.Fprintf(out, "\nAsking for meal suggestions: POST /api/jobs %s\n", input)
	err = cli.RunAndShow(ctx, client.New(url, token), client.NewJob{Kind: "meal-suggestions", Input: input, UserID: "demo"}, out, c.NoColor != "")
	if err != nil && !errors.Is(err, context.Canceled) {
		cli.PrintError(out, err)
	}
	if ctx.Err() == nil {
		fmt.Fprintf(out, "\nThe server stays up; Ctrl-C stops it. In another terminal, try:\n"+
			"  ./bin/ringback list\n  ./bin/ringback run meal-suggestions --input '%s'\n", input)
	}
}
