package approval

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// In the text of a word, these stand for a blank and for an asterisk that are quoted:
// they neither end the word nor match anything else. A command that holds them itself
// is not read.
const (
	maskedBlank    = "\ue000"
	maskedAsterisk = "\ue001"
)

var mask = strings.NewReplacer(" ", maskedBlank, "\t", maskedBlank, "\n", maskedBlank, "*", maskedAsterisk)

// shellWord is a word of a shell command.
type shellWord struct {
	// text is what it says once its quotes are gone; $ stands for what cannot be seen.
	text string
	// literal is whether it says that whatever else is.
	literal bool
	// globs is whether it becomes the names of files, mayBeOption whether one of those
	// may be an option.
	globs, mayBeOption bool
}

// isTest reports whether a word is [, which is a program.
func isTest(word *syntax.Word) bool { return word.Lit() == "[" }

func readWord(word *syntax.Word) shellWord {
	w := shellWord{literal: true}
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			w.literal = w.literal && !strings.Contains(p.Value, "{") // {a,b} becomes two words
			if at := strings.IndexAny(p.Value, "*?["); at >= 0 && !isTest(word) {
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

// decoded is what stands in single quotes. In $'…', \x72 is a letter.
func decoded(p *syntax.SglQuoted) string {
	if !p.Dollar {
		return p.Value
	}
	// All calls without a config write to the same one, also those that run at once.
	text, _, err := expand.Format(new(expand.Config), p.Value, nil)
	if err != nil {
		return "$"
	}
	text, _, _ = strings.Cut(text, "\x00") // so does bash
	return text
}

// unescaped takes the backslashes out of a text; where only some characters can be
// escaped, those before others stay.
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
