// Package contract holds the server to its contracts: what they allow and forbid is sent
// to a real one, and what it answers must be in them.
package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"ringback/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

type object = harness.Object

// at is where a contract stands while schemas are compiled.
const at = "contract:///"

// document is a contract. It is walked here: the schemas of OpenAPI 3.1 are JSON Schemas, so
// the library that validates payloads reads them, too, and what remains of such a document
// is a map of paths.
type document struct {
	name   string
	root   object
	strict []byte
	// operations are its endpoints by their names.
	operations map[string]operation
	// compiled are the schemas that validate, by their text.
	compiled map[string]*jsonschema.Schema
}

type operation struct {
	name, method, path string
	def                object
}

// readDocument reads a contract.
func readDocument(t *testing.T, name, text string) *document {
	t.Helper()
	d := &document{name: name, root: decoded(t, []byte(text)), operations: map[string]operation{}, compiled: map[string]*jsonschema.Schema{}}
	strict := decoded(t, []byte(text))
	schemas := strict["components"].(object)["schemas"].(object)
	for name, schema := range schemas {
		if !strings.Contains(name, ".") { // what is a kind's own is as it is
			tighten(schema)
		}
	}
	for _, name := range []string{"Code", "MessageType"} { // others may come, but not from here
		if open, ok := schemas[name].(object); ok {
			schemas[name] = open["anyOf"].([]any)[0]
		}
	}
	var err error
	if d.strict, err = json.Marshal(strict); err != nil {
		t.Fatal(err)
	}
	paths, _ := d.root["paths"].(object)
	for path, item := range paths {
		for method, def := range item.(object) {
			op := operation{def.(object)["operationId"].(string), strings.ToUpper(method), path, def.(object)}
			d.operations[op.name] = op
		}
	}
	return d
}

// tighten makes a schema refuse fields that it does not know: clients are to let them
// pass, but none may be there without its description.
func tighten(schema any) {
	switch schema := schema.(type) {
	case object:
		_, said := schema["additionalProperties"]
		if schema["type"] == "object" && schema["properties"] != nil && !said {
			schema["additionalProperties"] = false
		}
		for _, child := range schema {
			tighten(child)
		}
	case []any:
		for _, child := range schema {
			tighten(child)
		}
	}
}

// decoded is JSON with all digits of its numbers.
func decoded(t *testing.T, text []byte) object {
	t.Helper()
	v, ok := decodedAny(text).(object)
	if !ok {
		t.Fatalf("no JSON object: %.200s", text)
	}
	return v
}

func decodedAny(text []byte) any {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}

// compile makes a schema of the document one that validates.
func (d *document) compile(schema any) (*jsonschema.Schema, error) {
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	key := string(text)
	if known := d.compiled[key]; known != nil {
		return known, nil
	}
	text = bytes.ReplaceAll(text, []byte(`"$ref":"#/`), []byte(`"$ref":"`+at+d.name+`#/`))
	c := jsonschema.NewCompiler()
	c.Draft, c.AssertFormat = jsonschema.Draft2020, true
	if err := c.AddResource(at+d.name, bytes.NewReader(d.strict)); err != nil {
		return nil, err
	}
	if err := c.AddResource(at+"schema", bytes.NewReader(text)); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(at + "schema")
	d.compiled[key] = compiled
	return compiled, err
}

// fault says how a value breaks a schema of the document; empty where it does not.
func (d *document) fault(schema, value any) string {
	compiled, err := d.compile(schema)
	if err == nil {
		err = compiled.Validate(value)
	}
	if err != nil {
		return fmt.Sprintf("%#v", err)
	}
	return ""
}

// resolve follows the reference of a part of the document.
func (d *document) resolve(part any) object {
	here, _ := part.(object)
	ref, ok := here["$ref"].(string)
	if !ok {
		return here
	}
	var v any = d.root
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		v = v.(object)[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
	}
	return d.resolve(v)
}

// answerFault says what of an answer is not in the contract; empty where all is.
func (d *document) answerFault(op operation, status int, contentType string, body []byte) string {
	responses := op.def["responses"].(object)
	described, known := responses[strconv.Itoa(status)]
	if !known {
		return fmt.Sprintf("the status %d is none of %v", status, slices.Sorted(maps.Keys(responses)))
	}
	content, _ := d.resolve(described)["content"].(object)
	if op.method == "HEAD" || content == nil {
		if len(body) > 0 {
			return fmt.Sprintf("%d has a body: %s", status, body)
		}
		return ""
	}
	media, _, _ := mime.ParseMediaType(contentType)
	if content["*/*"] != nil {
		return ""
	}
	entry, known := content[media].(object)
	if !known {
		return fmt.Sprintf("%d has the content type %q", status, contentType)
	}
	value := decodedAny(body)
	if media != "application/json" {
		value = string(body)
		if of, ok := entry["schema"].(object)["contentSchema"].(object); ok {
			return d.linesFault(of["items"], body)
		}
	}
	if fault := d.fault(entry["schema"], value); fault != "" {
		return fmt.Sprintf("%d is answered %s\n%s", status, body, fault)
	}
	return ""
}

// linesFault says which line breaks a schema.
func (d *document) linesFault(schema any, body []byte) string {
	for line := range bytes.Lines(body) {
		if fault := d.fault(schema, decodedAny(line)); fault != "" {
			return fmt.Sprintf("the line %s: %s", line, fault)
		}
	}
	return ""
}
