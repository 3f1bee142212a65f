// Package syntax splits single lines of source code into comments, strings, numbers, keywords
// and names, for the colours of a diff.
//
// It uses no grammars: a language is a row of a table (language.go). A diff shows only parts of a
// file, so each line is read separately; a line within a multi-line comment or string is read as
// code.
package syntax

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Class is the class of a part of a line.
type Class int

// The classes. Names are called or declared functions, declared types, keys, tags and attributes.
const (
	Plain Class = iota
	Comment
	String
	Number
	Keyword
	Name
)

// Split yields the parts of a line in order. Together they are the whole line. If the language is
// nil, it yields the whole line as Plain.
func (l *Language) Split(line string) iter.Seq2[Class, string] {
	return func(yield func(Class, string) bool) {
		if l == nil {
			yield(Plain, line)
			return
		}
		s := scanner{Language: l, line: line}
		plain := 0 // start of the plain text that has not been yielded yet
		for s.at < len(line) {
			start := s.at
			class := s.next()
			if class == Plain {
				continue
			}
			if plain < start && !yield(Plain, line[plain:start]) || !yield(class, line[start:s.at]) {
				return
			}
			plain = s.at
		}
		if plain < len(line) {
			yield(Plain, line[plain:])
		}
	}
}

// scanner scans one line.
type scanner struct {
	*Language
	line string
	at   int
	// declares is set after a keyword that declares the next word as a name.
	declares bool
	// inTag is set between "<name" and ">" of markup.
	inTag bool
}

// next scans one part and advances past it.
func (s *scanner) next() Class {
	rest := s.line[s.at:]
	if end := s.comment(rest); end > 0 {
		s.at += end
		return Comment
	}
	if s.markup {
		return s.nextOfMarkup(rest)
	}
	if end := s.quoted(rest); end > 0 {
		start := s.at
		s.at += end
		if s.isKey(start) {
			return Name
		}
		return String
	}
	first, size := utf8.DecodeRuneInString(rest)
	switch {
	case isDigit(first) && !s.afterWord():
		s.at += numberLength(rest)
		return Number
	case s.startsWord(first):
		return s.word(rest)
	case !unicode.IsSpace(first):
		s.declares = false
	}
	s.at += size
	return Plain
}

// comment returns the length of the comment at the start of rest; 0 if there is none. A comment
// that is not closed extends to the end of the line.
func (s *scanner) comment(rest string) int {
	for _, b := range s.blocks {
		if inside, ok := strings.CutPrefix(rest, b[0]); ok {
			if i := strings.Index(inside, b[1]); i >= 0 {
				return len(b[0]) + i + len(b[1])
			}
			return len(rest)
		}
	}
	for _, prefix := range s.comments {
		if strings.HasPrefix(rest, prefix) && (!s.spaced || s.at == 0 || isBlank(s.line[s.at-1])) {
			return len(rest)
		}
	}
	return 0
}

// longestCharacter is the maximum length of a character literal, in bytes: '\U0010ffff'. A quote
// without a closing quote within that length is something else, such as a lifetime in Rust.
const longestCharacter = 12

// quoted returns the length of the string at the start of rest; 0 if there is none.
func (s *scanner) quoted(rest string) int {
	if s.spaced && s.afterWord() { // an apostrophe
		return 0
	}
	if s.regexps && rest[0] == '/' {
		return s.regexp(rest)
	}
	for _, q := range s.quotes {
		inside, ok := strings.CutPrefix(rest, q.mark)
		if !ok {
			continue
		}
		end := -1
		for i := 0; i < len(inside); i++ {
			if inside[i] == '\\' && !q.raw {
				i++
			} else if strings.HasPrefix(inside[i:], q.mark) {
				end = i
				break
			}
		}
		length := len(q.mark) + end + len(q.mark)
		switch {
		case end < 0 && q.long:
			return len(rest)
		case end < 0 || q.character && (length > longestCharacter || inside[0] != '\\' && utf8.RuneCountInString(inside[:end]) != 1):
			return 0
		}
		return length
	}
	return 0
}

// regexp returns the length of the regular expression at the start of rest; 0 if the slash is a
// division.
func (s *scanner) regexp(rest string) int {
	before := strings.TrimRight(s.line[:s.at], " \t")
	if before != "" && !strings.HasSuffix(before, "return") && strings.IndexByte("(,=:[!&|?{};>", before[len(before)-1]) < 0 {
		return 0
	}
	inClass := false
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '[':
			inClass = true
		case ']':
			inClass = false
		case '/':
			if inClass {
				continue
			}
			for i++; i < len(rest) && isWord(rune(rest[i])); i++ { // flags
			}
			return i
		}
	}
	return 0
}

// word scans a word.
func (s *scanner) word(rest string) Class {
	end := len(rest)
	for i, r := range rest {
		if i > 0 && !isWord(r) && !strings.ContainsRune(s.inWords, r) {
			end = i
			break
		}
	}
	word, member, declared := rest[:end], strings.HasSuffix(s.line[:s.at], ".") &&
		!strings.HasSuffix(s.line[:s.at], ".."), s.declares
	start := s.at
	s.at += end
	s.declares = false
	key := word
	if s.fold {
		key = strings.ToLower(word)
	}
	switch {
	case s.isKey(start):
		return Name
	case s.keywords[key] && !member, s.directives != "" && strings.ContainsRune(s.directives, rune(word[0])) && len(word) > 1:
		s.declares = declaring[key]
		return Keyword
	case declared, s.calls && strings.HasPrefix(s.line[s.at:], "("):
		return Name
	}
	return Plain
}

// isKey reports whether the part from start is the key of "key: value" or similar.
func (s *scanner) isKey(start int) bool {
	behind := strings.TrimLeft(s.line[s.at:], " \t")
	switch {
	case s.assigns == "" || behind == "" || !strings.ContainsRune(s.assigns, rune(behind[0])):
		return false
	case len(behind) > 1 && behind[1] == behind[0]: // "==", "::"
		return false
	case s.blockKeys: // in YAML, a blank after the colon distinguishes keys from URLs and times
		return strings.Trim(s.line[:start], " \t-") == "" && (len(behind) == 1 || isBlank(behind[1]))
	}
	return true
}

// nextOfMarkup is next for HTML and XML.
func (s *scanner) nextOfMarkup(rest string) Class {
	first, size := utf8.DecodeRuneInString(rest)
	switch {
	case !s.inTag && first == '<':
		i := 1
		for i < len(rest) && strings.IndexByte("/!?", rest[i]) >= 0 {
			i++
		}
		end := i + tagLength(rest[i:])
		if end == i {
			break
		}
		s.inTag = true
		s.at += end
		return Name
	case s.inTag && first == '>':
		s.inTag = false
		s.at += size
		return Name
	case s.inTag:
		if end := s.quoted(rest); end > 0 {
			s.at += end
			return String
		}
		if end := tagLength(rest); end > 0 {
			s.at += end
			return Name
		}
	}
	s.at += size
	return Plain
}

// tagLength returns the length of the name of a tag or attribute.
func tagLength(text string) int {
	for i, r := range text {
		if !isWord(r) && !strings.ContainsRune("-:.@#*", r) {
			return i
		}
	}
	return len(text)
}

func (s *scanner) startsWord(r rune) bool {
	return isWord(r) && !isDigit(r) || strings.ContainsRune(s.inWords+s.directives, r) && r != '-'
}

// afterWord reports whether a word or number ends at the current position.
func (s *scanner) afterWord() bool {
	r, _ := utf8.DecodeLastRuneInString(s.line[:s.at])
	return isWord(r)
}

func numberLength(text string) int {
	for i := 1; i < len(text); i++ {
		c := text[i]
		exponent := (c == '+' || c == '-') && (text[i-1] == 'e' || text[i-1] == 'E') && !strings.HasPrefix(text, "0x")
		fraction := c == '.' && i+1 < len(text) && isDigit(rune(text[i+1]))
		if !isWord(rune(c)) && !exponent && !fraction {
			return i
		}
	}
	return len(text)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
func isDigit(r rune) bool { return r >= '0' && r <= '9' }
func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
