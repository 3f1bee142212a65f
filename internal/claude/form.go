package claude

import (
	_ "embed"
	"errors"
	"strings"
	"sync"
	"text/template"
)

//go:embed prompt.tmpl
var promptText string

// form is the form of all prompts.
var form = sync.OnceValue(func() promptForm { return newPromptForm(promptText) })

// The templates of whole prompts, and of messages to a running turn.
const (
	firstPrompt = "first"
	laterPrompt = "again"
	wordsPrompt = "words"
	stopPrompt  = "stop"
)

// promptForm writes prompts with a template, and parses them with the same one.
type promptForm struct {
	templates *template.Template
	// patterns are those of whole prompts; only the simulated Claude uses them.
	patterns func() []*pattern
}

func newPromptForm(text string) promptForm {
	t := template.Must(template.New("prompt").Parse(text))
	return promptForm{t, sync.OnceValue(func() []*pattern {
		return []*pattern{newPattern(t, firstPrompt), newPattern(t, laterPrompt)}
	})}
}

func (f promptForm) write(name string, data any) (string, error) {
	var out strings.Builder
	err := f.templates.ExecuteTemplate(&out, name, data)
	return strings.TrimSpace(out.String()) + "\n", err
}

func (f promptForm) read(text string) (Parts, error) {
	for _, p := range f.patterns() {
		if v, ok := p.read(text); ok {
			return partsOf(v)
		}
	}
	return Parts{}, errors.New("this is no prompt of Ringback's")
}
