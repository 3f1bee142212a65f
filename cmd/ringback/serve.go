package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"ringback/client"
	"ringback/internal/cli"
	"ringback/internal/job"
	"ringback/internal/server"
	"ringback/internal/server/config"
	"ringback/internal/web/apikey"
)

func serveCommand() *cobra.Command {
	o := server.Options{Version: builtFrom().Version}
	var role string
	var demo bool
	cmd := &cobra.Command{
		Use: "serve", Short: "Run a server", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Role = server.Role(role)
			if o.Role != server.All && o.Role != server.API && o.Role != server.Worker {
				return cli.FlagError(cmd, fmt.Errorf("--role takes one of: all, api, worker; not %s", cli.Quoted(role)))
			}
			return serve(cmd, o, demo)
		},
	}
	f := cmd.Flags()
	f.StringVar(&role, "role", "all", "all, api (no turns) or worker (turns)")
	f.BoolVar(&o.Drain, "drain", false, "when stopping, wait for running turns instead of leaving them to the next start")
	f.DurationVar(
		&o.DrainGrace, "drain-grace", 5*time.Second,
		"how long to keep accepting jobs; /readyz answers 503 at once, so that load balancers use other servers",
	)
	f.DurationVar(&o.DrainTimeout, "drain-timeout", 5*time.Minute, "how long to wait for them")
	f.BoolVar(
		&o.TakeOver, "take-over", false,
		"continue a copy of an embedded store (not one by ringback restore) whose original is permanently gone; needed for one start only",
	)
	f.BoolVar(
		&o.Watch, "watch", false,
		"load the kinds again whenever a file in PROMPTS_DIR or SCHEMAS_DIR changes; SIGHUP does it once",
	)
	f.BoolVar(&demo, "demo", false, "run one meal-suggestions job after the start and show it")
	return cmd
}

func serve(cmd *cobra.Command, o server.Options, demo bool) error {
	c, err := serverConfig()
	if err != nil {
		return err
	}
	o.Config = c
	if demo && c.LogLevel == slog.LevelInfo {
		c.LogLevel = slog.LevelWarn // the demo job should be all there is to see
	}
	token := c.Token
	if demo && token == "" && c.Secured() {
		var key apikey.Key
		token, key = apikey.New("demo", time.Time{})
		o.Keys = append(o.Keys, key)
	}
	o.Level = new(slog.LevelVar)
	o.Level.Set(c.LogLevel)
	log := newLogger(c, o.Level, os.Stderr)
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o.Reload = reloads(ctx, stop)
	o.Started = func(r server.Running) {
		announce(log, cmd.ErrOrStderr(), c, r)
		if demo {
			go runDemo(ctx, r.URL, token, c, cmd.OutOrStdout())
		}
	}
	// With this, the garbage collector runs only after 20 MB of allocations or more. A
	// server with a small heap would otherwise collect every few megabytes and spend a
	// fifth of its processor time on it. Nothing writes to minHeap, so it uses address
	// space, but no memory.
	minHeap := make([]byte, 16<<20)
	defer runtime.KeepAlive(minHeap)
	if err = server.Serve(ctx, o, log); err != nil && c.LogFormat == jsonLog {
		log.Error("server failed", "error", err)
		return cli.ErrReported
	}
	return err
}

// jsonLog is the LOG_FORMAT that guarantees only JSON lines.
const jsonLog = "json"

// announce reports that the server has started. With JSON logs, only the warnings remain to
// be logged.
func announce(log *slog.Logger, w io.Writer, c config.Config, r server.Running) {
	if c.LogFormat != jsonLog {
		banner(w, r)
		return
	}
	for _, warning := range r.Warnings {
		log.Warn(warning)
	}
}

func banner(w io.Writer, r server.Running) {
	fmt.Fprintf(w, "Ringback listens on %s\n", r.URL)
	if r.CallbackURL != "" {
		fmt.Fprintf(w, "  callbacks %s\n", r.CallbackURL)
	}
	if r.OperatorURL != "" {
		fmt.Fprintf(w, "  operators %s\n", r.OperatorURL)
	}
	fmt.Fprintf(w, "  store   %s\n  claude  %s\n  sandbox %s\n", r.Store, r.Claude, r.Sandbox)
	if r.EnvFile != "" {
		fmt.Fprintf(w, "  env     %s\n", r.EnvFile)
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "  WARNING %s\n", warning)
	}
}

func newLogger(c config.Config, level slog.Leveler, w *os.File) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "text" || c.LogFormat == "auto" && term.IsTerminal(int(w.Fd())) {
		return slog.New(slog.NewTextHandler(w, options))
	}
	options.ReplaceAttr = inMillis
	return slog.New(slog.NewJSONHandler(w, options))
}

// inMillis converts durations to milliseconds, which slog would write as nanoseconds.
func inMillis(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key+"_ms", float64(a.Value.Duration().Microseconds())/1000)
	}
	return a
}

// runDemo runs a job and shows all of it to a new user.
func runDemo(ctx context.Context, url, token string, c config.Config, out io.Writer) {
	from := time.Now()
	input := job.MustJSON(map[string]any{
		"dateRangeStart": from.Format(time.DateOnly), "dateRangeEnd": from.AddDate(0, 0, 4).Format(time.DateOnly),
		"servings": 4, "preferences": "quick on weekdays",
	})
	fmt.Fprintf(out, "\nAsking for meal suggestions: POST /api/jobs %s\n", input)
	err := cli.RunAndShow(
		ctx, client.New(url, client.WithToken(token)),
		client.NewJob{Kind: "meal-suggestions", Input: input, UserID: "demo"}, out, c.NoColor != "",
	)
	if err != nil && !errors.Is(err, context.Canceled) {
		cli.PrintError(out, err)
	}
	if ctx.Err() == nil {
		ringback := commandFor(url, c)
		fmt.Fprintf(out, "\nThe server stays up; Ctrl-C stops it. In another terminal, try:\n"+
			"  %s list\n  %s run meal-suggestions --input '%s'\n", ringback, ringback, input)
	}
}

// commandFor returns the shell command, for any directory, that calls this program for the
// server at url. Variables are set only if their default would not do.
func commandFor(url string, c config.Config) string {
	var words []string
	if url != client.DefaultURL {
		words = append(words, "RINGBACK_URL="+url)
	}
	if c.Token == "" && c.Secured() { // the key itself must not be shown on the screen
		words = append(words, `RINGBACK_TOKEN="<an API key>"`)
	}
	program, err := os.Executable()
	if err != nil {
		program = "ringback"
	}
	return strings.Join(append(words, cli.Quoted(program)), " ")
}
