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

	"ringback/internal/job"
	"ringback/internal/lazy"
)

// SlackCommand is a command that a person typed in Slack.
type SlackCommand struct {
	// Verb is approve, reject, cancel, steer, status or help.
	Verb string
	// RequestID is the job; empty if none was named.
	RequestID job.ID
	// CheckpointID is the question that a decision is for; empty if none was named.
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
const SlackHelp = `approve <checkpoint>, or approve <job> <round> · reject [job or checkpoint] [reason] · steer [job] "<prompt>" · cancel [job] · status [job]`

// slackAge is the maximum age of a request from Slack.
const slackAge = 5 * time.Minute

// VerifySlack checks the signature of a request from Slack
// (https://api.slack.com/authentication/verifying-requests-from-slack).
func VerifySlack(secret string, header http.Header, body []byte, now time.Time) error {
	stamp := header.Get("X-Slack-Request-Timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return errors.New("the request carries no timestamp of Slack's")
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
	slackJob   = lazy.Regexp(`^req_[0-9a-f]{2}_[a-z2-7]{26}$`)
	slackAsk   = lazy.Regexp(`^chk_[0-9a-f]{2}_[a-z2-7]{26}$`)
	slackRound = lazy.Regexp(`^[1-9][0-9]{0,3}$`)
	typesetAs  = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "‘", "'", "’", "'", "`", "")
)

// ParseSlack parses the form that Slack posts for a command.
func ParseSlack(body []byte) (SlackCommand, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return SlackCommand{}, errors.New("expected the form that Slack posts")
	}
	c := SlackCommand{UserID: form.Get("user_id"), UserName: form.Get("user_name"), TeamID: form.Get("team_id")}
	rest := strings.TrimSpace(typesetAs.Replace(form.Get("text")))
	c.Verb, rest = cutWord(rest)
	c.Verb = strings.ToLower(c.Verb)
	if word, after := cutWord(rest); slackJob().MatchString(word) {
		c.RequestID, rest = job.ID(word), after
	} else if slackAsk().MatchString(word) {
		c.CheckpointID, rest = job.CheckpointID(word), after
	}
	if c.Verb == "approve" && c.RequestID != "" && slackRound().MatchString(rest) {
		round, _ := strconv.Atoi(rest) // at most four digits
		n := job.IterationOf(round)
		c.Iteration, rest = &n, ""
	}
	c.Text = rest
	if len(rest) >= 2 && rest[0] == '"' && rest[len(rest)-1] == '"' {
		c.Text = strings.TrimSpace(rest[1 : len(rest)-1])
	}
	return c, c.check()
}

func (c *SlackCommand) check() error {
	switch c.Verb {
	case "":
		c.Verb = "help"
	case "steer":
		if c.Text == "" {
			return errors.New(`steer needs a prompt: steer "<prompt>"`)
		}
	case "approve":
		return c.checkApproval()
	case "cancel":
		if c.Text != "" {
			return errors.New("cancel takes nothing but a job")
		}
	case "reject", "status", "help":
	default:
		return errors.New("unknown command " + strconv.Quote(c.Verb))
	}
	return nil
}

// checkApproval rejects an approval that is ambiguous. One that named only a job would
// approve whatever the job asks when it arrives, or arrives again.
func (c *SlackCommand) checkApproval() error {
	if c.Text == "" && (c.CheckpointID != "" || c.Iteration != nil) {
		return nil
	}
	return errors.New("approve needs what you have looked at, and nothing else: approve <checkpoint>, as the question shows it, or approve <job> <round> for a change")
}

func cutWord(text string) (word, rest string) {
	word, rest, _ = strings.Cut(text, " ")
	return word, strings.TrimSpace(rest)
}
