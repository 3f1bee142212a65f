package console

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ringback/client"
	"ringback/internal/job"
)

type jobView struct {
	Job job.Job
	// Tab is the page: conversation, timeline, review, files, transcript or audit.
	Tab string
	// Steering describes how the job's change was steered. It is nil if the API refused it, usually
	// because the job works on no repositories; noChange is that error.
	Steering *job.SteeringState
	noChange error
	// Question is the question that the job waits at; nil if it waits for none.
	Question *question
	// MayMove is true if the kind has another version than the one that the job has or gets next.
	MayMove bool
	// The rest depends on the page.
	Messages []message
	// Beside is the message of the question next to which the visitor writes; 0 if the page shows none.
	// Unanswered describes why the user's last message answered no question; empty if it did not have to.
	Beside     int64
	Unanswered string
	// Latest is the job to which messages of this chat go, if it is another one; otherwise empty.
	Latest job.ID
	// Said is the rejected text for Claude, Faults the reasons for its rejection.
	Said      string
	Faults    []string
	Result    *resultView
	InputTree *tree
	Data      any
}

type message struct {
	job.Message
	// Mine is true if a person wrote it.
	Mine bool
	// By is its author: the person, Claude, Ringback or a system outside of it; for a notice, it is a heading.
	By    string
	Calls []job.Part
	// Question is the question that the message asks; nil if it asks none.
	Question *job.Question
	Texts    []string
}

func (v *visit) viewJob(id job.ID, tab string) (jobView, error) {
	found, err := v.api().Get(v.Request().Context(), id)
	if err != nil {
		return jobView{}, err
	}
	j := found.Value
	view := jobView{Job: j, Tab: tab, MayMove: v.mayMove(j)}
	steering, err := v.api().Steering(v.Request().Context(), j.ID)
	if view.noChange = err; err == nil {
		view.Steering = &steering.Value
	}
	if j.Checkpoint != nil && j.Checkpoint.Status.Waits() {
		q := v.newQuestion(*j.Checkpoint)
		v.complete(&q, j)
		view.Question = &q
	}
	return view, nil
}

func (v *visit) mayMove(j job.Job) bool {
	if j.State.Terminal() {
		return false
	}
	found, err := v.api().Kind(v.Request().Context(), j.Kind)
	return err == nil && found.Value.Version != cmp.Or(j.NextKindVersion, j.KindVersion)
}

func (v *visit) renderJob(status int, view jobView) error {
	p := page{Title: cmp.Or(view.Job.Title, view.Job.Kind) + " " + shortID(view.Job.ID), Tab: "jobs", Data: view}
	if status == http.StatusOK { // fetching the page again would lose the faults and the text
		p.Watch = watch{UserID: view.Job.UserID, RequestID: view.Job.ID}
	}
	return v.render(status, "job_"+view.Tab, p)
}

func (c *Console) job(v *visit) error {
	view, err := v.conversation()
	if err != nil {
		return err
	}
	return v.renderJob(http.StatusOK, view)
}

func (v *visit) conversation() (jobView, error) {
	view, err := v.viewJob(job.ID(v.Param("id")), "conversation")
	if err != nil {
		return view, err
	}
	if view.Messages, view.Latest, err = v.messages(view.Job); err != nil {
		return view, err
	}
	if view.Question != nil {
		view.Beside = view.Question.MessageID
	}
	view.Unanswered = unanswered(view.Messages, view.Beside)
	view.InputTree = newTree("", view.Job.Input, "")
	if len(view.Job.Result) > 0 {
		view.Result = newResult(view.Job)
	}
	return view, nil
}

// unanswered returns why the last message of the user answered no question, although its author was
// shown one, or open, the message of the open question, had been asked before; otherwise "".
func unanswered(all []message, open int64) string {
	for _, m := range slices.Backward(all) {
		if !m.Mine {
			continue
		}
		var to job.ReplyProps
		_ = json.Unmarshal(m.Props, &to) // without props, it names no question
		switch {
		case to.ResolvesCheckpoint:
			return ""
		case to.CheckpointMessageID != 0:
			return "The question that you saw is no longer open: your message answered nothing."
		case open != 0 && open < m.ID:
			return "You wrote that without seeing the question: your message answered nothing."
		}
		return ""
	}
	return ""
}

const mostMessages = 300

// messages reads the conversation of a job, and which other job it goes on in, if any.
func (v *visit) messages(j job.Job) (all []message, latest job.ID, err error) {
	for after := int64(0); ; {
		found, err := v.api().Messages(v.Request().Context(), j.SessionID, j.UserID, after, 500)
		if job.HasKind(err, job.NotFound) {
			return nil, "", nil // there are no messages yet
		}
		if err != nil {
			return nil, "", err
		}
		for _, m := range found.Value.Messages {
			all = append(all, newMessage(m))
		}
		if latest = found.Value.LatestJob; latest == j.ID {
			latest = ""
		}
		if after = found.Value.NextAfter; after == 0 {
			return all[max(0, len(all)-mostMessages):], latest, nil
		}
	}
}

func newMessage(m job.Message) message {
	shown := message{Message: m, By: m.Author(), Mine: m.Sender == job.FromUser}
	calls := map[string]int{}
	shown.Question = questionIn(m)
	switch {
	case shown.Mine, m.FromOutside():
	case m.MessageType == job.NoticeMessage: // it may quote Claude's reason
		shown.By = "The outcome of the job"
	case shown.Question != nil:
		shown.By = "Ringback"
	}
	for _, part := range m.Parts {
		switch part.Type {
		case job.TextPart:
			if strings.TrimSpace(part.Text) != "" {
				shown.Texts = append(shown.Texts, part.Text)
			}
		case job.ToolCallPart:
			calls[part.ToolCallID] = len(shown.Calls)
			shown.Calls = append(shown.Calls, part)
		case job.ToolResultPart:
			if at, known := calls[part.ToolCallID]; known {
				shown.Calls[at].State, shown.Calls[at].Output = part.State, part.Output
			} else {
				shown.Calls = append(shown.Calls, part)
			}
		}
	}
	return shown
}

// questionIn returns the question that a message asks in parts by several authors, or in Ringback's words;
// nil if it asks none: the summary of a change and a question in Claude's own words are messages by Claude.
func questionIn(m job.Message) *job.Question {
	asked := job.Checkpoint{Message: m.Content, Props: m.Props}
	if m.MessageType == job.CheckpointMessage {
		var props job.Props
		_ = job.UnmarshalExact(m.Props, &props) // the message contains the question even if the props are invalid
		asked.Type = props.CheckpointType
	}
	if m.MessageType != job.WhichMessage && m.MessageType != job.CheckpointMessage || asked.Type == job.Review {
		return nil
	}
	if q := asked.Question(); !q.OwnWords() || m.MessageType == job.WhichMessage {
		return &q
	}
	return nil
}

var callTexts = map[job.PartState]string{
	job.InputAvailable: "waits", job.OutputAvailable: "done", job.OutputDenied: "denied", job.OutputError: "failed",
}

func callWords(s job.PartState) string { return cmp.Or(callTexts[s], string(s)) }

// changing returns the handler that changes a job and goes back to its page.
func changing(change func(*client.Client, context.Context, job.ID) (client.Answer[job.Job], error)) formHandler {
	return func(v *visit, _ url.Values) error {
		id := job.ID(v.Param("id"))
		if _, err := change(v.api(), v.Request().Context(), id); err != nil {
			return err
		}
		return v.see(here.Job(id, ""))
	}
}

// say writes to the job's conversation, and interrupts Claude if requested. The message answers the
// question that was shown next to it, or none. It goes to this job, and starts another one only if the
// page said so. If it is refused, it belongs to what the page shows then.
func (c *Console) say(v *visit, sent url.Values) error {
	found, err := v.api().Get(v.Request().Context(), job.ID(v.Param("id")))
	if err != nil {
		return err
	}
	j := found.Value
	beside, _ := strconv.ParseInt(sent.Get("question"), 10, 64) // 0 answers nothing
	if sent.Has("interrupt") {                                  // which never answers a question
		_, err = v.api().Interrupt(v.Request().Context(), j.ID, sent.Get("text"), false)
	} else {
		to := client.Addressee{RequestID: j.ID, MayStart: sent.Has("start")}
		_, err = v.api().SayTo(v.Request().Context(), j.SessionID, j.UserID, sent.Get("text"), beside, to)
	}
	if err == nil {
		return v.see(here.Job(j.ID, ""))
	}
	e := v.asError(err)
	view, readErr := v.conversation()
	if readErr != nil {
		return err
	}
	view.Said, view.Faults = sent.Get("text"), append(faultsOf(e), besideNow(beside, view.Beside)...)
	return v.renderJob(statusOf(e), view)
}

// besideNow returns what a page says when it shows a refused text again next to another question than the
// one next to which it was written. Both are given by their messages; 0 means none.
func besideNow(written, now int64) []string {
	switch now {
	case written:
		return nil
	case 0:
		return []string{"The question that you saw is no longer open: if you send this again, it answers nothing."}
	}
	return []string{"You wrote this before the question on this page was asked. Look at it: if you send this again, it answers that one."}
}

// jobTab returns the handler of a page about a job. read returns the data that only this page shows.
func jobTab[T any](tab string, read func(*visit, job.Job) (T, error)) handler {
	return func(v *visit) error {
		view, err := v.viewJob(job.ID(v.Param("id")), tab)
		if err != nil {
			return err
		}
		if view.Data, err = read(v, view.Job); err != nil {
			return err
		}
		return v.renderJob(http.StatusOK, view)
	}
}

func files(v *visit, j job.Job) (client.Files, error) {
	found, err := v.api().Files(v.Request().Context(), j.ID)
	return found.Value, err
}

func (c *Console) file(v *visit) error {
	_, below, _ := strings.Cut(v.Request().URL.EscapedPath(), "/files/")
	r, err := http.NewRequestWithContext(
		v.Request().Context(), v.Request().Method, client.DefaultURL+"/api"+here.Job(job.ID(v.Param("id")), "/files/")+below,
		nil,
	)
	if err != nil {
		return job.Errorf(job.NotFound, "The job made no such file")
	}
	for _, name := range []string{"Range", "If-None-Match", "If-Range"} {
		if value := v.Request().Header.Get(name); value != "" {
			r.Header.Set(name, value)
		}
	}
	if v.token != "" {
		r.Header.Set("Authorization", "Bearer "+v.token)
	}
	v.forward(v.Response(), r)
	return nil
}

func printed(v *visit, j job.Job) (transcriptView, error) {
	text, err := v.api().Transcript(v.Request().Context(), j.ID)
	return newTranscript(string(text)), err
}

// audit shows the audit log. Answers in words and values are not in it, but in their questions.
func audit(v *visit, j job.Job) ([]job.AuditEntry, error) {
	log, err := v.api().Audit(v.Request().Context(), j.ID)
	if err != nil {
		return nil, err
	}
	entries := []job.AuditEntry{}
	for _, line := range log.Entries() {
		var e job.AuditEntry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		if e.Event == "answered" || e.Event == "unclear" {
			if asked, err := v.api().Checkpoint(v.Request().Context(), e.CheckpointID); err == nil && asked.Value.Reply != nil {
				e.Detail = replyText(*asked.Value.Reply)
			}
		}
		entries = append(entries, e)
	}
	return entries, nil
}
