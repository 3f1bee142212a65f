package config_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"ringback/test/generated"
	"ringback/test/must"
)

// docs/configuration.md must match .env.example.
func TestTheReferenceOfSettingsIsUpToDate(t *testing.T) {
	t.Parallel()
	source := must.Get(os.ReadFile("../../../.env.example"))(t)
	generated.Section(t, "configuration.md", "settings", "\n"+settingTables(string(source)))
}

var (
	sectionLine = regexp.MustCompile(`^# --- (.+?) -+$`)
	settingLine = regexp.MustCompile(`^([A-Z_]+)=(.*)$`)
)

// settingTables makes a table of each section of .env.example. A comment describes the
// variables directly below it.
func settingTables(source string) string {
	var out strings.Builder
	var comment, names, defaults []string
	row := func() { // variables with a shared comment share a row
		if len(names) > 0 {
			fmt.Fprintf(&out, "| %s | %s | %s |\n", strings.Join(names, ", "), strings.Join(defaults, ", "), inTable(strings.Join(comment, " ")))
		}
		comment, names, defaults = nil, nil, nil
	}
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if m := sectionLine.FindStringSubmatch(line); m != nil {
			row()
			fmt.Fprintf(&out, "## %s\n\n| variable | default | |\n| --- | --- | --- |\n", m[1])
		} else if words, isComment := strings.CutPrefix(line, "#"); isComment {
			if len(names) > 0 {
				row()
			}
			comment = append(comment, strings.TrimSpace(words))
		} else if m := settingLine.FindStringSubmatch(line); m != nil {
			names = append(names, "`"+m[1]+"`")
			if m[2] != "" {
				defaults = append(defaults, "`"+m[2]+"`")
			}
		} else {
			row()
		}
	}
	row()
	return strings.ReplaceAll(out.String(), "\n## ", "\n\n## ") + "\n"
}

var (
	documentName = regexp.MustCompile(`docs/([a-z/-]+\.md)`)
	variableName = regexp.MustCompile(`[A-Z]+(?:_[A-Z]+)+\b`)
)

// inTable converts a comment to Markdown: documents become links, other variables code.
func inTable(text string) string {
	text = strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text)
	text = documentName.ReplaceAllString(text, "[$1]($1)")
	return variableName.ReplaceAllString(text, "`$0`")
}
