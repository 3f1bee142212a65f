package approval

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// In the text of a word, these replace a quoted space and a quoted asterisk: they neither
// end the word nor match anything else. A command that contains them itself is not parsed.
const (
	maskedBlank    = "\ue000"
	maskedAsterisk = "\ue001"
)

var mask = strings.NewReplacer(" ", maskedBlank, "\t", maskedBlank, "\n", maskedBlank, "*", maskedAsterisk)

type shellWord struct {
	text    string // The word without its quotes; $ replaces what cannot be determined.
	literal bool   // True if the word always has that text.
	// globs is true if the word expands to file names, and mayBeOption if one of those may
	// be an option.
	globs, mayBeOption bool
}

func readWord(word *syntax.Word) shellWord {
	w := shellWord{literal: true}
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			w.literal = w.literal && !strings.Contains(p.Value, "{")                  // {a,b} becomes two words
			if at := strings.IndexAny(p.Value, "*?["); at >= 0 && word.Lit() != "[" { // [ is a program
				before := w.text + p.Value[:at]
				w.globs = true
				w.mayBeOption = w.mayBeOption || before == "" || strings.HasPrefix(before, "-")
			}
			w.text += unescaped(p.Value, "")
		case *syntax.SglQuoted:
			w.literal = w.literal && !p.Dollar
			w.text += mask.Replace(decoded(p))
		case *syntax.DblQuoted:
			w.literal = w.literal && !p.Dollar
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					w.literal = false
					w.text += "$"
					continue
				}
				w.text += mask.Replace(unescaped(lit.Value, "$`\"\\"))
			}
		default:
			w.literal = false
			w.text += "$"
		}
	}
	return w
}

// decoded returns the text in single quotes. In $'…', \x72 is a letter.
func decoded(p *syntax.SglQuoted) string {
	if !p.Dollar {
		return p.Value
	}
	// Calls without a config all write to the same one, even concurrent ones.
	text, _, err := expand.Format(new(expand.Config), p.Value, nil)
	if err != nil {
		return "$"
	}
	text, _, _ = strings.Cut(text, "\x00") // as bash does
	return text
}

// unescaped removes backslashes from a text. If only is set, a backslash before any other
// character stays.
func unescaped(text, only string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (only == "" || strings.IndexByte(only, text[i+1]) >= 0) {
			i++
			out.WriteString(mask.Replace(text[i : i+1]))
			continue
		}
		out.WriteByte(text[i])
	}
	return out.String()
}
