package cli

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
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
