package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"ringback/internal/cli"
	"ringback/internal/server"
	"ringback/internal/server/backup"
)

func backupCommand() *cobra.Command {
	var o server.BackupOptions
	var force bool
	var output string
	c := &cobra.Command{
		Use: "backup <file>", Short: "Write a backup of an installation into one file, while its server runs", Args: cobra.ExactArgs(1),
		Long: `Write a backup of the installation of the configuration here (DATA_DIR) into one file, or with - to standard output.
The server may be running or stopped; it is not disturbed. With REDIS_URL, all servers must be stopped.

The file has the store as it was at one moment, and the files of jobs. It also has what they contain, so it is
readable by you only. Settings, keys and other secrets of the server are not in it.`,
		Example: "  ringback backup ringback.tar.gz\n  ringback backup - | ssh other 'cat > ringback.tar.gz'",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			var r backup.Report
			var err error
			if args[0] == "-" {
				r, err = backUp(ctx, o, cmd.OutOrStdout(), cmd.ErrOrStderr())
				cmd.SetOut(cmd.ErrOrStderr())
			} else {
				r, err = backUpTo(ctx, o, args[0], force, cmd.ErrOrStderr())
			}
			if err != nil {
				return err
			}
			return cli.Show(cmd, output, r, func(out io.Writer) { describeBackup(out, args[0], r) })
		},
	}
	c.Flags().BoolVar(&force, "force", false, "replace an existing file")
	c.Flags().BoolVar(&o.FilesOnly, "files-only", false, "leave out the store, for a Redis that is backed up in another way")
	cli.OutputFlag(c, &output)
	return c
}

func restoreCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "restore <file>", Short: "Restore an installation from a backup, and verify it", Args: cobra.ExactArgs(1),
		Long: `Restore the installation in a backup, or with - from standard input, into the DATA_DIR of the configuration here,
which must not have one. Nothing is put in its place before all of it is verified: the digests of the files, the
store as ringback doctor does, and each audit log.

Then start the server. What the original has done since the backup is not known: interrupted turns run again, what
was allowed and had not run is asked again, and people sign in again. Never start the original again.`,
		Example: "  ringback restore ringback-2026-11-29.tar.gz",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			c, err := serverConfig()
			if err != nil {
				return err
			}
			from := cmd.InOrStdin()
			if args[0] != "-" {
				file, err := os.Open(args[0])
				if err != nil {
					return cli.UsageError(err)
				}
				defer file.Close()
				from = file
			}
			r, err := server.Restore(ctx, c, from)
			if err != nil {
				return err
			}
			err = cli.Show(cmd, output, r, func(out io.Writer) { describeRestored(out, c.DataDir, r) })
			if n := len(r.AuditFaults); err == nil && n > 0 {
				err = cli.Problems(n)
			}
			return err
		},
	}
	cli.OutputFlag(c, &output)
	return c
}

func backUp(ctx context.Context, o server.BackupOptions, to, stderr io.Writer) (r backup.Report, err error) {
	if o.Config, err = serverConfig(); err != nil {
		return r, err
	}
	shown, end := progress(stderr)
	defer end()
	o.Version, o.ShownFunc = builtFrom().Version, shown
	return server.Backup(ctx, o, to)
}

// backUpTo writes a backup to a new file. Until it is complete, the file has another name.
func backUpTo(
	ctx context.Context, o server.BackupOptions, name string, force bool, stderr io.Writer,
) (r backup.Report, err error) {
	exists := func() error { return cli.UsageError(fmt.Errorf("%s exists: name another file, or add --force", name)) }
	if _, err := os.Lstat(name); err == nil && !force {
		return r, exists()
	}
	part, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.part") // mode 0600
	if err != nil {
		return r, cli.UsageError(err)
	}
	defer func() { _ = os.Remove(part.Name()) }() // if it still has this name
	r, err = backUp(ctx, o, part, stderr)
	if err == nil {
		err = part.Sync()
	}
	if err = errors.Join(err, part.Close()); err != nil {
		return r, err
	}
	err = os.Link(part.Name(), name) // unlike rename, it replaces nothing
	switch {
	case errors.Is(err, fs.ErrExist) && !force:
		return r, exists()
	case err != nil: // or the file system has no links
		err = os.Rename(part.Name(), name)
	}
	return r, errors.Join(err, syncDir(filepath.Dir(name)))
}

// syncDir makes sure that a power cut does not undo what has changed in a directory.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// progress returns a function that shows how far a backup is, at a terminal, and one that removes that.
func progress(w io.Writer) (shown func(backup.Report), end func()) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func(backup.Report) {}, func() {}
	}
	const interval = 200 * time.Millisecond
	var last time.Time
	shown = func(r backup.Report) {
		if time.Since(last) > interval {
			last = time.Now()
			fmt.Fprintf(w, "\r%s\x1b[K", amount(r))
		}
	}
	return shown, func() { fmt.Fprint(w, "\r\x1b[K") }
}

func amount(r backup.Report) string {
	return fmt.Sprintf("%.2f MiB in %d files", float64(r.Bytes)/(1<<20), r.Files)
}

func describeBackup(out io.Writer, name string, r backup.Report) {
	what := "the store of " + r.CreatedAt.Local().Format(time.DateTime)
	if !r.HasStore {
		what = "without the store"
	}
	fmt.Fprintf(out, "Backed up to %s: %s, %s\n", name, amount(r), what)
	for _, text := range r.Notes {
		fmt.Fprintf(out, "note     %s\n", text)
	}
	if len(r.LeftOut) > 0 {
		fmt.Fprintf(out, "Left out, because it could not be read:\n  %s\n", strings.Join(r.LeftOut, "\n  "))
	}
}

func describeRestored(out io.Writer, dir string, r server.Restored) {
	fmt.Fprintf(out, "Restored into %s: %s, a backup of %s by version %s\n",
		dir, amount(r.Report), r.CreatedAt.Local().Format(time.DateTime), r.Version)
	if !r.HasStore {
		return
	}
	fmt.Fprintf(out, "The store was checked: %d inconsistencies were found and repaired\n", r.Examination.Found)
	fmt.Fprintf(out, "Audit logs: %d, of which %d are not as they were written\n", r.AuditLogs, len(r.AuditFaults))
	for _, f := range r.AuditFaults {
		fmt.Fprintf(out, "  %s: %s\n", f.Path, f.Message)
	}
	fmt.Fprintf(out, "Allowed and not run yet: %d; people are asked again\n", r.EndedApprovals)
	fmt.Fprintf(out, "Start it with: ringback serve. Never start the original again: both would continue the same jobs\n")
}
