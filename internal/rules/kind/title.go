package kind

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"ringback/internal/job"
	"ringback/internal/text/excerpt"
	"ringback/internal/text/literal"
)

const (
	mostTemplate = 200 // the maximum length of a kind's title before it is filled in, in characters
	// mostTitle is the maximum length of a job's title, and mostTitleValue that of one value in
	// it, in characters.
	mostTitle      = 120
	mostTitleValue = 60
)

// Title returns the title in lists of a job with this input; "" if the kind has no title. It is
// one line. Each value is a literal, in quotes unless the schema leaves it no room for sentences.
func (k *Kind) Title(input json.RawMessage) string {
	var values map[string]any
	if k.Policy.Title == "" || job.UnmarshalExact(input, &values) != nil {
		return ""
	}
	title := job.Sentence(fill(k.Policy.Title, values, func(variable string, v any) []job.Segment {
		return []job.Segment{{From: job.FromValue, Text: k.titleValue(strings.TrimPrefix(variable, "input."), v)}}
	}))
	return excerpt.Letters(strings.TrimSpace(title), mostTitle)
}

func (k *Kind) titleValue(field string, v any) string {
	text, isText := v.(string)
	if !isText {
		return excerpt.Letters(literal.Value(v), mostTitleValue)
	}
	shown := literal.Quote(excerpt.Letters(text, mostTitleValue))
	if shown == `"`+text+`"` && k.Input.Bounds(field, text) {
		return text
	}
	return shown
}

func titleFault(title string) string {
	if utf8.RuneCountInString(title) > mostTemplate || strings.ContainsAny(strings.TrimSpace(title), "\r\n") {
		return fmt.Sprintf("expected one line of at most %d characters", mostTemplate)
	}
	return ""
}

// checkTitle finds variables of the title that nothing could replace.
func checkTitle(k *Kind, file []byte) (problems []Problem) {
	line := 1
	for text := range strings.Lines(string(file)) {
		if strings.HasPrefix(text, "title:") {
			break
		}
		line++
	}
	for _, p := range inputFaults(k.Policy.Title, k.Input) {
		problems = append(problems, Problem{Line: line, Message: "title: " + p.Message, Hint: p.Hint})
	}
	return problems
}
