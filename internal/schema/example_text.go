package schema

import (
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// text generates a string: from the format, the pattern, or the word.
func (g generator) text(s map[string]any) string {
	format, _ := s["format"].(string)
	if text, ok := formatExamples[format]; ok {
		return text
	}
	least := int(min(limit(s, "minLength", 0), mostCharacters))
	most := int(min(limit(s, "maxLength", mostCharacters), mostCharacters))
	if pattern, ok := s["pattern"].(string); ok {
		if text, ok := matching(pattern, least); ok {
			return text
		}
	}
	text := g.word + strings.Repeat(" "+g.word, max(0, least-1)/(len(g.word)+1))
	for utf8.RuneCountInString(text) < least {
		text += "."
	}
	return text[:min(len(text), most)]
}

// matching generates a string that matches a pattern and has at least the given number of
// characters; false if it cannot.
func matching(pattern string, least int) (string, bool) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	check, err := regexp.Compile(pattern)
	if err != nil {
		return "", false
	}
	const tries = 200
	for more := range min(least, tries) + 1 {
		text := sample(tree, more)
		if utf8.RuneCountInString(text) >= least && check.MatchString(text) {
			return text, true
		}
	}
	return "", false
}

// sample returns a string that an expression matches. Repetitions repeat more times than
// necessary.
func sample(re *syntax.Regexp, more int) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		return string(pleasant(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpCapture, syntax.OpAlternate:
		return sample(re.Sub[0], more)
	case syntax.OpConcat:
		var b strings.Builder
		for _, part := range re.Sub {
			b.WriteString(sample(part, more))
		}
		return b.String()
	case syntax.OpStar, syntax.OpQuest, syntax.OpPlus, syntax.OpRepeat:
		return strings.Repeat(sample(re.Sub[0], 0), times(re, more))
	default:
	}
	return ""
}

func times(re *syntax.Regexp, more int) int {
	least, most := 0, math.MaxInt
	switch re.Op { //nolint:exhaustive // only repetitions come here
	case syntax.OpQuest:
		most = 1
	case syntax.OpPlus:
		least = 1
	case syntax.OpRepeat:
		least = re.Min
		if re.Max >= 0 {
			most = re.Max
		}
	}
	return min(least+more, most)
}

// pleasant picks a character of a class, which is given as pairs of bounds.
func pleasant(class []rune) rune {
	for _, favourite := range "a0A-_ " {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= favourite && favourite <= class[i+1] {
				return favourite
			}
		}
	}
	for i := 0; i+1 < len(class); i += 2 {
		if class[i+1] > ' ' {
			return max(class[i], '!')
		}
	}
	return 'a'
}
