package config_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"ringback/test/must"
)

var update = flag.Bool("update", false, "write the table of settings into docs/configuration.md")

const (
	configuration = "../../docs/configuration.md"
	beginSettings = "<!-- settings: begin -->\n"
	endSettings   = "<!-- settings: end -->\n"
)

// docs/configuration.md must match .env.example.
func TestTheReferenceOfSettingsIsUpToDate(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile(configuration))(t)
	before, rest, found := strings.Cut(string(text), beginSettings)
	shown, after, closed := strings.Cut(rest, endSettings)
	if !found || !closed {
		t.Fatalf("%s lacks its markers", configuration)
	}
	source := must.Get(os.ReadFile("../../.env.example"))(t)
	want := "\n" + settingTables(string(source))
	if *update {
		must.OK(t, os.WriteFile(configuration, []byte(before+beginSettings+want+endSettings+after), 0o600))
		return
	}
	must.Equal(t, want, shown, "docs/configuration.md is not up to date (make generate)")
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
