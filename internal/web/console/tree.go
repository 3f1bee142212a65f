package console

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"ringback/internal/job"
	"ringback/internal/text/literal"
)

// tree is a JSON value prepared for people: a text, a table of names and values, or a list.
type tree struct {
	// Label is the value's name; empty in a list.
	Label string
	// Text is the text of a value that is not an object or list; Long is true if it has several
	// lines or many characters. Raw is set if Text is JSON.
	Text      string
	Long, Raw bool
	// Image is the URL of a file of the job that can be shown.
	Image string
	// Below are the values that it contains; Holds is true for an object or list, even an empty
	// one.
	Below []*tree
	Holds bool
}

// newTree converts a JSON value, with its fields in order. files is the URL of the job's files. A
// value with too many values in it is shown as JSON.
func newTree(label string, text json.RawMessage, files string) *tree {
	if extentOf(text).values > mostValues {
		return &tree{Label: label, Text: pretty(text), Raw: true}
	}
	return readTree(label, text, files, 0)
}

func readTree(label string, text json.RawMessage, files string, depth int) *tree {
	t := &tree{Label: label}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return t
	}
	switch {
	case depth >= deepestTree:
		t.Text, t.Raw = pretty(text), true // deeper values
	case text[0] == '{':
		t.Holds = true
		for name, value := range job.Members(text) {
			t.Below = append(t.Below, readTree(job.FieldLabel("", name), value, files, depth+1))
		}
	case text[0] == '[':
		t.Holds = true
		var items []json.RawMessage
		_ = json.Unmarshal(text, &items) // it is valid JSON from the API
		for i, item := range items {
			t.Below = append(t.Below, readTree(strconv.Itoa(i+1), item, files, depth+1))
		}
	case text[0] == '"':
		_ = json.Unmarshal(text, &t.Text)
		t.Long = len(t.Text) > 120 || strings.Contains(t.Text, "\n")
		if isImage(t.Text) {
			t.Image = files + t.Text
		}
	default:
		t.Text = string(text)
	}
	return t
}

func isImage(name string) bool {
	if len(name) > 300 || strings.ContainsAny(name, ":\\?#\n\"") || strings.HasPrefix(name, "/") || strings.Contains(name, "..") {
		return false
	}
	return slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"}, path.Ext(strings.ToLower(name)))
}

// The limits for formatting JSON. Beyond them it is shown unformatted.
const (
	// mostIndented is the factor by which indentation may lengthen it: deeply nested values are
	// indented at every level.
	mostIndented = 8
	// mostValues is the maximum number of values shown as a tree.
	mostValues = 10_000
	// deepestTree is the maximum depth of that tree.
	deepestTree = 8
)

type extent struct {
	// values is the number of values, including names, or fewer. indented is the number of bytes that
	// line breaks and indentation add.
	values, indented int
}

// extentOf scans JSON once, without parsing it.
func extentOf(text []byte) extent {
	var e extent
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			e.values, e.indented = e.values+1, e.indented+1+2*depth
		case c == '}' || c == ']':
			depth--
			e.indented += 1 + 2*max(depth, 0)
		case c == ',' || c == ':':
			e.values, e.indented = e.values+1, e.indented+1+2*max(depth, 0)
		}
	}
	return e
}

// pretty formats JSON for people and preserves all digits. Invisible characters are written as JSON
// escapes, so that sending the text back does not change the value.
func pretty(text json.RawMessage) string {
	shown := text
	if extentOf(text).indented <= mostIndented*len(text) {
		var out bytes.Buffer
		if json.Indent(&out, text, "", "  ") != nil {
			return string(text)
		}
		shown = out.Bytes()
	} else if !json.Valid(text) {
		return string(text)
	}
	return literal.JSON(unescaped.Replace(string(shown)))
}

// unescaped reverses Go's escapes of characters with a meaning in HTML.
var unescaped = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

type resultView struct {
	// Meals are those of a result that suggests meals; nil for other results.
	Meals     []meal
	Reasoning string
	// Tree shows any other result.
	Tree *tree
	JSON string
}

type meal struct {
	Date     string `json:"date"`
	MealType string `json:"mealType"`
	Notes    string `json:"notes"`
	Recipe   struct {
		Name        string      `json:"name"`
		Description string      `json:"description"`
		Servings    json.Number `json:"servings"`
		PrepMinutes json.Number `json:"prepMinutes"`
		CookMinutes json.Number `json:"cookMinutes"`
		Ingredients []struct {
			Name     string      `json:"name"`
			Amount   json.Number `json:"amount"`
			Unit     string      `json:"unit"`
			Note     string      `json:"note"`
			Optional bool        `json:"optional"`
		} `json:"ingredients"`
		Steps []string `json:"steps"`
	} `json:"recipe"`
}

func newResult(j job.Job) *resultView {
	shown := &resultView{JSON: pretty(j.Result)}
	shown.Tree = newTree("", j.Result, here.Job(j.ID, "/files/"))
	if shown.Tree.Raw {
		return shown
	}
	var suggested struct {
		Suggestions []meal `json:"suggestions"`
		Reasoning   string `json:"reasoning"`
	}
	if job.UnmarshalExact(j.Result, &suggested) == nil && len(suggested.Suggestions) > 0 &&
		suggested.Suggestions[0].Recipe.Name != "" {
		shown.Reasoning, shown.Meals = suggested.Reasoning, suggested.Suggestions
	}
	return shown
}
