package approval

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// shellScript is a shell command, split into its simple commands.
type shellScript struct {
	commands []simpleCommand
	// opaque is true if the script contains anything that is not fully understood: other
	// programs may run than those it names. writes is true if it writes to a file by
	// redirection.
	opaque, writes bool
	// files are those that it reads or writes by redirection.
	files []string
}

// longestScript is the maximum length of a command that is parsed, in bytes. The parser
// recurses for each parenthesis, and no one could review a longer command.
const longestScript = 32 << 10

// parseShell parses a command of the Bash tool. Invalid shell is opaque.
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

// readable reports whether a person and a shell read the same text: it is valid UTF-8,
// without control characters, invisible characters, or spaces that a shell does not treat
// as such.
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

// understands reads a node, and reports whether it runs nothing but the simple commands in
// it, which are read separately. Anything not listed here is not understood, including what
// later versions of the parser add: it may set variables, which change what runs; evaluate
// arithmetic, which runs commands in an array index; define functions; or run the output of
// another command.
func (s *shellScript) understands(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.File, *syntax.Comment, *syntax.Lit, *syntax.Word, *syntax.IfClause, *syntax.WhileClause,
		*syntax.CaseClause, *syntax.CaseItem,
		*syntax.Block, *syntax.Subshell, *syntax.BinaryCmd, *syntax.TimeClause:
		return true
	case *syntax.SglQuoted:
		return !n.Dollar
	case *syntax.DblQuoted:
		return !n.Dollar // otherwise it is translated
	case *syntax.Stmt:
		return !n.Coprocess && !n.Disown
	case *syntax.Redirect:
		return s.redirect(n)
	case *syntax.CallExpr:
		return s.add(n)
	}
	return false
}

// redirect records what a redirection reads or writes.
func (s *shellScript) redirect(r *syntax.Redirect) bool {
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") || r.Word == nil || r.Hdoc != nil {
		return false // it sets a variable, or another shell may see another end
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
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.AppClob, syntax.RdrAll, syntax.RdrAllClob,
		syntax.AppAll, syntax.AppAllClob:
		s.files = append(s.files, word.text)
		s.writes = s.writes || word.text != "/dev/null"
	case syntax.Hdoc, syntax.DashHdoc:
		return false
	default:
		return false
	}
	return true
}

// add records a simple command, and reports whether its words show what it runs.
func (s *shellScript) add(call *syntax.CallExpr) bool {
	understood := len(call.Assigns) == 0 // PATH=… or GIT_SSH_COMMAND=… may change what runs
	if len(call.Args) == 0 {
		return understood
	}
	var c simpleCommand
	for i, arg := range call.Args {
		word := readWord(arg)
		// A glob at the start of a word may match a file that is named like an option.
		understood = understood && word.literal && (!word.globs || i > 0 && !word.mayBeOption)
		c.words = append(c.words, word.text)
	}
	if c.words[0] == "" || strings.ContainsAny(c.words[0], "~"+maskedBlank) {
		understood = false
	}
	s.commands = append(s.commands, c)
	return understood
}

// length returns the number of words in a script's commands and redirections.
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

// understood reports whether only the programs that a script names run, all of them plain.
func (c ToolCall) understood(s shellScript) bool {
	if s.opaque || slices.ContainsFunc(s.commands, func(command simpleCommand) bool { return !command.isPlain() }) {
		return false
	}
	return !s.calls("git") || !s.calls("cd") && c.PlainRepository != nil && c.PlainRepository()
}
