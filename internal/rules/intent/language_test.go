package intent_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"ringback/internal/rules/intent"
	"ringback/test/must"
)

// lists is the content of a language's file, see the README.
type lists map[string]any

func (l lists) of(name string) []string {
	var all []string
	items, _ := l[name].([]any)
	for _, item := range items {
		text, _ := item.(string)
		text = strings.TrimSuffix(strings.TrimPrefix(text, "^ "), " $")
		all = append(all, text)
	}
	return all
}

func languageFiles(tb testing.TB) map[string]lists {
	tb.Helper()
	names, err := filepath.Glob("languages/*.yaml")
	if err != nil || len(names) < 8 {
		tb.Fatalf("found the languages %v, %v", names, err)
	}
	all := map[string]lists{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		var l lists
		if err := yaml.Unmarshal(text, &l); err != nil {
			tb.Fatalf("%s: %v", name, err)
		}
		all[strings.TrimSuffix(filepath.Base(name), ".yaml")] = l
	}
	return all
}

// Each phrase of a list has the list's meaning in all languages.
func TestEachPhraseMeansWhatItsListSays(t *testing.T) {
	t.Parallel()
	want := map[string]intent.Outcome{
		"yes": intent.Approve, "no": intent.Deny, "reject": intent.Deny, "with_yes": intent.Unclear, "with_no": intent.Unclear, "polite": intent.Unclear, "doubt": intent.Unclear,
	}
	for name, l := range languageFiles(t) {
		for list, outcome := range want {
			for _, text := range l.of(list) {
				must.Equal(t, outcome, intent.Read(questions["deploy"], text).Outcome, name, text, "stands under", list)
			}
		}
		for _, text := range l.of("cancel") {
			must.Equal(t, intent.Cancel, intent.Read(questions["ratio"], text).Outcome, name, text)
		}
	}
}

// written returns spellings of a text that do not change its meaning.
func written(text string) []string {
	return []string{
		text, strings.ToUpper(text), strings.ReplaceAll(text, "'", "’"), text + ".", text + " !", " " + text + "\n", text + "。", text + "！", text + " 🙂", "🙂 " + text,
		strings.Map(func(r rune) rune {
			if r > ' ' && r <= '~' && r != '\'' {
				return r + 0xFEE0 // its full-width form
			}
			return r
		}, text),
	}
}

func TestAnAnswerMeansTheSameHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	for name, l := range languageFiles(t) {
		for list, outcome := range map[string]intent.Outcome{"yes": intent.Approve, "no": intent.Deny, "reject": intent.Deny} {
			for _, text := range l.of(list) {
				for _, form := range written(text) {
					must.Equal(t, outcome, intent.Read(questions["deploy"], form).Outcome, name, text, form)
				}
			}
		}
	}
}

// additions change the meaning of a yes, by language.
var additions = map[string][]string{
	"de": {"aber", "wenn die Tests laufen", "nicht", "erst morgen", "nur auf staging", "vielleicht", "nein", "oder", "falls", "nie", "kein", "und lösche alles", "ohne Migration"},
	"fr": {"mais", "si les tests passent", "pas", "demain", "seulement staging", "peut-être", "non", "ou", "sauf", "jamais", "ne", "sans migration", "et supprime tout"},
	"es": {"pero", "si pasan las pruebas", "no", "mañana", "solo staging", "quizás", "o", "salvo", "nunca", "sin migración", "y borra todo", "cuando termine", "todavía no"},
	"pt": {"mas", "se os testes passarem", "não", "amanhã", "só staging", "talvez", "ou", "exceto", "nunca", "sem migração", "e apague tudo", "quando terminar", "ainda não"},
	"zh": {"但是", "如果", "不", "明天", "先测试", "也许", "吗", "呢", "嗎", "只", "没", "别", "不要", "不过", "的话", "么", "才怪"},
	"ja": {"でも", "もし", "ない", "明日", "まず", "たぶん", "か", "かな", "けど", "だけ", "いいえ", "じゃない", "ではない", "なら", "が", "のか", "ません", "では"},
	"it": {"ma", "se", "non"}, "nl": {"maar", "als", "niet"}, "sv": {"men", "om", "inte"},
	"en": {"but", "if", "not", "tomorrow", "only", "maybe", "unless", "or", "never", "and delete it all"}, "signs": {"🙃", "🤔", "❌", "👎", "😉", "🙄", "?", "…"},
}

// A yes in any language with any addition, in the same language, in another one, or as a sign, does
// not approve anything.
func TestAYesInAnyLanguageWithAnythingElseIsNoYes(t *testing.T) {
	t.Parallel()
	everywhere := []string{"zorp", "42", "?", "？", "...", "。。。", "\u200b", "🙃", "🤔", "👎", "❌", "нет", `"no"`, "(", "/s", "не", "不", "nicht", "not", "no", "non", "nein", "não", "いいえ", "ない", ":(", ":/", ";)"}
	for name, l := range languageFiles(t) {
		if additions[name] == nil {
			t.Errorf("nothing is added to a yes in %s", name)
		}
		for n, yes := range l.of("yes") {
			for i, more := range append(slices.Clone(additions[name]), everywhere...) {
				texts := []string{more + " " + yes, yes + " " + more, yes + ", " + more}
				if i >= len(additions[name]) {
					texts = texts[(n+i)%3:][:1] // each addition with each yes, at one of the positions
				}
				if more[0] > 'z' { // one more Latin letter may be a typing error
					texts = append(texts, more+yes, yes+more)
				}
				for _, text := range texts {
					if intent.Read(questions["deploy"], text).Outcome == intent.Approve {
						t.Errorf("%s: %q was read as a yes", name, text)
					}
				}
			}
		}
	}
}

// A word with a wrong letter is a yes only if it can be nothing else.
func TestATypingErrorMakesNoYesOfAnythingElse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"disapprove", "disapproved", "unapproved", "approver", "approves", "approval", "improve", "precede", "processed", "proceeds", "proceeding", "conform", "confirms", "pleased", "release", "employ",
		"discontinue", "continues", "continued", "not", "now", "know", "nah", "yah", "yes-man", "eyes", "bless", "sore", "ole", "yep?", "nope", "nop", "yesn't", "betätigt", "unnatürlich", "ungenehmigt", "missverstanden",
		"opuesto", "cerveza", "conforme no", "reprobado", "desaprovado", "incertamente", "indefinitely", "uncertainly", "dissolutely", "don't aprove", "I dont approove", "please don't procceed", "aprove not", "definitely nto", "yes, depoly it", "pelase proceed",
	} {
		if intent.Read(questions["deploy"], text).Outcome == intent.Approve {
			t.Errorf("%q was read as a yes", text)
		}
	}
	for _, text := range []string{"aprove", "apporve", "yse"} { // usual ones are in the list of words
		must.Equal(t, intent.Approve, intent.Read(questions["deploy"], text).Outcome, text)
	}
}

// Words that the question quotes are not its verbs.
func TestQuotedNamesAreNoVerbs(t *testing.T) {
	t.Parallel()
	q := questions["deploy"]
	q.Message = `Deploy "delete" and “remove”?`
	for text, want := range map[string]intent.Outcome{"delete it": intent.Unclear, "remove it": intent.Unclear, "deploy it": intent.Approve} {
		must.Equal(t, want, intent.Read(q, text).Outcome, text)
	}
	review := questions["review"]
	review.Message = "Claude will delete the old files and remove the cache."
	must.Equal(t, intent.Unclear, intent.Read(review, "delete it").Outcome, "delete it, at a review")
}
