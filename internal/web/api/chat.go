package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/job/strictjson"
	"ringback/internal/people/checkpoint"
	"ringback/internal/web/httpjson"
)

// maxMessage is the maximum length of a chat message, in characters.
const maxMessage = 64 << 10

// readMessage parses the body of /from-llm or /to-llm, which have the same format: see "The
// chat" and "Orchestrators outside of Ringback" in docs/chat.md.
func (s *Server) readMessage(c echo.Context, sender job.Sender) (checkpoint.Incoming, error) {
	var m checkpoint.Incoming
	body, text, err := httpjson.ReadObject(c.Response(), c.Request(), maxBody)
	if err != nil {
		return m, err
	}
	if err := strictjson.Into(body, &m); err != nil {
		return m, err
	}
	if len(m.Props) > 0 {
		m.Props = job.Member(json.RawMessage(text), "props") // the fields of its schema have an order
	}
	userID, err := s.actAs(callerOf(c), m.UserID, "message")
	if err != nil {
		return m, err
	}
	m.UserID = userID
	if e := checkMessage(&m, sender); e != nil {
		return m, e
	}
	return m, s.rememberSession(c, m.UserID, m.SessionID)
}

// checkMessage returns what is wrong with a message; nil if nothing is.
func checkMessage(m *checkpoint.Incoming, sender job.Sender) error {
	e := job.Errorf(job.Invalid, "Invalid request")
	wrong := func(path, message string) { e.Details = append(e.Details, job.Detail{Path: path, Message: message}) }
	if fault := job.SessionNames.Fault(m.SessionID); fault != "" {
		wrong("/sessionId", fault)
	}
	e.Details = append(e.Details, m.TakeParts(sender)...)
	if utf8.RuneCountInString(m.Content) > maxMessage || strings.TrimSpace(m.Content) == "" && m.ToolOutput == nil {
		wrong("/content", "expected 1 to 65536 characters of text")
	}
	if m.Sender != "" && m.Sender != sender {
		wrong("/sender", "found \""+string(m.Sender)+"\"; allowed here: "+string(sender))
	}
	if len(m.MessageType) > 64 || len(m.Destination) > 64 {
		wrong("", "messageType and destination may have at most 64 characters")
	}
	if fault := job.RunNames.Fault(m.LogID); m.LogID != "" && fault != "" {
		wrong("/logId", fault)
	}
	if len(m.Props) > 0 && m.Props[0] != '{' {
		wrong("/props", "expected an object")
	}
	if e.Details != nil {
		return e
	}
	return nil
}

// rememberSession records the user of a session that a request names. A name that is invalid is not
// recorded: the request will be rejected.
func (s *Server) rememberSession(c echo.Context, userID, sessionID string) error {
	if job.SessionNames.Fault(sessionID) != "" {
		return nil
	}
	return s.store.Chats.Remember(c.Request().Context(), sessionID, userID, callerOf(c).service())
}

func (s *Server) fromLLM(c echo.Context) error {
	m, err := s.readMessage(c, job.FromAssistant)
	if err != nil {
		return err
	}
	id, err := s.checkpoints.FromLLM(c.Request().Context(), m)
	return answer(c, job.SentMessage{Success: true, MessageID: id}, err)
}

func (s *Server) toLLM(c echo.Context) error {
	m, err := s.readMessage(c, job.FromUser)
	if err != nil {
		return err
	}
	if err := s.notTheirs(c, m.UserID, m.SessionID); err != nil {
		return err
	}
	m.By = actorOf(c, job.ViaChat)
	m.By.UserID = m.UserID
	id, err := s.checkpoints.ToLLM(c.Request().Context(), m)
	return answer(c, job.SentMessage{Success: true, MessageID: id}, fieldNames{"/text": "/content"}.in(err))
}

// notTheirs rejects a session that a person does not have, even if another user has one of the
// name: the answer must not show that, and the message would start a session that no one reads.
func (s *Server) notTheirs(c echo.Context, userID, sessionID string) error {
	if callerOf(c).service() {
		return nil
	}
	ctx := c.Request().Context()
	if _, last, err := s.store.Chats.Messages(ctx, userID, sessionID, 0, 1); err != nil || last > 0 {
		return err
	}
	if latest, err := s.store.Jobs.Latest(ctx, userID, sessionID); err != nil || latest != "" {
		return err
	}
	return noSession(sessionID)
}

// sessionMessages pages through a session, oldest message first.
func (s *Server) sessionMessages(c echo.Context) error {
	sessionID, err := url.PathUnescape(c.Param("id"))
	if err != nil {
		return noSession(c.Param("id"))
	}
	userID, err := s.sessionUser(c, sessionID)
	if err != nil {
		return err
	}
	sent, after := queryOf(c), int64(0)
	limit := sent.limit()
	if text := sent.Get("after"); text != "" {
		if after, err = strconv.ParseInt(text, 10, 64); err != nil || after < 0 {
			sent.refuse("after", "expected the id of a message")
		}
	}
	if sent.err != nil {
		return sent.err
	}
	messages, last, err := s.store.Chats.Messages(c.Request().Context(), userID, sessionID, after, limit)
	if err != nil {
		return err
	}
	if last == 0 {
		return noSession(sessionID)
	}
	latest, err := s.store.Jobs.Latest(c.Request().Context(), userID, sessionID)
	if err != nil {
		return err
	}
	page := job.MessagePage{SessionID: sessionID, Messages: messages, LatestJob: latest}
	if page.Messages == nil {
		page.Messages = []job.Message{}
	} else if newest := messages[len(messages)-1].ID; newest < last {
		page.NextAfter = newest
	}
	return c.JSON(http.StatusOK, page)
}

// sessionUser returns the owner of the session: the caller if it is a person, else the user
// that is named, else the only user for whom a back end has a session of this id.
func (s *Server) sessionUser(c echo.Context, sessionID string) (string, error) {
	named := c.QueryParam("userId")
	if who := callerOf(c); !who.service() || named != "" {
		return s.actAs(who, named, "chat")
	}
	users, err := s.store.Chats.Users(c.Request().Context(), sessionID)
	switch {
	case err != nil:
		return "", err
	case len(users) == 0:
		return "", noSession(sessionID).WithHint("If the id was chosen by its user, add ?userId=. The chat may also have been removed after its retention time.")
	case len(users) > 1:
		return "", job.Errorf(job.Conflict, "Several users have a session %q", sessionID).WithHint("Select one with ?userId=.")
	}
	return users[0], nil
}

func noSession(id string) *job.Error {
	return job.Errorf(job.NotFound, "No session has the id %q", id).
		WithHint("It may have been removed after its retention time; a job's record names its sessionId.")
}

// defaultRunKind is the kind of POST /hitl/runs if its configuration names none.
const defaultRunKind = "media"

// newRun is the body of POST /hitl/runs except agent_tool_config: its numbers must stay as
// they were sent.
type newRun struct {
	// Prompt is the field prompt of the kind's input.
	Prompt    string `json:"prompt"`
	SessionID string `json:"session_id,omitempty"` // The chat for the run's messages; default: a new one.
	UserID    string `json:"user_id,omitempty"`    // The owner of the run.
}

// runConfig is the body of POST /hitl/runs.
type runConfig struct {
	newRun
	// Config contains the kind (default media) and further fields of its input.
	Config map[string]any `json:"agent_tool_config,omitempty"`
}

// startRun serves POST /hitl/runs, which uses snake_case: see "People" in docs/api.md.
func (s *Server) startRun(c echo.Context) error {
	body, err := readObject(c)
	if err != nil {
		return err
	}
	config, err := cutObject(body, "agent_tool_config", "expected an object: kind, and fields of the kind's input")
	if err != nil {
		return err
	}
	var run newRun
	if err := strictjson.Into(body, &run); err != nil {
		return err
	}
	if strings.TrimSpace(run.Prompt) == "" {
		return job.InvalidField("/prompt", "is required but missing")
	}
	n := newJob{Kind: defaultRunKind, requester: requester{UserID: run.UserID, SessionID: run.SessionID}, Input: map[string]any{}}
	for name, value := range config {
		if name == "kind" {
			text, ok := value.(string)
			if !ok {
				return job.InvalidField("/agent_tool_config/kind", "expected a string")
			}
			n.Kind = text
			continue
		}
		n.Input[name] = value
	}
	n.Input["prompt"] = run.Prompt
	j, err := s.create(c, n, fieldNames{
		"/input": "/agent_tool_config", "/kind": "/agent_tool_config/kind", "/userId": "/user_id", "/sessionId": "/session_id",
	})
	if err != nil {
		return err
	}
	setLocation(c, "/hitl/runs/", j.ID)
	return c.JSON(http.StatusAccepted, runOf(j))
}

func (s *Server) getRun(c echo.Context, j job.Job) error { return c.JSON(http.StatusOK, runOf(j)) }

// run is a job in the format of /hitl/runs.
type run struct {
	// RunID is the job's requestId.
	RunID     job.ID    `json:"run_id"`
	SessionID string    `json:"session_id"` // The chat for the run's messages.
	UserID    string    `json:"user_id"`    // The owner of the run.
	Status    job.State `json:"status"`
	// Simulated is true if a simulated Claude runs the job, so that its result is made up.
	Simulated bool `json:"simulated,omitempty"`
	// Result conforms to the kind's result schema.
	Result json.RawMessage `json:"result,omitempty" jsonschema:"type=object"`
	// Error describes why the run ended without a result.
	Error string `json:"error,omitempty"`
	*pause
}

// pause contains the further fields of a run that waits for a person.
type pause struct {
	Step             string             `json:"step"`             // By the type of the checkpoint: APPROVAL, API_CALL, INFORMATION_REVIEW or FORM_REQUIREMENTS.
	Message          string             `json:"message"`          // The question to the person.
	ActionsRequired  []string           `json:"actions_required"` // How the person can answer: always "respond_naturally".
	CheckpointType   job.CheckpointType `json:"checkpoint_type"`
	ConversationMode bool               `json:"conversation_mode"` // Always true: the question can be answered in words.
	// Data contains the checkpoint's props.
	Data json.RawMessage `json:"data" jsonschema:"type=object"`
}

func runOf(j job.Job) run {
	r := run{
		RunID: j.ID, SessionID: j.SessionID, UserID: j.UserID, Status: j.State, Simulated: j.Simulated, Result: j.Result,
		Error: j.Error,
	}
	if c := j.Checkpoint; c != nil {
		steps := map[job.CheckpointType]string{
			job.ErrorRecovery: "API_CALL", job.InformationRequest: "INFORMATION_REVIEW",
			job.FormRequirements: "FORM_REQUIREMENTS",
		}
		step, ok := steps[c.Type]
		if !ok {
			step = "APPROVAL"
		}
		r.pause = &pause{
			Step: step, Message: c.Message, ActionsRequired: []string{"respond_naturally"},
			CheckpointType: c.Type, ConversationMode: true, Data: c.Props,
		}
	}
	return r
}
