package console

import (
	"encoding/json"
	"strings"
	"testing"

	"ringback/internal/job"
)

// After a message that answered no question, the page says so.
func TestAMessageThatAnswersNothingIsNoted(t *testing.T) {
	t.Parallel()
	said := func(id int64, props string) message {
		return message{Mine: true, Message: job.Message{ID: id, MessageBody: job.MessageBody{Props: json.RawMessage(props)}}}
	}
	for name, c := range map[string]struct {
		all  []message
		open int64
		want string
	}{
		"nothing was written":                    {nil, 3, ""},
		"it answered its question":               {[]message{said(4, `{"checkpoint_message_id":3,"resolves_checkpoint":true}`)}, 0, ""},
		"its question was closed":                {[]message{said(4, `{"checkpoint_message_id":3}`)}, 0, "no longer open"},
		"its question was replaced":              {[]message{said(6, `{"checkpoint_message_id":3}`)}, 5, "no longer open"},
		"a question was open and it named none":  {[]message{said(6, `{"checkpoint_message_id":0}`)}, 5, "without seeing"},
		"the question came later":                {[]message{said(4, `{"checkpoint_message_id":0}`)}, 5, ""},
		"nothing was asked":                      {[]message{said(4, `{"checkpoint_message_id":0}`)}, 0, ""},
		"a later message did answer":             {[]message{said(4, `{"checkpoint_message_id":3}`), said(6, `{"checkpoint_message_id":5,"resolves_checkpoint":true}`)}, 0, ""},
		"Claude has written since, which is not": {[]message{said(4, `{"checkpoint_message_id":3}`), {}}, 0, "no longer open"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := unanswered(c.all, c.open); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
				t.Errorf("the note is %q", got)
			}
		})
	}
}
