package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"ringback/client"
	"ringback/internal/job"
)

// defaultPager quits at the end of a text that fits the screen (-F) and on Ctrl-C (-K), passes only
// colours through (-R), and leaves the text on the screen (-X).
const defaultPager = "less -FKRX"

// pagerGrace is the time that a pager gets to exit when its text is no longer needed.
const pagerGrace = 2 * time.Second

// signalGrace is the time after which a failed pager has failed for another reason than Ctrl-C.
const signalGrace = 500 * time.Millisecond

// present prints the subject of a decision on standard error. It uses the pager if the person would
// otherwise see only the end.
func (a *app) present(ctx context.Context, cmd *cobra.Command, write func(printer) error) error {
	out := cmd.ErrOrStderr()
	p := a.printer(out)
	text, err := p.written(write)
	if err != nil {
		return err
	}
	_, rows := a.SizeFunc(out)
	if rows == 0 || rowsOf(string(text), p.columns) < rows || !a.TypedFunc(cmd.InOrStdin()) {
		_, err := out.Write(text)
		return err
	}
	return a.page(ctx, cmd, text, out)
}

// page shows text in the user's pager, as git does. Without a working pager, it prints the text.
// It returns errDeclined if the person interrupts the pager.
func (a *app) page(ctx context.Context, cmd *cobra.Command, text []byte, out io.Writer) error {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	defer signal.Stop(interrupted)
	defer restoring(out)()
	pager := exec.CommandContext(ctx, "sh", "-c", cmp.Or(a.Pager, defaultPager))
	pager.Stdin, pager.Stdout, pager.Stderr = bytes.NewReader(text), out, cmd.ErrOrStderr()
	pager.Env = append([]string{"LESS=FRX"}, os.Environ()...) // the person's own setting takes precedence
	pager.Cancel = func() error { return pager.Process.Signal(syscall.SIGTERM) }
	pager.WaitDelay = pagerGrace
	err := pager.Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(interrupted) > 0, err != nil && soon(interrupted):
		return errDeclined
	case err != nil:
		_, err = out.Write(text)
	}
	return err
}

// soon reports whether a signal arrives within a moment: Ctrl-C may end the pager before the signal
// has reached this process.
func soon(signals <-chan os.Signal) bool {
	select {
	case <-signals:
		return true
	case <-time.After(signalGrace):
		return false
	}
}

// restoring returns a function that restores the current modes of a terminal. A killed pager may
// leave it without echo.
func restoring(out io.Writer) func() {
	f, ok := out.(*os.File)
	if !ok {
		return func() {}
	}
	modes, err := term.GetState(int(f.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(f.Fd()), modes) }
}

func rowsOf(text string, columns int) (rows int) {
	for line := range strings.SplitSeq(strings.TrimSuffix(painted().ReplaceAllString(text, ""), "\n"), "\n") {
		rows += max(1, (cellsOf(line)+columns-1)/max(1, columns))
	}
	return rows
}

// subject identifies the content that a person was shown before a decision.
type subject struct {
	seen client.Seen
	// warnings are repeated where the person decides: they may be far up.
	warnings []string
}

// shows prints all that an answer to a question may approve, below a heading if there is one.
func (a *app) shows(ctx context.Context, cmd *cobra.Command, heading string, c job.Checkpoint) (s subject, err error) {
	err = a.present(ctx, cmd, func(p printer) error {
		if heading != "" {
			p.printf("%s:\n", heading)
		}
		if c.Type == job.Review {
			s, err = a.showsChange(ctx, p, c)
			return err
		}
		p.asks(c)
		s.seen.Shown = job.ShownInText(c)
		return nil
	})
	return s, err
}

// showsChange prints a change with the part of its diff that one request returns.
func (a *app) showsChange(ctx context.Context, p printer, c job.Checkpoint) (subject, error) {
	r := a.reviewOf(ctx, c)
	for i := range r.diff {
		r.diff[i].Truncated = false // the rest of the output is not
	}
	p.summary(r)
	s := subject{seen: seenInDiff(r.diff), warnings: r.warnings()}
	s.seen.Shown = job.ShownWhole
	if r.diff == nil { // the server refuses what cannot be approved
		s.seen = client.Seen{Shown: job.ShownByLink}
	}
	omitted := 0
	for _, d := range r.diff {
		page, err := a.api.DiffPage(ctx, c.RequestID, client.DiffPage{Repository: d.Repository, From: 1, Lines: pageLines})
		if known, ok := errors.AsType[*job.Error](err); ok && known.Kind != job.Unavailable {
			p.hang("  ", "  ", yellow, known.Message)
			s.seen.Shown = job.ShownByLink
			omitted += max(1, d.TotalLines)
			continue
		}
		if err != nil {
			return s, err
		}
		if len(page.Value) != 1 || page.Value[0].Tree != d.Tree {
			return s, errMovedOn
		}
		p.printf("\n%s\n", p.paint(bold, clean(d.Repository)+": "+clean(d.Summary)))
		for _, f := range page.Value[0].Files {
			p.fileDiff(f)
		}
		if next := page.Value[0].NextFrom; next > 0 {
			s.seen.Shown = job.ShownPaged
			omitted += max(1, d.TotalLines-next+1)
		}
	}
	if omitted > 0 {
		s.warnings = append(s.warnings, fmt.Sprintf(
			"Lines of the change that were not shown: %d. Read them with: ringback diff --full.", omitted,
		))
	}
	return s, nil
}

// agreed shows all that an answer to a question may approve, and asks for confirmation.
func (a *app) agreed(cmd *cobra.Command, heading string, c job.Checkpoint) (client.Seen, error) {
	s, err := a.shows(cmd.Context(), cmd, heading, c)
	if err != nil {
		return s.seen, err
	}
	question := "Do it?"
	q := a.asker(cmd)
	if len(s.warnings) > 0 {
		q.p.warn(s.warnings)
		question = "Do it all the same?"
	}
	return s.seen, q.confirmed(cmd.Context(), question)
}

func (p printer) warn(warnings []string) {
	for _, w := range warnings {
		p.hang("", "  ", yellow, w)
	}
}

var errMovedOn = usagef("The change was updated while it was shown: look at it again")
