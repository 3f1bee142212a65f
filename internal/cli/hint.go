package cli

import (
	"slices"
	"strings"

	"ringback/internal/lazy"
)

// endpoint matches an endpoint of the API in a text from the server.
var endpoint = lazy.Regexp(`\b(?:GET|POST|DELETE) (/[a-z][^\s"'),;]*[^\s"'),;.:])`)

// wordsOfHTTP replaces terms of HTTP requests by their equivalents on the command line.
var wordsOfHTTP = strings.NewReplacer(
	`with "options": {"simulate": "manual"}`, "with --simulate manual",
	"?userId=", "--user", "leave userId out", "leave --user out", "Pass nextCursor of the page before",
	"Pass --cursor as the page before told it",
	"Send Authorization: Bearer with an API key or a user's token",
	"Give an API key or a user's token as RINGBACK_TOKEN or with --token",
	"Is the client's address right?", "Is the address right? It comes from --server or RINGBACK_URL.",
	"; WebSockets may pass the token as ?token=", "",
)

// inCommands rewrites a server's hint for the command line, with commands instead of endpoints.
func inCommands(hint string) string {
	hint = endpoint().ReplaceAllStringFunc(hint, func(text string) string {
		if command := commandFor(endpoint().FindStringSubmatch(text)[1]); command != "" {
			return "ringback " + command
		}
		return text
	})
	return wordsOfHTTP.Replace(hint)
}

// commands are the commands for endpoints; * is an id. Most actions on a job or a question have the
// name of their command.
var commands = map[string]string{
	"to-llm": "say", "api/jobs": "list", "api/jobs/*": "status *", "api/jobs/*/events": "watch *", "api/jobs/*/steering": "status *",
	"api/kinds": "kinds", "api/kinds/*": "kinds *", "api/checkpoints": "inbox", "api/checkpoints/*": "inbox --all",
	"api/approvals": "approvals", "api/approvals/*": "revoke *", "api/sessions/*/messages": "messages *",
}

// actions are the actions on a job or a question with the name of their command.
var actions = []string{
	"approve", "reject", "cancel", "interrupt", "retry", "move", "steer", "diff", "logs", "audit", "transcript", "callback", "reply",
}

// commandFor returns the command for an endpoint, or "" if it has none.
func commandFor(path string) string {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	id := ""
	if len(parts) > 2 {
		id, parts[2] = parts[2], "*"
		if place, ok := strings.CutPrefix(id, ":"); ok { // a parameter such as :id
			id = "<" + place + ">"
		}
	}
	command := commands[strings.Join(parts, "/")]
	if len(parts) == 4 && slices.Contains(actions, parts[3]) {
		command = parts[3] + " *"
	}
	return strings.Replace(command, "*", id, 1)
}
