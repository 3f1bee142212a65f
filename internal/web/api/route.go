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
	limitParameter  = parameter("limit", contract.Number(1, mostInPage), "The maximum number of entries in a page: 1 to 500, default 50.")
	cursorParameter = parameter("cursor", contract.Text(), "The `nextCursor` of the previous page; default: the first page.")
	prefixParameter = parameter("idPrefix", contract.Text(),
		"At least 6 characters of the random part of an id, with or without its prefix.")
	userParameter  = parameter("userId", contract.Text(), "The user, for back ends. A user's token always selects its own user.")
	sinceParameter = parameter("since", contract.Pattern("^[0-9]+$"), "The id of an event: returns only later events. 0 returns all that are retained.")

	checkpointParameters = []contract.Parameter{
		parameter("status", contract.OneOf(job.CheckpointStatuses[:]), "Only checkpoints with this status; default: those that wait for a reply."),
		parameter("type", contract.OneOf(job.CheckpointTypes[:]), "Only checkpoints of this type; default: all types."),
		userParameter,
	}
)

// Responses of several routes.
var (
	theJob       = ok("The complete record of the job.", job.Job{})
	theViewed    = ok("The files of the change, each with the caller's mark.", job.Viewed{})
	theDocument  = ok("The document.", map[string]any{})
	stored       = ok("The message is in the chat.", job.SentMessage{})
	noJob        = []job.ErrorKind{job.NotFound}
	noJobOrPlace = []job.ErrorKind{job.NotFound, job.TooMany}
	noJobNow     = []job.ErrorKind{job.NotFound, job.Conflict}
	noFileThere  = []job.ErrorKind{job.NotFound, job.Conflict, job.TooLarge}
	theFile      = []contract.Answer{
		{Status: http.StatusOK, Text: "The file.", Media: "*/*", Headers: fileHeaders},
		{Status: http.StatusPartialContent, Text: "The part of the file that `Range` selects.", Media: "*/*", Headers: fileHeaders},
		{Status: http.StatusNotModified, Text: "The file has not changed since the version in `If-None-Match` or the time in `If-Modified-Since`."},
		{Status: http.StatusRequestedRangeNotSatisfiable, Text: "`Range` is outside of the file.", Media: "text/plain"},
	}
	fileHeaders = []contract.Header{
		{Name: "ETag", Text: "Identifies this version of the file, for `If-None-Match`."},
		{Name: "Content-Disposition", Text: "Whether a browser may display the file, and the file's name."},
	}
	theTranscript = []contract.Answer{{
		Status: http.StatusOK, Text: "The lines, as the CLI printed them, oldest first.", Media: ndjson,
	}}
	theAudit = []contract.Answer{{
		Status: http.StatusOK, Text: "The entries, oldest first.", Media: ndjson, Lines: job.AuditEntry{},
		Headers: []contract.Header{{
			Name: job.AuditHeadHeader, Text: "The number of entries and the digest of the last; absent if there are none.",
		}},
	}}
)

const ndjson = "application/x-ndjson"

var jobRoutes = []route{
	post("/api/jobs", "createJob", (*Server).createJob,
		"creates a job. Takes `kind`, `input`; `userId`, `sessionId`, `idempotencyKey`, `tags`, `options` (`simulate`, `priority`); returns 202 with `requestId`, `sessionId`, `status` and the header `Location`",
		accepted("The job is stored and waits for a worker.", job.CreatedJob{}), noJobOrPlace...,
	).body(contract.Body{Type: newJob{}, ByKind: true}).creates(true),
	post("/api/suggestions", "createSuggestions", (*Server).createSuggestions,
		"creates a job of the kind meal-suggestions. The body is its input, with `userId`, `sessionId`, `idempotencyKey`, `tags`",
		accepted("The job is stored and waits for a worker.", createdSuggestions{}), noJobOrPlace...,
	).query(parameter("userId", contract.Text(), "The owner of the job, if the body names none.")).
		body(contract.Body{Type: requester{}, WithInput: true}).creates(true),
	get("/api/jobs", "listJobs", (*Server).listJobs,
		"lists jobs, newest first. Filters: `kind`, `status` (several: `a,b`), `userId`, `tag`, `q`, `createdSince`, `createdUntil`, `idPrefix`; pages: `limit` (default 50, at most 500), `cursor` (the previous page's `nextCursor`); `fields` selects fields",
		ok("The page.", jobPage[contract.Fields[job.Job]]{}),
	).query(
		parameter("kind", contract.Text(), "Only jobs of the kind with this name."),
		parameter("status", contract.SomeOf(job.States[:]), "Only jobs in one of these states: a repeated parameter, or separated by commas."),
		userParameter,
		parameter("tag", contract.Text(), "Only jobs with this tag."),
		parameter("q", contract.Text(), "Words to search for, at most 200 characters. A job matches if its title, kind, id or tags contain each word; case is ignored."),
		parameter("createdSince", contract.Time(), "Only jobs created at this time or later."),
		parameter("createdUntil", contract.Time(), "Only jobs created before this time."),
		prefixParameter, limitParameter, cursorParameter,
		parameter("fields", contract.Text(), "The fields of each job to return, such as `requestId,status`; or `-result,-input` for all but these."),
	),
	post("/api/jobs/bulk", "changeJobs", (*Server).bulk,
		"applies one action to up to 200 jobs. Takes `action` (`cancel`, `retry`, `move` or `answer`) and `requestIds`; returns 200 with the outcome of each job, also if it failed for some",
		ok("The outcome of each job.", job.BulkOutcomes{}),
	).body(contract.Body{Type: job.NewBulk{}}),
	get("/api/jobs/:id", "getJob", (*Server).getJob,
		"returns a job. The record is complete, with result, checkpoint and usage", theJob, noJob...),
	post("/api/jobs/:id/cancel", "cancelJob", act(job.BulkCancel), "cancels a job. It ends at once, with the status `cancelled`", theJob, noJobNow...),
	post("/api/jobs/:id/interrupt", "interruptJob", onJob((*Server).interruptJob),
		"interrupts the running turn. This stops the commands that Claude runs; with `turn`, or if called again, the whole turn. The job continues; `message` is sent to Claude",
		theJob, noJobNow...).body(contract.Body{Type: newInterrupt{}, Optional: true}),
	post("/api/jobs/:id/retry", "retryJob", act(job.BulkRetry),
		"retries an expired, failed or cancelled job. 409 while another job continues its conversation",
		theJob, job.NotFound, job.Conflict, job.TooMany),
	post("/api/jobs/:id/move", "moveJob", act(job.BulkMove),
		"moves a job to the current version of its kind. The job must not have ended; it has that version from its next turn on, see `nextKindVersion`. 409 describes what in the job does not fit that version",
		theJob, noJobNow...),
	post("/api/jobs/:id/approve", "approveJob", onJob(decide(job.Approve)),
		"approves what an `awaiting_approval` job asks for. Requires `checkpointId`, or `iteration` and `trees`",
		theJob, noJobNow...).body(contract.Body{Type: newDecision{}}),
	post("/api/jobs/:id/reject", "rejectJob", onJob(decide(job.Deny)), "rejects what an `awaiting_approval` job asks for. Takes `reason`", theJob, noJobNow...).
		body(contract.Body{Type: newDecision{}, Optional: true}),
	post("/api/jobs/:id/steer", "steerJob", onJob((*Server).steer),
		"requests another round of a code change. Takes `prompt`", theJob, noJobNow...).body(contract.Body{Type: newSteer{}}),
	get("/api/jobs/:id/steering", "getSteering", onChange((*Server).steering),
		"lists the rounds of a code change", ok("The rounds.", job.SteeringState{}), noJobNow...),
	get("/api/jobs/:id/diff", "getDiff", onChange((*Server).diff),
		"returns what a job changed. Takes `repository`, `file`, `from`, `max_lines`, `context`, `since`, see [steering.md](steering.md)",
		ok("The changes in each repository.", []job.DiffOutput{}), noJobNow...,
	).query(
		parameter("repository", contract.Text(), "The name of a repository; default: all repositories."),
		parameter("file", contract.Text(), "The path of a file, optionally with its repository as the first part; default: all files."),
		parameter("from", contract.Number(1, lastLine), "The first line to return, from 1; default 1."),
		parameter("max_lines", contract.Number(1, maxPageLines), "The maximum number of lines to return; default 1000 if another of these parameters is set."),
		parameter("context", contract.Number(1, maxContext),
			"The number of unchanged lines to show around each change. A number larger than the file shows the whole file."),
		parameter("since", contract.Number(0, lastRound), "The number of a round: returns only what has changed since. 0 is the first round."),
	),
	get("/api/jobs/:id/viewed", "getViewed", onChange((*Server).viewed),
		"lists the files of a change, with the caller's marks. A mark shows that the caller has viewed the file", theViewed, noJobNow...),
	post("/api/jobs/:id/viewed", "setViewed", onChange((*Server).setViewed),
		"marks a file of a change as viewed. Takes `repository` and `digest` from the diff; `viewed: false` removes the mark",
		theViewed, noJobNow...).body(contract.Body{Type: newMark{}}),
	get("/api/jobs/:id/logs", "getLogs", onChange((*Server).logs),
		"returns the output of a job's verifiers", ok("The outcome of each verifier.", []job.VerifierOutput{}), noJobNow...),
	get("/api/jobs/:id/events", "listEvents", onJob((*Server).jobEvents),
		"lists a job's events, oldest first, at most 1,000. Takes `since`; `\"resync\": true` if the events after `since` are no longer retained, see [resync](#resync)",
		ok("The events, oldest first.", eventPage[job.Event]{}), noJob...).query(sinceParameter),
	get("/api/jobs/:id/transcript", "getTranscript", onJob((*Server).transcript),
		"returns what the CLI printed, as JSON lines (`application/x-ndjson`)", theTranscript, noJob...),
	get("/api/jobs/:id/audit", "getAudit", onJob((*Server).audit),
		"returns a job's audit log, as JSON lines (`application/x-ndjson`). It records approvals and what ran; `previous` is the SHA-256 of the previous line, and the header `Ringback-Audit-Head` contains the number of entries and the digest of the last",
		theAudit, noJob...),
	get("/api/jobs/:id/files", "listFiles", (*Server).listFiles,
		"lists the files that a job made. `files` with `path`, `size`, `contentType`, `modifiedAt`, `url`; `truncated` if there are more than 1,000",
		ok("The files.", job.FileList{}), noJobNow...),
	get("/api/jobs/:id/files/*", "getFile", (*Server).getFile, "returns a file that a job made, whole or by `Range`", theFile, noFileThere...),
	get(
		"/api/jobs/:id/files/*", "headFile", (*Server).getFile, "returns the size and type of a file that a job made",
		theFile, noFileThere...,
	).
		method(http.MethodHead),
	get("/api/jobs/:id/callback", "getCallback", onJob((*Server).callbackValues),
		"returns the callback values of a job that a person plays by hand (back ends only)",
		ok("The values that Claude would receive in its prompt.", callbackConfiguration{}), noJobNow...,
	).access(contract.BackEnd, "Playing Claude"),
}

var peopleRoutes = []route{
	get("/api/checkpoints/count", "countCheckpoints", (*Server).countCheckpoints,
		"counts checkpoints. Filters: `status`, `type`, `userId`; returns `count`", ok("The count.", checkpointCount{})).query(checkpointParameters...),
	get("/api/checkpoints", "listCheckpoints", (*Server).listCheckpoints,
		"lists checkpoints: by default the inbox, which contains those that wait for a reply. Filters: `status`, `type`, `userId`, `idPrefix`; pages: `limit`, `cursor`",
		ok("The page.", job.CheckpointPage{}),
	).query(slices.Concat(checkpointParameters, []contract.Parameter{prefixParameter, limitParameter, cursorParameter})...),
	get("/api/checkpoints/:id", "getCheckpoint", (*Server).getCheckpoint,
		"returns a checkpoint", ok("The checkpoint.", job.Checkpoint{}), noJob...),
	post("/api/checkpoints/:id/reply", "replyToCheckpoint", (*Server).replyToCheckpoint,
		"replies to a checkpoint. Takes `decision`, `values` or `text`",
		ok("The updated checkpoint: `answered`; `reading` while Claude interprets the reply; or `clarified`, if the checkpoint `next` asks again.", job.Checkpoint{}), noJobNow...,
	).body(contract.Body{Type: checkpoint.Reply{}}),
	get("/api/sessions/:id/messages", "listMessages", (*Server).sessionMessages,
		"lists the messages of a chat, oldest first. Takes `after`, `limit`, `userId`", ok("The messages, oldest first.", job.MessagePage{}), noJobNow...,
	).query(
		parameter("after", contract.Pattern("^[0-9]+$"), "The id of a message: returns only later messages; default: from the first."),
		limitParameter,
		parameter("userId", contract.Text(),
			"The owner of the chat. Required if the chat's id was chosen by its user, or if several users have a chat with this id."),
	),
	post("/to-llm", "sendUserMessage", (*Server).toLLM, "adds a user's message to a chat. Takes `sessionId`, `content`",
		stored, job.NotFound, job.Conflict, job.TooMany).body(contract.Body{Type: checkpoint.Incoming{}}),
	post("/from-llm", "sendAssistantMessage", (*Server).fromLLM,
		"adds a message from an outside orchestrator to a user (back ends only)", stored, job.Conflict,
	).body(contract.Body{Type: checkpoint.Incoming{}}).access(contract.BackEnd, "Speaking as the assistant"),
	post("/hitl/runs", "startRun", (*Server).startRun, "creates a job, with fields in snake_case. Returns 202 with the header `Location`",
		accepted("The run; its job is stored and waits for a worker.", run{}), noJobOrPlace...).
		body(contract.Body{Type: runConfig{}}).creates(false),
	get("/hitl/runs/:id", "getRun", onJob((*Server).getRun), "returns a run", ok("The run.", run{}), noJob...),
	get("/api/approvals", "listApprovals", (*Server).listApprovals, "lists a user's standing approvals. Each is for more than one call; takes `userId`",
		ok("The standing approvals.", job.ApprovalList{})).query(userParameter),
	get("/api/approvals/:id", "revokeApproval", (*Server).revokeApproval, "revokes a standing approval. Takes its user's `userId`",
		ok("The approval was revoked.", done{}), noJob...).query(userParameter).method(http.MethodDelete),
	post("/api/slack/commands", "slackCommand", (*Server).slackCommand, "runs a slash command of Slack, authorized by Slack's signature",
		ok("The message that Slack shows, also for an error.", slackAnswer{}), job.Unauthorized, job.NotFound,
	).body(contract.Body{Type: slackForm{}, Media: echo.MIMEApplicationForm}).access(contract.Slack, ""),
}

var serverRoutes = []route{
	get("/api/kinds", "listKinds", (*Server).listKinds, "lists the kinds of jobs", ok("The kinds.", job.KindList{})),
	get("/api/kinds/:name", "getKind", (*Server).getKind, "returns a kind, with its schemas and actions",
		ok("The kind.", job.KindView{}), noJob...),
	post("/api/kinds/reload", "reloadKinds", (*Server).reloadKinds,
		"reloads the files of the kinds on the called node (back ends only). It loads all of them or none, and returns `added`, `removed`, `changed`; 409 names each problem by file and line",
		ok("The kinds were reloaded.", job.KindsReload{}), job.Conflict).access(contract.BackEnd, "Reloading kinds"),
	get("/api/stats", "getStatistics", (*Server).stats,
		"returns statistics (back ends only). The number of jobs by status and kind, the outcomes of questions to people, Claude's current rate limits (`limits`), today's use of budgets and quotas (`budgets`, also that of the user `userId`; `quotas`), and figures of the last 30 days (UTC) (`days`)",
		ok("The counts.", job.Statistics{}),
	).query(parameter("userId", contract.Text(), "The user whose budget to return; default: the ten users who have spent most today.")).
		access(contract.BackEnd, "Reading statistics"),
	get("/api/doctor", "inspectStore", examine(false),
		"checks the store for inconsistencies (back ends only). Returns `found`, `mended`, `findings`",
		ok("The inconsistencies found.", job.Examination{})).access(contract.BackEnd, "Examining the store"),
	post("/api/doctor", "mendStore", examine(true), "checks the store and repairs inconsistencies (back ends only)",
		ok("The inconsistencies found, and which of them were repaired.", job.Examination{}),
	).access(contract.BackEnd, "Examining the store"),
	get("/api/store", "getStoreFormat", storeFormat(job.CheckStore),
		"returns the store's format and what an upgrade would still do (back ends only). It changes nothing",
		ok("The format, the servers and what is in an older form.", job.StoreFormat{})).access(contract.BackEnd, "Upgrading the store"),
	post("/api/store/finish", "finishUpgrade", storeFormat(job.FinishUpgrade),
		"moves the store to the newest format (back ends only). 409 while a server uses it that cannot read that",
		ok("The store after that.", job.StoreFormat{}), job.Conflict).access(contract.BackEnd, "Upgrading the store"),
	post("/api/store/migrate", "migrateStore", storeFormat(job.MigrateStore),
		"rewrites what is in an older form (back ends only). 409 while servers may still write such forms",
		ok("What was rewritten.", job.StoreFormat{}), job.Conflict).access(contract.BackEnd, "Upgrading the store"),
	get("/api/notifications", "listNotifications", (*Server).listNotifications,
		"lists undelivered notifications (back ends only). Those that will be retried and those that were given up; takes `status`, `limit`",
		ok("The notifications, oldest first.", job.NotificationList{}),
	).query(
		parameter("status", contract.OneOf(job.NotificationStatuses[:]), "Only notifications with this status; default: all."),
		limitParameter,
	).
		access(contract.BackEnd, "Listing notifications"),
	post("/api/notifications/:id/retry", "retryNotification", (*Server).retryNotification,
		"resends a notification now (back ends only). It is unchanged, and retried for up to three more days",
		ok("The notification is being sent.", done{}), noJob...).access(contract.BackEnd, "Sending notifications again"),
	get(HealthPath, "getHealth", (*Server).health, "reports liveness: 200 while the process is running. Needs no credentials",
		ok("The process is running.", health{})).access(contract.Anyone, ""),
	get(ReadyPath, "probe", (*Server).probed,
		"reports readiness, without a body: 200 while the server can work, otherwise 503. Needs no credentials", []contract.Answer{
			{Status: http.StatusOK, Text: "The server can work."},
			{Status: http.StatusServiceUnavailable, Text: "The server cannot work now: GET /api/readiness has the reasons."},
		}).access(contract.Anyone, ""),
	get("/api/readiness", "getReadiness", (*Server).readiness,
		"reports whether the called server can work (back ends only). Contains `problems`, the reasons why it cannot; `warnings`, lesser problems; `sandbox`, the sandbox in force; and `limits`, Claude's current rate limits, if any",
		ok("Whether the server can work.", job.Readiness{})).access(contract.BackEnd, "Reading the state of the server"),
	get("/openapi.json", "getOpenAPI", document(func(d Documents) []byte { return d.OpenAPI }),
		"returns this API as OpenAPI 3.1. Needs no credentials; with a key or a token, it includes the server's own kinds",
		theDocument, job.Unauthorized).access(contract.Anyone, ""),
	get("/asyncapi.json", "getAsyncAPI", document(func(d Documents) []byte { return d.AsyncAPI }),
		"returns the WebSocket API as AsyncAPI 3.0. Needs no credentials; with a key or a token, it includes the server's own kinds", theDocument, job.Unauthorized).access(contract.Anyone, ""),
	get(webSocketPath, "connect", (*Server).webSocket, "opens a WebSocket for events, described below", []contract.Answer{{
		Status: http.StatusSwitchingProtocols, Text: "A WebSocket; /asyncapi.json describes its messages.",
	}}, job.TooMany).query(
		parameter("userId", contract.Text(), "The user, for back ends; `*` for new events of all users."),
		parameter("token", contract.Text(), "A user's token, if it is sent neither in a header nor as a subprotocol."),
		parameter("requestId", contract.Text(), "Only the events of this job; default: all jobs of the user."),
		parameter("text", contract.OneOf([]string{"true", "false"}),
			"`true` to receive the text that Claude writes as it is written; requires `requestId`. Default: `false`."),
		sinceParameter,
	),
}
