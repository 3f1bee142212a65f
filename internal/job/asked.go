package job

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ringback/internal/excerpt"
	"ringback/internal/lazy"
	"ringback/internal/literal"
)

// Asked is what a person is asked to allow, in parts: nobody's words can be taken for those of
// somebody else. The input itself is beside it, as "input" of an action or "tool_input".
type Asked struct {
	// Segments are the question, in order. Put together, they are the checkpoint's message.
	Segments []Segment `json:"segments"`
	// Fields are the fields of the input that the kind's schema names, in its order.
	Fields []AskedField `json:"fields,omitempty"`
	// Bytes is how long the input is, as JSON.
	Bytes int `json:"bytes"`
	// Omitted is how many bytes of the input the message leaves out for its length. A yes in
	// words to such a message allows nothing: the question is asked again, with the whole input.
	Omitted int `json:"omitted,omitempty"`
}

// Segment is a part of a question.
type Segment struct {
	// From is whose words these are.
	From SegmentSource `json:"from"`
	// Text is what the part says: plain text, never Markdown. A value is written as in JSON, with each
	// character that is not seen, or looks like another, as a \u escape.
	Text string `json:"text"`
}

// SegmentSource is whose words a part of a question is made of.
type SegmentSource string

// The sources.
const (
	FromKind     SegmentSource = "kind"     // the kind's author
	FromRingback SegmentSource = "ringback" // Ringback
	FromValue    SegmentSource = "value"    // whoever chose the value: Claude, a repository, a stranger
	FromAsker    SegmentSource = "asker"    // whoever asks in their own words: Claude, or something outside Ringback
)

// Covers is what a yes for more than once lets through.
type Covers struct {
	// Segments say it in plain words.
	Segments []Segment `json:"segments"`
	// Earlier is how many different calls that the job has made before the rule covers: those that
	// were asked for, whatever the answer, or let through by a yes for more than once.
	Earlier int `json:"earlier"`
	// Examples are the latest of these, at most three.
	Examples []Example `json:"examples,omitempty"`
}

// EarlierWords introduces the examples, or says that there is none.
func (c Covers) EarlierWords() string {
	switch c.Earlier {
	case 0:
		return "There is no example: this job has made no other such call before."
	case 1:
		return "Of the calls that this job has made before, it would have let through one:"
	}
	such := ", such as:"
	if len(c.Examples) == c.Earlier {
		such = ":"
	}
	return "Of the calls that this job has made before, it would have let through " + strconv.Itoa(c.Earlier) + such
}

// OmittedWords says how much of the input is left out; empty if nothing is.
func (e Example) OmittedWords() string {
	if e.Omitted == 0 {
		return ""
	}
	return "(and " + strconv.Itoa(e.Omitted) + " bytes more: see the audit log)"
}

// Example is an earlier call of a tool.
type Example struct {
	// Tool is the tool's name, and Input the beginning of the input as JSON, with each character that
	// is not seen, or looks like another, as a \u escape. Omitted is how many bytes of it are left out.
	Tool    string `json:"tool"`
	Input   string `json:"input"`
	Omitted int    `json:"omitted,omitempty"`
	// CheckpointID is the question about the call, with all of its input; empty if nobody was asked.
	CheckpointID CheckpointID `json:"checkpointId,omitempty"`
}

// AskedField is a field of an input.
type AskedField struct {
	// Name is the field's name, Title what the schema calls it.
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
}

// mostInSentence is how many bytes of one value a question shows.
const mostInSentence = 500

// ValueSegments are a value in a question. One that is long is cut; what was left out is counted.
func ValueSegments(v any) (segments []Segment, omitted int) {
	shown := literal.Value(v)
	if text, isText := v.(string); isText {
		first := excerpt.First(text, mostInSentence)
		omitted, shown = len(text)-len(first), literal.Quote(first)
	} else {
		whole := shown
		shown = excerpt.First(whole, mostInSentence)
		omitted = len(whole) - len(shown)
	}
	segments = []Segment{{FromValue, shown}}
	if omitted > 0 {
		segments = append(segments, Segment{FromRingback, " (and " + strconv.Itoa(omitted) + " bytes more: see the whole input)"})
	}
	return segments, omitted
}

// Sentence is the text of segments.
func Sentence(segments []Segment) string {
	var text strings.Builder
	for _, s := range segments {
		text.WriteString(s.Text)
	}
	return text.String()
}

// Question is a checkpoint as each of our front ends shows it.
type Question struct {
	// Segments are the question; one part, in the asker's words, if it was not put together of several.
	Segments []Segment
	// Title heads the question: what the kind calls the action; empty if nothing but the type does.
	Title string
	// Again is what was said when the question was asked again; empty if it was not.
	Again string
	// Runs is the action or tool that a yes runs; empty if it runs none.
	Runs string
	// Covers is what a yes for more than once lets through; nil if there can be none.
	Covers *Covers
	// Input is the input's fields, in the schema's order, then by name.
	Input []InputField
	// Exact is the input as JSON that people can read; empty if there is none.
	Exact string
}

// InputField is a field of an input as people read it.
type InputField struct {
	// Name is as in the input, Title the schema's name of it, or empty.
	Name, Title string
	// Lines are the value, see literal.Lines.
	Lines []string
	// Text is set if the value is a text, else Lines are JSON.
	Text bool
}

// OwnWords reports whether the question is in the words of whoever asks it.
func (q Question) OwnWords() bool { return len(q.Segments) == 1 && q.Segments[0].From == FromAsker }

// Question returns what a checkpoint asks.
func (c Checkpoint) Question() Question {
	var props Props
	_ = UnmarshalExact(c.Props, &props) // the message says what is asked, whatever the props are
	q := Question{Segments: []Segment{{FromAsker, c.Message}}}
	if props.Asked != nil {
		q.Segments = props.Asked.Segments
		if c.Message != Sentence(q.Segments) {
			q.Again = c.Message
		}
	}
	switch {
	case c.Type == ToolApproval:
		q.Runs, q.Covers = Bare(props.ToolName), props.Covers
		q.Input, q.Exact = inputOf(props.ToolInput, props.Asked)
	case c.Type == Confirmation && props.Asked != nil && props.Action != "":
		var named struct { // no field of Props: others may put anything there
			Title string `json:"title"`
		}
		_ = json.Unmarshal(c.Props, &named)
		q.Runs, q.Title = props.Action, strings.TrimRight(literal.Text(named.Title), "?")
		q.Input, q.Exact = inputOf(props.Input, props.Asked)
	}
	return q
}

func inputOf(input json.RawMessage, asked *Asked) (fields []InputField, exact string) {
	var value any
	if len(input) == 0 || UnmarshalExact(input, &value) != nil {
		return nil, ""
	}
	exact = literal.Indented(value)
	object, _ := value.(map[string]any)
	if asked != nil {
		for _, f := range asked.Fields {
			if v, given := object[f.Name]; given {
				fields = append(fields, inputField(f.Name, f.Title, v))
				delete(object, f.Name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		fields = append(fields, inputField(name, "", object[name]))
	}
	return fields, exact
}

func inputField(name, title string, v any) InputField {
	f := InputField{Name: Bare(name), Title: literal.Text(title)}
	if text, ok := v.(string); ok {
		f.Text, f.Lines = true, literal.Lines(text)
	} else {
		f.Lines = strings.Split(literal.Indented(v), "\n")
	}
	return f
}

// Readable returns JSON in one line as people read it; what is none is returned as it is.
func Readable(text json.RawMessage) string {
	var value any
	if len(text) == 0 || UnmarshalExact(text, &value) != nil {
		return string(text)
	}
	return literal.Value(value)
}

// Bare returns a name as it is, in quotes if it holds more than ASCII letters, digits, _ and -.
func Bare(name string) string {
	if bareName().MatchString(name) {
		return name
	}
	return literal.Quote(name)
}

// FileName returns a path as it is, in quotes if a character of it could be overlooked or taken for
// another, or if it reads like a rename.
func FileName(path string) string {
	quoted := literal.Quote(path)
	if strings.Trim(path, " ") != path || strings.Contains(path, "  ") { // pages and terminals show fewer spaces
		return strings.ReplaceAll(quoted, " ", `\u0020`)
	}
	if quoted != `"`+path+`"` || strings.Contains(path, "→") || path == "" {
		return quoted
	}
	return path
}

var bareName = lazy.Regexp(`^[a-zA-Z0-9_-]+$`)
