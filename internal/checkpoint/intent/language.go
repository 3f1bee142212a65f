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

// signsFile holds the signs that mean the same in every language.
const signsFile = "signs.yaml"

// wording is a language's file: how yes and no are said in it. What each list
// holds is in languages/README.md.
type wording struct {
	Name       string   `yaml:"name"`
	Spaceless  bool     `yaml:"spaceless"`
	Yes        []string `yaml:"yes"`
	WithYes    []string `yaml:"with_yes"`
	No         []string `yaml:"no"`
	WithNo     []string `yaml:"with_no"`
	Cancel     []string `yaml:"cancel"`
	CancelJob  []string `yaml:"cancel_job"`
	WithCancel []string `yaml:"with_cancel"`
	Polite     []string `yaml:"polite"`
	Doubt      []string `yaml:"doubt"`
	Turn       []string `yaml:"turn"`
	Misspelt   []string `yaml:"misspelt"`
	Change     []string `yaml:"change"`
	ChangeIt   []string `yaml:"change_it"`
	Ask        asking   `yaml:"ask"`
}

// language is a wording, ready to be read with.
type language struct {
	wording
	// verdicts are the phrases of a yes and a no; cancels, those of a person who
	// wants none of it any more; changes, those of one who wants it otherwise.
	verdicts, cancels, changes phrases
	// jobCancels are those of the cancels that can only mean the whole job.
	jobCancels phrases
	// changing are the phrases with which one begins to say what should be different.
	changing phrases
	// turns are the phrases that may turn a no around.
	turns phrases
	// misspelt are the words that may be mended, and known is every word of the
	// language's lists.
	misspelt []string
	known    map[string]bool
}

// languages are those that have a file, by the names of their files.
var languages = sync.OnceValue(func() []*language {
	names, err := fs.Glob(languageFiles, "languages/*.yaml")
	if err != nil {
		panic("reply: " + err.Error())
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
		panic("reply: " + err.Error())
	}
	var w wording
	if err := yaml.UnmarshalWithOptions(text, &w, yaml.Strict()); err != nil {
		panic("reply: " + name + ": " + err.Error())
	}
	return w
}

func newLanguage(w wording) *language {
	l := &language{wording: w, verdicts: phrases{}, cancels: phrases{}, changes: phrases{}, changing: phrases{}, jobCancels: phrases{}, turns: phrases{}, known: map[string]bool{}}
	signs := readSigns().wording
	for m, lists := range map[meaning][][]string{
		approves: {w.Yes, signs.Yes}, denies: {w.No, signs.No}, withYes: {w.WithYes}, withNo: {w.WithNo}, polite: {w.Polite}, doubt: {w.Doubt},
	} {
		for _, list := range lists {
			l.verdicts.add(m, list...)
		}
	}
	l.cancels.add(withdraw, w.Cancel...)
	for _, table := range []phrases{l.cancels, l.jobCancels} {
		table.add(withdraw, w.CancelJob...)
		table.add(polite, w.Polite...)
		table.add(polite, w.WithCancel...)
	}
	l.turns.add(doubt, w.Turn...)
	l.changes.add(changes, w.ChangeIt...)
	for _, beside := range [][]string{w.Polite, w.Yes, w.No, w.WithCancel} { // "yes, change it"
		l.changes.add(polite, beside...)
	}
	l.changing.add(changes, w.Change...)
	if w.Name == english {
		l.verdicts.addEnglishVerdicts()
		l.cancels.addEnglishCancellations("it", "that", "this", "it now", "it please")
		l.cancels.addEnglishCancellations(englishJobs...)
		l.jobCancels.addEnglishCancellations(englishJobs...)
	}
	l.misspelt = w.Misspelt
	for _, table := range []phrases{l.verdicts, l.cancels, l.changes, l.turns} {
		for _, list := range table {
			for _, p := range list {
				for i := range p.words {
					l.known[p.words[i]], l.known[p.plain[i]] = true, true
				}
			}
		}
	}
	return l
}

// english is the language whose phrases are made of verbs as well, and in which
// a person is asked back where theirs is not known.
const english = "English"

// signs are what means the same in every language.
type signs struct {
	wording
	// answers are signs that say yes or no; decorations change nothing.
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

// verdict is what a text means in one language.
type verdict struct {
	// sense is approves, denies or withdraw; doubt where every word is known but
	// they make no clear answer; empty where the text is not wholly in the language.
	sense meaning
	// mended is whether a typing error was.
	mended bool
}

// read says what clauses mean by a table of the language's, and by further ones.
func (l *language) read(clauses [][]token, tables ...phrases) verdict {
	clauses, mended := l.mend(clauses)
	var found []phrase
	for _, clause := range clauses {
		deciding := 0
		for at := 0; at < len(clause); {
			p, n := longest(tables, clause, at)
			if n == 0 {
				return verdict{}
			}
			at += n
			found = append(found, p)
			if p.meaning == approves || p.meaning == denies {
				deciding++
			}
		}
		if l.Spaceless && deciding > 1 {
			found = append(found, phrase{meaning: doubt}) // "可以是": two words that make a third
		}
	}
	return verdict{senseOf(found), mended}
}

// senseOf is what phrases amount to together.
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
			return doubt // yes and no; or "yes, yes, yes", which says something else
		}
		sense, said[text] = p.meaning, true
	}
	beside := map[meaning]meaning{withYes: approves, withNo: denies}
	if slices.ContainsFunc(found, func(p phrase) bool { return beside[p.meaning] != "" && beside[p.meaning] != sense }) {
		return doubt
	}
	return sense
}

// agreed is what a text means where the languages in which it can be read agree,
// and the language it is in; empty where they do not, or there is none.
func agreed(said sentence, tables func(*language) []phrases) (verdict, *language) {
	clauses := said.cut().clauses()
	var sure verdict
	var in *language
	for _, l := range languages() {
		v := l.read(clauses, tables(l)...)
		switch {
		case v.sense == "":
		case v.sense == doubt, sure.sense != "" && sure.sense != v.sense:
			return verdict{}, nil
		case in == nil || sure.mended && !v.mended:
			sure, in = v, l
		}
	}
	return sure, in
}

// fold is a word without its accents, as many type it. Other letters than Latin
// ones have none: there, a mark makes another letter.
func fold(word string) string {
	if strings.IndexFunc(word, func(r rune) bool { return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) }) >= 0 {
		return word
	}
	bare := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(word))
	return strings.NewReplacer("ß", "ss", "œ", "oe", "æ", "ae", "ø", "o").Replace(bare)
}
