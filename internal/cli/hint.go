package cli

import (
	"strings"

	"ringback/internal/lazy"
)

// endpoint matches an endpoint of the API in a text from the server.
var endpoint = lazy.Regexp(`\b(?:GET|POST|DELETE) (/[a-z][^\s"'),;]*[^\s"'),;.:])`)

// wordsOfHTTP replaces terms of HTTP requests by their equivalents on the command line.
var wordsOfHTTP = strings.NewReplacer(
	`with "options": {"simulate": "manual"}`, "with --simulate manual",
	"?userId=", "--user", "leave userId out", "leave --user out", "Pass nextCursor of the page before", "Pass --cursor as the page before told it",
	"Send Authorization: Bearer with an API key or a user's token", "Give an API key or a user's token as RINGBACK_TOKEN or with --token",
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

// commandFor returns the command for an endpoint, or "" if it has none.
func commandFor(path string) string {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] == "to-llm" {
		return "say"
	}
	if parts[0] != "api" || len(parts) < 2 {
		return ""
	}
	commands := map[string][]string{ // for the collection, for one element
		"jobs": {"list", "status"}, "kinds": {"kinds", "kinds"}, "checkpoints": {"inbox", "inbox --all"},
		"approvals": {"approvals", "revoke"}, "sessions": {"", "messages"},
	}[parts[1]]
	switch {
	case commands == nil:
		return ""
	case len(parts) == 2:
		return commands[0]
	case parts[1] == "sessions", parts[1] == "kinds":
		return commands[1] + " " + named(parts[2])
	case len(parts) == 3:
		return strings.TrimSpace(commands[1] + " " + named(parts[2]))
	}
	command := verbs[parts[3]]
	if command == "" {
		return ""
	}
	return command + " " + named(parts[2])
}

// verbs are the commands for actions on one job or checkpoint.
var verbs = map[string]string{
	"approve": "approve", "reject": "reject", "cancel": "cancel", "interrupt": "interrupt", "retry": "retry", "move": "move", "steer": "steer", "diff": "diff", "logs": "logs",
	"audit": "audit", "transcript": "transcript", "callback": "callback", "events": "watch", "reply": "reply", "steering": "status",
}

// named returns the last part of a path for use in a command. A parameter such as :id becomes <id>.
func named(part string) string {
	if place, ok := strings.CutPrefix(part, ":"); ok {
		return "<" + place + ">"
	}
	return part
}
