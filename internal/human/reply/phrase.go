package reply

import "strings"

// meaning is what a phrase contributes to a sentence.
type meaning string

const (
	approves meaning = meaning(Approve)
	denies   meaning = meaning(Deny)
	withdraw meaning = meaning(Cancel)
	// polite phrases change nothing.
	polite meaning = "polite"
	// doubt makes the sentence unclear, though its words look like an answer.
	doubt meaning = "doubt"
)

// phrases are known word sequences, by their first word.
type phrases map[string][]phrase

type phrase struct {
	words   []string
	meaning meaning
	// last is whether it must end its clause.
	last bool
}

func (p phrases) add(m meaning, texts ...string) {
	for _, text := range texts {
		text, last := strings.CutSuffix(text, " $")
		words := strings.Fields(text)
		p[words[0]] = append(p[words[0]], phrase{words, m, last})
	}
}

// longest returns the meaning and the number of words of the longest phrase that
// a clause begins with; 0 when there is none.
func longest(tables []phrases, clause []token) (m meaning, n int) {
	for _, table := range tables {
		for _, candidate := range table[clause[0].word] {
			if len(candidate.words) > n && candidate.begins(clause) {
				m, n = candidate.meaning, len(candidate.words)
			}
		}
	}
	return m, n
}

func (p phrase) begins(clause []token) bool {
	if len(clause) < len(p.words) || p.last && len(clause) != len(p.words) {
		return false
	}
	for i, word := range p.words {
		if clause[i].word != word {
			return false
		}
	}
	return true
}

// What a person may tell to do. A trade counts only where the question speaks of it.
var (
	assents  = []string{"approve", "accept", "allow", "confirm"}
	deeds    = []string{"go ahead", "go for it", "proceed", "continue", "do it", "do that", "do this", "carry on", "go ahead with it", "go ahead and do it", "proceed with it", "make it so", "run it", "run that"}
	trades   = []string{"deploy", "ship", "merge", "push", "send", "delete", "publish", "release", "create", "execute", "start", "install", "upload", "run", "apply", "commit", "write", "remove", "restart"}
	objects  = []string{"", " it", " this", " that", " them"}
	refusals = []string{"don't", "dont", "do not", "never", "i don't", "i do not", "i won't", "i will not", "i can't", "i cannot", "not", "let's not", "i don't want to", "i do not want to", "i don't want you to", "you may not", "you can't", "you must not"}
	politely = []string{"please", "thanks", "thank you", "thx", "cheers", "thanks a lot", "thank you very much", "many thanks", "hi", "hello", "hey", "then $"}
)

// verdicts are the phrases of a yes and a no to any question.
var verdicts = func() phrases {
	p := phrases{}
	p.add(polite, politely...)
	p.add(approves, "yes", "yep", "yup", "yeah", "yess", "yesss", "yea", "aye", "ok", "okay", "sure", "certainly", "absolutely", "definitely",
		"of course", "affirmative", "approved", "aprove", "aproved", "accepted", "confirmed", "lgtm", "looks good", "looks good to me",
		"looks great", "sounds good", "sounds good to me", "sounds great", "all good", "fine by me", "fine with me", "ok with me", "okay with me",
		"i approve", "i approve it", "i approve this", "i approve that", "i agree", "agreed", "i accept", "i confirm", "permission granted",
		"green light", "you have my approval", "you have my permission", "yes i do", "i'm sure", "i am sure", "sure thing", "by all means",
		"ship it", "procede", "go ahed", "ok go", "let's go", "lets do it", "yes do", "👍", "✅", "👌", "✔", "+ 1")
	p.add(doubt, "yeah yeah", "yeah sure", "sure sure", "yeah ok", "ok ok", "no no", "no problem", "no problems", "no worries", "no objection",
		"no objections", "no issue", "no issues", "no doubt", "no need", "no way around")
	p.add(denies, "no", "nope", "nah", "no way", "no thanks", "no thank you", "negative", "denied", "rejected", "i reject", "i refuse", "refused",
		"declined", "i decline", "stop", "abort", "never mind", "nevermind", "forget it", "forget about it", "don't $", "dont $", "do not $",
		"i'd rather not", "i would rather not", "rather not", "absolutely not", "certainly not", "definitely not", "of course not", "hell no",
		"under no circumstances", "i disagree", "i object", "not approved", "not ok", "not okay", "not good", "no go", "no i don't", "no i do not",
		"i don't want that", "i don't want this", "i don't want it", "i don't agree", "i do not agree", "permission denied", "it's a no",
		"that's a no", "👎", "❌", "✖", "🚫")
	for _, object := range objects {
		for _, verb := range []string{"deny", "reject", "decline", "refuse", "cancel", "stop", "abort", "i reject", "i deny", "i decline"} {
			p.add(denies, verb+object)
		}
		for _, assent := range assents {
			p.decide(assent + object)
		}
	}
	for _, deed := range deeds {
		p.decide(deed)
		p.add(approves, "you may "+deed, "you can "+deed)
	}
	return p
}()

// decide adds what it means to say that something is to be done, and that it is not.
func (p phrases) decide(deed string) {
	p.add(approves, deed, deed+" now", "let's "+deed, "feel free to "+deed)
	for _, not := range refusals {
		p.add(denies, not+" "+deed)
	}
}

// tradesOf are the phrases of what a question speaks of.
func tradesOf(q Question) phrases {
	p := phrases{}
	asked := set(strings.Fields(parse(q.Message + "\n" + strings.Join(q.YesPhrases, "\n")).words())...)
	for _, trade := range trades {
		if !asked[trade] && !asked[strings.TrimSuffix(trade, "e")+"ing"] {
			continue
		}
		for _, object := range objects {
			p.decide(trade + object)
		}
	}
	return p
}

// affirmative are words of a yes: a no that goes on with one of them is no clear no.
var affirmative = set("yes", "yep", "yeah", "yea", "ok", "okay", "sure", "go", "proceed", "continue", "do", "approve", "approved", "accept", "allow",
	"ship", "fine", "good", "great", "lgtm", "agree", "should", "must", "unless", "if", "until", "but", "actually", "wait", "problem", "worries", "just",
	"kidding", "joking", "jk", "lol", "don't", "dont", "stop", "👍", "✅", "meant", "sorry", "said", "says")

// abroad are the unmistakable words of some other languages, on their own.
var abroad = map[string]Outcome{
	"ja": Approve, "jawohl": Approve, "oui": Approve, "sí": Approve, "si": Approve, "sì": Approve, "sim": Approve,
	"nein": Deny, "nee": Deny, "não": Deny, "nao": Deny, "nej": Deny, "non": Deny,
}

// cancellations are the phrases of a person who wants none of it any more.
var cancellations = func() phrases {
	p := phrases{}
	p.add(polite, politely...)
	p.add(polite, "no", "ok", "okay", "sorry", "actually", "just", "nope", "hm", "hmm", "oh", "well", "then")
	verbs := []string{"cancel", "stop", "abort", "quit", "drop", "scrap", "forget", "forget about", "end", "canel", "cancle"}
	for _, verb := range verbs {
		for _, object := range []string{"it", "that", "this", "everything", "the job", "the run", "the request", "the whole thing", "the task", "it all", "this job", "this run", "this request", "it now", "it please"} {
			for _, lead := range []string{"", "i want to ", "i'd like to ", "i would like to ", "let's ", "can we ", "you can ", "we can "} {
				p.add(withdraw, lead+verb+" "+object)
			}
		}
	}
	p.add(withdraw, "cancel", "stop", "abort", "quit", "cancelled", "canceled", "cancle", "canel", "never mind", "nevermind", "nvm", "let's cancel", "i want to cancel", "i'd like to cancel",
		"i want to stop", "let's stop", "call it off", "don't bother", "i changed my mind", "i've changed my mind", "i don't want it anymore", "i don't want this anymore", "i don't want it any more",
		"i don't want that anymore", "no longer needed", "not needed anymore", "i don't need it anymore", "i give up", "let it be", "leave it $")
	return p
}()

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, word := range words {
		m[word] = true
	}
	return m
}
