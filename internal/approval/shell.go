package approval

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// wrappers are programs that run what their arguments say, or what lies in a file:
// what a command with one of them does cannot be told from its text. Versions behind
// the name are left out: python3.12 is python.
var wrappers = []string{
	"sh", "bash", "rbash", "zsh", "dash", "ash", "ksh", "csh", "tcsh", "fish", "busybox", "toybox", "eval", "exec", "source", ".", "env", "xargs", "sudo", "doas", "su",
	"runuser", "nohup", "nice", "ionice", "taskset", "time", "timeout", "command", "builtin", "find", "parallel", "python", "perl", "ruby", "node", "awk", "gawk",
	"mawk", "ssh", "docker", "podman", "make", "trap", "alias", "watch", "setsid", "stdbuf", "flock", "chroot", "unshare", "nsenter", "systemd-run", "strace", "script",
	"expect", "php", "lua", "tclsh", "deno", "bun", "npx", "uvx", "pwsh", "osascript",
}

// matchShell compares a command of the Bash tool with a pattern.
func matchShell(pattern, command string) extent {
	s := parseShell(command)
	notAllowed := func(c simpleCommand) bool { return !wildcard(pattern, c.text) }
	switch {
	case !s.opaque && !s.writes && len(s.commands) > 0 && !slices.ContainsFunc(s.commands, notAllowed):
		return whole
	case slices.ContainsFunc(s.commands, func(c simpleCommand) bool { return wildcard(pattern, c.text) || wildcard(pattern, c.withoutPath) }):
		return part
	case s.opaque:
		return unseen
	}
	return none
}

// shellScript is a shell command, cut into its simple commands.
type shellScript struct {
	commands []simpleCommand
	// opaque is whether something runs that the text does not show; writes, whether
	// it writes to a file by redirection.
	opaque, writes bool
}

// simpleCommand is a program with its arguments.
type simpleCommand struct {
	// text is its words without their quotes, joined by a space; $ stands for what
	// cannot be seen. withoutPath is the same with the program's name alone: what is
	// denied is denied wherever the program lies, but a path that is not named by a
	// rule may lead to any program.
	text, withoutPath string
}

// parseShell reads a command of the Bash tool. One that is no valid shell is
// opaque.
func parseShell(command string) shellScript {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return shellScript{opaque: true}
	}
	var s shellScript
	syntax.Walk(file, func(node syntax.Node) bool {
		s.read(node)
		return true
	})
	return s
}

func (s *shellScript) read(node syntax.Node) {
	switch n := node.(type) {
	case *syntax.CallExpr:
		s.add(n)
	case *syntax.Redirect:
		s.opaque = s.opaque || n.N != nil && strings.HasPrefix(n.N.Value, "{") // sets a variable
		s.writes = s.writes || !readsOnly(n)
	case *syntax.IfClause, *syntax.WhileClause, *syntax.CaseClause, *syntax.Block, *syntax.Subshell, *syntax.BinaryCmd, *syntax.TimeClause:
		// They run nothing but the commands in them.
	case syntax.Command, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ParamExp, *syntax.ArithmExp:
		// Further commands set variables, which may change what runs, or compute,
		// which runs what stands in an index, or name functions.
		s.opaque = true
	}
}

// readsOnly reports whether a redirection writes to no file.
func readsOnly(r *syntax.Redirect) bool {
	switch {
	case slices.Contains(reads, r.Op):
		return true
	case r.Op == syntax.DplOut:
		return r.Word.Lit() == "1" || r.Word.Lit() == "2"
	}
	return r.Word != nil && r.Word.Lit() == "/dev/null"
}

// reads are the redirections of what a program reads.
var reads = []syntax.RedirOperator{syntax.RdrIn, syntax.DplIn, syntax.WordHdoc, syntax.Hdoc, syntax.DashHdoc}

var version = regexp.MustCompile(`[-.0-9]+$`)

func (s *shellScript) add(call *syntax.CallExpr) {
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
	text := strings.Join(words, " ")
	name := words[0][strings.LastIndexByte(words[0], '/')+1:]
	runsOthers := slices.Contains(wrappers, name) || slices.Contains(wrappers, version.ReplaceAllString(name, ""))
	s.opaque = s.opaque || runsOthers || strings.ContainsAny(words[0], "*?[~ \t\n")
	words[0] = name
	s.commands = append(s.commands, simpleCommand{text, strings.Join(words, " ")})
}

// literalOf is what a word says once its quotes are gone; false where it depends
// on something else, for which $ stands.
func literalOf(word *syntax.Word) (text string, literal bool) {
	var out strings.Builder
	literal = true
	unknown := func() {
		literal = false
		out.WriteByte('$')
	}
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			literal = literal && !strings.Contains(p.Value, "{") // {a,b} becomes two words
			out.WriteString(unescaped(p.Value, ""))
		case *syntax.SglQuoted:
			if p.Dollar { // in $'…', \x72 is a letter
				unknown()
				continue
			}
			out.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					unknown()
					continue
				}
				out.WriteString(unescaped(lit.Value, "$`\"\\"))
			}
		default:
			unknown()
		}
	}
	return out.String(), literal
}

// unescaped takes the backslashes out of a text; where only some characters can be
// escaped, those before others stay.
func unescaped(text, only string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (only == "" || strings.IndexByte(only, text[i+1]) >= 0) {
			i++
		}
		out.WriteByte(text[i])
	}
	return out.String()
}
