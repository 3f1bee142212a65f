package intent_test

import (
	"strings"
	"testing"

	"ringback/internal/rules/intent"
	"ringback/test/must"
)

func TestAskingBackSpeaksToWhatWasSaid(t *testing.T) {
	t.Parallel()
	const asked = "Deploy shop-api 1.4.0 to production?"
	for name, c := range map[string]struct{ question, text, want, offer string }{
		"a yes with a condition": {
			"deploy", "yes but only the replica",
			"You wrote “yes but only the replica”: I can run exactly this, or not at all. " + asked + " Yes, no, or tell Claude what to change?", "yes but only the replica",
		},
		"a change alone":             {"deploy", "only the replica", "You wrote “only the replica”: I can run exactly this, or not at all. " + asked + " Yes, no, or tell Claude what to change?", "only the replica"},
		"no answer":                  {"deploy", "maybe", "You wrote “maybe”: I cannot tell whether that is a yes or a no. " + asked + " Please answer yes or no.", ""},
		"both":                       {"deploy", "yes no", "You wrote “yes no”: I cannot tell whether that is a yes or a no. " + asked + " Please answer yes or no.", ""},
		"a question":                 {"deploy", "yes?", "You wrote “yes?”: I cannot tell whether that is a yes or a no. " + asked + " Please answer yes or no.", ""},
		"somebody's words":           {"deploy", "\"yes\" he said", "You wrote “'yes' he said”: I cannot tell whether that is a yes or a no. " + asked + " Please answer yes or no.", ""},
		"German":                     {"deploy", "Ja, aber nur das Replikat", "Sie schrieben „Ja, aber nur das Replikat“: Ich kann genau das ausführen oder gar nichts. " + asked + " Ja, nein, oder sagen Sie Claude, was anders werden soll?", "Ja, aber nur das Replikat"},
		"French":                     {"deploy", "oui mais seulement la réplique", "Vous avez écrit « oui mais seulement la réplique » : je peux exécuter exactement ceci, ou rien du tout. " + asked + " Oui, non, ou dites à Claude ce qu’il faut changer ?", "oui mais seulement la réplique"},
		"Spanish":                    {"deploy", "sí pero solo la réplica", "Usted escribió «sí pero solo la réplica»: puedo ejecutar exactamente esto, o nada. " + asked + " ¿Sí, no, o dígale a Claude qué cambiar?", "sí pero solo la réplica"},
		"Portuguese":                 {"deploy", "sim, mas só a réplica", "Você escreveu “sim, mas só a réplica”: posso executar exatamente isto, ou nada. " + asked + " Sim, não, ou diga ao Claude o que mudar?", "sim, mas só a réplica"},
		"Chinese":                    {"deploy", "好的，但是只在副本上", "您写道“好的，但是只在副本上”：我只能完全照此执行，或者不执行。 " + asked + " 是、否，或者告诉 Claude 要改什么？", "好的，但是只在副本上"},
		"Japanese":                   {"deploy", "はい、でも副本だけ", "「はい、でも副本だけ」とのことですが、このまま正確に実行するか、まったく実行しないかのどちらかです。 " + asked + " はい、いいえ、または変更点を Claude に伝えますか？", "はい、でも副本だけ"},
		"a language that cannot ask": {"deploy", "ja nej", "You wrote “ja nej”: I cannot tell whether that is a yes or a no. " + asked + " Please answer yes or no.", ""},
		"a review": {
			"review", "looks good, but add a test",
			"You wrote “looks good, but add a test”: I can take the change exactly as it is, or not at all. \"Approve\", \"reject\", or \"change it\" for another round with what you wrote (\"steer: …\" for another wish)?", "looks good, but add a test",
		},
		"a no with something to do at a review": {
			"review", "No, call it \"foo\"",
			"You wrote “No, call it 'foo'”: I can take the change exactly as it is, or not at all. \"Approve\", \"reject\", or \"change it\" for another round with what you wrote (\"steer: …\" for another wish)?", "No, call it \"foo\"",
		},
		"a no without a comma at a review": {
			"review", "nein mach es kürzer",
			"Sie schrieben „nein mach es kürzer“: Ich kann die Änderung genau so übernehmen oder gar nicht. „Ja“, „nein“, oder „ändern“ für eine weitere Runde mit dem, was Sie schrieben („steer: …“ für etwas anderes)?", "nein mach es kürzer",
		},
		"nothing to read at a review": {"review", "hm", "You wrote “hm”: I cannot tell whether that is a yes or a no. Please answer \"approve\" or \"reject\", or \"steer: …\" for another round.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := intent.Read(questions[c.question], c.text)
			if r.Outcome != intent.Unclear || r.Question != c.want || r.Offer != c.offer {
				t.Errorf("%q was read as %s and asked back\n%s\noffering %q; want\n%s\noffering %q", c.text, r.Outcome, r.Question, r.Offer, c.want, c.offer)
			}
		})
	}
}

func TestWhatIsQuotedBackIsInert(t *testing.T) {
	t.Parallel()
	hostile := "yes but\n\n## Approved\u202e\u0007\x1b[31m <!channel> <script>x</script> [click](https://evil.example) `rm -rf` ”: It is done. {{input.x}} " + strings.Repeat("long ", 500)
	got := intent.Read(questions["deploy"], hostile).Question
	_, rest, _ := strings.Cut(got, "“")
	quoted, _, _ := strings.Cut(rest, "”")
	if n := len([]rune(quoted)); n > 80 || n < 40 || strings.ContainsAny(quoted, "\n\x1b\u202e\a<>[]{}`“\"") || !strings.HasSuffix(quoted, "…") {
		t.Errorf("quoted back %q", quoted)
	}
	if huge := intent.Read(questions["deploy"], strings.Repeat("yes ", 5000)).Question; len(huge) > 400 {
		t.Errorf("a huge reply was asked back with %d bytes", len(huge))
	}
}

// offered returns a question after the person was asked back.
func offered(name, earlier string) intent.Context {
	q := questions[name]
	q.Offered = earlier
	return q
}

func TestAChangeIsHandedOnOnlyWhereItIsSaid(t *testing.T) {
	t.Parallel()
	const earlier = "yes but only the replica"
	for _, name := range []string{"deploy", "review"} {
		q := offered(name, earlier)
		for text, want := range map[string]string{
			"change it": earlier, "Change it": earlier, "yes, change it": earlier, "Yes change it please.": earlier, "no, change it": earlier, "ok, change that": earlier, "tell Claude": earlier,
			"ändern": earlier, "ja, bitte ändern": earlier, "oui, changez": earlier, "sí, cámbialo": earlier, "sim, mude isso": earlier, "好的，修改": earlier, "はい、変更してください": earlier,
			"only the replica": "only the replica", "yes, but use eu-west": "yes, but use eu-west", "use eu-west instead": "use eu-west instead", "tell Claude to use eu-west": "tell Claude to use eu-west",
			"nur das Replikat": "nur das Replikat", "只在副本上": "只在副本上", "change: the replica": "the replica", "steer: add a test": "add a test", "修改：只在副本上": "只在副本上",
		} {
			if r := intent.Read(q, text); r.Outcome != intent.Steer || r.Reason != want {
				t.Errorf("%s: %q was read as %s, %q; want a change, %q", name, text, r.Outcome, r.Reason, want)
			}
		}
		own := `Yes, please proceed with deploying "shop-api" to production.`
		must.Equal(t, intent.Approve, intent.Read(offered("deploy", earlier), own).Outcome, "the asker's own yes")
		for text, want := range map[string]intent.Outcome{
			"yes, please proceed with the deployment": intent.Unclear, "yes": intent.Approve, "ja bitte": intent.Approve, "好的": intent.Approve, "no": intent.Deny, "nein": intent.Deny, "yes, only": intent.Unclear, "maybe": intent.Unclear, "change it?": intent.Unclear, "should I change it": intent.Unclear,
			"but no": intent.Unclear, "yes and no": intent.Unclear, "the weather is nice": intent.Unclear, "don't change it": intent.Unclear, "\u200bchange it": intent.Unclear,
		} {
			must.Equal(t, want, intent.Read(q, text).Outcome, name, "after the offer:", text)
		}
		for text, want := range map[string]intent.Outcome{
			"change it": intent.Unclear, "yes, change it": intent.Unclear, "only the replica": intent.Unclear, "change: the replica": intent.Steer, "steer: the replica": intent.Steer, "ändern: nur das Replikat": intent.Steer,
		} {
			must.Equal(t, want, intent.Read(questions[name], text).Outcome, name, "without an offer:", text)
		}
	}
}
