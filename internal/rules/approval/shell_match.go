package approval

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func matchShell(pattern string, call ToolCall) extent {
	p, s := readShellPattern(pattern), call.script
	other := func(c simpleCommand) bool { return !p.allows(c, call) }
	switch {
	case !s.opaque && !s.writes && len(s.commands) > 0 && !slices.ContainsFunc(s.commands, other):
		return fullMatch
	case slices.ContainsFunc(s.commands, p.names):
		return partialMatch
	case s.opaque, slices.ContainsFunc(s.commands, p.mayName):
		return unclearMatch
	case !s.understood():
		return indirectMatch
	}
	return noMatch
}

// allows reports whether a rule with the pattern allows a command: the pattern matches it, and
// its words show all that it does, or the author of the rule answers for what its program does.
func (p shellPattern) allows(c simpleCommand, call ToolCall) bool {
	inPlace := !c.isRelative() || call.atRoot() && !call.script.moves
	return p.permits(c) && inPlace && (c.plain || p.answersFor(c, call))
}

// answersFor reports whether the author of a rule answers for what a command runs that the
// rule names: without wildcards, or behind the walls of a sandbox. Neither names what a program
// reads from its input. And if it is known how a program runs no other, a wildcard is for that.
func (p shellPattern) answersFor(c simpleCommand, call ToolCall) bool {
	switch {
	case c.fed || !p.permits(c):
		return false
	case p.isExact():
		return true
	}
	return call.Masked && p.mayRunOthers(c)
}

// mayRunOthers reports whether a pattern with wildcards names a program that may run others
// whatever its options are: one that is not known. git is known by its subcommands, so that a
// pattern must name another one.
func (p shellPattern) mayRunOthers(c simpleCommand) bool {
	if c.name() == "git" && (len(p.words) < 2 || strings.Contains(p.words[1], "*")) {
		return false
	}
	return !c.isKnown()
}

// shellPattern is the pattern of a rule for the Bash tool. In its text, * is any text.
type shellPattern struct {
	text  string
	words []string
}

func readShellPattern(pattern string) shellPattern {
	if base, ok := strings.CutSuffix(pattern, ":*"); ok {
		pattern = base + " *"
	}
	if strings.ContainsAny(pattern, `'"\`) {
		if words, ok := wordsOf(pattern); ok {
			pattern = strings.Join(words, " ")
		}
	}
	return shellPattern{pattern, strings.Fields(pattern)}
}

func wordsOf(pattern string) (words []string, ok bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(pattern), "")
	if err != nil || len(file.Stmts) != 1 {
		return nil, false
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns)+len(stmt.Redirs) > 0 || stmt.Background || stmt.Negated {
		return nil, false
	}
	for _, arg := range call.Args {
		words = append(words, readWord(arg).text)
	}
	return words, true
}

func (p shellPattern) isExact() bool { return !strings.Contains(p.text, "*") }

// permits reports whether the pattern matches a command's program as written, and its
// arguments. It does not check whether they show all that the program does.
func (p shellPattern) permits(c simpleCommand) bool {
	if len(p.words) == 0 || !wildcard(p.text, c.text()) {
		return false
	}
	program := p.words[0]
	return !strings.HasPrefix(program, "*") && strings.Count(program, "/") == strings.Count(c.words[0], "/") &&
		wildcard(program, c.words[0])
}

// names reports whether a command matches the pattern, regardless of the directory of its
// program: a denied program is denied at every path.
func (p shellPattern) names(c simpleCommand) bool {
	if wildcard(p.text, c.text()) || wildcard(p.text, c.byName().text()) {
		return true
	}
	if len(p.words) == 0 {
		return false
	}
	// The pattern itself may have a path, or upper-case letters.
	byName := simpleCommand{words: p.words}.byName()
	return byName.words[0] != "*" && wildcard(byName.text(), c.byName().text())
}

// mayName reports whether a command may match the pattern with its words in another order
// or with other options: git -C . push for git push, rm -r -f for rm -rf.
func (p shellPattern) mayName(c simpleCommand) bool {
	if len(p.words) == 0 || !wildcard(simpleCommand{words: p.words}.byName().words[0], c.byName().words[0]) {
		return false
	}
	rest := c.words[1:]
	for _, word := range p.words[1:] {
		switch {
		case word == "*":
		case strings.HasPrefix(word, "-"):
			if !slices.ContainsFunc(c.words[1:], mayBeOption) {
				return false
			}
		default:
			at := slices.IndexFunc(rest, func(w string) bool { return wildcard(word, w) || strings.ContainsAny(w, "*?[") })
			if at < 0 {
				return false
			}
			rest = rest[at+1:]
		}
	}
	return true
}

func mayBeOption(word string) bool {
	return strings.HasPrefix(word, "-") || strings.HasPrefix(word, "*")
}
