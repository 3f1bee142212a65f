package console

import (
	"encoding/json"
	"net/http"
	"strings"

	"ringback/client"
	"ringback/internal/job"
)

// jobView is what every page about one job shows.
type jobView struct {
	Job job.Job
	// Tab is the page: conversation, timeline, review, files, transcript or audit.
	Tab string
	// Steering is how often its change was steered; nil where it works on no repositories,
	// as noChange says.
	Steering *job.SteeringState
	noChange error
	// Question is the question that it waits at; nil where it waits for none.
	Question *question
	// May be done to it now.
	MayCancel, MayRetry, MayInterrupt bool
	// The rest depends on the page.
	Messages []message
	// Said is what was written to Claude and not taken, Faults why.
	Said   string
	Faults []string
	Result *resultView
	// InputTree is what was asked for.
	InputTree *tree
	Data      any
}

// message is an entry of the conversation.
type message struct {
	job.Message
	// Mine is whether a person said it.
	Mine bool
	// By is who said it: the person, Claude, or Ringback; of a notice, what it is.
	By string
	// Calls are the tool calls, each with its result.
	Calls []toolCall
	// Question is what the message asks; nil if it asks nothing.
	Question *job.Question
	Texts    []string
}

// toolCall is a call of a tool, and what came of it.
type toolCall struct {
	Name, State   string
	Input, Output json.RawMessage
}

// viewJob reads what all pages about a job show.
func (v *visit) viewJob(id job.ID, tab string) (jobView, error) {
	found, err := v.api().Get(v.Request().Context(), id)
	if err != nil {
		return jobView{}, err
	}
	j := found.Value
	view := jobView{Job: j, Tab: tab, MayCancel: !j.State.Terminal()}
	view.MayInterrupt = j.State == job.Running && j.Phase == job.AtWork
	view.MayRetry = j.State.Retryable()
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

// Change is whether it works on repositories.
func (v jobView) Change() bool { return v.Steering != nil }

func (v *visit) renderJob(view jobView) error {
	watch := watch{UserID: view.Job.UserID, RequestID: view.Job.ID}
	return v.render(http.StatusOK, "job_"+view.Tab, page{Title: view.Job.Kind + " " + shortID(view.Job.ID), Tab: "jobs", Watch: watch, Data: view})
}

func (c *Console) job(v *visit) error {
	view, err := v.conversation()
	if err != nil {
		return err
	}
	return v.renderJob(view)
}

// conversation reads what the first page about a job shows.
func (v *visit) conversation() (jobView, error) {
	view, err := v.viewJob(job.ID(v.Param("id")), "conversation")
	if err != nil {
		return view, err
	}
	if view.Messages, err = v.messages(view.Job); err != nil {
		return view, err
	}
	view.InputTree = newTree("", view.Job.Input, "")
	if len(view.Job.Result) > 0 {
		view.Result = newResult(view.Job)
	}
	return view, nil
}

// mostMessages is how many of the latest messages of a conversation are shown.
const mostMessages = 300

// messages reads the conversation of a job.
func (v *visit) messages(j job.Job) ([]message, error) {
	var all []message
	for after := int64(0); ; {
		found, err := v.api().Messages(v.Request().Context(), j.SessionID, j.UserID, after, 500)
		if e := v.asErrorOrNil(err); e != nil && e.Kind == job.NotFound {
			return nil, nil // nothing was said yet
		}
		if err != nil {
			return nil, err
		}
		for _, m := range found.Value.Messages {
			all = append(all, newMessage(m))
		}
		if after = found.Value.NextAfter; after == 0 {
			return all[max(0, len(all)-mostMessages):], nil
		}
	}
}

func (v *visit) asErrorOrNil(err error) *job.Error {
	if err == nil {
		return nil
	}
	return v.asError(err)
}

func newMessage(m job.Message) message {
	shown := message{Message: m, Mine: m.Sender == job.FromUser}
	calls := map[string]int{}
	shown.Question = questionIn(m)
	switch {
	case shown.Mine:
		shown.By = m.UserID
	case m.MessageType == job.NoticeMessage: // it may quote Claude's reason
		shown.By = "What became of the job"
	case shown.Question != nil && !shown.Question.OwnWords(), m.MessageType == job.WhichMessage:
		shown.By = "Ringback"
	default:
		shown.By = "Claude"
	}
	for _, part := range m.Parts {
		switch part.Type {
		case job.TextPart:
			if strings.TrimSpace(part.Text) != "" {
				shown.Texts = append(shown.Texts, part.Text)
			}
		case job.ToolCallPart:
			calls[part.ToolCallID] = len(shown.Calls)
			shown.Calls = append(shown.Calls, toolCall{part.ToolName, callWords(part.State), part.Input, part.Output})
		case job.ToolResultPart:
			at, known := calls[part.ToolCallID]
			if !known {
				at = len(shown.Calls)
				shown.Calls = append(shown.Calls, toolCall{Name: part.ToolName})
			}
			shown.Calls[at].State, shown.Calls[at].Output = callWords(part.State), part.Output
		}
	}
	return shown
}

// questionIn is what a message asks, nil if it asks nothing. The summary of a change is
// something that Claude says.
func questionIn(m job.Message) *job.Question {
	asked := job.Checkpoint{Message: m.Content, Props: m.Props}
	if m.MessageType == job.CheckpointMessage {
		var props job.Props
		_ = job.UnmarshalExact(m.Props, &props) // the message says what is asked, whatever the props are
		asked.Type = props.CheckpointType
	}
	if m.MessageType != job.WhichMessage && m.MessageType != job.CheckpointMessage || asked.Type == job.Review {
		return nil
	}
	q := asked.Question()
	return &q
}

// callWords are what people read of how far a tool call is.
func callWords(s job.PartState) string {
	switch s {
	case job.InputAvailable:
		return "waits"
	case job.OutputAvailable:
		return "done"
	case job.OutputDenied:
		return "denied"
	case job.OutputError:
		return "failed"
	}
	return string(s)
}

func (c *Console) cancel(v *visit) error {
	id := job.ID(v.Param("id"))
	if _, err := v.api().Cancel(v.Request().Context(), id); err != nil {
		return err
	}
	return v.see(jobPath(id, ""))
}

func (c *Console) retry(v *visit) error {
	id := job.ID(v.Param("id"))
	if _, err := v.api().Retry(v.Request().Context(), id); err != nil {
		return err
	}
	return v.see(jobPath(id, ""))
}

// say writes to the job's conversation, and interrupts what Claude does if asked to.
func (c *Console) say(v *visit) error {
	sent, err := v.sent()
	if err != nil {
		return err
	}
	found, err := v.api().Get(v.Request().Context(), job.ID(v.Param("id")))
	if err != nil {
		return err
	}
	j := found.Value
	if sent.Has("interrupt") {
		_, err = v.api().Interrupt(v.Request().Context(), j.ID, sent.Get("text"), false)
	} else {
		_, err = v.api().Say(v.Request().Context(), j.SessionID, j.UserID, sent.Get("text"))
	}
	if err == nil {
		return v.see(jobPath(j.ID, ""))
	}
	e := v.asError(err)
	view, readErr := v.conversation()
	if readErr != nil {
		return err
	}
	view.Said, view.Faults = sent.Get("text"), faultsOf(e)
	return v.render(statusOf(e), "job_conversation", page{Title: j.Kind + " " + shortID(j.ID), Tab: "jobs", Data: view})
}

// files lists what the job made.
func (c *Console) files(v *visit) error {
	view, err := v.viewJob(job.ID(v.Param("id")), "files")
	if err != nil {
		return err
	}
	found, err := v.api().Files(v.Request().Context(), view.Job.ID)
	if err != nil {
		return err
	}
	view.Data = found.Value
	return v.renderJob(view)
}

// file serves one of them, as the API does.
func (c *Console) file(v *visit) error {
	_, below, _ := strings.Cut(v.Request().URL.EscapedPath(), "/files/")
	r, err := http.NewRequestWithContext(v.Request().Context(), v.Request().Method, client.DefaultURL+"/api"+jobPath(job.ID(v.Param("id")), "/files/")+below, nil)
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

// transcript shows what the CLI printed.
func (c *Console) transcript(v *visit) error {
	view, err := v.viewJob(job.ID(v.Param("id")), "transcript")
	if err != nil {
		return err
	}
	text, err := v.api().Transcript(v.Request().Context(), view.Job.ID)
	if err != nil {
		return err
	}
	view.Data = newTranscript(string(text))
	return v.renderJob(view)
}

// audit shows who allowed what.
func (c *Console) audit(v *visit) error {
	view, err := v.viewJob(job.ID(v.Param("id")), "audit")
	if err != nil {
		return err
	}
	log, err := v.api().Audit(v.Request().Context(), view.Job.ID)
	if err != nil {
		return err
	}
	entries := []job.AuditEntry{}
	for _, line := range log.Entries() {
		var e job.AuditEntry
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		entries = append(entries, e)
	}
	view.Data = entries
	return v.renderJob(view)
}
