package intent

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/goccy/go-yaml"
	"golang.org/x/text/unicode/norm"
)

//go:embed languages/*.yaml
var languageFiles embed.FS

const signsFile = "signs.yaml"

// wording is a language's file: its words for yes and no. languages/README.md describes the lists.
type wording struct {
	Name       string   `yaml:"name"`
	Spaceless  bool     `yaml:"spaceless"`
	Yes        []string `yaml:"yes"`
	WithYes    []string `yaml:"with_yes"`
	No         []string `yaml:"no"`
	Reject     []string `yaml:"reject"`
	WithNo     []string `yaml:"with_no"`
	Cancel     []string `yaml:"cancel"`
	CancelJob  []string `yaml:"cancel_job"`
	WithCancel []string `yaml:"with_cancel"`
	Polite     []string `yaml:"polite"`
	Doubt      []string `yaml:"doubt"`
	Turn       []string `yaml:"turn"`
	Other      []string `yaml:"other"`
	NoValue    []string `yaml:"no_value"`
	Change     []string `yaml:"change"`
	ChangeIt   []string `yaml:"change_it"`
	Ask        asking   `yaml:"ask"`
}

// table is one of a language's tables of phrases.
type table int

const (
	verdicts   table = iota // a yes and a no
	rejections              // a no that can only mean the end of what it is about
	cancels                 // stopping altogether
	jobCancels              // stopping that can only mean the whole job
	changeIts               // passing on the change that was offered
	changing                // what introduces a change
	turns                   // what may reverse a no
	others                  // what makes a clause one about something else
	evasions                // giving no value
	tables
)

type language struct {
	wording
	tables [tables]phrases
}

var languages = sync.OnceValue(func() []*language {
	names, err := fs.Glob(languageFiles, "languages/*.yaml")
	if err != nil {
		panic("intent: " + err.Error())
	}
	var all []*language
	for _, name := range names {
		if !strings.HasSuffix(name, signsFile) {
			all = append(all, newLanguage(readWording(name)))
		}
	}
	return all
})

func readWording(name string) wording {
	text, err := languageFiles.ReadFile(name)
	if err != nil {
		panic("intent: " + err.Error())
	}
	var w wording
	if err := yaml.UnmarshalWithOptions(text, &w, yaml.Strict()); err != nil {
		panic("intent: " + name + ": " + err.Error())
	}
	return w
}

func newLanguage(w wording) *language {
	if w.Name == english {
		w.Reject = withObjects(w.Reject...)
	}
	l := &language{wording: w}
	for i := range l.tables {
		l.tables[i] = phrases{}
	}
	signs := readSigns().wording
	for _, row := range []struct {
		in      table
		meaning meaning
		lists   [][]string
	}{
		{verdicts, approves, [][]string{w.Yes, signs.Yes}},
		{verdicts, denies, [][]string{w.No, w.Reject, signs.No}},
		{verdicts, withYes, [][]string{w.WithYes}},
		{verdicts, withNo, [][]string{w.WithNo}},
		{verdicts, polite, [][]string{w.Polite}},
		{verdicts, doubt, [][]string{w.Doubt}},
		{rejections, denies, [][]string{w.Reject}},
		{rejections, polite, [][]string{w.Polite}},
		{jobCancels, withdraw, [][]string{w.CancelJob}},
		{jobCancels, polite, [][]string{w.Polite, w.WithCancel}},
		{cancels, withdraw, [][]string{w.Cancel}},
		{changeIts, changes, [][]string{w.ChangeIt}},
		{changeIts, polite, [][]string{w.Polite, w.Yes, w.WithCancel}}, // "yes, change it"
		{changing, changes, [][]string{w.Change}},
		{turns, doubt, [][]string{w.Turn}},
		{others, changes, [][]string{w.Other}},
		{evasions, doubt, [][]string{w.NoValue}},
		{evasions, polite, [][]string{w.Polite}},
	} {
		l.tables[row.in].add(row.meaning, slices.Concat(row.lists...)...)
	}
	for _, no := range w.No { // "no, change it", but "no change"
		l.tables[changeIts].add(polite, "^ "+strings.TrimSuffix(no, " $")+" $")
	}
	if w.Name == english {
		l.tables[verdicts].addEnglishVerdicts()
		l.tables[cancels].addEnglishCancellations("it", "that", "this", "it now", "it please")
		l.tables[jobCancels].addEnglishCancellations(englishJobs...)
	}
	for word, list := range l.tables[jobCancels] {
		l.tables[cancels][word] = append(l.tables[cancels][word], list...)
	}
	return l
}

// english is the only language with phrases that are derived from verbs. It is used to ask back if
// the person's language is not known.
const english = "English"

// signs are the signs that mean the same in every language.
type signs struct {
	wording
	// answers are signs that mean yes or no; decorations mean nothing.
	answers, decorations map[string]bool
}

var readSigns = sync.OnceValue(func() signs {
	s := signs{wording: readWording("languages/" + signsFile), answers: map[string]bool{}}
	for _, list := range [][]string{s.Yes, s.No} {
		for _, text := range list {
			for word := range strings.FieldsSeq(text) {
				s.answers[word] = true
			}
		}
	}
	s.decorations = set(s.Polite...)
	return s
})

// read interprets clauses by a table, and in English also by the phrases in more. It returns doubt if
// every word is known but they form no clear answer, and "" if the text is not entirely in the language.
func (l *language) read(clauses [][]token, by table, more ...phrases) meaning {
	var found []phrase
	for _, clause := range clauses {
		deciding := 0
		for at := 0; at < len(clause); {
			p, n := l.longest(clause, at, by, more...)
			if n == 0 {
				return ""
			}
			at += n
			found = append(found, p)
			if p.meaning == approves || p.meaning == denies {
				deciding++
			}
		}
		if l.Spaceless && deciding > 1 {
			found = append(found, phrase{meaning: doubt}) // "可以是": two words that form a third
		}
	}
	return senseOf(found)
}

// beside contains the meanings of phrases that only accompany an answer.
var beside = map[meaning]meaning{withYes: approves, withNo: denies}

func senseOf(found []phrase) meaning {
	var sense meaning
	said := map[string]bool{}
	for _, p := range found {
		switch p.meaning {
		case polite, withYes, withNo:
			continue
		case doubt:
			return doubt
		default:
		}
		text := strings.Join(p.plain, " ")
		if sense != "" && sense != p.meaning || p.meaning == approves && said[text] {
			return doubt // yes and no; or "yes, yes, yes", which means something else
		}
		sense, said[text] = p.meaning, true
	}
	if slices.ContainsFunc(found, func(p phrase) bool { return beside[p.meaning] != "" && beside[p.meaning] != sense }) {
		return doubt
	}
	return sense
}

// agreed returns the meaning of a text if the languages in which it can be read agree, and the
// language. It returns nothing if they disagree or there is none.
func agreed(said sentence, by table, more ...phrases) (sure meaning, in *language) {
	clauses := said.cut().clauses()
	for _, l := range languages() {
		sense := l.read(clauses, by, more...)
		switch {
		case sense == "":
		case sense == doubt, sure != "" && sure != sense:
			return "", nil
		case in == nil:
			sure, in = sense, l
		}
	}
	return sure, in
}

var ligatures = strings.NewReplacer("ß", "ss", "œ", "oe", "æ", "ae", "ø", "o")

// fold returns a word without accents, as many people type it. It leaves other scripts than Latin
// unchanged, because a mark there makes a different letter.
func fold(word string) string {
	if isASCII(word) || strings.ContainsFunc(
		word, func(r rune) bool { return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) },
	) {
		return word
	}
	bare := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(word))
	return ligatures.Replace(bare)
}
