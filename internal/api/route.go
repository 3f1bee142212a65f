package api

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"ringback/internal/checkpoint"
	"ringback/internal/contract"
	"ringback/internal/job"
)

// route is an endpoint and its handler. The tables of routes are complete: the router, the
// contracts and docs/api.md are built from them.
type route struct {
	contract.Route
	handle handler
	// unlimited is set if the endpoint is exempt from rate limits.
	unlimited bool
	// identifies is set if the handler identifies the caller itself.
	identifies bool
}

type handler func(*Server, echo.Context) error

// onJob returns the handler of a route for the job in its path, which the caller must be allowed to see.
func onJob(handle func(*Server, echo.Context, job.Job) error) handler {
	return func(s *Server, c echo.Context) error {
		j, err := s.find(c)
		if err != nil {
			return err
		}
		return handle(s, c, j)
	}
}

// onChange is like onJob for a job that works on repositories.
func onChange(handle func(*Server, echo.Context, job.Job, *job.Change) error) handler {
	return onJob(func(s *Server, c echo.Context, j job.Job) error {
		change, err := s.jobs.Change(c.Request().Context(), j)
		if err != nil {
			return err
		}
		return handle(s, c, j, change)
	})
}

// Routes describes all endpoints.
func Routes() []contract.Route {
	var all []contract.Route
	for _, r := range slices.Concat(jobRoutes, peopleRoutes, serverRoutes) {
		all = append(all, r.Route)
	}
	return all
}

// ok returns the only answer of a route that succeeds at once.
func ok(text string, of any) []contract.Answer {
	return []contract.Answer{{Status: http.StatusOK, Text: text, Type: of}}
}

// accepted returns the only answer of a route that creates a job.
func accepted(text string, of any) []contract.Answer {
	return []contract.Answer{{Status: http.StatusAccepted, Text: text, Type: of, Headers: []contract.Header{contract.Location}}}
}

// Parameters of several routes.
var (
	limitParameter = contract.Parameter{
		Name: "limit", Text: "How many a page has; 50 where nothing is said.", Type: contract.Number(1, mostInPage),
	}
	cursorParameter = contract.Parameter{Name: "cursor", Text: "The `nextCursor` of the page before.", Type: contract.Text()}
	prefixParameter = contract.Parameter{
		Name: "idPrefix", Text: "Six or more characters of the random part of an id, with or without what comes before it.",
		Type: contract.Text(),
	}
	userParameter = contract.Parameter{
		Name: "userId", Text: "Whose they are: for back ends to name. A person sees their own alone.", Type: contract.Text(),
	}
	sinceParameter = contract.Parameter{
		Name: "since", Text: "The id of an event, to go on behind it; 0 for everything that is kept.",
		Type: contract.Pattern("^[0-9]+$"),
	}
)

// Responses of several routes.
var (
	theJob       = ok("The job as it is then.", job.Job{})
	noJob        = []job.ErrorKind{job.NotFound}
	noJobOrPlace = []job.ErrorKind{job.NotFound, job.TooMany}
	noJobNow     = []job.ErrorKind{job.NotFound, job.Conflict}
	ndjson       = "application/x-ndjson"
	auditHead    = contract.Header{
		Name: job.AuditHeadHeader, Text: "The number of entries and the digest of the last; absent where there are none.",
	}
	theViewed = ok("The files of the change, and which of them are marked.", job.Viewed{})
)

var jobRoutes = []route{
	{handle: (*Server).createJob, Route: contract.Route{
		Method: http.MethodPost, Path: "/api/jobs", Name: "createJob", Tag: contract.Jobs, Access: contract.Caller, Signed: true,
		Summary: "asks for a job: `kind`, `input`; `userId`, `sessionId`, `idempotencyKey`, `tags`, `options` (`simulate`, `priority`). 202 with `requestId`, `sessionId`, `status`, and `Location`",
		Body:    &contract.Body{Type: newJob{}, ByKind: true}, Idempotent: true, Errors: noJobOrPlace,
		Answers: accepted("The job is stored, and waits for a worker.", job.CreatedJob{}),
	}},
	{handle: (*Server).createSuggestions, Route: contract.Route{
		Method: http.MethodPost, Path: "/api/suggestions", Name: "createSuggestions", Tag: contract.Jobs,
		Access: contract.Caller, Signed: true,
		Summary: "the same for meal-suggestions: the body is the input, with `userId`, `sessionId`, `idempotencyKey`, `tags`",
		Query: []contract.Parameter{{
			Name: "userId", Text: "Whose job it is, where the body does not say it.", Type: contract.Text(),
		}},
		Body: &contract.Body{Type: requester{}, InputOf: suggestionsKind}, Idempotent: true, Errors: noJobOrPlace,
		Answers: accepted("The job is stored, and waits for a worker.", createdSuggestions{}),
	}},
	{handle: (*Server).listJobs, Route: contract.Route{
		Method: http.MethodGet, Path: "/api/jobs", Name: "listJobs", Tag: contract.Jobs, Access: contract.Caller,
		Summary: "a page of jobs, newest first: `kind`, `status` (several: `a,b`), `userId`, `tag`, `q`, `createdSince`, `createdUntil`, `idPrefix`, `limit` (50, at most 500), `cursor` (the page before's `nextCursor`), `fields`",
		Query: []contract.Parameter{
			{Name: "kind", Text: "A kind's name.", Type: contract.Text()},
			{Name: "status", Text: "Any of these states; they may also be separated by commas.", Type: contract.SomeOf(job.States[:])},
			userParameter,
			{Name: "tag", Text: "A tag that they have.", Type: contract.Text()},
			{
				Name: "q", Text: "Words, at most 200 characters: each is in the title, the kind, the id or a tag, in any case.",
				Type: contract.Text(),
			},
			{Name: "createdSince", Text: "When they were asked for, at the earliest.", Type: contract.Time()},
			{Name: "createdUntil", Text: "They were asked for before then.", Type: contract.Time()},
			prefixParameter, limitParameter, cursorParameter,
			{
				Name: "fields",
				Text: "The fields that are wanted of each job, such as `requestId,status`; or `-result,-input` for all but these.",
				Type: contract.Text(),
			},
		},
		Answers: ok("The page.", jobPage[contract.Fields[job.Job]]{}),
	}},
	{handle: (*Server).bulk, Route: contract.Route{
		Method: http.MethodPost, Path: "/api/jobs/bulk", Name: "changeJobs", Tag: contract.Jobs, Access: contract.Caller,
		Summary: "does the same to up to 200 jobs, each by its own rules: `action` (`cancel`, `retry`, `move` or `answer`), `requestIds`. 200 with the outcome of each",
		Body:    &contract.Body{Type: job.NewBulk{}},
		Answers: ok("What became of each job.", job.BulkOutcomes{}),
	}},
	{handle: (*Server).getJob, Route: contract.Route{
		Method: http.MethodGet, Path: "/api/jobs/:id", Name: "getJob", Tag: contract.Jobs, Access: contract.Caller,
		Summary: "one job: its whole record, with result, checkpoint and usage", Answers: theJob, Errors: noJob,
	}},
	{handle: act(job.BulkCancel), Route: contract.Route{
		Method: http.MethodPost, Path: "/api/jobs/:id/cancel", Name: "cancelJob", Tag: contract.Jobs, Access: contract.Caller,
		Summary: "ends it now", Answers: theJob, Errors: noJobNow,
	}},
	{handle: onJob((*Server).interruptJob), Route: contract.Route{
		Method: http.MethodPost, Path: "/api/jobs/:id/interrupt", Name: "interruptJob", Tag: contract.Jobs, Access: contract.Caller,
		Summary: "stops the commands that Claude runs, and keeps the job; with `turn`, or called again, the whole turn; `message` is for Claude",
		Body:    &contract.Body{Type: newInterrupt{}, Optional: true}, Answers: theJob, Errors: noJobNow,
	}},
	{handle: act(job.BulkRetry), Route: contract.Route{
		Method: http.MethodPost, Path: "/api/jobs/:id/retry", Name: "retryJob", Tag: contract.Jobs, Access: contract.Caller,
		Summary: "starts an expired, failed or cancelled job again; 409 while another job continues its conversation",
		Answers: theJob, Errors: []job.ErrorKind{job.NotFound, job.Conflict, job.TooMany},
	}},
	{handle: act(job.BulkMove), Route: contract.Route{
		Method: http.MethodPost, Path: "/api/jobs/:id/move", Name: "moveJob", Tag: contract.Jobs, Access: contract.Caller,
		Summary: "moves one that has not ended to the current version of its kind, from its next turn on: see `nextKindVersion`. 409 names what of the job does not fit that version",
		Answers: theJob, Errors: noJobNow,
	}},
	{handle: onJob(decide(job.Approve)), Route: contract.Route{
		Method: http.MethodPost, Path: "/api/jobs/:id/approve", Name: "approveJob", Tag: contract.Jobs, Access: contract.Caller,
		Summary: "approves the current question of an `awaiting_approval` job; requires `checkpointId`, or `iteration` and `trees`",
		Body:    &contract.Body{Type: newDecision{}}, Answers: theJob, Errors: noJobNow,
	}},
	{handle: onJob(decide(job.Deny)), Route: contract.Route{
		Method: http.MethodPost, Path: "/api/jobs/:id/reject", Name: "rejectJob", Tag: contract.Jobs, Access: contract.Caller,
		Summary: "rejects it; `reason`", Body: &contract.Body{Type: newDecision{}, Optional: true}, Answers: theJob, Errors: noJobNow,
	}},
	{handle: onJob((*Server).steer), Route: contract.Route{
		Method: http.MethodPost, Path: "/api/jobs/:id/steer", Name: "steerJob", Tag: contract.Jobs, Access: contract.Caller,
		Summary: "asks for another round of a code change: `prompt`", Body: &contract.Body{Type: newSteer{}}, Answers: theJob,
		Errors: noJobNow,
	}},
	{handle: onChange((*Server).steering), Route: contract.Route{
		Method: http.MethodGet, Path: "/api/jobs/:id/steering", Name: "getSteering", Tag: contract.Jobs,
		Access: contract.Caller, Errors: noJobNow,
		Summary: "the rounds of a code change", Answers: ok("The rounds.", job.SteeringState{}),
	}},
	{handle: onChange((*Server).diff), Route: contract.Route{
		Method: http.MethodGet, Path: "/api/jobs/:id/diff", Name: "getDiff", Tag: contract.Jobs, Access: contract.Caller,
		Errors:  noJobNow,
		Summary: "what it changed: `repository`, `file`, `from`, `max_lines`, `context`, `since`, see [steering.md](steering.md)",
		Query: []contract.Parameter{
			{Name: "repository", Text: "The name of a repository; all where none is named.", Type: contract.Text()},
			{
				Name: "file", Text: "A path, with or without its repository before it; all files where none is named.",
				Type: contract.Text(),
			},
			{Name: "from", Text: "The first line that is wanted; 1 where nothing is said.", Type: contract.Number(1, lastLine)},
			{
				Name: "max_lines", Text: "How many lines; 1000 where nothing is said but one of the others.",
				Type: contract.Number(1, maxPageLines),
			},
			{
				Name: "context",
				Text: "How many unchanged lines are shown around each change; more than a file has show the whole file.",
				Type: contract.Number(1, maxContext),
			},
			{
				Name: "since", Text: "The number of a round, to see what has changed since: 0 is the first.",
				Type: contract.Number(0, lastRound),
			},
		},
		Answers: ok("What was changed in each repository.", []job.DiffOutput{}),
	}},
	{handle: onChange((*Server).viewed), Route: contract.Route{
		Method: http.MethodGet, Path: "/api/jobs/:id/viewed", Name: "getViewed", Tag: contract.Jobs, Access: contract.Caller,
		Errors:  noJobNow,
		Summary: "the files of its change that the caller has marked as viewed", Answers: theViewed,
	}},
	{handle: onChange((*Server).setViewed), Route: contract.Route{
		Method: http.MethodPost, Path: "/api/jobs/:id/viewed", Name: "setViewed", Tag: contract.Jobs, Access: contract.Caller,
		Errors:  noJobNow,
		Summary: "marks a file of its change as viewed by the caller: `repository` and `digest` from the diff; `viewed: false` takes the mark back",
		Body:    &contract.Body{Type: newMark{}}, Answers: theViewed,
	}},
	{handle: onChange((*Server).logs), Route: contract.Route{
		Method: http.MethodGet, Path: "/api/jobs/:id/logs", Name: "getLogs", Tag: contract.Jobs, Access: contract.Caller,
		Errors:  noJobNow,
		Summary: "the output of its verifiers", Answers: ok("How each verifier ended.", []job.VerifierOutput{}),
	}},
	{handle: onJob((*Server).jobEvents), Route: contract.Route{
		Method: http.MethodGet, Path: "/api/jobs/:id/events", Name: "listEvents", Tag: contract.Jobs, Access: contract.Caller,
		Errors:  noJob,
		Summary: "its events, at most 1,000: `since`; `\"resync\": true` if the events after `since` are no longer known, see [resync](#resync)",
		Query:   []contract.Parameter{sinceParameter},
		Answers: ok("The events, oldest first.", eventPage[job.Event]{}),
	}},
	{handle: onJob((*Server).transcript), Route: contract.Route{
		Method: http.MethodGet, Path: "/api/jobs/:id/transcript", Name: "getTranscript", Tag: contract.Jobs,
		Access: contract.Caller, Errors: noJob,
		Summary: "what the CLI printed, line by line (`application/x-ndjson`)",
		Answers: []contract.Answer{{Status: http.StatusOK, Text: "The lines as they came.", Media: ndjson}},
	}},
	{handle: onJob((*Server).audit), Route: contract.Route{
		Method: http.MethodGet, Path: "/api/jobs/:id/audit", Name: "getAudit", Tag: contract.Jobs, Access: contract.Caller,
		Errors:  noJob,
		Summary: "the audit log: approvals and what ran (`application/x-ndjson`); `previous` is the SHA-256 of the line before, and the header `Ringback-Audit-Head` the number of entries and the digest of the last",
		Answers: []contract.Answer{{
			Status: http.StatusOK, Text: "The entries, oldest first.", Media: ndjson, Lines: job.AuditEntry{},
			Headers: []contract.Header{auditHead},
		}},
	}},
	{handle: (*Server).listFiles, Route: contract.Route{
		Method: http.MethodGet, Path: "/api/jobs/:id/files", Name: "listFiles", Tag: contract.Jobs, Access: contract.Caller,
		Errors:  noJobNow,
		Summary: "the files that it made: `files` with `path`, `size`, `contentType`, `modifiedAt`, `url`; `truncated` if there are more than 1,000",
		Answers: ok("The files.", job.FileList{}),
	}},
	{handle: (*Server).getFile, Route: contract.Route{
		Method: http.MethodGet, Path: "/api/jobs/:id/files/*", Name: "getFile", Tag: contract.Jobs, Access: contract.Caller,
		Errors:  fileErrors,
		Summary: "one of them, whole or by `Range`", Answers: fileAnswers,
	}},
	{handle: (*Server).getFile, Route: contract.Route{
		Method: http.MethodHead, Path: "/api/jobs/:id/files/*", Name: "headFile", Tag: contract.Jobs, Access: contract.Caller,
		Errors:  fileErrors,
		Summary: "its size and type", Answers: fileAnswers,
	}},
	{handle: onJob((*Server).callbackValues), Route: contract.Route{
		Method: http.MethodGet, Path: "/api/jobs/:id/callback", Name: "getCallback", Tag: contract.Jobs,
		Access: contract.BackEnd, Act: "Playing Claude", Errors: noJobNow,
		Summary: "the callback values of a job that is played by hand (back ends only)",
		Answers: ok("What Claude would find in its prompt.", callbackConfiguration{}),
	}},
}

var (
	fileErrors  = []job.ErrorKind{job.NotFound, job.Conflict, job.TooLarge}
	fileAnswers = []contract.Answer{
		{Status: http.StatusOK, Text: "The file.", Media: "*/*", Headers: fileHeaders},
		{Status: http.StatusPartialContent, Text: "The part of it that `Range` asks for.", Media: "*/*", Headers: fileHeaders},
		{Status: http.StatusNotModified, Text: "It is as `If-None-Match` or `If-Modified-Since` has it."},
		{Status: http.StatusRequestedRangeNotSatisfiable, Text: "It has no such part.", Media: "text/plain"},
	}
	fileHeaders = []contract.Header{
		{Name: "ETag", Text: "Another one where the file has changed."},
		{Name: "Content-Disposition", Text: "Whether a browser may show it, and its name."},
	}
)

var checkpointParameters = []contract.Parameter{
	{Name: "status", Text: "A status; what waits where none is named.", Type: contract.OneOf(job.CheckpointStatuses[:])},
	{Name: "type", Text: "A type.", Type: contract.OneOf(job.CheckpointTypes[:])},
	userParameter,
}

var peopleRoutes = []route{
	{handle: (*Server).countCheckpoints, Route: contract.Route{
		Method: http.MethodGet, Path: "/api/checkpoints/count", Name: "countCheckpoints", Tag: contract.People, Access: contract.Caller,
		Summary: "their number, as `count`: `status`, `type`, `userId`",
		Query:   checkpointParameters, Answers: ok("The count.", checkpointCount{}),
	}},
	{handle: (*Server).listCheckpoints, Route: contract.Route{
		Method: http.MethodGet, Path: "/api/checkpoints", Name: "listCheckpoints", Tag: contract.People, Access: contract.Caller,
		Summary: "the inbox, the questions that wait for a reply: `status`, `type`, `userId`, `idPrefix`, `limit`, `cursor`",
		Query:   slices.Concat(checkpointParameters, []contract.Parameter{prefixParameter, limitParameter, cursorParameter}),
		Answers: ok("The page.", job.CheckpointPage{}),
	}},
	{handle: (*Server).getCheckpoint, Route: contract.Route{
		Method: http.MethodGet, Path: "/api/checkpoints/:id", Name: "getCheckpoint", Tag: contract.People,
		Access: contract.Caller, Errors: noJob,
		Summary: "one question", Answers: ok("The checkpoint.", job.Checkpoint{}),
	}},
	{handle: (*Server).replyToCheckpoint, Route: contract.Route{
		Method: http.MethodPost, Path: "/api/checkpoints/:id/reply", Name: "replyToCheckpoint", Tag: contract.People,
		Access: contract.Caller, Errors: noJobNow,
		Summary: "answers it: `decision`, `values` or `text`", Body: &contract.Body{Type: checkpoint.Reply{}},
		Answers: ok(
			"The checkpoint as it is then: `answered`, being read, or `clarified`, with `next` asking again.", job.Checkpoint{},
		),
	}},
	{handle: (*Server).sessionMessages, Route: contract.Route{
		Method: http.MethodGet, Path: "/api/sessions/:id/messages", Name: "listMessages", Tag: contract.People,
		Access: contract.Caller, Errors: noJobNow,
		Summary: "the chat: `after`, `limit`, `userId`",
		Query: []contract.Parameter{
			{Name: "after", Text: "The id of a message, to go on behind it.", Type: contract.Pattern("^[0-9]+$")},
			limitParameter,
			{Name: "userId", Text: "Whose chat it is, if several users have one of this name, or only the user has named it.", Type: contract.Text()},
		},
		Answers: ok("The messages, oldest first.", job.MessagePage{}),
	}},
	{handle: (*Server).toLLM, Route: contract.Route{
		Method: http.MethodPost, Path: "/to-llm", Name: "sendUserMessage", Tag: contract.People, Access: contract.Caller,
		Errors:  []job.ErrorKind{job.NotFound, job.Conflict, job.TooMany},
		Summary: "adds a user's message: `sessionId`, `content`", Body: &contract.Body{Type: checkpoint.Incoming{}},
		Answers: messageStored,
	}},
	{handle: (*Server).fromLLM, Route: contract.Route{
		Method: http.MethodPost, Path: "/from-llm", Name: "sendAssistantMessage", Tag: contract.People,
		Access: contract.BackEnd, Act: "Speaking as the assistant", Errors: []job.ErrorKind{job.Conflict},
		Summary: "adds a message from an outside orchestrator to a user (back ends only)",
		Body:    &contract.Body{Type: checkpoint.Incoming{}}, Answers: messageStored,
	}},
	{handle: (*Server).startRun, Route: contract.Route{
		Method: http.MethodPost, Path: "/hitl/runs", Name: "startRun", Tag: contract.People, Access: contract.Caller,
		Errors:  noJobOrPlace,
		Summary: "starts a run, in snake_case. 202 with `Location`", Body: &contract.Body{Type: runConfig{}}, Idempotent: true,
		Answers: accepted("The run, whose job waits for a worker.", run{}),
	}},
	{handle: onJob((*Server).getRun), Route: contract.Route{
		Method: http.MethodGet, Path: "/hitl/runs/:id", Name: "getRun", Tag: contract.People, Access: contract.Caller, Errors: noJob,
		Summary: "shows it", Answers: ok("The run.", run{}),
	}},
	{handle: (*Server).listApprovals, Route: contract.Route{
		Method: http.MethodGet, Path: "/api/approvals", Name: "listApprovals", Tag: contract.People, Access: contract.Caller,
		Summary: "a user's approvals for more than one call: `userId`", Query: []contract.Parameter{userParameter},
		Answers: ok("The standing approvals.", job.ApprovalList{}),
	}},
	{handle: (*Server).revokeApproval, Route: contract.Route{
		Method: http.MethodDelete, Path: "/api/approvals/:id", Name: "revokeApproval", Tag: contract.People,
		Access: contract.Caller, Errors: noJob,
		Summary: "takes one back: its user's `userId`", Query: []contract.Parameter{userParameter},
		Answers: ok("It was revoked.", done{}),
	}},
	{handle: (*Server).slackCommand, identifies: true, Route: contract.Route{
		Method: http.MethodPost, Path: "/api/slack/commands", Name: "slackCommand", Tag: contract.People, Access: contract.Slack,
		Errors:  []job.ErrorKind{job.Unauthorized, job.NotFound},
		Summary: "Slack's slash command, authorized by Slack's signature",
		Body:    &contract.Body{Type: slackForm{}, Media: echo.MIMEApplicationForm},
		Answers: ok("What Slack shows, of an error too.", slackAnswer{}),
	}},
}

var messageStored = ok("The message is in the chat.", job.SentMessage{})

var serverRoutes = []route{
	{handle: (*Server).listKinds, Route: contract.Route{
		Method: http.MethodGet, Path: "/api/kinds", Name: "listKinds", Tag: contract.Server, Access: contract.Caller,
		Summary: "the kinds of jobs", Answers: ok("The kinds.", job.KindList{}),
	}},
	{handle: (*Server).getKind, Route: contract.Route{
		Method: http.MethodGet, Path: "/api/kinds/:name", Name: "getKind", Tag: contract.Server, Access: contract.Caller, Errors: noJob,
		Summary: "one kind, with its schemas and actions", Answers: ok("The kind.", job.KindView{}),
	}},
	{handle: (*Server).reloadKinds, Route: contract.Route{
		Method: http.MethodPost, Path: "/api/kinds/reload", Name: "reloadKinds", Tag: contract.Server,
		Access: contract.BackEnd, Act: "Reloading kinds", Errors: []job.ErrorKind{job.Conflict},
		Summary: "loads the files of the kinds again on the called node, all of them or none: `added`, `removed`, `changed` (back ends only). 409 names each problem by file and line",
		Answers: ok("The kinds were loaded.", job.KindsReload{}),
	}},
	{handle: (*Server).stats, Route: contract.Route{
		Method: http.MethodGet, Path: "/api/stats", Name: "getStatistics", Tag: contract.Server, Access: contract.BackEnd,
		Act:     "Reading statistics",
		Query:   []contract.Parameter{{Name: "userId", Text: "The user whose budget is among the budgets.", Type: contract.Text()}},
		Summary: "the number of jobs by status and kind, the outcomes of questions to people, Claude's current limits (`limits`), the use of budgets and quotas today (`budgets`, also of the user `userId`; `quotas`), and figures of the last 30 days (UTC) (`days`) (back ends only)",
		Answers: ok("The counts.", job.Statistics{}),
	}},
	{handle: examine(false), Route: contract.Route{
		Method: http.MethodGet, Path: "/api/doctor", Name: "inspectStore", Tag: contract.Server, Access: contract.BackEnd,
		Act:     "Examining the store",
		Summary: "inconsistencies of the store: `found`, `mended`, `findings` (back ends only)",
		Answers: ok("What was found.", job.Examination{}),
	}},
	{handle: examine(true), Route: contract.Route{
		Method: http.MethodPost, Path: "/api/doctor", Name: "mendStore", Tag: contract.Server, Access: contract.BackEnd,
		Act:     "Examining the store",
		Summary: "the same, and repairs them (back ends only)",
		Answers: ok("What was found, and mended.", job.Examination{}),
	}},
	{handle: (*Server).listNotifications, Route: contract.Route{
		Method: http.MethodGet, Path: "/api/notifications", Name: "listNotifications", Tag: contract.Server,
		Access: contract.BackEnd, Act: "Listing notifications",
		Summary: "the notifications that wait for another try, and those that were given up: `status`, `limit` (back ends only)",
		Query: []contract.Parameter{
			{Name: "status", Text: "Only those of this status.", Type: contract.OneOf(job.NotificationStatuses[:])}, limitParameter,
		},
		Answers: ok("The notifications, oldest first.", job.NotificationList{}),
	}},
	{handle: (*Server).retryNotification, Route: contract.Route{
		Method: http.MethodPost, Path: "/api/notifications/:id/retry", Name: "retryNotification", Tag: contract.Server,
		Access: contract.BackEnd, Act: "Sending notifications again", Errors: noJob,
		Summary: "sends one again now, unchanged, with retries for three more days (back ends only)",
		Answers: ok("It is being sent.", done{}),
	}},
	{handle: (*Server).health, unlimited: true, Route: contract.Route{
		Method: http.MethodGet, Path: HealthPath, Name: "getHealth", Tag: contract.Server, Access: contract.Anyone,
		Summary: "200 while the process lives; anyone may ask", Answers: ok("It lives.", health{}),
	}},
	{handle: (*Server).ready, Route: contract.Route{
		Method: http.MethodGet, Path: "/readyz", Name: "getReadiness", Tag: contract.Server, Access: contract.Anyone,
		Summary: "200 while it can work, with `sandbox`, the sandbox in force, `warnings` for lesser problems, and `limits`, Claude's current limits, if any; else 503 with the reason; anyone may ask",
		Answers: ok("It can work.", job.Readiness{}),
	}},
	{handle: (*Server).metrics, Route: contract.Route{
		Method: http.MethodGet, Path: "/metrics", Name: "getMetrics", Tag: contract.Server, Access: contract.Anyone,
		Summary: "Prometheus; anyone may ask",
		Answers: []contract.Answer{{Status: http.StatusOK, Text: "The metrics, as Prometheus reads them.", Media: "text/plain"}},
	}},
	{handle: document(func(d Documents) []byte { return d.OpenAPI }), identifies: true, Route: contract.Route{
		Method: http.MethodGet, Path: "/openapi.json", Name: "getOpenAPI", Tag: contract.Server, Access: contract.Anyone,
		Errors:  []job.ErrorKind{job.Unauthorized},
		Summary: "this API as OpenAPI 3.1; anyone may ask; with a key or a token, it includes the server's own kinds",
		Answers: ok("The document.", map[string]any{}),
	}},
	{handle: document(func(d Documents) []byte { return d.AsyncAPI }), identifies: true, Route: contract.Route{
		Method: http.MethodGet, Path: "/asyncapi.json", Name: "getAsyncAPI", Tag: contract.Server, Access: contract.Anyone,
		Errors:  []job.ErrorKind{job.Unauthorized},
		Summary: "the WebSocket as AsyncAPI 3.0, likewise",
		Answers: ok("The document.", map[string]any{}),
	}},
	{handle: (*Server).webSocket, identifies: true, Route: contract.Route{
		Method: http.MethodGet, Path: webSocketPath, Name: "connect", Tag: contract.Server, Access: contract.Caller,
		Errors:  []job.ErrorKind{job.TooMany},
		Summary: "events over a WebSocket, below", Query: []contract.Parameter{
			{
				Name: "userId", Text: "Whose events they are: for back ends to name; `*` for those of all users, from now on.",
				Type: contract.Text(),
			},
			{Name: "token", Text: "A user's token, where it comes neither as a header nor as a subprotocol.", Type: contract.Text()},
			{Name: "requestId", Text: "The only job whose events are wanted.", Type: contract.Text()},
			{
				Name: "text", Text: "Also the text that Claude is writing, as it is written; needs `requestId`.",
				Type: contract.OneOf([]string{"true", "false"}),
			},
			sinceParameter,
		},
		Answers: []contract.Answer{{
			Status: http.StatusSwitchingProtocols, Text: "A WebSocket: /asyncapi.json says what goes over it.",
		}},
	}},
}
