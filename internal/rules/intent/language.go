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

type language struct {
	wording
	// verdicts are the phrases of a yes and a no. cancels are the phrases for stopping altogether,
	// and changes those for requesting a change.
	verdicts, cancels, changes phrases
	// rejections are the phrases of a no that can only mean the end of what it is about.
	rejections phrases
	// jobCancels are the cancels that can only mean the whole job.
	jobCancels phrases
	// changing are the phrases that introduce what should change.
	changing phrases
	// turns are the phrases that may reverse a no, and others those that make a clause one about
	// something else.
	turns, others phrases
	// evasions are the phrases that give no value.
	evasions phrases
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
	l := &language{
		wording: w, verdicts: phrases{}, rejections: phrases{}, cancels: phrases{}, changes: phrases{}, changing: phrases{},
		jobCancels: phrases{},
		turns:      phrases{}, others: phrases{}, evasions: phrases{},
	}
	signs := readSigns().wording
	for m, lists := range map[meaning][][]string{
		approves: {w.Yes, signs.Yes}, denies: {w.No, w.Reject, signs.No}, withYes: {w.WithYes}, withNo: {w.WithNo}, polite: {w.Polite},
		doubt: {w.Doubt},
	} {
		for _, list := range lists {
			l.verdicts.add(m, list...)
		}
	}
	l.rejections.add(denies, w.Reject...)
	l.rejections.add(polite, w.Polite...)
	l.jobCancels.add(withdraw, w.CancelJob...)
	l.jobCancels.add(polite, w.Polite...)
	l.jobCancels.add(polite, w.WithCancel...)
	l.turns.add(doubt, w.Turn...)
	l.others.add(changes, w.Other...)
	l.evasions.add(doubt, w.NoValue...)
	l.evasions.add(polite, w.Polite...)
	l.changes.add(changes, w.ChangeIt...)
	for _, beside := range [][]string{w.Polite, w.Yes, w.WithCancel} { // "yes, change it"
		l.changes.add(polite, beside...)
	}
	for _, no := range w.No { // "no, change it", but "no change"
		l.changes.add(polite, "^ "+strings.TrimSuffix(no, " $")+" $")
	}
	l.changing.add(changes, w.Change...)
	if w.Name == english {
		l.verdicts.addEnglishVerdicts()
		l.cancels.addEnglishCancellations("it", "that", "this", "it now", "it please")
		l.jobCancels.addEnglishCancellations(englishJobs...)
	}
	l.cancels.add(withdraw, w.Cancel...)
	for word, list := range l.jobCancels {
		l.cancels[word] = append(l.cancels[word], list...)
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

// read interprets clauses by the given tables. It returns doubt if every word is known but they form
// no clear answer, and "" if the text is not entirely in the language.
func (l *language) read(clauses [][]token, tables ...phrases) meaning {
	var found []phrase
	for _, clause := range clauses {
		deciding := 0
		for at := 0; at < len(clause); {
			p, n := longest(tables, clause, at)
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
func agreed(said sentence, tables func(*language) []phrases) (sure meaning, in *language) {
	clauses := said.cut().clauses()
	for _, l := range languages() {
		sense := l.read(clauses, tables(l)...)
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
