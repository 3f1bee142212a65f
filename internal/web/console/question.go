package console

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/job/strictjson"
	"ringback/internal/web/console/form"
)

type question struct {
	job.Checkpoint
	Props job.Props
	// Form is the form for its schema; nil if there is none.
	Form   *form.Field
	schema *form.Schema
	// Choices are the answers to choose from: values as text, otherwise suggested replies.
	Choices []string
	// Asks is the question. Input is the input of a tool, which can be edited if Editable is set.
	Asks     job.Question
	Input    string
	Editable bool
	// Changed is true if the form shows an input that differs from the original.
	Changed bool
	// Deadline is the end of the wait for a reply; zero if unknown.
	Deadline time.Time
	// Kind and JobTitle are the kind and the title of its job.
	Kind, JobTitle string
	// By describes the person who answered; empty until then.
	By string
	// Key is the name of the visitor's key if they may answer for the user; empty for the user.
	Key string
	// Text is what was written, Faults what is wrong with it. Filled is true if the form shows what
	// was sent, which updates must not replace.
	Text        string
	Scope       string
	Faults      []string
	Filled      bool
	InputFaults []string
	// Kept contains the written texts if they can no longer be sent.
	Kept []written
	// Listed is true if the question is shown in a list, where a review has two lines: Said is what
	// Claude reports about its change, Found what Ringback has found in it.
	Listed      bool
	Said, Found string
	Back        string
}

// mostChoices is the maximum number of buttons for values. The other values are in the text of the
// question and can be typed.
const mostChoices = 200

func (v *visit) newQuestion(c job.Checkpoint) question {
	q := question{Checkpoint: c, Asks: c.Question(), Back: v.Request().URL.RequestURI(), Scope: "once", Key: v.Who.Key}
	_ = job.UnmarshalExact(c.Props, &q.Props) // invalid props are shown as they are
	q.Props.Yes, q.Props.No = q.Props.Answers()
	if len(q.Props.ToolInput) > 0 {
		q.Input, q.Editable = pretty(q.Props.ToolInput), c.Type == job.ToolApproval
	}
	for _, value := range q.Props.ValidValues[:min(len(q.Props.ValidValues), mostChoices)] {
		q.Choices = append(q.Choices, job.ValueText(value))
	}
	if len(q.Choices) == 0 {
		q.Choices = q.Props.SuggestedReplies
	}
	if s, err := form.Parse(q.Props.Schema); err == nil && len(q.Props.Schema) > 0 {
		q.schema = s
		f := s.Form(s.Initial(q.Props.CurrentValues), nil)
		q.Form = &f
	}
	return q
}

func (q question) filled(sent url.Values, e *job.Error) question {
	q.Text, q.Scope, q.Filled = sent.Get("text"), cmp.Or(sent.Get("scope"), "once"), true
	if q.Editable && sent.Has("input") {
		q.Input, q.Changed = sent.Get("input"), !sameJSON([]byte(sent.Get("input")), q.Props.ToolInput)
	}
	fields := ""
	if q.Form != nil || q.Editable {
		fields = "/values"
	}
	faults, others := splitFaults(e, fields)
	q.Faults = others
	if q.Editable {
		for _, fault := range faults {
			q.InputFaults = append(q.InputFaults, detailText(fault))
		}
	}
	return q.withValues(sent, faults)
}

func (q question) withValues(sent url.Values, faults []job.Detail) question {
	if back := sent.Get("back"); back != "" {
		q.Back = localPath(back)
	}
	if q.Form != nil {
		f := q.schema.Form(sent, faults)
		q.Form = &f
	}
	return q
}

// answer returns the reply that was sent. Only a button decides: a form that is sent in another way,
// by Enter for example, is refused if a decision is asked for.
func (q question) answer(sent url.Values) (client.Reply, error) {
	r := client.Reply{Decision: job.Decision(sent.Get("decision")), Text: strings.TrimSpace(sent.Get("text"))}
	if q.Type.Binding() && r.Decision == "" {
		return r, job.Errorf(job.Invalid, "Nothing was decided: press one of the buttons")
	}
	if choice := cmp.Or(sent.Get("choice"), sent.Get("suggested")); choice != "" {
		return q.choose(choice), nil
	}
	r.Seen = seen(sent)
	switch {
	case q.Type == job.ToolApproval && (r.Decision == job.Approve || r.Decision == approveChanged):
		r.Scope = job.ApprovalScope(sent.Get("scope"))
		err := q.changedInput(sent, &r)
		return r, err
	case r.Decision == "" && q.Form != nil && sent.Has("values"):
		values, err := q.values(sent)
		r.Values = values
		return r, err
	case r.Decision == "" && q.Form != nil && r.Text != "" && form.Typed(sent, q.schema.Initial(q.Props.CurrentValues)):
		return r, job.Errorf(job.Invalid, "Reply sends your words alone, and you have filled in values as well: press Send to send both, or clear them")
	}
	return r, nil
}

// choose returns the reply of a button with an answer: exactly the value that it offers.
func (q question) choose(sent string) client.Reply {
	at := slices.IndexFunc(q.Choices, func(text string) bool { return form.AsSent(text) == form.AsSent(sent) })
	if at < 0 {
		return client.Reply{Text: sent}
	}
	r := client.Reply{Text: q.Choices[at]}
	if len(q.Props.ValidValues) > 0 && q.schema == nil {
		r.Values = map[string]json.RawMessage{cmp.Or(q.Props.ErrorField, "value"): job.MustJSON(q.Props.ValidValues[at])}
	}
	return r
}

func seen(sent url.Values) client.Seen {
	s := client.Seen{Shown: job.ShownWhole}
	if sent.Get("paged") != "" {
		s.Shown = job.ShownPaged
	}
	if n, err := strconv.Atoi(sent.Get("unviewed-too")); err == nil {
		s.Unviewed = &n
	}
	if n, err := strconv.Atoi(sent.Get("iteration")); err == nil {
		s.Iteration = &n
	}
	for name := range sent {
		if repository, ok := strings.CutPrefix(name, "tree:"); ok {
			if s.Trees == nil {
				s.Trees = map[string]string{}
			}
			s.Trees[repository] = sent.Get(name)
		}
	}
	return s
}

// approveChanged is the decision of the button below the input, which approves it as it was edited.
const approveChanged job.Decision = "approve-changed"

// changedInput adds the input of a tool call to an approval if it was edited. An input that was emptied
// is not an unchanged one. Only the button below the input approves an edited one: elsewhere, the
// person may not see it, because a browser or a draft has restored it.
func (q question) changedInput(sent url.Values, r *client.Reply) error {
	text, button := []byte(sent.Get("input")), r.Decision
	r.Decision = job.Approve
	_, fault := strictjson.Decode(text) // such as a duplicate field, which sameJSON does not see
	if !sent.Has("input") || fault == nil && sameJSON(text, q.Props.ToolInput) {
		return nil
	}
	if button != approveChanged {
		return job.InvalidField("/values", "was changed. Look at it, and press “Approve with my changes” to run it like this, or change it back")
	}
	if err := json.Unmarshal(text, &r.Values); err != nil {
		return job.InvalidField("/values", "is not a valid JSON object: "+err.Error())
	}
	if len(r.Values) == 0 {
		return job.InvalidField("/values", "is empty; expected the input to call the tool with. To run nothing, deny it")
	}
	if e, invalid := errors.AsType[*job.Error](fault); invalid {
		return job.InvalidField("/values", "is not a valid JSON object: "+strings.Join(faultsOf(e), " "))
	}
	return nil
}

// sameJSON reports whether two texts are the same JSON value, with all digits of numbers.
func sameJSON(a, b []byte) bool {
	var left, right any
	return job.UnmarshalExact(a, &left) == nil && job.UnmarshalExact(b, &right) == nil && reflect.DeepEqual(left, right)
}

func (q question) values(sent url.Values) (map[string]json.RawMessage, error) {
	text, faults := q.schema.Decode(sent)
	if len(faults) > 0 {
		e := job.Errorf(job.Invalid, "Invalid request")
		for _, fault := range faults {
			e.Details = append(e.Details, job.Detail{Path: "/values" + fault.Path, Message: fault.Message})
		}
		return nil, e
	}
	values := map[string]json.RawMessage{}
	return values, json.Unmarshal(text, &values)
}

type inboxView struct {
	Questions []question
	Type      job.CheckpointType
	Types     []job.CheckpointType
	Next      string
	// Answered are the latest answered questions.
	Answered []question
}

func (c *Console) inbox(v *visit) error {
	ctx := v.Request().Context()
	found, err := v.api().Checkpoints(ctx, client.CheckpointFilter{
		Status: job.Open, Type: job.CheckpointType(v.QueryParam("type")), Cursor: v.QueryParam("cursor"), Limit: 20,
	})
	if err != nil {
		return err
	}
	shown := inboxView{Type: job.CheckpointType(v.QueryParam("type")), Types: job.CheckpointTypes[:]}
	for _, one := range found.Value.Checkpoints {
		q := v.questionWithJob(one)
		if q.Listed = true; q.Type == job.Review {
			q.Said, q.Found = reviewGist(q.Message)
		}
		shown.Questions = append(shown.Questions, q)
	}
	shown.Next = nextPage(v, found.Value.NextCursor)
	answered, err := v.api().Checkpoints(ctx, client.CheckpointFilter{Status: job.Answered, Limit: 5})
	if err != nil {
		return err
	}
	for _, one := range answered.Value.Checkpoints {
		shown.Answered = append(shown.Answered, v.questionWithJob(one))
	}
	return v.render(http.StatusOK, "inbox", page{Title: "Inbox", Tab: "inbox", Watch: v.follow(), Data: shown})
}

func (v *visit) questionWithJob(c job.Checkpoint) question {
	q := v.newQuestion(c)
	if c.RequestID == "" {
		return q
	}
	if found, err := v.api().Get(v.Request().Context(), c.RequestID); err == nil {
		v.complete(&q, found.Value)
	}
	return q
}

// complete adds data from the job and its audit log to a question: the deadline, and who answered
// it.
func (v *visit) complete(q *question, j job.Job) {
	q.Kind, q.JobTitle = j.Kind, j.Title
	if q.Status.Waits() {
		q.Deadline = j.Deadline
		return
	}
	log, err := v.api().Audit(v.Request().Context(), j.ID)
	if err != nil {
		return // the question itself is more important
	}
	for _, line := range log.Entries() {
		var e job.AuditEntry
		if json.Unmarshal(line, &e) == nil && e.CheckpointID == q.ID && e.By != nil {
			q.By = actorWords(*e.By)
		}
	}
}

func (c *Console) checkpoint(v *visit) error {
	q, err := v.question()
	if err != nil {
		return err
	}
	return v.renderQuestion(http.StatusOK, q)
}

func (v *visit) question() (question, error) {
	found, err := v.api().Checkpoint(v.Request().Context(), job.CheckpointID(v.Param("id")))
	if err != nil {
		return question{}, err
	}
	q := v.questionWithJob(found.Value)
	q.Back = here.Question(q.ID)
	return q, nil
}

func (v *visit) renderQuestion(status int, q question) error {
	watch := v.follow()
	if q.RequestID != "" {
		watch.UserID, watch.RequestID = q.UserID, q.RequestID
	}
	if status != http.StatusOK {
		watch.UserID = "" // fetching the page again would lose the faults and the text
	}
	return v.render(status, "checkpoint", page{Title: heading(q.Checkpoint), Tab: "inbox", Watch: watch, Data: q})
}

func actorWords(a job.Actor) string {
	return cmp.Or(a.Who(), "somebody") + map[string]string{
		job.ViaConsole: " in the console", job.ViaAPI: " over the API", job.ViaChat: " in the chat",
		job.ViaSlack: " in Slack", job.ViaWebSocket: " over a WebSocket",
	}[a.Via]
}

// reply submits the answer to a question. If it is rejected for any reason, the page shows again
// what was written.
func (c *Console) reply(v *visit, sent url.Values) error {
	q, err := v.question()
	if err != nil {
		return err
	}
	if !q.Status.Waits() {
		return v.replyAgain(q, sent, job.ClosedCheckpoint(q.ID, q.Status))
	}
	if q.schema != nil {
		if edited, again := q.schema.Edit(sent); again {
			q.Text, q.Filled = sent.Get("text"), true
			return v.renderQuestion(http.StatusOK, q.withValues(edited, nil))
		}
	}
	given, err := q.answer(sent)
	if err == nil {
		_, err = v.api().Reply(v.Request().Context(), q.ID, given)
	}
	if err == nil {
		return v.see(localPath(cmp.Or(sent.Get("back"), "/inbox")))
	}
	if now, err := v.question(); err == nil {
		q = now // it may have been answered in the meantime
	}
	return v.replyAgain(q, sent, err)
}

func (v *visit) replyAgain(q question, sent url.Values, err error) error {
	e := v.asError(err)
	if done, err := v.decideAgain(q, sent, e); done {
		return err
	}
	if !q.Status.Waits() {
		q.Kept = writtenIn(q.changed(sent))
		return v.renderQuestion(http.StatusConflict, q)
	}
	return v.renderQuestion(statusOf(e), q.filled(sent, e))
}

// changed returns what was sent except values that come unchanged from the question.
func (q question) changed(sent url.Values) url.Values {
	own := maps.Clone(sent)
	if sameJSON([]byte(sent.Get("input")), q.Props.ToolInput) {
		own.Del("input")
	}
	return own
}

type approvalsView struct {
	UserID    string
	Approvals []job.Approval
}

func (c *Console) approvals(v *visit) error {
	user := v.QueryParam("user")
	found, err := v.api().Approvals(v.Request().Context(), user)
	if err != nil {
		return err
	}
	return v.render(
		http.StatusOK, "approvals",
		page{Title: "Standing approvals", Tab: "inbox", Data: approvalsView{user, found.Value.Approvals}},
	)
}

func (c *Console) revoke(v *visit, sent url.Values) error {
	if _, err := v.api().Revoke(v.Request().Context(), sent.Get("user"), v.Param("id")); err != nil {
		return err
	}
	return v.see(localPath(sent.Get("back")))
}
