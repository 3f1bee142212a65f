package approval

import (
	"net/url"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// wrappers are programs that run what their arguments say: what a command with
// one of them does cannot be told from its text.
var wrappers = []string{
	"sh", "bash", "zsh", "dash", "ksh", "fish", "eval", "exec", "source", ".", "env", "xargs", "sudo", "doas", "su", "nohup", "nice", "time", "timeout",
	"command", "builtin", "find", "parallel", "python", "python3", "perl", "ruby", "node", "awk", "gawk", "ssh", "docker", "make", "trap", "alias", "watch",
	"setsid", "stdbuf", "flock", "chroot", "script", "expect", "php", "lua", "deno", "bun", "npx", "uvx",
}

// script is a shell command, cut into its simple commands.
type script struct {
	// commands are the simple commands, their words joined by a space.
	commands []string
	// opaque is whether something runs that the text does not show; writes, whether
	// it writes to a file by redirection.
	opaque, writes bool
}

// parseShell reads a command of the Bash tool. One that is no valid shell is
// opaque.
func parseShell(command string) script {
	var s script
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return script{opaque: true}
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CallExpr:
			s.add(n)
		case *syntax.Redirect:
			s.writes = s.writes || n.Op != syntax.RdrIn && n.Op != syntax.DplIn && n.Op != syntax.WordHdoc && n.Op != syntax.Hdoc && !toNull(n)
		case *syntax.FuncDecl, *syntax.CmdSubst, *syntax.ProcSubst:
			s.opaque = true
		}
		return true
	})
	return s
}

func toNull(r *syntax.Redirect) bool {
	return r.Word != nil && (r.Word.Lit() == "/dev/null" || r.Op == syntax.DplOut && (r.Word.Lit() == "1" || r.Word.Lit() == "2"))
}

func (s *script) add(call *syntax.CallExpr) {
	if len(call.Assigns) > 0 {
		s.opaque = true // PATH=… or GIT_SSH_COMMAND=… may change what runs
	}
	if len(call.Args) == 0 {
		return
	}
	words := make([]string, len(call.Args))
	for i, word := range call.Args {
		text, literal := literalOf(word)
		words[i] = text
		s.opaque = s.opaque || !literal
	}
	name := words[0]
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		name = name[at+1:]
	}
	s.opaque = s.opaque || slices.Contains(wrappers, name) || strings.ContainsAny(name, "*?[~")
	words[0] = name
	s.commands = append(s.commands, strings.Join(words, " "))
}

// literalOf is what a word says once its quotes are gone; false where it depends
// on something else.
func literalOf(word *syntax.Word) (text string, literal bool) {
	var out strings.Builder
	literal = true
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			literal = literal && !strings.Contains(p.Value, "{") // {a,b} becomes two words
			out.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			out.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					literal = false
					continue
				}
				out.WriteString(lit.Value)
			}
		default:
			literal = false
		}
	}
	return out.String(), literal
}

// shellMatches compares a command with a pattern: to be asked for or denied, one
// of its simple commands must match, or it cannot be seen what they are; to be
// allowed, each of them must match, in the open.
func shellMatches(pattern, command string, e extent) bool {
	s := parseShell(command)
	match := func(c string) bool { return wildcard(pattern, c) }
	if e == everyPart {
		return !s.opaque && !s.writes && len(s.commands) > 0 && !slices.ContainsFunc(s.commands, func(c string) bool { return !match(c) })
	}
	return s.opaque || slices.ContainsFunc(s.commands, match)
}

// opaque reports whether it cannot be seen what a call runs.
func opaque(c ToolCall) bool {
	command, _ := c.Input["command"].(string)
	return c.Name == "Bash" && parseShell(command).opaque
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
