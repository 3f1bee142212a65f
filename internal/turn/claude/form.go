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

var form = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("prompt").Funcs(template.FuncMap{
		"tool":  MCPTool,
		"json":  fencedJSON,
		"fence": func(text any) string { return escapeFence(fmt.Appendf(nil, "%s", text)) },
		"said":  func(messages []job.Message) (string, error) { return fencedJSON(utterances(messages)) },
	}).Parse(promptText))
})

// write executes the template of a prompt, or of a message to a running turn.
func write(name string, data any) (string, error) {
	var out strings.Builder
	err := form().ExecuteTemplate(&out, name, data)
	return strings.TrimSpace(out.String()) + "\n", err
}
