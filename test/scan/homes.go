package scan

import (
	"path"
	"strings"

	"ringback/internal/sandbox/process"
)

// Sort is a class of secrets, by the programs that may know them.
type Sort string

// The sorts.
const (
	// OfServer is only for the server: keys, signing secrets, the password of its Redis.
	OfServer Sort = "of the server"
	// OfGit is a credential with which git, and what publishes a change, access a remote.
	OfGit Sort = "of git"
	// OfModel is a credential that the CLI needs to access its model.
	OfModel Sort = "of the model"
	// OfNetwork is the password of a proxy: the CLI and git need it.
	OfNetwork Sort = "of the network"
	// OfTurn is the key that signs the callbacks of a turn.
	OfTurn Sort = "secret"
	// Signature is part of a turn's callbacks: Claude knows it.
	Signature Sort = "signature"
	// Token is a user's token.
	Token Sort = "token"
)

// Where is a class of places.
type Where string

// The classes, and what the names of their places are.
const (
	Log     Where = "log"         // what the server printed
	answer  Where = "answer"      // of the server's HTTP API: the path, see Answer
	Frame   Where = "frame"       // of a WebSocket
	Stored  Where = "store"       // the key in Redis, without its partition
	File    Where = "file"        // the path below DATA_DIR
	Argv    Where = "argv"        // the owner
	Environ Where = "environment" // the owner and the variable
)

// Place is where a text was found.
type Place struct {
	Where Where
	Name  string
}

// Answer returns the place of a server's response to a request.
func Answer(target string) Place {
	name, _, _ := strings.Cut(target, "?")
	return Place{answer, name}
}

func (p Place) String() string { return string(p.Where) + " " + p.Name }

// homes contains the places that may contain a secret, as patterns of path.Match, in which
// * does not match a slash. There is no other list.
var homes = map[Sort][]Place{
	OfTurn: {{Stored, "secret:*"}},
	Signature: {
		{answer, "/api/jobs/*/callback"},       // for a person who plays Claude
		{File, "nodes/*/jobs/*/settings.json"}, // without a sandbox, the CLI's hook sends it
		{File, "nodes/*/jobs/*/mcp.json"},      // and its MCP client
		{File, "nodes/*/jobs/*/turn-*"},        // the CLI's output, before it is masked
		{File, "nodes/*/jobs/*/work/*"},        // Claude writes the bodies of its callbacks
		{File, "conversations/*/*/*"},          // Claude's prompt, as the CLI stores it
		{File, "conversations/*/*/*/subagents/*"},
		{File, "workspaces/*/tree/*"}, // the same, next to a change
		{Argv, "turn"},                // Claude writes its own command lines
	},
	OfModel:   {{Environ, "turn *"}, {File, "nodes/*/jobs/*/turn-*"}},
	OfGit:     {{Environ, "git *"}, {Environ, "step *"}}, // finalizers push; a test checks that verifiers have none
	OfNetwork: {{Environ, "turn *"}, {Environ, "git *"}, {Environ, "step *"}, {File, "nodes/*/jobs/*/turn-*"}},
}

// mayHold reports whether a place may contain a class of secrets.
func (p Place) mayHold(s Sort) bool {
	for _, home := range homes[s] {
		if ok, _ := path.Match(home.Name, p.Name); ok && home.Where == p.Where {
			return true
		}
	}
	return false
}

// sortOf returns the class of a variable's value; "" for none.
func sortOf(variable string) Sort {
	named := func(v process.Variables) bool { return len(process.Pick([]string{variable + "="}, v)) > 0 }
	switch upper := strings.ToUpper(variable); {
	case !secretive(upper):
		return ""
	case named(process.Remotes):
		return OfGit
	case named(process.Model), named(process.Bedrock), named(process.Vertex):
		return OfModel
	}
	return OfServer
}

// secretive reports whether a variable's name suggests a secret.
func secretive(name string) bool {
	if strings.HasSuffix(name, "_FILE") { // a path, not the secret
		return false
	}
	for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASSW", "SLACK_WEBHOOK_URL"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
