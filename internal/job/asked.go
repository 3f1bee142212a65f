package job

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ringback/internal/text/excerpt"
	"ringback/internal/text/lazy"
	"ringback/internal/text/literal"
)

// Asked describes what a person is asked to allow. It is split into segments by author, so that no
// author's words can pass for another's. The input itself is next to it, as "input" of an action or
// "tool_input".
type Asked struct {
	// Segments are the parts of the question, in order. Joined, they are the checkpoint's message.
	Segments []Segment `json:"segments"`
	// Fields are the fields of the input that the kind's schema names, in the schema's order.
	Fields []AskedField `json:"fields,omitempty"`
	Bytes  int          `json:"bytes"` // The length of the input as JSON.
	// Omitted is the number of bytes of the input that the message leaves out because it is too
	// long. A typed "yes" to such a message approves nothing: the question is asked again, with the
	// whole input.
	Omitted int `json:"omitted,omitempty"`
	// Counted is true if Omitted counts all that the message leaves out. It is missing from a question of
	// an earlier version, which did not count the fields that the question does not name.
	Counted bool `json:"counted,omitempty"`
}

// Segment is a part of a question.
type Segment struct {
	From SegmentSource `json:"from"` // The author of the text.
	// Text is plain text, never Markdown. A value is written as in JSON, with every character that
	// is invisible or looks like another as a \u escape.
	Text string `json:"text"`
}

// SegmentSource is the author of a part of a question.
type SegmentSource string

// The sources.
const (
	FromKind     SegmentSource = "kind"     // the kind's author
	FromRingback SegmentSource = "ringback" // Ringback
	FromValue    SegmentSource = "value"    // the source of the value: Claude, a repository, a third party
	FromAsker    SegmentSource = "asker"    // the asker, in its own words: Claude, or a system outside Ringback
)

// Covers describes which calls a standing approval would allow.
type Covers struct {
	// Segments describe the calls in plain words.
	Segments []Segment `json:"segments"`
	// Earlier is the number of different earlier calls of the job that the rule covers: calls that
	// a person was asked about, whatever the answer, and calls that a standing approval allowed.
	Earlier  int       `json:"earlier"`
	Examples []Example `json:"examples,omitempty"` // The latest of these, at most three.
}

// EarlierWords introduces the examples, or reports that there are none.
func (c Covers) EarlierWords() string {
	switch c.Earlier {
	case 0:
		return "There is no example: this job has made no other such call before."
	case 1:
		return "Of the calls that this job has made before, it would have allowed one:"
	}
	such := ", such as:"
	if len(c.Examples) == c.Earlier {
		such = ":"
	}
	return "Of the calls that this job has made before, it would have allowed " + strconv.Itoa(c.Earlier) + such
}

// OmittedWords describes how much of the input is left out. It is empty if nothing is.
func (e Example) OmittedWords() string {
	if e.Omitted == 0 {
		return ""
	}
	return "(and " + strconv.Itoa(e.Omitted) + " bytes more: see the audit log)"
}

// Example is an earlier tool call.
type Example struct {
	// Tool is the tool's name. Input is the beginning of the input as JSON, with every character
	// that is invisible or looks like another as a \u escape. Omitted is the number of bytes left
	// out.
	Tool    string `json:"tool"`
	Input   string `json:"input"`
	Omitted int    `json:"omitted,omitempty"`
	// CheckpointID identifies the question about the call, which contains the whole input. It is
	// empty if no person was asked.
	CheckpointID CheckpointID `json:"checkpointId,omitempty"`
}

// AskedField is a field of an input.
type AskedField struct {
	Name  string `json:"name"`            // The field's name.
	Title string `json:"title,omitempty"` // Its label, see FieldLabel.
}

// mostInSentence is the maximum number of bytes of one value that a question shows.
const mostInSentence = 500

// ValueSegments returns the segments that show a value in a question. A long value is cut; omitted
// is the number of bytes left out.
func ValueSegments(v any) (segments []Segment, omitted int) {
	all, isText := v.(string)
	if !isText {
		all = literal.Value(v)
	}
	shown := excerpt.First(all, mostInSentence)
	omitted = len(all) - len(shown)
	if isText {
		shown = literal.Quote(shown)
	}
	segments = []Segment{{FromValue, shown}}
	if omitted > 0 {
		segments = append(segments, Segment{FromRingback, " (and " + strconv.Itoa(omitted) + " bytes more: see the whole input)"})
	}
	return segments, omitted
}

// Sentence returns the text of all segments, joined.
func Sentence(segments []Segment) string {
	var text strings.Builder
	for _, s := range segments {
		text.WriteString(s.Text)
	}
	return text.String()
}

// Question is a checkpoint as every front end shows it.
type Question struct {
	// Segments are the parts of the question. A question that was not composed from parts has one,
	// in the asker's words.
	Segments []Segment
	// Title is the heading of the question: the kind's title of the action. It is empty if there is
	// none, and the type is then the heading.
	Title string
	Again string // The message of a question that was asked again; empty otherwise.
	// Runs is the action or tool that an approval runs, with the directory that it depends on; empty
	// if none.
	Runs string
	// Covers describes which calls a standing approval would allow; nil if none can be given.
	Covers *Covers
	Input  []InputField // The fields of the input, in the schema's order, then by name.
	Exact  string       // The input as readable JSON; empty if there is none.
}

// InputField is a field of an input as it is shown to people.
type InputField struct {
	// Name is the name in the input. Title is the label of a field that the schema names, or empty.
	Name, Title string
	// Lines contain the value, see literal.Lines.
	Lines []string
	Text  bool // True if the value is a string; otherwise Lines are JSON.
}

// OwnWords reports whether the question is in the asker's own words.
func (q Question) OwnWords() bool { return len(q.Segments) == 1 && q.Segments[0].From == FromAsker }

// Asker returns the author of a question in its own words, or "" if the question is not in the asker's own words.
func (c Checkpoint) Asker() string {
	switch {
	case c.Type == Review || !c.Question().OwnWords():
		return ""
	case c.RequestID == "":
		return "Another system"
	}
	return "Claude"
}

// Question returns what a checkpoint asks.
func (c Checkpoint) Question() Question {
	var props Props
	_ = UnmarshalExact(c.Props, &props) // the message is the question even if the props are invalid
	q := Question{Segments: []Segment{{FromAsker, c.Message}}}
	if props.Asked != nil {
		q.Segments = props.Asked.Segments
		if c.Message != Sentence(q.Segments) {
			q.Again = c.Message
		}
	}
	switch {
	case c.Type == ToolApproval:
		q.Runs, q.Covers = InDir(props.ToolName, props.ToolDir), props.Covers
		q.Input, q.Exact = inputOf(props.ToolInput, props.Asked)
	case c.Type == Confirmation && props.Asked != nil && props.Action != "":
		var named struct { // not a field of Props: callers outside may use the name for anything
			Title string `json:"title"`
		}
		_ = UnmarshalExact(c.Props, &named)
		q.Runs, q.Title = props.Action, strings.TrimRight(literal.Text(named.Title), "?")
		q.Input, q.Exact = inputOf(props.Input, props.Asked)
	}
	return q
}

// Head returns what heads the question: the title of its action, or "" if there is none, or if
// the question says the same.
func (q Question) Head() string {
	if strings.TrimRight(Sentence(q.Segments), "?") == q.Title {
		return ""
	}
	return q.Title
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

// Readable returns JSON on one line for people to read. Text that is not JSON is returned as is.
func Readable(text json.RawMessage) string {
	var value any
	if len(text) == 0 || UnmarshalExact(text, &value) != nil {
		return string(text)
	}
	return literal.Value(value)
}

// InDir returns the name of a tool for people to read, with the directory in which it is called.
func InDir(tool, dir string) string {
	if dir == "" {
		return Bare(tool)
	}
	return Bare(tool) + " in the directory " + literal.Quote(dir)
}

// Bare returns a name as is, or quoted if it contains anything but ASCII letters, digits, _ and -.
func Bare(name string) string {
	if bareName().MatchString(name) {
		return name
	}
	return literal.Quote(name)
}

// FileName returns a path as is, or quoted if one of its characters could be overlooked or mistaken
// for another, or if the path reads like a rename.
func FileName(path string) string {
	quoted := literal.Quote(path)
	if strings.Trim(path, " ") != path || strings.Contains(path, "  ") { // web pages and terminals collapse spaces
		return strings.ReplaceAll(quoted, " ", `\u0020`)
	}
	if quoted != `"`+path+`"` || strings.Contains(path, "→") || path == "" {
		return quoted
	}
	return path
}

var bareName = lazy.Regexp(`^[a-zA-Z0-9_-]+$`)
