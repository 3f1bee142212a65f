package kind

import (
	"slices"
	"strings"

	"ringback/internal/text/lazy"
)

var variable = lazy.Regexp(`\{\{\s*([^{}]*?)\s*\}\}`)

// The template variables of callbacks: see "The prompt" in docs/kinds.md.
const (
	VarRequestID = "REQUEST_ID"
	VarBaseURL   = "CALLBACK_BASE_URL"
	VarSignature = "HMAC_SIGNATURE"
)

// Render replaces every template variable with the result of value for its name. It
// does not process the result again, so input cannot smuggle variables in.
func Render(prompt string, value func(name string) string) string {
	return variable().ReplaceAllStringFunc(prompt, func(match string) string {
		return value(variable().FindStringSubmatch(match)[1])
	})
}

// checkTemplate finds variables that nothing could replace.
func checkTemplate(k *Kind, bodyLine int) (problems []Problem) {
	for i, line := range strings.Split(k.Prompt, "\n") {
		for _, p := range templateFaults(line, func(name string) (string, string) { return variableFault(k, name) }) {
			p.Line = bodyLine + i
			problems = append(problems, p)
		}
	}
	return problems
}

// templateFaults finds the variables of a text for which fault returns a message, and
// those that are not closed, which would remain in the text.
func templateFaults(text string, fault func(name string) (message, hint string)) (faults []Problem) {
	for _, match := range variable().FindAllStringSubmatch(text, -1) {
		if message, hint := fault(match[1]); message != "" {
			faults = append(faults, Problem{Message: "{{" + match[1] + "}}: " + message, Hint: hint})
		}
	}
	rest := variable().ReplaceAllString(text, "")
	if _, open, found := strings.Cut(rest, "{{"); found {
		message := "{{" + shorten(strings.TrimSpace(open)) + ": the variable is not closed"
		faults = append(faults, Problem{Message: message, Hint: "End it with }} on the same line."})
	}
	return faults
}

func variableFault(k *Kind, name string) (message, hint string) {
	switch name {
	case VarSignature:
		if k.OverMCP() {
			return "with callback: mcp, Claude is not told the signature", "Leave it out: the CLI sends it with each call."
		}
		return "", ""
	case VarRequestID, VarBaseURL:
		return "", ""
	case "HMAC_SECRET":
		return "the secret never leaves the server", "Use {{HMAC_SIGNATURE}}: it is already computed."
	}
	if path, ok := strings.CutPrefix(name, "input."); ok && !slices.Contains(strings.Split(path, "."), "") {
		return k.Input.FieldFault(path)
	}
	return "is not a known variable", "There are {{REQUEST_ID}}, {{CALLBACK_BASE_URL}}, {{HMAC_SIGNATURE}} and {{input.<field>}}."
}
