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
		for _, match := range variable.FindAllStringSubmatch(line, -1) {
			if message, hint := variableFault(k, match[1]); message != "" {
				problems = append(problems, Problem{Line: bodyLine + i, Message: "{{" + match[1] + "}}: " + message, Hint: hint})
			}
		}
	}
	return problems
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
// there can be.
func inputFault(input *Schema, path string) (message, hint string) {
	if input == nil {
		return "", "" // its own problem is told
	}
	at := input.resolve(input.root)
	for field := range strings.SplitSeq(path, ".") {
		if kind := at.get("type").text(); kind != "" && kind != "object" {
			return "the input schema has no field " + field + " there: " + kind + " holds no fields", ""
		}
		next := at.get("properties").get(field)
		if next == nil {
			if !at.get("additionalProperties").is(false) {
				return "", "" // an open object may hold anything
			}
			return "the input schema has no field " + field, "It has: " + strings.Join(at.get("properties").names(), ", ") + "."
		}
		at = input.resolve(next)
	}
	return "", ""
}
