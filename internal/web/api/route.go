package api

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/web/contract"
)

// route is an endpoint and its handler. The tables of routes are complete: the router, the
// contracts and docs/api.md are built from them.
type route struct {
	contract.Route
	handle handler
}

type handler func(*Server, echo.Context) error

// get returns a route for callers, which the functions below change.
func get(path, name string, handle handler, summary string, answers []contract.Answer, errs ...job.ErrorKind) route {
	return route{handle: handle, Route: contract.Route{
		Method: http.MethodGet, Path: path, Name: name, Access: contract.Caller, Summary: summary, Answers: answers, Errors: errs,
	}}
}

func post(path, name string, handle handler, summary string, answers []contract.Answer, errs ...job.ErrorKind) route {
	return get(path, name, handle, summary, answers, errs...).method(http.MethodPost)
}

func (r route) method(name string) route {
	r.Method = name
	return r
}

func (r route) query(parameters ...contract.Parameter) route {
	r.Query = parameters
	return r
}

func (r route) body(b contract.Body) route {
	r.Body = &b
	return r
}

// creates marks a route that creates a job, which takes an idempotency key, and perhaps a signature.
func (r route) creates(signed bool) route {
	r.Idempotent, r.Signed = true, signed
	return r
}

// access sets who may call the route. act is contract.Route.Act.
func (r route) access(a contract.Access, act string) route {
	r.Access, r.Act = a, act
	return r
}

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

// routes returns all routes. The tables are in the order of contract.Tags.
func routes() (all []route) {
	for i, section := range [][]route{jobRoutes, peopleRoutes, serverRoutes} {
		for _, r := range section {
			r.Tag = contract.Tags[i].Name
			all = append(all, r)
		}
	}
	return all
}

// Routes describes all endpoints.
func Routes() (all []contract.Route) {
	for _, r := range routes() {
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

func parameter(name string, of contract.Type, text string) contract.Parameter {
	return contract.Parameter{Name: name, Text: text, Type: of}
}

// Parameters of several routes.
var (
	limitParameter  = parameter("limit", contract.Number(1, mostInPage), "The maximum number of entries in a page; default 50.")
	cursorParameter = parameter("cursor", contract.Text(), "The `nextCursor` of the previous page.")
	prefixParameter = parameter("idPrefix", contract.Text(),
		"Six or more characters of the random part of an id, with or without what comes before it.")
	userParameter  = parameter("userId", contract.Text(), "The user, for back ends. A person sees only their own.")
	sinceParameter = parameter("since", contract.Pattern("^[0-9]+$"), "The id of an event: only later ones; 0 for all that are kept.")

	checkpointParameters = []contract.Parameter{
		parameter("status", contract.OneOf(job.CheckpointStatuses[:]), "A status; default: those that wait for a reply."),
		parameter("type", contract.OneOf(job.CheckpointTypes[:]), "A type."),
		userParameter,
	}
)

// Responses of several routes.
var (
	theJob       = ok("The job's record.", job.Job{})
	theViewed    = ok("The files of the change, with the caller's marks.", job.Viewed{})
	theDocument  = ok("The document.", map[string]any{})
	stored       = ok("The message is in the chat.", job.SentMessage{})
	noJob        = []job.ErrorKind{job.NotFound}
	noJobOrPlace = []job.ErrorKind{job.NotFound, job.TooMany}
	noJobNow     = []job.ErrorKind{job.NotFound, job.Conflict}
	noFileThere  = []job.ErrorKind{job.NotFound, job.Conflict, job.TooLarge}
	theFile      = []contract.Answer{
		{Status: http.StatusOK, Text: "The file.", Media: "*/*", Headers: fileHeaders},
		{Status: http.StatusPartialContent, Text: "The part of the file that `Range` asks for.", Media: "*/*", Headers: fileHeaders},
		{Status: http.StatusNotModified, Text: "The file has not changed, by `If-None-Match` or `If-Modified-Since`."},
		{Status: http.StatusRequestedRangeNotSatisfiable, Text: "The file has no such part.", Media: "text/plain"},
	}
	fileHeaders = []contract.Header{
		{Name: "ETag", Text: "Changes with the file."},
		{Name: "Content-Disposition", Text: "Whether a browser may display the file, and the file's name."},
	}
	theTranscript = []contract.Answer{{Status: http.StatusOK, Text: "The lines, as the CLI printed them.", Media: ndjson}}
	theAudit      = []contract.Answer{{
		Status: http.StatusOK, Text: "The entries, oldest first.", Media: ndjson, Lines: job.AuditEntry{},
		Headers: []contract.Header{{
			Name: job.AuditHeadHeader, Text: "The number of entries and the digest of the last; absent if there are none.",
		}},
	}}
)

const ndjson = "application/x-ndjson"

var jobRoutes = []route{
	post("/api/jobs", "createJob", (*Server).createJob,
		"asks for a job: `kind`, `input`; `userId`, `sessionId`, `idempotencyKey`, `tags`, `options` (`simulate`, `priority`). 202 with `requestId`, `sessionId`, `status`, and `Location`",
		accepted("The job is stored, and waits for a worker.", job.CreatedJob{}), noJobOrPlace...,
	).body(contract.Body{Type: newJob{}, ByKind: true}).creates(true),
	post("/api/suggestions", "createSuggestions", (*Server).createSuggestions,
		"the same for meal-suggestions: the body is the input, with `userId`, `sessionId`, `idempotencyKey`, `tags`",
		accepted("The job is stored, and waits for a worker.", createdSuggestions{}), noJobOrPlace...,
	).query(parameter("userId", contract.Text(), "The user of the job, if the body names none.")).
		body(contract.Body{Type: requester{}, InputOf: suggestionsKind}).creates(true),
	get("/api/jobs", "listJobs", (*Server).listJobs,
		"a page of jobs, newest first: `kind`, `status` (several: `a,b`), `userId`, `tag`, `q`, `createdSince`, `createdUntil`, `idPrefix`, `limit` (50, at most 500), `cursor` (the page before's `nextCursor`), `fields`",
		ok("The page.", jobPage[contract.Fields[job.Job]]{}),
	).query(
		parameter("kind", contract.Text(), "A kind's name."),
		parameter("status", contract.SomeOf(job.States[:]), "Any of these states, as repeated parameters or separated by commas."),
		userParameter,
		parameter("tag", contract.Text(), "A tag of the jobs."),
		parameter("q", contract.Text(), "Words, at most 200 characters: each is in the title, the kind, the id or a tag, in any case."),
		parameter("createdSince", contract.Time(), "Only jobs created at this time or later."),
		parameter("createdUntil", contract.Time(), "Only jobs created before this time."),
		prefixParameter, limitParameter, cursorParameter,
		parameter("fields", contract.Text(), "The fields of each job to return, such as `requestId,status`; or `-result,-input` for all but these."),
	),
	post("/api/jobs/bulk", "changeJobs", (*Server).bulk,
		"does the same to up to 200 jobs, each by its own rules: `action` (`cancel`, `retry`, `move` or `answer`), `requestIds`. 200 with the outcome of each",
		ok("The outcome of each job.", job.BulkOutcomes{}),
	).body(contract.Body{Type: job.NewBulk{}}),
	get("/api/jobs/:id", "getJob", (*Server).getJob,
		"one job: its whole record, with result, checkpoint and usage", theJob, noJob...),
	post("/api/jobs/:id/cancel", "cancelJob", act(job.BulkCancel), "ends the job now", theJob, noJobNow...),
	post("/api/jobs/:id/interrupt", "interruptJob", onJob((*Server).interruptJob),
		"stops the commands that Claude runs, and keeps the job; with `turn`, or called again, the whole turn; `message` is for Claude",
		theJob, noJobNow...).body(contract.Body{Type: newInterrupt{}, Optional: true}),
	post("/api/jobs/:id/retry", "retryJob", act(job.BulkRetry),
		"starts an expired, failed or cancelled job again; 409 while another job continues its conversation",
		theJob, job.NotFound, job.Conflict, job.TooMany),
	post("/api/jobs/:id/move", "moveJob", act(job.BulkMove),
		"moves one that has not ended to the current version of its kind, from its next turn on: see `nextKindVersion`. 409 names what of the job does not fit that version",
		theJob, noJobNow...),
	post("/api/jobs/:id/approve", "approveJob", onJob(decide(job.Approve)),
		"approves the current question of an `awaiting_approval` job; requires `checkpointId`, or `iteration` and `trees`",
		theJob, noJobNow...).body(contract.Body{Type: newDecision{}}),
	post("/api/jobs/:id/reject", "rejectJob", onJob(decide(job.Deny)), "rejects it; `reason`", theJob, noJobNow...).
		body(contract.Body{Type: newDecision{}, Optional: true}),
	post("/api/jobs/:id/steer", "steerJob", onJob((*Server).steer),
		"asks for another round of a code change: `prompt`", theJob, noJobNow...).body(contract.Body{Type: newSteer{}}),
	get("/api/jobs/:id/steering", "getSteering", onChange((*Server).steering),
		"the rounds of a code change", ok("The rounds.", job.SteeringState{}), noJobNow...),
	get("/api/jobs/:id/diff", "getDiff", onChange((*Server).diff),
		"what it changed: `repository`, `file`, `from`, `max_lines`, `context`, `since`, see [steering.md](steering.md)",
		ok("The changes in each repository.", []job.DiffOutput{}), noJobNow...,
	).query(
		parameter("repository", contract.Text(), "The name of a repository; default: all."),
		parameter("file", contract.Text(), "A path, with or without its repository before it; default: all files."),
		parameter("from", contract.Number(1, lastLine), "The first line; default 1."),
		parameter("max_lines", contract.Number(1, maxPageLines), "The number of lines; default 1000 if one of the others is set."),
		parameter("context", contract.Number(1, maxContext),
			"The number of unchanged lines around each change; more than a file has show the whole file."),
		parameter("since", contract.Number(0, lastRound), "The number of a round, to see what has changed since: 0 is the first."),
	),
	get("/api/jobs/:id/viewed", "getViewed", onChange((*Server).viewed),
		"the files of its change that the caller has marked as viewed", theViewed, noJobNow...),
	post("/api/jobs/:id/viewed", "setViewed", onChange((*Server).setViewed),
		"marks a file of its change as viewed by the caller: `repository` and `digest` from the diff; `viewed: false` takes the mark back",
		theViewed, noJobNow...).body(contract.Body{Type: newMark{}}),
	get("/api/jobs/:id/logs", "getLogs", onChange((*Server).logs),
		"the output of its verifiers", ok("The outcome of each verifier.", []job.VerifierOutput{}), noJobNow...),
	get("/api/jobs/:id/events", "listEvents", onJob((*Server).jobEvents),
		"its events, at most 1,000: `since`; `\"resync\": true` if the events after `since` are no longer known, see [resync](#resync)",
		ok("The events, oldest first.", eventPage[job.Event]{}), noJob...).query(sinceParameter),
	get("/api/jobs/:id/transcript", "getTranscript", onJob((*Server).transcript),
		"what the CLI printed, line by line (`application/x-ndjson`)", theTranscript, noJob...),
	get("/api/jobs/:id/audit", "getAudit", onJob((*Server).audit),
		"the audit log: approvals and what ran (`application/x-ndjson`); `previous` is the SHA-256 of the line before, and the header `Ringback-Audit-Head` the number of entries and the digest of the last",
		theAudit, noJob...),
	get("/api/jobs/:id/files", "listFiles", (*Server).listFiles,
		"the files that it made: `files` with `path`, `size`, `contentType`, `modifiedAt`, `url`; `truncated` if there are more than 1,000",
		ok("The files.", job.FileList{}), noJobNow...),
	get("/api/jobs/:id/files/*", "getFile", (*Server).getFile, "one of them, whole or by `Range`", theFile, noFileThere...),
	get("/api/jobs/:id/files/*", "headFile", (*Server).getFile, "its size and type", theFile, noFileThere...).
		method(http.MethodHead),
	get("/api/jobs/:id/callback", "getCallback", onJob((*Server).callbackValues),
		"the callback values of a job that is played by hand (back ends only)",
		ok("The values that Claude would get in its prompt.", callbackConfiguration{}), noJobNow...,
	).access(contract.BackEnd, "Playing Claude"),
}

var peopleRoutes = []route{
	get("/api/checkpoints/count", "countCheckpoints", (*Server).countCheckpoints,
		"their number, as `count`: `status`, `type`, `userId`", ok("The count.", checkpointCount{})).query(checkpointParameters...),
	get("/api/checkpoints", "listCheckpoints", (*Server).listCheckpoints,
		"the inbox, the questions that wait for a reply: `status`, `type`, `userId`, `idPrefix`, `limit`, `cursor`",
		ok("The page.", job.CheckpointPage{}),
	).query(slices.Concat(checkpointParameters, []contract.Parameter{prefixParameter, limitParameter, cursorParameter})...),
	get("/api/checkpoints/:id", "getCheckpoint", (*Server).getCheckpoint,
		"one question", ok("The checkpoint.", job.Checkpoint{}), noJob...),
	post("/api/checkpoints/:id/reply", "replyToCheckpoint", (*Server).replyToCheckpoint,
		"answers it: `decision`, `values` or `text`",
		ok("The updated checkpoint: `answered`, being read, or `clarified`, with `next` asking again.", job.Checkpoint{}), noJobNow...,
	).body(contract.Body{Type: checkpoint.Reply{}}),
	get("/api/sessions/:id/messages", "listMessages", (*Server).sessionMessages,
		"the chat: `after`, `limit`, `userId`", ok("The messages, oldest first.", job.MessagePage{}), noJobNow...,
	).query(
		parameter("after", contract.Pattern("^[0-9]+$"), "The id of a message: only later ones."),
		limitParameter,
		parameter("userId", contract.Text(),
			"The owner of the chat, if several users have one of this name, or only its user has named it."),
	),
	post("/to-llm", "sendUserMessage", (*Server).toLLM, "adds a user's message: `sessionId`, `content`",
		stored, job.NotFound, job.Conflict, job.TooMany).body(contract.Body{Type: checkpoint.Incoming{}}),
	post("/from-llm", "sendAssistantMessage", (*Server).fromLLM,
		"adds a message from an outside orchestrator to a user (back ends only)", stored, job.Conflict,
	).body(contract.Body{Type: checkpoint.Incoming{}}).access(contract.BackEnd, "Speaking as the assistant"),
	post("/hitl/runs", "startRun", (*Server).startRun, "starts a run, in snake_case. 202 with `Location`",
		accepted("The run, whose job waits for a worker.", run{}), noJobOrPlace...).
		body(contract.Body{Type: runConfig{}}).creates(false),
	get("/hitl/runs/:id", "getRun", onJob((*Server).getRun), "shows it", ok("The run.", run{}), noJob...),
	get("/api/approvals", "listApprovals", (*Server).listApprovals, "a user's approvals for more than one call: `userId`",
		ok("The standing approvals.", job.ApprovalList{})).query(userParameter),
	get("/api/approvals/:id", "revokeApproval", (*Server).revokeApproval, "takes one back: its user's `userId`",
		ok("It was revoked.", done{}), noJob...).query(userParameter).method(http.MethodDelete),
	post("/api/slack/commands", "slackCommand", (*Server).slackCommand, "Slack's slash command, authorized by Slack's signature",
		ok("What Slack shows, of an error too.", slackAnswer{}), job.Unauthorized, job.NotFound,
	).body(contract.Body{Type: slackForm{}, Media: echo.MIMEApplicationForm}).access(contract.Slack, ""),
}

var serverRoutes = []route{
	get("/api/kinds", "listKinds", (*Server).listKinds, "the kinds of jobs", ok("The kinds.", job.KindList{})),
	get("/api/kinds/:name", "getKind", (*Server).getKind, "one kind, with its schemas and actions",
		ok("The kind.", job.KindView{}), noJob...),
	post("/api/kinds/reload", "reloadKinds", (*Server).reloadKinds,
		"loads the files of the kinds again on the called node, all of them or none: `added`, `removed`, `changed` (back ends only). 409 names each problem by file and line",
		ok("The kinds were loaded.", job.KindsReload{}), job.Conflict).access(contract.BackEnd, "Reloading kinds"),
	get("/api/stats", "getStatistics", (*Server).stats,
		"the number of jobs by status and kind, the outcomes of questions to people, Claude's current limits (`limits`), the use of budgets and quotas today (`budgets`, also of the user `userId`; `quotas`), and figures of the last 30 days (UTC) (`days`) (back ends only)",
		ok("The counts.", job.Statistics{}),
	).query(parameter("userId", contract.Text(), "The user whose budget is among the budgets.")).
		access(contract.BackEnd, "Reading statistics"),
	get("/api/doctor", "inspectStore", examine(false),
		"inconsistencies of the store: `found`, `mended`, `findings` (back ends only)",
		ok("What was found.", job.Examination{})).access(contract.BackEnd, "Examining the store"),
	post("/api/doctor", "mendStore", examine(true), "the same, and repairs them (back ends only)",
		ok("What was found, and mended.", job.Examination{})).access(contract.BackEnd, "Examining the store"),
	get("/api/notifications", "listNotifications", (*Server).listNotifications,
		"the notifications that wait for another try, and those that were given up: `status`, `limit` (back ends only)",
		ok("The notifications, oldest first.", job.NotificationList{}),
	).query(parameter("status", contract.OneOf(job.NotificationStatuses[:]), "Only those of this status."), limitParameter).
		access(contract.BackEnd, "Listing notifications"),
	post("/api/notifications/:id/retry", "retryNotification", (*Server).retryNotification,
		"sends one again now, unchanged, with retries for three more days (back ends only)",
		ok("It is being sent.", done{}), noJob...).access(contract.BackEnd, "Sending notifications again"),
	get(HealthPath, "getHealth", (*Server).health, "200 while the process lives; anyone may ask",
		ok("The process lives.", health{})).access(contract.Anyone, ""),
	get("/readyz", "getReadiness", (*Server).ready,
		"200 while it can work, with `sandbox`, the sandbox in force, `warnings` for lesser problems, and `limits`, Claude's current limits, if any; else 503 with the reason; anyone may ask",
		ok("The server can work.", job.Readiness{})).access(contract.Anyone, ""),
	get("/metrics", "getMetrics", (*Server).metrics, "Prometheus; anyone may ask",
		[]contract.Answer{{Status: http.StatusOK, Text: "The metrics, as Prometheus reads them.", Media: "text/plain"}},
	).access(contract.Anyone, ""),
	get("/openapi.json", "getOpenAPI", document(func(d Documents) []byte { return d.OpenAPI }),
		"this API as OpenAPI 3.1; anyone may ask; with a key or a token, it includes the server's own kinds",
		theDocument, job.Unauthorized).access(contract.Anyone, ""),
	get("/asyncapi.json", "getAsyncAPI", document(func(d Documents) []byte { return d.AsyncAPI }),
		"the WebSocket as AsyncAPI 3.0, likewise", theDocument, job.Unauthorized).access(contract.Anyone, ""),
	get(webSocketPath, "connect", (*Server).webSocket, "events over a WebSocket, below", []contract.Answer{{
		Status: http.StatusSwitchingProtocols, Text: "A WebSocket; /asyncapi.json describes its messages.",
	}}, job.TooMany).query(
		parameter("userId", contract.Text(), "The user, for back ends; `*` for the events of all users, from now on."),
		parameter("token", contract.Text(), "A user's token, if it comes neither as a header nor as a subprotocol."),
		parameter("requestId", contract.Text(), "Only the events of this job."),
		parameter("text", contract.OneOf([]string{"true", "false"}),
			"Also the text that Claude is writing, as it is written; needs `requestId`."),
		sinceParameter,
	),
}
