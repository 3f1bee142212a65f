package kind

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringback/internal/job"
)

// Preview shows what an action would do with its input: the output of a command, or a text.
// It is shown to the people that are asked, and generated again just before the action
// runs: see "A preview that binds" in docs/people.md.
type Preview struct {
	// Command is the program that generates it, with its arguments, as in Action. It runs
	// in the job's directory, which it can read but not write, and gets the input as JSON
	// on standard input. Its output is shown.
	Command []string `yaml:"command"`
	// Template is the text itself, instead of a command; {{input.<field>}} is filled in.
	Template string `yaml:"template"`
	// Format is the format of the output: text (default), diff, table (a JSON array of
	// flat objects, one for each row) or image (PNG, JPEG, GIF or WebP in base64).
	Format job.PreviewFormat `yaml:"format"`
	// Env are additional environment variables of the command.
	Env map[string]string `yaml:"env"`
	// Network is the command's network access in a sandbox: a list of hosts, full or none
	// (default).
	Network job.Network `yaml:"network"`
	// Readable are absolute paths of further files and directories that the command can
	// read in a sandbox.
	Readable []string `yaml:"readable"`
	// Timeout limits how long it may run; default 10 seconds.
	Timeout time.Duration `yaml:"timeout"`
}

// maxPreviewTimeout is the maximum timeout of a preview. Claude's call waits for it.
const maxPreviewTimeout = 30 * time.Second

// checkPreview checks the preview and sets defaults.
func (a *Action) checkPreview(faults *actionFaults) {
	p := a.Preview
	if p == nil {
		return
	}
	p.Format, p.Timeout = cmp.Or(p.Format, job.PreviewText), cmp.Or(p.Timeout, 10*time.Second)
	faults.part(p.sourceFault(), "preview")
	if !slices.Contains(job.PreviewFormats[:], p.Format) {
		faults.part(fmt.Sprintf("found %q; expected text, diff, table or image", p.Format), "preview", "format")
	}
	if p.Timeout < time.Second || p.Timeout > maxPreviewTimeout {
		faults.part(fmt.Sprintf("found %s; expected 1s to %s", p.Timeout, maxPreviewTimeout), "preview", "timeout")
	}
	faults.part(networkFault(p.Network), "preview", "network")
	faults.part(pathsFault(p.Readable), "preview", "readable")
	for name, value := range p.Env {
		if strings.Contains(value, "{{") {
			faults.part("nothing is filled in here: the command gets the input on standard input", "preview", "env", name)
		}
	}
	faults.variables(p.Template, a.schema, "preview", "template")
	for i, word := range p.Command[min(1, len(p.Command)):] {
		faults.variables(word, a.schema, "preview", "command", strconv.Itoa(i+1))
	}
}

func (p *Preview) sourceFault() string {
	switch {
	case len(p.Command) == 0 && p.Template == "":
		return "needs a command, a list such as [./plan.sh, production], or a template"
	case len(p.Command) > 0 && p.Template != "":
		return "has both a command and a template: keep one"
	case len(p.Command) > 0 && (p.Command[0] == "" || strings.Contains(p.Command[0], "{{")):
		return "command: its first word must be a program, without variables"
	case p.Template != "" && p.Format != job.PreviewText && p.Format != job.PreviewDiff:
		return "a template is text or diff: use a command for a table or an image"
	case len(p.Command) == 0 && len(p.Env)+len(p.Network)+len(p.Readable) > 0:
		return "env, network and readable are those of a command"
	}
	return ""
}
