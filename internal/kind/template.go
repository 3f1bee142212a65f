package kind

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Variable finds template variables in a prompt.
var variable = regexp.MustCompile(`\{\{\s*([^{}]*?)\s*\}\}`)

// The template variables of callbacks (seed 002).
const (
	VarRequestID = "REQUEST_ID"
	VarBaseURL   = "CALLBACK_BASE_URL"
	VarSignature = "HMAC_SIGNATURE"
)

// Render replaces every template variable by what value returns for its name.
// What it returns is not looked at again, so input cannot smuggle variables in.
func Render(prompt string, value func(name string) string) string {
	return variable.ReplaceAllStringFunc(prompt, func(match string) string {
		return value(variable.FindStringSubmatch(match)[1])
	})
}

func checkTemplate(k *Kind, bodyLine int) []Problem {
	var problems []Problem
	for i, line := range strings.Split(k.Prompt, "\n") {
		for _, match := range variable.FindAllStringSubmatch(line, -1) {
			if message := variableFault(k, match[1]); message != "" {
				problems = append(problems, Problem{Line: bodyLine + i, Message: message})
			}
		}
	}
	return problems
}

func variableFault(k *Kind, name string) string {
	if slices.Contains([]string{VarRequestID, VarBaseURL, VarSignature}, name) {
		return ""
	}
	if name == "HMAC_SECRET" {
		return "{{HMAC_SECRET}}: the secret never leaves the server; use {{HMAC_SIGNATURE}}, which is already computed"
	}
	path, ok := strings.CutPrefix(name, "input.")
	if !ok {
		return "{{" + name + "}} is not known; there are {{REQUEST_ID}}, {{CALLBACK_BASE_URL}}, {{HMAC_SIGNATURE}} and {{input.<field>}}"
	}
	if k.Input == nil {
		return ""
	}
	node := k.Input.root
	for field := range strings.SplitSeq(path, ".") {
		properties, _ := node["properties"].(map[string]any)
		next, known := properties[field]
		if !known && node["additionalProperties"] == false {
			return "{{" + name + "}}: the input schema has no field " + field
		}
		node = k.Input.resolve(next)
	}
	return ""
}

// lineOfFault finds the line of the schema that does not compile, as far as the
// error names a key of it.
func lineOfFault(text []byte, err error) int {
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return 0
	}
	for len(invalid.Causes) > 0 {
		invalid = invalid.Causes[0]
	}
	at := 0
	for token := range strings.SplitSeq(strings.TrimPrefix(invalid.InstanceLocation, "/"), "/") {
		i := strings.Index(string(text[at:]), `"`+unescape(token)+`"`)
		if i >= 0 {
			at += i
		}
	}
	return lineAt(text, at)
}

func schemaMessage(err error) string {
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		for len(invalid.Causes) > 0 {
			invalid = invalid.Causes[0]
		}
		return "not a JSON Schema: " + invalid.InstanceLocation + ": " + invalid.Message
	}
	if schema, ok := errors.AsType[*jsonschema.SchemaError](err); ok {
		return "not a usable JSON Schema: " + strings.TrimPrefix(schema.Err.Error(), "jsonschema: ")
	}
	return "not valid JSON: " + err.Error()
}
