// Package contract tests the server against its contracts: it sends allowed and forbidden
// requests to a real server, and every answer must be in the contracts.
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

// at is the URL of a contract while its schemas are compiled.
const at = "contract:///"

// document is a contract. The schemas of OpenAPI 3.1 are JSON Schemas, so the library that
// validates payloads compiles them; the rest of the document is a map of paths, which this
// package reads itself.
type document struct {
	name   string
	root   object
	strict []byte
	// operations contains its endpoints by operation id.
	operations map[string]operation
	// compiled contains compiled schemas by their text.
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
		if !strings.Contains(name, ".") { // schemas of kinds stay as they are
			tighten(schema)
		}
	}
	for _, name := range []string{"Code", "MessageType"} { // clients must accept other values, but this server sends none
		if open, ok := schemas[name].(object); ok {
			schemas[name] = object{"type": "string", "enum": open["examples"]}
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

// tighten makes a schema refuse unknown fields: clients must ignore them, but the server must
// not send undocumented ones.
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

// decoded returns the value of JSON, with all digits of its numbers.
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

// compile compiles a schema of the document.
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

// fault describes how a value violates a schema of the document; empty if it does not.
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

// resolve returns the target of a part's reference, or the part itself.
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

// answerFault describes what of an answer is not in the contract; empty if all is.
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

// linesFault describes the first line that violates a schema; empty if none does.
func (d *document) linesFault(schema any, body []byte) string {
	for line := range bytes.Lines(body) {
		if fault := d.fault(schema, decodedAny(line)); fault != "" {
			return fmt.Sprintf("the line %s: %s", line, fault)
		}
	}
	return ""
}
