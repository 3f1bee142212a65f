package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"ringback/internal/job"
	"ringback/internal/text/lazy"
)

// SlackCommand is a command that a person typed in Slack.
type SlackCommand struct {
	// Verb is approve, reject, cancel, steer, status or help.
	Verb string
	// RequestID is the job, or CheckpointID the question: a whole id, or the beginning of one, see
	// job.IDPrefix.
	RequestID    job.ID
	CheckpointID job.CheckpointID
	// Iteration is the iteration of the change that is approved: one less than the round
	// that was named; nil if none was named.
	Iteration *int
	// Text is the prompt of steer, or the reason of reject.
	Text string
	// UserID, UserName and TeamID identify the person.
	UserID, UserName, TeamID string
}

// SlackHelp describes the commands.
const SlackHelp = `approve <checkpoint>, or approve <job> <round> · reject <job or checkpoint> [reason] · steer <job or checkpoint> "<prompt>" · cancel <job> · status <job>`

const slackAge = 5 * time.Minute

// VerifySlack checks the signature of a request from Slack
// (https://api.slack.com/authentication/verifying-requests-from-slack).
func VerifySlack(secret string, header http.Header, body []byte, now time.Time) error {
	stamp := header.Get("X-Slack-Request-Timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return errors.New("the request has no Slack timestamp")
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > slackAge || age < -slackAge {
		return errors.New("the request is too old, or the clocks differ")
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("v0:" + stamp + ":"))
	mac.Write(body)
	want := "v0=" + hex.EncodeToString(mac.Sum(nil))
	if !hmac.Equal([]byte(want), []byte(header.Get("X-Slack-Signature"))) {
		return errors.New("the signature is wrong")
	}
	return nil
}

var (
	slackRound = lazy.Regexp(`^[1-9][0-9]{0,3}$`)
	typesetAs  = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "‘", "'", "’", "'", "`", "")
)

// ParseSlack parses the form that Slack posts for a command. The word after the verb is always the
// job or the question: a command without one, or with a word that is no id, has no target. So no
// command meant for one job can apply to another.
func ParseSlack(body []byte) (SlackCommand, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return SlackCommand{}, errors.New("expected the form that Slack posts")
	}
	c := SlackCommand{UserID: form.Get("user_id"), UserName: form.Get("user_name"), TeamID: form.Get("team_id")}
	verb, rest := cutWord(typesetAs.Replace(form.Get("text")))
	switch c.Verb = strings.ToLower(verb); c.Verb {
	case "", "help":
		c.Verb = "help"
		return c, nil
	case "approve", "reject", "steer", "cancel", "status":
	default:
		return c, errors.New("unknown command " + quoted(verb))
	}
	word, rest := cutWord(rest)
	if err := c.setTarget(word); err != nil {
		return c, err
	}
	if c.Verb == "approve" && c.RequestID != "" && slackRound().MatchString(rest) {
		round, _ := strconv.Atoi(rest) // at most four digits
		n := round - 1                 // iterations are counted from 0
		c.Iteration, rest = &n, ""
	}
	c.Text = rest
	if len(rest) >= 2 && rest[0] == '"' && rest[len(rest)-1] == '"' {
		c.Text = strings.TrimSpace(rest[1 : len(rest)-1])
	}
	return c, c.check()
}

// setTarget sets the job or the question from a word. An approval takes whole ids only, exactly as
// they were shown.
func (c *SlackCommand) setTarget(word string) error {
	id := addressed(word)
	asked, isQuestion := job.ParseIDPrefix(job.CheckpointIDs, id)
	isQuestion = isQuestion && strings.HasPrefix(strings.ToLower(id), job.CheckpointIDs+"_")
	of, isJob := job.ParseIDPrefix(job.JobIDs, id)
	isWhole := func(p job.IDPrefix) bool { return p.Complete() && p.String() == id }
	switch {
	case word == "":
		return errors.New(c.Verb + " needs a job or a question: its id")
	case c.Verb == "approve" && !isWhole(asked) && !isWhole(of):
		return errors.New(quoted(word) + " is not a whole id: copy it from the question")
	case isQuestion && !asked.TooShort():
		c.CheckpointID = job.CheckpointID(asked.String())
	case !isQuestion && isJob && !of.TooShort():
		c.RequestID = job.ID(of.String())
	default:
		return errors.New(quoted(word) + " is not the id of a job or a question. Write the id, a space, and then the rest")
	}
	return nil
}

// addressed returns the id in a word: it may be in quotes or brackets, have punctuation around it, or be
// a link to a page of the console.
func addressed(word string) string {
	if end := strings.IndexAny(word, "|?#"); end >= 0 { // what follows an address, or its label
		word = word[:end]
	}
	word = strings.TrimFunc(word, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	steps := strings.Split(word, "/")
	for i, page := range steps[:len(steps)-1] {
		if page == "jobs" || page == "inbox" {
			return steps[i+1]
		}
	}
	return word
}

// check returns an error if the command has words that it does not take, or lacks some.
func (c *SlackCommand) check() error {
	switch {
	case c.Verb == "steer" && c.Text == "":
		return errors.New(`steer needs a prompt: steer <job> "<prompt>"`)
	case (c.Verb == "cancel" || c.Verb == "status") && (c.Text != "" || c.RequestID == ""):
		return errors.New(c.Verb + " takes only a job")
	case c.Verb == "approve" && (c.Text != "" || c.CheckpointID == "" && c.Iteration == nil):
		// One that named only a job would approve whatever the job asks when it arrives, or arrives again.
		return errors.New("approve needs what you have looked at, and nothing else: approve <checkpoint>, as the question shows it, or approve <job> <round> for a change")
	}
	return nil
}

func quoted(word string) string { return escaped.Replace(strconv.Quote(word)) }

// cutWord cuts the first word off a text. White space of any sort ends it.
func cutWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	end := strings.IndexFunc(text, unicode.IsSpace)
	if end < 0 {
		return text, ""
	}
	return text[:end], strings.TrimSpace(text[end:])
}
