package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"ringback/client"
	"ringback/internal/cli"
	"ringback/internal/config"
	"ringback/internal/job"
)

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
	return strings.Join(append(words, cli.Quoted(program())), " ")
}

// program returns what to type for this binary: its name if PATH leads to it.
func program() string {
	path, err := os.Executable()
	if err != nil {
		return "ringback"
	}
	if found, err := exec.LookPath("ringback"); err == nil && sameFile(found, path) {
		return "ringback"
	}
	return path
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
