package approval

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// matchShell compares a call of the Bash tool with a pattern.
func matchShell(pattern string, call ToolCall) extent {
	command, _ := call.Input["command"].(string)
	p, s := readShellPattern(pattern), parseShell(command)
	other := func(c simpleCommand) bool { return !p.permits(c) || c.isRelative() && !call.atRoot() }
	understood := call.understood(s)
	switch {
	case !s.opaque && !s.writes && len(s.commands) > 0 && !slices.ContainsFunc(s.commands, other) && (p.isExact() || understood):
		return whole
	case slices.ContainsFunc(s.commands, p.names):
		return part
	case s.opaque, slices.ContainsFunc(s.commands, p.mayName):
		return unseen
	case !understood:
		return hidden
	}
	return none
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

// wordsOf splits a pattern into its words, without quotes.
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

// isExact reports whether the pattern has no wildcards.
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
	byName := simpleCommand{p.words}.byName()
	return byName.words[0] != "*" && wildcard(byName.text(), c.byName().text())
}

// mayName reports whether a command may match the pattern with its words in another order
// or with other options: git -C . push for git push, rm -r -f for rm -rf.
func (p shellPattern) mayName(c simpleCommand) bool {
	if len(p.words) == 0 || !wildcard(simpleCommand{p.words}.byName().words[0], c.byName().words[0]) {
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
