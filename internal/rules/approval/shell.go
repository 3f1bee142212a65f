package approval

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"ringback/internal/text/lazy"
)

// shellScript is a shell command, split into its simple commands.
type shellScript struct {
	commands []simpleCommand
	// opaque is true if the script contains anything that is not fully understood: other
	// programs may run than those it names. writes is true if it writes to a file by
	// redirection.
	opaque, writes bool
	files          []string             // Those that it reads or writes by redirection.
	moves          bool                 // True if it changes the working directory.
	fed            map[syntax.Node]bool // The statements and calls that read what a pipe, a file or a here-string feeds them.
	allowing       *toolRule            // The rule that allows its first command, if rules allow all of them.
}

// mayConfigure reports whether a script runs something other than git that may change which programs git
// runs, before git does: cp evil .git/config && git status.
func (s *shellScript) mayConfigure() bool {
	return slices.ContainsFunc(s.commands, func(c simpleCommand) bool {
		return c.name() == "cd" || c.name() != "git" && !namesOnly[c.name()]
	})
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
	s := shellScript{fed: map[syntax.Node]bool{}}
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
		*syntax.CaseClause, *syntax.CaseItem, *syntax.Block, *syntax.Subshell, *syntax.TimeClause:
		return true
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			s.feed(n.Y)
		}
		return true
	case *syntax.SglQuoted:
		return !n.Dollar
	case *syntax.DblQuoted:
		return !n.Dollar // otherwise it is translated
	case *syntax.Stmt:
		if slices.ContainsFunc(n.Redirs, feeds) {
			s.feed(n)
		}
		return !n.Coprocess && !n.Disown
	case *syntax.Redirect:
		return s.redirect(n)
	case *syntax.CallExpr:
		return s.add(n)
	}
	return false
}

// feed records that everything within a statement inherits what is fed to it.
func (s *shellScript) feed(stmt *syntax.Stmt) {
	if s.fed[stmt] {
		return // and all within it
	}
	syntax.Walk(stmt, func(node syntax.Node) bool {
		switch node.(type) {
		case *syntax.Stmt, *syntax.CallExpr:
			s.fed[node] = true
		}
		return true
	})
}

// feeds reports whether a redirection gives a command something to read.
func feeds(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrIn, syntax.RdrInOut:
		return r.Word == nil || r.Word.Lit() != devNull
	case syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return true
	default:
	}
	return false
}

// devNull is the file that has no content and keeps none.
const devNull = "/dev/null"

var descriptor = lazy.Regexp(`^([0-9]+-?|-)$`)

// redirect records the file that a redirection names. It reports whether the redirection is
// understood.
func (s *shellScript) redirect(r *syntax.Redirect) bool {
	if r.Word == nil || r.Hdoc != nil {
		return false // another shell may see another end
	}
	word := readWord(r.Word)
	setsVariable := r.N != nil && strings.HasPrefix(r.N.Value, "{")
	understood := word.literal && !word.globs && !setsVariable
	switch r.Op {
	case syntax.WordHdoc:
		return understood
	case syntax.DplIn, syntax.DplOut:
		if descriptor().MatchString(word.text) {
			s.writes = s.writes || !slices.Contains([]string{"0", "1", "2", "-"}, word.text)
			return understood
		}
		s.writes = true // >&file is &>file
	case syntax.RdrIn:
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.AppClob, syntax.RdrAll, syntax.RdrAllClob,
		syntax.AppAll, syntax.AppAllClob:
		s.writes = s.writes || word.text != devNull
	default:
		return false
	}
	s.files = append(s.files, word.text)
	return understood && !strings.HasPrefix(word.text, "/dev/tcp") && !strings.HasPrefix(word.text, "/dev/udp")
}

// add records a simple command, and reports whether its words show what it runs.
func (s *shellScript) add(call *syntax.CallExpr) bool {
	understood := len(call.Assigns) == 0 // PATH=… or GIT_SSH_COMMAND=… may change what runs
	if len(call.Args) == 0 {
		return understood
	}
	c := simpleCommand{fed: s.fed[call]}
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

// understood reports whether nothing runs but what the script shows, and what the author of a
// rule answers for.
func (s *shellScript) understood() bool {
	return !s.opaque && !slices.ContainsFunc(s.commands, func(c simpleCommand) bool { return !c.plain && !c.answered })
}

func (c ToolCall) isShell() bool { return slices.Contains(shells, c.Name) }

// withScript parses the command of a call, and finds which of its simple commands are plain,
// and which ones the author of the rules answers for.
func (c ToolCall) withScript(allow []toolRule) ToolCall {
	command, _ := c.Input["command"].(string)
	s := parseShell(command)
	s.opaque = s.opaque || c.Name == "PowerShell"
	s.moves = slices.ContainsFunc(s.commands, func(c simpleCommand) bool { return c.name() == "cd" })
	plainGit := sync.OnceValue(func() bool {
		return !s.writes && !s.mayConfigure() && c.PlainRepository != nil && c.PlainRepository()
	})
	for i, command := range s.commands {
		s.commands[i].plain = command.isPlain() && (command.name() != "git" || plainGit())
	}
	c.script = &s
	s.allow(c, allow)
	return c
}

// allow finds whether rules together allow the script, each of its commands by one of them. Then
// their author answers for the programs that they name.
func (s *shellScript) allow(call ToolCall, rules []toolRule) {
	if s.opaque || s.writes || call.Name != "Bash" {
		return
	}
	rules = slices.DeleteFunc(slices.Clone(rules), func(r toolRule) bool { return r.tool != "Bash" || r.pattern == "" })
	patterns := make([]shellPattern, len(rules))
	for i, r := range rules {
		patterns[i] = readShellPattern(r.pattern)
	}
	var first *toolRule
	for _, c := range s.commands {
		at := slices.IndexFunc(patterns, func(p shellPattern) bool { return p.allows(c, call) })
		if at < 0 {
			return
		}
		first = cmp.Or(first, &rules[at])
	}
	s.allowing = first
	for i, c := range s.commands {
		s.commands[i].answered = slices.ContainsFunc(patterns, func(p shellPattern) bool { return p.answersFor(c, call) })
	}
}
