package kind

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/text/literal"
)

// Preview shows what an action would do with its input: the output of a command, or a text.
// It is shown to the people that are asked, and generated again just before the action
// runs: see "A preview that binds" in docs/permissions.md.
type Preview struct {
	// Program generates it: its output is shown. It can read the job's directory, but not
	// write it.
	Program  `yaml:",inline"`
	Template string `yaml:"template"` // The text itself, instead of a command; see Filled.
	// Format is the format of the output: text (default), diff, table (a JSON array of
	// flat objects, one for each row) or image (PNG, JPEG, GIF or WebP in base64).
	Format job.PreviewFormat `yaml:"format"`
	// Timeout limits how long it may run; default 10 seconds.
	Timeout time.Duration `yaml:"timeout"`
}

// maxPreviewTimeout is the maximum timeout of a preview. Claude's call waits for it.
const maxPreviewTimeout = 30 * time.Second

func (a *Action) checkPreview() {
	p := a.Preview
	if p == nil {
		return
	}
	p.Format, p.Timeout = cmp.Or(p.Format, job.PreviewText), cmp.Or(p.Timeout, 10*time.Second)
	a.faultIn(p.sourceFault(), "preview")
	if !slices.Contains(job.PreviewFormats[:], p.Format) {
		a.faultIn(fmt.Sprintf("found %q; expected text, diff, table or image", p.Format), "preview", "format")
	}
	if p.Timeout < time.Second || p.Timeout > maxPreviewTimeout {
		a.faultIn(fmt.Sprintf("found %s; expected 1s to %s", p.Timeout, maxPreviewTimeout), "preview", "timeout")
	}
	a.checkProgram(&p.Program, "preview")
	for name, value := range p.Env {
		if strings.Contains(value, "{{") {
			a.faultIn("nothing is filled in here: the command gets the input on standard input", "preview", "env", name)
		}
	}
	a.checkVariables(p.Template, "preview", "template")
}

// Filled returns the text of the template. Each {{input.<field>}} is the field as a JSON literal in quotes
// that it cannot close, so that Claude has no part in the kind's words. A diff that is nothing but fields has
// no such words: they stand there as they are.
func (p *Preview) Filled(input map[string]any) string {
	if p.Format == job.PreviewDiff && strings.TrimSpace(Render(p.Template, func(string) string { return "" })) == "" {
		return Fill(p.Template, input)
	}
	return job.Sentence(fill(p.Template, input, func(_ string, v any) []job.Segment {
		return []job.Segment{{From: job.FromValue, Text: literal.Value(v)}}
	}))
}

func (p *Preview) sourceFault() string {
	switch {
	case len(p.Command) == 0 && p.Template == "":
		return "needs a command, a list such as [./plan.sh, production], or a template"
	case len(p.Command) > 0 && p.Template != "":
		return "has both a command and a template: keep one"
	case p.Template != "" && p.Format != job.PreviewText && p.Format != job.PreviewDiff:
		return "a template is text or diff: use a command for a table or an image"
	case len(p.Command) == 0 && len(p.Env)+len(p.Network)+len(p.Readable) > 0:
		return "env, network and readable are those of a command"
	}
	return ""
}
