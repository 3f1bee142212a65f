package kind

import (
	"regexp"
	"slices"
	"strings"
)

// variable finds template variables in a prompt.
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

// checkTemplate finds variables that nothing could be put in place of.
func checkTemplate(k *Kind, bodyLine int) []Problem {
	var problems []Problem
	for i, line := range strings.Split(k.Prompt, "\n") {
		for _, f := range templateFaults(line, func(name string) (string, string) { return variableFault(k, name) }) {
			problems = append(problems, Problem{Line: bodyLine + i, Message: f.message, Hint: f.hint})
		}
	}
	return problems
}

type templateFault struct{ message, hint string }

// templateFaults finds the variables of a text that are wrong by fault, and those
// that are not closed: they would be left standing as they are.
func templateFaults(text string, fault func(name string) (message, hint string)) (faults []templateFault) {
	for _, match := range variable.FindAllStringSubmatch(text, -1) {
		if message, hint := fault(match[1]); message != "" {
			faults = append(faults, templateFault{"{{" + match[1] + "}}: " + message, hint})
		}
	}
	rest := variable.ReplaceAllString(text, "")
	if _, open, found := strings.Cut(rest, "{{"); found {
		faults = append(faults, templateFault{
			"{{" + shorten(strings.TrimSpace(open)) + ": the variable is not closed", "End it with }} on the same line.",
		})
	}
	return faults
}

func variableFault(k *Kind, name string) (message, hint string) {
	switch name {
	case VarRequestID, VarBaseURL, VarSignature:
		return "", ""
	case "HMAC_SECRET":
		return "the secret never leaves the server", "Use {{HMAC_SIGNATURE}}: it is already computed."
	}
	if path, ok := strings.CutPrefix(name, "input."); ok && !slices.Contains(strings.Split(path, "."), "") {
		return inputFault(k.Input, path)
	}
	return "is not a known variable", "There are {{REQUEST_ID}}, {{CALLBACK_BASE_URL}}, {{HMAC_SIGNATURE}} and {{input.<field>}}."
}

// inputFault follows a path into the input schema as far as that says what
// there can be. A field that it neither names nor rules out is most likely a
// misspelt one, unless the schema says nothing of fields at all.
func inputFault(input *Schema, path string) (message, hint string) {
	if input == nil {
		return "", "" // its own problem is told
	}
	at := input.resolve(input.root)
	for field := range strings.SplitSeq(path, ".") {
		if kind := at.get("type").text(); kind != "" && kind != "object" {
			return "the input schema has no field " + field + " there: " + kind + " holds no fields", ""
		}
		next := input.fieldAt(at, field)
		if next == nil {
			if input.anyField(at) {
				return "", ""
			}
			return "the input schema has no field " + field, "It has: " + strings.Join(at.get("properties").names(), ", ") + "."
		}
		at = input.resolve(next)
	}
	return "", ""
}

// fieldAt is the schema of a field, by a schema or one of those it is made of.
func (s *Schema) fieldAt(at *node, field string) *node {
	if found := at.get("properties").get(field); found != nil {
		return found
	}
	if all := at.get("allOf"); all != nil {
		for _, part := range all.items {
			if found := s.fieldAt(s.resolve(part), field); found != nil {
				return found
			}
		}
	}
	return nil
}

// anyField reports whether a schema is made for fields that it does not name.
func (s *Schema) anyField(at *node) bool {
	if at.get("additionalProperties").is(false) {
		return false
	}
	for _, keyword := range []string{"additionalProperties", "patternProperties", "anyOf", "oneOf", "allOf", "if", "dependentSchemas", "$ref"} {
		if at.get(keyword) != nil {
			return true
		}
	}
	return at.get("properties") == nil
}
