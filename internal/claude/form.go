package claude

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"text/template"

	"ringback/internal/job"
)

//go:embed prompt.tmpl
var promptText string

// form is the template of all prompts.
var form = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("prompt").Funcs(template.FuncMap{
		"tool":  MCPTool,
		"fence": func(text any) string { return escapeFence(fmt.Appendf(nil, "%s", text)) },
		"said":  func(messages []job.Message) (string, error) { return fencedJSON(utterances(messages)) },
	}).Parse(promptText))
})

// The templates of whole prompts, and of messages to a running turn.
const (
	firstPrompt = "first"
	laterPrompt = "again"
	wordsPrompt = "words"
	stopPrompt  = "stop"
)

func write(name string, data any) (string, error) {
	var out strings.Builder
	err := form().ExecuteTemplate(&out, name, data)
	return strings.TrimSpace(out.String()) + "\n", err
}
