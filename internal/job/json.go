package job

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// UnmarshalExact decodes JSON like [json.Unmarshal], with two exceptions. They prevent a decision about
// something other than what was shown or checked:
//
//   - Numbers without a fixed type become json.Number, which keeps all digits: as 64-bit floats,
//     account numbers that differ only in their last digit could become equal.
//   - A field is filled only from the last member with exactly its name, as schemas read it.
//     json.Unmarshal also accepts the name in another case, which no schema has checked.
//
// Use it for everything that Ringback has not written itself.
func UnmarshalExact(text []byte, into any) error {
	if json.Valid(text) {
		text = onlyExact(text, reflect.TypeOf(into))
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something after the JSON value")
	}
	return nil
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// onlyExact returns valid JSON without those members of its objects that are not exactly named like a
// field of the type. The values of types with a method of their own are unchanged.
func onlyExact(text json.RawMessage, t reflect.Type) json.RawMessage {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return text
	}
	open := bytes.TrimLeft(text, " \t\r\n")[0]
	switch kind := t.Kind(); {
	case open == '{' && (kind == reflect.Struct || kind == reflect.Map && isComposite(t.Elem())):
		members, fields := map[string]json.RawMessage{}, FieldsOf(t)
		for name, value := range Members(text) {
			if field, known := fields[name]; known {
				members[name] = onlyExact(value, field.Type)
			} else if kind == reflect.Map {
				members[name] = onlyExact(value, t.Elem())
			}
		}
		return PlainJSON(members)
	case (kind == reflect.Slice || kind == reflect.Array) && open == '[' && isComposite(t.Elem()):
		var items []json.RawMessage
		_ = json.Unmarshal(text, &items) // it is a valid array
		for i := range items {
			items[i] = onlyExact(items[i], t.Elem())
		}
		return PlainJSON(items)
	}
	return text
}

// isComposite reports whether values of a type may contain a struct.
func isComposite(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array, reflect.Pointer:
		return true
	default:
		return false
	}
}

// PlainJSON returns the JSON of a value without escaping <, > and &; nil if JSON cannot represent it.
func PlainJSON(v any) json.RawMessage {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// fields are the results of FieldsOf, by type: every request asks for them.
var fields sync.Map

// FieldsOf returns the fields of a struct by their JSON names; none for any other type. The result must not be changed.
func FieldsOf(t reflect.Type) map[string]reflect.StructField {
	if known, ok := fields.Load(t); ok {
		return known.(map[string]reflect.StructField)
	}
	known, _ := fields.LoadOrStore(t, readFields(t))
	return known.(map[string]reflect.StructField)
}

func readFields(t reflect.Type) map[string]reflect.StructField {
	fields := map[string]reflect.StructField{}
	if t.Kind() != reflect.Struct {
		return fields
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "-" && (name != "" || !f.Anonymous) {
			fields[cmp.Or(name, f.Name)] = f
		}
	}
	return fields
}

// MustJSON returns the JSON of a value that was decoded from JSON, or is of one of Ringback's own types.
// It panics for any other value.
func MustJSON(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic("job: " + err.Error())
	}
	return text
}

// Members yields the members of a JSON object in their order; none for another value.
func Members(object json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		dec := json.NewDecoder(bytes.NewReader(object))
		if open, err := dec.Token(); err != nil || open != json.Delim('{') {
			return
		}
		for dec.More() {
			name, err := dec.Token()
			var value json.RawMessage
			if err != nil || dec.Decode(&value) != nil || !yield(fmt.Sprint(name), value) {
				return
			}
		}
	}
}

// Member returns a member of a JSON object; nil if it has none of that name.
func Member(object json.RawMessage, name string) json.RawMessage {
	for member, value := range Members(object) {
		if member == name {
			return value
		}
	}
	return nil
}

// Converted returns a copy of decoded JSON with convert's result in place of every value that is neither
// an object nor a list. pointer is the value's JSON pointer. Members are converted in the order of their names.
func Converted(v any, convert func(pointer string, v any) any) any {
	return converted("", v, convert)
}

func converted(pointer string, v any, convert func(pointer string, v any) any) any {
	switch v := v.(type) {
	case map[string]any:
		object := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			object[name] = converted(pointer+Pointer(name), v[name], convert)
		}
		return object
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = converted(pointer+"/"+strconv.Itoa(i), item, convert)
		}
		return list
	}
	return convert(pointer, v)
}

// Decimal returns the canonical form of a JSON number, with all of its digits: "-123e4". A number
// with an exponent out of range is returned unchanged.
func Decimal(number string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	e, err := strconv.Atoi(exponent)
	if err != nil && exponent != "" {
		return number
	}
	digits, negative := strings.CutPrefix(mantissa, "-")
	digits, fraction, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(digits+fraction, "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return "0"
	}
	e += len(digits) - len(significant) - len(fraction)
	sign := ""
	if negative {
		sign = "-"
	}
	return sign + significant + "e" + strconv.Itoa(e)
}

// Whole returns the value of a JSON number that is an integer, in any notation: 1, 1.0 and 10e-1
// are the same. It returns false for a fraction, and for a number that does not fit an int.
func Whole(number json.Number) (int, bool) {
	digits, exponent, _ := strings.Cut(Decimal(number.String()), "e")
	zeros := 0
	if exponent != "" {
		var err error
		if zeros, err = strconv.Atoi(exponent); err != nil || zeros < 0 || zeros > 18 {
			return 0, false
		}
	}
	n, err := strconv.Atoi(digits + strings.Repeat("0", zeros))
	return n, err == nil
}

// Digest returns the hex SHA-256 of content. It identifies a repeated request, result, batch or
// report, and what a person has allowed.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return string(text[:])
}

// ActivityDigest identifies a progress report within a job. A report that is sent again adds no
// second event.
func ActivityDigest(content []byte) string { return Digest(content)[:12] }

// ShortVersion returns the version of a kind as it is shown to people.
func ShortVersion(version string) string { return version[:min(len(version), 12)] }
