package scan

import (
	"path"
	"strings"

	"ringback/internal/process"
)

// Sort is a sort of secrets, by who may know them.
type Sort string

// The sorts.
const (
	// OfServer is for the server alone: keys, signing secrets, the password of its Redis.
	OfServer Sort = "of the server"
	// OfGit is a login by which git, and what publishes a change, reach a remote.
	OfGit Sort = "of git"
	// OfModel is what the CLI needs to reach its model.
	OfModel Sort = "of the model"
	// OfNetwork is a password of the way out: the CLI and git need it.
	OfNetwork Sort = "of the network"
	// OfTurn is the key by which the callbacks of a turn are signed.
	OfTurn Sort = "secret"
	// Signature is what the callbacks of a turn carry: Claude is told it.
	Signature Sort = "signature"
	// Token is a user's token.
	Token Sort = "token"
)

// Where is a sort of places.
type Where string

// The places, and what their names are.
const (
	Log     Where = "log"         // what the server printed
	answer  Where = "answer"      // of the server's HTTP API: the path, see Answer
	Frame   Where = "frame"       // of a WebSocket
	Stored  Where = "store"       // the key in Redis, without its partition
	File    Where = "file"        // the path below DATA_DIR
	Argv    Where = "argv"        // whose: see owner
	Environ Where = "environment" // whose, and the variable: see owner
)

// Place is where a text was found.
type Place struct {
	Where Where
	Name  string
}

// Answer is what a server answers to a request.
func Answer(target string) Place {
	name, _, _ := strings.Cut(target, "?")
	return Place{answer, name}
}

func (p Place) String() string { return string(p.Where) + " " + p.Name }

// homes are the places that a secret may be in, as patterns of path.Match, in which *
// stands for no slash. There is no other list.
var homes = map[Sort][]Place{
	OfTurn: {{Stored, "secret:*"}},
	Signature: {
		{answer, "/api/jobs/*/callback"},              // for whoever plays Claude by hand
		{File, "nodes/*/jobs/*/settings.json"},        // the CLI's hook sends it
		{File, "nodes/*/jobs/*/mcp.json"},             // and its MCP client
		{File, "nodes/*/jobs/*/turn-*"},               // what the CLI prints, before it is masked
		{File, "nodes/*/jobs/*/work/*"},               // where Claude writes what it posts
		{File, "conversations/*/config/projects/*/*"}, // what Claude was told, as the CLI keeps it
		{File, "workspaces/*/tree/*"},                 // the same, beside a change
		{Argv, "turn"},                                // Claude writes its own command lines
	},
	OfModel:   {{Environ, "turn *"}, {File, "nodes/*/jobs/*/turn-*"}},
	OfGit:     {{Environ, "git *"}, {Environ, "step *"}}, // finalizers push; a test holds that verifiers have none
	OfNetwork: {{Environ, "turn *"}, {Environ, "git *"}, {Environ, "step *"}, {File, "nodes/*/jobs/*/turn-*"}},
}

// mayHold reports whether a place is a home of a sort of secrets.
func (p Place) mayHold(s Sort) bool {
	for _, home := range homes[s] {
		if ok, _ := path.Match(home.Name, p.Name); ok && home.Where == p.Where {
			return true
		}
	}
	return false
}

// sortOf says of which sort the value of a variable is; "" for none.
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

// secretive reports whether a variable is named like one that holds a secret.
func secretive(name string) bool {
	if strings.HasSuffix(name, "_FILE") { // where it is, not what
		return false
	}
	for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASSW", "SLACK_WEBHOOK_URL"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
