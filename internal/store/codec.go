package store

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// storedField describes a field of a record: its index in the Go type and its name in the store.
type storedField struct {
	index int
	name  string
	write bool // the field is written but not loaded
}

// fieldsOf returns the stored fields of a record's type by its tags, and those that are stored apart
// from it: see lifecycle.Record.
func fieldsOf[R any]() (fields, content []storedField) {
	t := reflect.TypeFor[R]()
	for i := range t.NumField() {
		tag, ok := t.Field(i).Tag.Lookup("store")
		if !ok || tag == "-" {
			continue
		}
		name, option, _ := strings.Cut(tag, ",")
		f := storedField{index: i, name: name, write: option == "write"}
		if option == "content" {
			content = append(content, f)
		} else {
			fields = append(fields, f)
		}
	}
	return fields, content
}

var (
	recordFields, contentFields = fieldsOf[lifecycle.Record]()
	checkpointFields, _         = fieldsOf[lifecycle.Checkpoint]()
	runFields, _                = fieldsOf[lifecycle.Run]()
	sessionFields, _            = fieldsOf[lifecycle.Session]()
)

// decodeValues fills a record from the fields of a hash.
func decodeValues(into any, fields []storedField, h map[string]string) error {
	v := reflect.ValueOf(into).Elem()
	for _, f := range fields {
		if f.write {
			continue
		}
		text := h[f.name]
		if text == "" {
			continue
		}
		if err := decodeField(v.Field(f.index), text); err != nil {
			return fmt.Errorf("reading %s: %w", f.name, err)
		}
	}
	return nil
}

// decodeRecord fills a job's record, of which only the ID is known.
func decodeRecord(r *lifecycle.Record, h map[string]string) error {
	r.SessionID = r.ID.OwnSession()
	return decodeValues(r, recordFields, h)
}

// withoutOwnSession returns a record as it is stored: the name of a session that the job has begun
// follows from its ID.
func withoutOwnSession(r lifecycle.Record) lifecycle.Record {
	if r.SessionID == r.ID.OwnSession() {
		r.SessionID = ""
	}
	return r
}

// changes returns the fields in which two records of a type differ: those to set, as alternating
// names and values, and those to remove.
func changes(before, after any, fields []storedField) (set []any, remove []any) {
	b, a := reflect.ValueOf(before), reflect.ValueOf(after)
	for _, f := range fields {
		was, is := encodeField(b.Field(f.index)), encodeField(a.Field(f.index))
		if was == is {
			continue
		}
		if is == "" {
			remove = append(remove, f.name)
		} else {
			set = append(set, f.name, is)
		}
	}
	return set, remove
}

// encodeField returns the stored form of a value; empty for a zero value, and for an empty list.
func encodeField(v reflect.Value) string {
	if v.IsZero() || (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0 {
		return ""
	}
	switch x := v.Interface().(type) {
	case time.Time:
		return strconv.FormatInt(x.UnixMilli(), 10)
	case time.Duration:
		return strconv.FormatInt(x.Milliseconds(), 10)
	case json.RawMessage:
		return string(x)
	case lifecycle.Round:
		return string(x.Checkpoint) + "|" + strconv.Itoa(x.Number)
	case lifecycle.OutputPosition:
		return strconv.Itoa(x.Turn) + ":" + strconv.FormatInt(x.Offset, 10)
	case []string:
		return strings.Join(x, " ")
	}
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Bool:
		return "1"
	case reflect.Int, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	default:
		text, err := json.Marshal(v.Interface())
		if err != nil {
			panic("store: " + err.Error()) // only our own types are stored
		}
		return string(text)
	}
}

func decodeField(v reflect.Value, text string) error {
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = millis(text)
		return nil
	case *time.Duration:
		*p = time.Duration(atoi(text)) * time.Millisecond
		return nil
	case *json.RawMessage:
		*p = json.RawMessage(text)
		return nil
	case *lifecycle.Round:
		*p = roundOf(text)
		return nil
	case *lifecycle.OutputPosition:
		turn, offset, _ := strings.Cut(text, ":")
		p.Turn, p.Offset = atoi(turn), int64(atoi(offset))
		return nil
	case *[]string:
		*p = strings.Fields(text)
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(text == "1")
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(atoi(text)))
	case reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		v.SetFloat(f)
		return err
	default:
		return json.Unmarshal([]byte(text), v.Addr().Interface())
	}
	return nil
}

// roundOf parses "<checkpoint>|<number>".
func roundOf(text string) lifecycle.Round {
	id, number, _ := strings.Cut(text, "|")
	return lifecycle.Round{Checkpoint: job.CheckpointID(id), Number: atoi(number)}
}

// decodeCall and encodeCall convert from and to "<owner>|<messages>|<tool>".
func decodeCall(text string) lifecycle.Call {
	owner, rest, _ := strings.Cut(text, "|")
	messages, tool, _ := strings.Cut(rest, "|")
	c := lifecycle.Call{Owner: lifecycle.CallOwner(owner), Tool: tool}
	for _, m := range strings.FieldsFunc(messages, func(r rune) bool { return r == ',' }) {
		c.Messages = append(c.Messages, int64(atoi(m)))
	}
	return c
}

func encodeCall(c lifecycle.Call) string {
	messages := make([]string, len(c.Messages))
	for i, m := range c.Messages {
		messages[i] = strconv.FormatInt(m, 10)
	}
	return string(c.Owner) + "|" + strings.Join(messages, ",") + "|" + c.Tool
}

// decodeBatch and encodeBatch convert from and to "<digest> <count> <total> <items>".
func decodeBatch(text string) (lifecycle.Batch, error) {
	parts := strings.SplitN(text, " ", 4)
	if len(parts) != 4 {
		return lifecycle.Batch{}, fmt.Errorf("reading a batch: %d parts", len(parts))
	}
	return lifecycle.Batch{Digest: parts[0], Count: atoi(parts[1]), Total: atoi(parts[2]), Items: json.RawMessage(parts[3])}, nil
}

func encodeBatch(b lifecycle.Batch) string {
	return fmt.Sprintf("%s %d %d %s", b.Digest, b.Count, b.Total, b.Items)
}

// viewOf returns a job as people see it: its record, the fields stored with it that no rule reads, and
// its content. The content may be newer than the record: a result counts once the record says so.
func viewOf(r lifecycle.Record, h, content map[string]string) (job.Job, error) {
	j := r.AsShown() // withCheckpoints fills in its checkpoint
	if input := content["input"]; input != "" {
		j.Input = json.RawMessage(input)
	}
	if result := content["result"]; result != "" && r.ResultDigest != "" {
		j.Result = json.RawMessage(result)
	}
	for field, into := range map[string]any{"options": &j.Options, "activity": &j.Activity} {
		if h[field] == "" {
			continue
		}
		if err := json.Unmarshal([]byte(h[field]), into); err != nil {
			return job.Job{}, fmt.Errorf("reading %s of %s: %w", field, r.ID, err)
		}
	}
	return j, nil
}

// atoi parses a number that the store wrote; an absent field is 0.
func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

func millis(s string) time.Time {
	if s == "" {
		return time.Time{}
	}
	n, _ := strconv.ParseInt(s, 10, 64)
	return time.UnixMilli(n).UTC()
}

func toMillis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
