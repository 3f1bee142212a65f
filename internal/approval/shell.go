package approval

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// shellScript is a shell command, cut into its simple commands.
type shellScript struct {
	commands []simpleCommand
	// opaque is whether it holds anything that is not fully understood: then other
	// programs may run than those that it names. writes is whether it writes to a
	// file by redirection.
	opaque, writes bool
	// files are those that it reads or writes by redirection.
	files []string
}

// longestScript is how many bytes of a command are read. The parser calls itself for
// each parenthesis, and what nobody can read need not be judged.
const longestScript = 32 << 10

// parseShell reads a command of the Bash tool. One that is no valid shell is
// opaque.
func parseShell(command string) shellScript {
	if len(command) > longestScript || !readable(command) {
		return shellScript{opaque: true}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return shellScript{opaque: true}
	}
	var s shellScript
	syntax.Walk(file, func(node syntax.Node) bool {
		if node != nil && !s.understands(node) {
			s.opaque = true
		}
		return true
	})
	return s
}

// readable reports whether a text says to people what it says to a shell: one that
// is valid, without control characters, invisible ones or blanks that are none to a
// shell.
func readable(command string) bool {
	return utf8.ValidString(command) && !strings.ContainsFunc(command, func(c rune) bool {
		switch {
		case c == '\n', c == '\t', c == ' ':
			return false
		case unicode.IsSpace(c):
			return true
		}
		return unicode.In(c, unicode.C, unicode.Z)
	})
}

// understands reads a node, and reports whether it runs nothing but the simple
// commands in it, which are read on their own. What is not listed here is not
// understood, what later versions of the parser bring included: it may set variables,
// which change what runs; compute, which runs what stands in an index; name
// functions; or run what another command prints.
func (s *shellScript) understands(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.File, *syntax.Comment, *syntax.Lit, *syntax.Word, *syntax.IfClause, *syntax.WhileClause, *syntax.CaseClause, *syntax.CaseItem,
		*syntax.Block, *syntax.Subshell, *syntax.BinaryCmd, *syntax.TimeClause:
		return true
	case *syntax.SglQuoted:
		return !n.Dollar
	case *syntax.DblQuoted:
		return !n.Dollar // else it is looked up in a translation
	case *syntax.Stmt:
		return !n.Coprocess && !n.Disown
	case *syntax.Redirect:
		return s.redirect(n)
	case *syntax.CallExpr:
		return s.add(n)
	}
	return false
}

// redirect notes what a redirection reads or writes.
func (s *shellScript) redirect(r *syntax.Redirect) bool {
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") || r.Word == nil || r.Hdoc != nil {
		return false // it sets a variable, or ends where another shell may not see its end
	}
	word := readWord(r.Word)
	if !word.literal || word.globs || strings.HasPrefix(word.text, "/dev/tcp") || strings.HasPrefix(word.text, "/dev/udp") {
		return false
	}
	switch r.Op {
	case syntax.WordHdoc:
	case syntax.RdrIn:
		s.files = append(s.files, word.text)
	case syntax.DplIn, syntax.DplOut:
		s.writes = s.writes || !slices.Contains([]string{"0", "1", "2", "-"}, word.text)
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.AppClob, syntax.RdrAll, syntax.RdrAllClob, syntax.AppAll, syntax.AppAllClob:
		s.files = append(s.files, word.text)
		s.writes = s.writes || word.text != "/dev/null"
	case syntax.Hdoc, syntax.DashHdoc:
		return false
	default:
		return false
	}
	return true
}

// add notes a simple command, and reports whether its words say what they are.
func (s *shellScript) add(call *syntax.CallExpr) bool {
	understood := len(call.Assigns) == 0 // PATH=… or GIT_SSH_COMMAND=… may change what runs
	if len(call.Args) == 0 {
		return understood
	}
	var c simpleCommand
	for i, arg := range call.Args {
		word := readWord(arg)
		// A pattern that begins a word may find a file that is called like an option.
		understood = understood && word.literal && (!word.globs || i > 0 && !word.mayBeOption)
		c.words = append(c.words, word.text)
	}
	if c.words[0] == "" || strings.ContainsAny(c.words[0], "~"+maskedBlank) {
		understood = false
	}
	s.commands = append(s.commands, c)
	return understood
}

// length is how many words a script's commands have.
func (s *shellScript) length() int {
	words := len(s.files)
	for _, c := range s.commands {
		words += len(c.words)
	}
	return words
}

// calls reports whether a script names a program.
func (s *shellScript) calls(program string) bool {
	return slices.ContainsFunc(s.commands, func(c simpleCommand) bool { return c.name() == program })
}

// understood reports whether nothing runs but the programs that a script names, all of
// them plain.
func (c ToolCall) understood(s shellScript) bool {
	if s.opaque || slices.ContainsFunc(s.commands, func(command simpleCommand) bool { return !command.isPlain() }) {
		return false
	}
	return !s.calls("git") || !s.calls("cd") && c.PlainRepository != nil && c.PlainRepository()
}
