package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/text/literal"
)

type diffFlags struct {
	full, noPager bool
	file          string
}

func (a *app) diffCommand() *cobra.Command {
	var f diffFlags
	c, t := a.targeted(&cobra.Command{Use: "diff [requestId]", Short: "Show what a job has changed"})
	t.run(c, func(cmd *cobra.Command, id job.ID) error {
		return a.diff(cmd.Context(), cmd, id, f)
	})
	c.Flags().BoolVar(&f.full, "full", false, "the whole diff, not only its summary")
	c.Flags().StringVar(&f.file, "file", "", "only this `file`")
	c.Flags().BoolVar(&f.noPager, "no-pager", false, "with --full: print it all at once")
	return c
}

// diff shows a change until ctx ends.
func (a *app) diff(ctx context.Context, cmd *cobra.Command, id job.ID, f diffFlags) (err error) {
	answer, err := a.api.Diff(ctx, id)
	if err != nil {
		return err
	}
	seen := seenInDiff(answer.Value)
	seen.Shown = job.ShownByLink
	a.rememberSeen(id, seen)
	if f.file != "" {
		if err := onlyFile(&answer, f.file); err != nil {
			return err
		}
	}
	if !f.full || len(answer.Value) == 0 {
		return show(a, cmd, answer, nil, func(p printer, list []job.DiffOutput) { p.diffSummary(id, list) })
	}
	if f.file == "" {
		seen.Shown = job.ShownWhole
		defer func() {
			if err == nil {
				a.rememberSeen(id, seen)
			}
		}()
	}
	out := cmd.OutOrStdout()
	p := a.printer(out)
	if a.json() || p.columns == 0 || f.noPager {
		return a.fullDiff(ctx, id, p, answer.Value, f.file)
	}
	text, err := p.written(func(p printer) error { return a.fullDiff(ctx, id, p, answer.Value, f.file) })
	if err != nil {
		return err
	}
	return a.page(ctx, cmd, text, out)
}

const pageLines = 10_000

// fullDiff prints every line of a diff, or of one file, page by page.
func (a *app) fullDiff(ctx context.Context, id job.ID, p printer, captured []job.DiffOutput, file string) error {
	var all []job.DiffOutput
	for _, d := range captured {
		if !a.json() {
			p.printf("%s\n", p.paint(bold, clean(d.Repository)+": "+clean(d.Summary)))
			p.leftOut(d)
		}
		files := map[string]*job.FileDiff{}
		for i := range d.Files {
			d.Files[i].Diff = ""
			files[d.Files[i].Path] = &d.Files[i]
		}
		for from := 1; from > 0; {
			page, err := a.api.DiffPage(ctx, id, client.DiffPage{Repository: d.Repository, File: file, From: from, Lines: pageLines})
			if err != nil {
				return err
			}
			if len(page.Value) != 1 || page.Value[0].Tree != d.Tree {
				return errMovedOn
			}
			from = page.Value[0].NextFrom
			for _, f := range page.Value[0].Files {
				if known := files[f.Path]; a.json() && known != nil {
					known.Diff += f.Diff
				} else {
					p.fileDiff(f)
				}
			}
		}
		d.Truncated, d.NextFrom, d.Hint = false, 0, ""
		all = append(all, d)
	}
	if !a.json() {
		return nil
	}
	return writeJSON(p, job.MustJSON(all))
}

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
	*answer = answerOf(kept)
	return nil
}

func (p printer) diffSummary(id job.ID, list []job.DiffOutput) {
	if len(list) == 0 {
		p.printf("No change was captured yet: it is shown once a turn has ended.\n")
		return
	}
	for _, d := range list {
		p.printf("Repository: %s\n  Summary: %s\n", p.paint(bold, clean(d.Repository)), clean(d.Summary))
		p.leftOut(d)
		for _, f := range job.SuspiciousFirst(d.Files) {
			p.file(f)
		}
		if d.Truncated {
			p.printf("  %s\n", p.paint(faint, "All "+strconv.Itoa(d.TotalLines)+" lines: ringback diff "+clean(id.Short())+" --full"))
		}
	}
}

func (p printer) file(f job.FileDiff) {
	name := job.FileName(f.Path)
	if f.OldPath != "" {
		name = job.FileName(f.OldPath) + " → " + name
	}
	size, painted := fmt.Sprintf(
		"+%d/-%d", f.Additions, f.Deletions,
	), p.paint(green, "+"+strconv.Itoa(f.Additions))+"/"+p.paint(red, "-"+strconv.Itoa(f.Deletions))
	if f.Binary {
		size, painted = "binary", "binary"
	}
	lead := clean(string(f.Status)) + " " + name + " ("
	mode, caution := ")", ""
	if f.Mode != "" {
		mode += " mode " + clean(f.Mode)
	}
	if f.Suspicious != "" {
		caution = " CAUTION: " + clean(f.Suspicious)
	}
	if p.columns > 0 && cellsOf(lead+size+mode+caution) > p.columns-3 {
		p.hang("  ", "    ", "", lead+size+mode)
		if caution != "" {
			p.hang("    ", "    ", red, strings.TrimSpace(caution))
		}
		return
	}
	p.printf("  %s%s%s%s\n", lead, painted, mode, p.paint(red, caution))
}

func (p printer) leftOut(d job.DiffOutput) {
	for _, l := range d.LeftOut {
		p.hang("  ", "    ", red, clean(job.FileName(l.Path)+" CAUTION: it would not be pushed: "+l.Reason))
	}
}

func (p printer) fileDiff(f job.FileDiff) {
	if f.Binary {
		p.hang("", "┆ ", "", clean("Binary file "+job.FileName(f.Path)+" ("+string(f.Status)+")"))
	}
	for line := range f.Lines() {
		sign := ""
		switch line.Kind {
		case job.DiffHeader: // git appends a tab to a name that contains spaces
			line.Text = strings.TrimSuffix(line.Text, "\t")
		case job.DiffSame, job.DiffAdded, job.DiffRemoved: // a space may be all of the line
			sign = string(line.Kind)
		}
		p.diffLine(diffColors[line.Kind], sign+literal.Line(line.Text))
	}
}

// diffLine prints a line of a diff. If it continues in another row of the terminal, that row begins
// with a bar, so that it cannot be mistaken for a separate line or for one of Ringback's.
func (p printer) diffLine(color, line string) {
	bar := ""
	for row := range p.cutRows(line, len("┆ "), cut) {
		p.printf("%s%s\n", p.paint(faint, bar), p.paint(color, row))
		bar = "┆ "
	}
}

var diffColors = map[byte]string{job.DiffHeader: bold, job.DiffHunk: cyan, job.DiffAdded: green, job.DiffRemoved: red}
