package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ringback/internal/client"
	"ringback/internal/job"
)

// diffFlags are the flags of diff.
type diffFlags struct {
	full, noPager bool
	file          string
}

func (a *app) diffCommand() *cobra.Command {
	var f diffFlags
	c, t := a.targeted(&cobra.Command{Use: "diff [requestId]", Short: "Show what a job has changed"})
	c.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := t.id(cmd, args)
		if err != nil {
			return err
		}
		answer, err := a.client().Diff(cmd.Context(), id)
		if err != nil {
			return err
		}
		return a.diff(cmd, answer, f)
	}
	c.Flags().BoolVar(&f.full, "full", false, "the whole diff, not only its summary")
	c.Flags().StringVar(&f.file, "file", "", "only this `file`")
	c.Flags().BoolVar(&f.noPager, "no-pager", false, "with --full: print it all at once")
	return c
}

func (a *app) diff(cmd *cobra.Command, answer client.Answer[[]job.DiffOutput], f diffFlags) error {
	if f.file != "" {
		if err := onlyFile(&answer, f.file); err != nil {
			return err
		}
	}
	out := cmd.OutOrStdout()
	if a.json() || !f.full {
		return show(a, cmd, answer, printer.diffSummary)
	}
	p := a.printer(out)
	if p.columns == 0 || f.noPager {
		p.diffFull(answer.Value)
		return nil
	}
	var text bytes.Buffer
	paged := p
	paged.Writer = &text
	paged.diffFull(answer.Value)
	return a.page(cmd, &text, out)
}

// onlyFile keeps one file of a diff.
func onlyFile(answer *client.Answer[[]job.DiffOutput], path string) error {
	var kept []job.DiffOutput
	for _, d := range answer.Value {
		d.Files = slices.DeleteFunc(slices.Clone(d.Files), func(f job.FileDiff) bool {
			return f.Path != path && d.Repository+"/"+f.Path != path && f.OldPath != path
		})
		if len(d.Files) > 0 {
			kept = append(kept, d)
		}
	}
	if len(kept) == 0 {
		return usagef("The change has no file %s (ringback diff lists them)", Quoted(path))
	}
	answer.Value = kept
	var err error
	answer.JSON, err = json.Marshal(kept)
	return err
}

// page shows text in the user's pager, as git does.
func (a *app) page(cmd *cobra.Command, text *bytes.Buffer, out io.Writer) error {
	pager := cmp.Or(a.Pager, "less -FRX")
	less := exec.CommandContext(cmd.Context(), "sh", "-c", pager)
	less.Stdin, less.Stdout, less.Stderr = bytes.NewReader(text.Bytes()), out, cmd.ErrOrStderr()
	if err := less.Run(); err != nil {
		_, err = text.WriteTo(out) // there is no such pager
		return err
	}
	return nil
}

func (p printer) diffSummary(list []job.DiffOutput) {
	if len(list) == 0 {
		p.printf("Nothing was captured yet: a change is shown once a turn has ended.\n")
		return
	}
	for _, d := range list {
		p.printf("Repository: %s\n  Summary: %s\n", p.paint(bold, clean(d.Repository)), clean(d.Summary))
		for _, f := range d.Files {
			p.file(f)
		}
		if d.Truncated {
			p.printf("  %s\n", p.paint(faint, "The diff is long, so only its beginning is kept."))
		}
	}
}

func (p printer) file(f job.FileDiff) {
	name := f.Path
	if f.OldPath != "" {
		name = f.OldPath + " → " + f.Path
	}
	size := p.paint(green, "+"+itoa(f.Additions)) + "/" + p.paint(red, "-"+itoa(f.Deletions))
	if f.Binary {
		size = "binary"
	}
	p.printf("  %s %s (%s)", clean(string(f.Status)), clean(name), size)
	if f.Mode != "" {
		p.printf(" mode %s", clean(f.Mode))
	}
	if f.Suspicious != "" {
		p.printf(" %s", p.paint(red, "CAUTION: "+clean(f.Suspicious)))
	}
	p.printf("\n")
}

func (p printer) diffFull(list []job.DiffOutput) {
	for _, d := range list {
		p.printf("%s\n", p.paint(bold, clean(d.Repository)+": "+clean(d.Summary)))
		for _, f := range d.Files {
			if f.Binary {
				p.printf("Binary file %s (%s)\n", clean(f.Path), f.Status)
			}
			for line := range strings.Lines(f.Diff) {
				p.printf("%s\n", p.paint(diffColor(line), cleanCode(strings.TrimRight(line, "\r\n"))))
			}
		}
		if d.Truncated {
			p.printf("%s\n", p.paint(faint, "… the diff has "+itoa(d.TotalLines)+" lines, of which the first are shown"))
		}
	}
}

// diffColor is the colour git gives a line.
func diffColor(line string) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
		return bold
	case strings.HasPrefix(line, "+"):
		return green
	case strings.HasPrefix(line, "-"):
		return red
	case strings.HasPrefix(line, "@@"):
		return cyan
	}
	return ""
}
