export interface paths {
    "/api/checkpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCheckpoints"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listJobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description An action of a kind as callers see it. */
        Action: {
            /** @description When a person is asked first: always, never, or "when: " and an expression over the input. */
            confirm: string;
            /** @description What the action does, in one sentence. */
            description: string;
            /** @description The JSON Schema of the action's input. */
            inputSchema: Record<string, unknown>;
            /** @description The action's name, unique within its kind. */
            name: string;
            /** @description The action's name as shown to people. */
            title: string;
        };
        /** @description The event data of an outcome. */
        ActionData: {
            /** @description The name of the action, or finalize for the publication of a change. `tool` is the name of the tool of a tool call. One of them is set. */
            action?: string;
            /** @description The question at which a person has allowed it; absent if no one was asked. `runId` is the run of the action; absent if the server started none. */
            checkpointId?: string;
            message?: string;
            /** @description The status of the outcome, and `message` what there is to add. */
            outcome: components["schemas"]["OutcomeStatus"];
            /** @description As in job.Outcome. */
            reported?: boolean;
            runId?: string;
            tool?: string;
        };
        /** @description An action has ended; or a tool call or the publication of a change that a person has allowed; or it is certain that what was allowed will not run. */
        ActionEvent: {
            data: components["schemas"]["ActionData"];
            /** @description The prefix of the job's kind, a colon, and `action`. */
            event: string;
            /** @description `id` orders the events of one user. It always has 16 digits, and each is greater than the one before. Pass it as "since" to resume. */
            id: string;
            /** @description The version of the job's kind: hex SHA-256. Absent without a job. */
            kindVersion?: string;
            /** @description The job that the event is about. */
            requestId: string;
            /** @description True if a simulated Claude runs the job, so that its content is made up. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description The time at which it was stored, by the store's clock.
             */
            time: string;
            /** @description The owner of the job. */
            userId: string;
        };
        /** @description One progress report. */
        Activity: {
            /** @description The text for people. */
            message: string;
            /** @description The completed share in percent, 0 to 100. */
            progress: number;
            /** @description The phase of the work. */
            type: components["schemas"]["ActivityType"];
        };
        /** @description Claude reported progress. */
        ActivityEvent: {
            data: components["schemas"]["Activity"];
            /** @description The prefix of the job's kind, a colon, and `activity`. */
            event: string;
            /** @description `id` orders the events of one user. It always has 16 digits, and each is greater than the one before. Pass it as "since" to resume. */
            id: string;
            /** @description The version of the job's kind: hex SHA-256. Absent without a job. */
            kindVersion?: string;
            /** @description The job that the event is about. */
            requestId: string;
            /** @description True if a simulated Claude runs the job, so that its content is made up. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description The time at which it was stored, by the store's clock.
             */
            time: string;
            /** @description The owner of the job. */
            userId: string;
        };
        /**
         * @description - `thinking`
         *     - `querying`
         *     - `results`
         * @enum {string}
         */
        ActivityType: "thinking" | "querying" | "results";
        /** @description Identifies the person or back end that did something. */
        Actor: {
            /** @description The IP address of the client. */
            address?: string;
            /** @description The name of the API key that a back end used; empty without one. */
            key?: string;
            /** @description The person; empty for a back end that named none. */
            userId?: string;
            /** @description The channel: api, console, websocket, chat or slack. */
            via: string;
        };
        /** @description Contains the reply for Claude. */
        AnsweredCheckpoint: {
            /** @description The answered checkpoint. In the output of Claude's call, it shows that the call has received the reply. */
            checkpointId: string;
            /** @description The messages that people have written during the turn; they are in one answer only. */
            messages?: components["schemas"]["Utterance"][];
            /** @description `messagesId` shows, in the next request to the model, that Claude has received them. */
            messagesId?: string;
            reply: components["schemas"]["Reply"];
            /** @description Always "answered". */
            status: string;
        };
        /** @description A standing approval of tool calls. It is valid until it is revoked. */
        Approval: {
            /** @description `covers` describes in plain words which calls the rule allows. */
            covers?: components["schemas"]["Segment"][];
            /**
             * Format: date-time
             * @description The time at which it was given.
             */
            createdAt: string;
            /** @description The approval's id, with which it is revoked. */
            id: string;
            /** @description The kind of the jobs that it applies to. */
            kind: string;
            /** @description The only job that it applies to; absent if it applies to all jobs of the kind. */
            requestId?: string;
            /** @description The rule that it permits, as shown to the person: a rule of the kind, or a tool's name, a colon and one call. */
            rule: string;
            /** @description The user who gave the approval, and whose jobs it applies to. */
            userId: string;
        };
        /** @description A list of a user's standing approvals. */
        ApprovalList: {
            /** @description The user's standing approvals. */
            approvals: components["schemas"]["Approval"][];
        };
        /**
         * @description - `once`: exactly this input, one time
         *     - `job`: everything that matches the rule, in this job
         *     - `always`: everything that matches the rule, for this user
         * @enum {string}
         */
        ApprovalScope: "once" | "job" | "always";
        /** @description One line of a job's audit log, which is append-only. */
        AuditEntry: {
            /** @description The name of an action; absent for a tool call. */
            action?: string;
            /** @description The actor that decided; absent if none did. */
            by?: components["schemas"]["Actor"];
            /** @description The question that the entry is about; absent if no person was asked. */
            checkpointId?: string;
            /** @description The reason for a refusal, or for an outcome other than success. */
            detail?: string;
            /** @description The directory in which a tool is called, relative to the job's own; empty if that is the job's own, or if the call does not depend on it. */
            dir?: string;
            /** @description The type of the entry: asked, approve, deny, steer, cancel, answered, unclear, expired, withdrawn, started, finished, refused, unused (an approval that was never used), allowed by a standing approval, or move and moved, to another version of the kind. */
            event: string;
            /** @description `files` counts the files of the change, and those that the deciding person had marked as viewed; absent if the entry is not about a change. */
            files?: components["schemas"]["FilesViewed"];
            /** @description The input of the action or tool. */
            input?: Record<string, unknown>;
            /** @description The hex SHA-256 of the input's canonical JSON (RFC 8785). */
            inputDigest?: string;
            /** @description The version of the kind at that time: hex SHA-256. */
            kindVersion?: string;
            /** @description Binds the log to its job. Only the first entry has one. */
            origin?: string;
            /** @description The outcome of what was allowed or run: success, error, timed_out or unknown. */
            outcome?: string;
            /** @description The digest of the preview that people were shown for an action with this input; empty without one. */
            previewDigest?: string;
            /** @description The digest of the previous entry as stored: hex SHA-256. It is empty for the first entry. */
            previous?: string;
            /** @description The job that the log belongs to. */
            requestId: string;
            /** @description The rule that a standing approval of the tool call would allow; empty for an action. */
            rule?: string;
            /** @description `run` identifies the run of an action. */
            run?: string;
            /** @description The scope of an approval: once, job or always. */
            scope?: components["schemas"]["ApprovalScope"];
            /** @description How the subject of the decision was shown, as stated by the client; absent if it stated nothing. */
            shown?: components["schemas"]["Shown"];
            /**
             * Format: date-time
             * @description The time at which the entry was written, by the store's clock.
             */
            time: string;
            /** @description The name of a tool of the CLI; absent for an action. */
            tool?: string;
            /** @description The git trees of the change that the client named, by repository. */
            trees?: {
                [key: string]: string;
            };
            type?: components["schemas"]["CheckpointType"];
        };
        /** @description The end of a chained audit log. It is stored apart from the log and updated in the same step as every append, so it reveals a truncated log. */
        AuditHead: {
            /** @description The number of entries in the chain. */
            count: number;
            /** @description The digest of the last entry: hex SHA-256 of its bytes as stored. It is empty for an empty log. */
            digest?: string;
            /** @description That of the first entry; empty for an empty log, and for a log that a version before origins has begun. */
            origin?: string;
        };
        /** @description A daily budget and its use today. */
        Budget: {
            /** @description The budget of the day (UTC), in US dollars. */
            budgetUsd: number;
            /** @description The kind, for a budget of a kind. */
            kind?: string;
            /** @description The jobs that the budget is for: "server" (all), "kind" (those of one kind) or "user" (those of one user). */
            of: components["schemas"]["BudgetOf"];
            /** @description The amount spent today (UTC), in US dollars. */
            spentUsd: number;
            /** @description The user, for a budget of a user. */
            userId?: string;
        };
        /**
         * @description - `job`
         *     - `user`
         *     - `kind`
         *     - `server`
         * @enum {string}
         */
        BudgetOf: "job" | "user" | "kind" | "server";
        /**
         * @description - `cancel`
         *     - `retry`
         *     - `move`: moves jobs to the current version of their kind
         *     - `answer`: gives the same answer to the question that each job asks
         * @enum {string}
         */
        BulkAction: "cancel" | "retry" | "move" | "answer";
        /** @description The outcome for one job. */
        BulkOutcome: {
            /** @description Why the action was not applied to the job; absent if it was. */
            error?: string;
            /** @description What to do about the error; absent if there is none. */
            hint?: string;
            /** @description The job's id. */
            requestId: string;
        };
        /** @description Answers POST /api/jobs/bulk. */
        BulkOutcomes: {
            /** @description The outcomes for each job, in the order of the request. */
            jobs: components["schemas"]["BulkOutcome"][];
            /** @description The number of jobs that the action was applied to. */
            succeeded: number;
        };
        /** @description Contains the values that Claude gets in its prompt. */
        CallbackConfiguration: {
            /** @description The base URL of callbacks. */
            callbackBaseUrl: string;
            /** @description The directory with the repositories that Claude works on, on the machine that runs the turn. It is absent if that is another machine, if the job has no repositories, and until they are ready. */
            directory?: string;
            /** @description The signature of this turn's callbacks. */
            hmac: string;
            /** @description The job's id. */
            requestId: string;
        };
        /** @description The job was cancelled. */
        CancelledEvent: {
            data: components["schemas"]["StateData"];
            /** @description The prefix of the job's kind, a colon, and `cancelled`. */
            event: string;
            /** @description `id` orders the events of one user. It always has 16 digits, and each is greater than the one before. Pass it as "since" to resume. */
            id: string;
            /** @description The version of the job's kind: hex SHA-256. Absent without a job. */
            kindVersion?: string;
            /** @description The job that the event is about. */
            requestId: string;
            /** @description True if a simulated Claude runs the job, so that its content is made up. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description The time at which it was stored, by the store's clock.
             */
            time: string;
            /** @description The owner of the job. */
            userId: string;
        };
        /** @description A question to a person, see docs/chat.md. */
        Checkpoint: {
            /**
             * Format: date-time
             * @description The time at which it was closed; absent until then.
             */
            answeredAt?: string;
            /**
             * Format: date-time
             * @description The time at which it was asked.
             */
            createdAt: string;
            /** @description The conversation since the question was first asked, oldest first: replies that were not clear or are being interpreted, and follow-up questions. */
            exchange?: components["schemas"]["Utterance"][];
            /** @description True while Claude's call waits for the reply, in the same turn. */
            held?: boolean;
            /** @description `id` identifies the checkpoint. A reply must name it, except in a chat. */
            id: string;
            /** @description The question as shown to the person. */
            message: string;
            /** @description The checkpoint's message in the session. */
            messageId: number;
            /** @description The checkpoint that asks again if the reply was not clear. */
            next?: string;
            /** @description `outcome` describes the result of what the reply has allowed; absent while that is not over, and if the reply allows nothing. */
            outcome?: components["schemas"]["Outcome"];
            /** @description A JSON object that describes what is asked; its fields depend on the type. */
            props: Record<string, unknown>;
            /** @description The person's answer; absent until then. */
            reply?: components["schemas"]["Reply"];
            /** @description The waiting job; empty if a system outside Ringback asked. */
            requestId?: string;
            /** @description The chat in which the question is asked. */
            sessionId: string;
            /** @description Either "open" or "reading" while a reply is accepted. */
            status: components["schemas"]["CheckpointStatus"];
            /** @description The tool call in the chat that waits for the decision; empty if none does. */
            toolCallId?: string;
            /** @description The type of the question. */
            type: components["schemas"]["CheckpointType"];
            /** @description The user who is asked. */
            userId: string;
        };
        /** @description The number of checkpoints. */
        CheckpointCount: {
            /** @description The number of matching checkpoints. */
            count: number;
        };
        /** @description A person is asked a question. */
        CheckpointEvent: {
            data: components["schemas"]["Checkpoint"];
            /** @description The prefix of the job's kind, a colon, and `checkpoint`. */
            event: string;
            /** @description `id` orders the events of one user. It always has 16 digits, and each is greater than the one before. Pass it as "since" to resume. */
            id: string;
            /** @description The version of the job's kind: hex SHA-256. Absent without a job. */
            kindVersion?: string;
            /** @description The job that the event is about. */
            requestId: string;
            /** @description True if a simulated Claude runs the job, so that its content is made up. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description The time at which it was stored, by the store's clock.
             */
            time: string;
            /** @description The owner of the job. */
            userId: string;
        };
        /** @description A page of the inbox. */
        CheckpointPage: {
            /** @description The checkpoints of this page, newest first. */
            checkpoints: components["schemas"]["Checkpoint"][];
            /** @description The value of cursor for the next page; absent on the last. */
            nextCursor?: string;
        };
        /** @description A question no longer waits: it was answered or withdrawn, or its job has ended. */
        CheckpointResolvedEvent: {
            data: components["schemas"]["Checkpoint"];
            /** @description The prefix of the job's kind, a colon, and `checkpoint:resolved`. */
            event: string;
            /** @description `id` orders the events of one user. It always has 16 digits, and each is greater than the one before. Pass it as "since" to resume. */
            id: string;
            /** @description The version of the job's kind: hex SHA-256. Absent without a job. */
            kindVersion?: string;
            /** @description The job that the event is about. */
            requestId: string;
            /** @description True if a simulated Claude runs the job, so that its content is made up. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description The time at which it was stored, by the store's clock.
             */
            time: string;
            /** @description The owner of the job. */
            userId: string;
        };
        /** @description The counts of one type of checkpoint and the values derived from them. Rates are null while there is no data. */
        CheckpointStats: {
            /** @description The number of questions answered. */
            answered: number;
            /** @description `answeredWhileHeld` counts those answered while the call that asked was still waiting. */
            answeredWhileHeld: number;
            answeredWhileHeldShare: number | null;
            approvalRate: number | null;
            /** @description The number of approvals. */
            approved: number;
            /** @description The number of questions withdrawn, mostly because their job ended. */
            cancelled: number;
            /** @description The number of questions asked again because the reply was not clear. */
            clarified: number;
            /** @description The number of denials. */
            denied: number;
            /** @description The number of questions that no one answered in time. */
            expired: number;
            meanSecondsToAnswer: number | null;
            /** @description The number of questions put to people. The other counts are their outcomes. */
            opened: number;
        };
        /**
         * @description - `open`
         *     - `reading`: a reply arrived, and Claude interprets it
         *     - `answered`: a person replied
         *     - `clarified`: the reply was not clear: the checkpoint in `next` asks again
         *     - `expired`: no reply in time
         *     - `cancelled`: the job ended before a reply, or moves to another version of its kind
         * @enum {string}
         */
        CheckpointStatus: "open" | "reading" | "answered" | "clarified" | "expired" | "cancelled";
        /**
         * @description - `review`
         *     - `confirmation`
         *     - `tool_approval`
         *     - `error_recovery`
         *     - `information_request`
         *     - `form_requirements`
         * @enum {string}
         */
        CheckpointType: "review" | "confirmation" | "tool_approval" | "error_recovery" | "information_request" | "form_requirements";
        /** @description Counts durations of at most `upToSeconds` that are longer than the previous class allows. */
        Class: {
            /** @description The number of durations. */
            count: number;
            upToSeconds: number | null;
        };
        /** @description A version of the Claude CLI that ran turns of a job. */
        CLIVersion: {
            /** @description The first turn that it ran. It also ran the later ones, up to the next entry's. */
            fromTurn: number;
            /** @description The output of the CLI's --version, never of a turn: such as 2.1.329, or simulated for the stand-in, or unknown if the program gave no answer. */
            version: string;
        };
        /**
         * @description - `callback_timeout`: no result within CALLBACK_TIMEOUT of the turn's start
         *     - `queue_timeout`: no worker became free in time
         *     - `human_timeout`: no reply within HUMAN_TIMEOUT
         *     - `spawn_failed`: the CLI could not be started
         *     - `exited_without_callback`
         *     - `cli_failed`: the CLI exited with an error
         *     - `output_limit`: the CLI printed more than the limit
         *     - `stalled`: the turn hung: see the kind's stall_timeout and tool_timeout
         *     - `budget`: the kind's spending limit for one turn was reached
         *     - `budget_exceeded`: a budget of the job or of the day is exhausted
         *     - `claude_failed`: Claude itself reported that it cannot do the job
         *     - `invalid_result`
         *     - `kind_missing`: the job's version of its kind cannot be read
         *     - `callbacks_off`: the kind needs callbacks, and the server accepts none (USE_CALLBACK_CLAUDE)
         *     - `cancelled`
         *     - `rejected`: a person rejected the change
         *     - `workspace`: a repository could not be cloned
         *     - `finalize_failed`: the change could not be published
         *     - `usage_limit`: the account's usage is exhausted
         *     - `rate_limited`: too many requests at once
         *     - `overloaded`: the model's API is overloaded
         *     - `signed_out`: the API rejects the key, or the sign-in has expired
         *
         *     More may be added.
         */
        Code: string;
        /** Request for a code change */
        "code-change.input": {
            /** @default 5 */
            max_steering_iterations: number;
            /** @description What to change */
            prompt: string;
            /** @description Where to change it */
            repos: ({
                /** @description The branch or tag to begin at; default: what the repository has checked out, its default branch */
                branch?: string;
                /** @description How many commits of history Claude sees; 0: all */
                depth?: number;
                /** @description Its directory; default: the last part of the URL */
                name?: string;
                /** @description An address that git can clone, or a path on the server */
                url: string;
            } | string)[];
            /**
             * @description Whether a person must approve the change
             * @default true
             */
            require_approval: boolean;
            /** @description Commands that check the change */
            verifiers?: ({
                /** @description Run by sh in each repository */
                command: string;
                name: string;
            } | string)[];
        };
        /** A code change */
        "code-change.result": {
            /**
             * @description Branch, commit and pull request of each repository, after the approval
             * @default []
             */
            readonly finalized: unknown[];
            /** @description What to look at, or what is left open */
            notes?: string[];
            /** @description What was changed and why, for the reviewer */
            summary: string;
        };
        /** @description Answers POST /api/jobs. */
        CreatedJob: {
            /** @description The job's id. */
            requestId: string;
            /** @description The chat for the job's messages. */
            sessionId: string;
            status: components["schemas"]["State"];
        };
        /** @description Answers POST /api/suggestions. */
        CreatedSuggestions: {
            /** @description The job's id. */
            requestId: string;
            status: components["schemas"]["State"];
        };
        /** @description The counts of one day, over all users, kinds and nodes. */
        Day: {
            /** @description The numbers of decisions on that day, by the time that they took. */
            approvals: components["schemas"]["Class"][];
            /** @description The cost of the turns that ended on that day, by kind, in US dollars. */
            costUSD: {
                [key: string]: number;
            };
            /** @description The day, in UTC. */
            date: string;
            /** @description The numbers of these turns, by the time until Claude's first callback. */
            firstCallback: components["schemas"]["Class"][];
        };
        /**
         * @description - `approve`
         *     - `deny`
         *     - `cancel`
         *     - `steer`
         * @enum {string}
         */
        Decision: "approve" | "deny" | "cancel" | "steer";
        /** @description One fault in a request, with its location so that the sender can fix it. */
        Detail: {
            /** @description `message` describes what was found and what is allowed. */
            message: string;
            /** @description The JSON pointer (RFC 6901) of the offending value; "" is the whole body. */
            path: string;
        };
        /** @description A job's change in one repository. */
        DiffOutput: {
            /** @description The changed files. */
            files: components["schemas"]["FileDiff"][];
            /** @description The first line of this page, from 1. */
            from?: number;
            /** @description How to get the lines that are left out or cut. */
            hint?: string;
            /** @description The number of times the change had been steered when it was captured. An approval may name it. */
            iteration: number;
            /** @description `left_out` lists files in the workspace that would not be pushed. */
            left_out?: components["schemas"]["LeftOut"][];
            /** @description The first line of the next page; absent on the last page. */
            next_from?: number;
            /** @description The name of the repository, and of its directory. */
            repository: string;
            /** @description `summary` reads "3 files changed, +45, -12". */
            summary: string;
            /** @description The number of lines in the whole diff. */
            total_lines: number;
            /** @description The id of the git tree that is shown. An approval may name it. */
            tree?: string;
            /** @description True if lines are left out or cut. */
            truncated: boolean;
        };
        /** @description Confirms that a request was carried out. */
        Done: {
            /** @description Always true. */
            success: boolean;
        };
        /** @description An error for people and Claude to read. It is the body of every unsuccessful response. */
        Error: {
            /** @description `details` describe each wrong field, at most 20. */
            details?: components["schemas"]["Detail"][];
            /** @description A short description of the error. */
            error: string;
            /** @description `hint` describes what to do about it. */
            hint?: string;
        };
        /** @description The event data of a job that expired or failed. */
        ErrorData: {
            /** @description The reason for people, and `errorCode` the reason for programs. */
            error: string;
            errorCode: components["schemas"]["Code"];
            /** @description The job's requestId. */
            suggestionId: string;
        };
        /** @description The job expired or failed. */
        ErrorEvent: {
            data: components["schemas"]["ErrorData"];
            /** @description The prefix of the job's kind, a colon, and `error`. */
            event: string;
            /** @description `id` orders the events of one user. It always has 16 digits, and each is greater than the one before. Pass it as "since" to resume. */
            id: string;
            /** @description The version of the job's kind: hex SHA-256. Absent without a job. */
            kindVersion?: string;
            /** @description The job that the event is about. */
            requestId: string;
            /** @description True if a simulated Claude runs the job, so that its content is made up. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description The time at which it was stored, by the store's clock.
             */
            time: string;
            /** @description The owner of the job. */
            userId: string;
        };
        /** @description Something that happened to a job, as WebSocket clients receive it. */
        Event: {
            /** @description `data` depends on the type, see the table of events in docs/api.md. */
            data: unknown;
            /** @description "<prefix>:<type>", with the kind's prefix. */
            event: string;
            /** @description `id` orders the events of one user. It always has 16 digits, and each is greater than the one before. Pass it as "since" to resume. */
            id: string;
            /** @description The version of the job's kind: hex SHA-256. Absent without a job. */
            kindVersion?: string;
            /** @description The job that the event is about. */
            requestId: string;
            /** @description True if a simulated Claude runs the job, so that its content is made up. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description The time at which it was stored, by the store's clock.
             */
            time: string;
            /** @description The owner of the job. */
            userId: string;
        };
        /** @description A page of the events of one job, oldest first. */
        EventPage: {
            /** @description The events, oldest first. */
            events: components["schemas"]["Event"][];
            /** @description True if the events since then are no longer complete: reload the record. */
            resync?: boolean;
        };
        /** @description The result of checking a store. */
        Examination: {
            /** @description The inconsistencies; if there are too many, only the first. */
            findings: components["schemas"]["Finding"][];
            /** @description The number of inconsistencies found. */
            found: number;
            /** @description The number of inconsistencies repaired. */
            mended: number;
            /** @description `notifications` counts the undelivered ones, by receiver. */
            notifications?: components["schemas"]["NotificationCount"][];
            /**
             * Format: date-time
             * @description The time of the oldest question that no one has answered; absent if there is none.
             */
            oldestQuestion?: string;
        };
        /** @description Something that a person has allowed and that did not succeed. */
        FailedAction: {
            /** @description The name of the action, or finalize for the publication of a change; absent for a tool call. */
            action?: string;
            /**
             * Format: date-time
             * @description The time at which it was recorded.
             */
            at: string;
            /** @description The question at which it was allowed. */
            checkpointId: string;
            /** @description The reason if it did not succeed, or else what the action returned, on one line; empty if there is nothing to add. */
            message?: string;
            /** @description True if it is known only from the output of the Claude CLI, which is no evidence: the programs of the turn could have written it. */
            reported?: boolean;
            /** @description The outcome. */
            status: components["schemas"]["OutcomeStatus"];
            /** @description The name of the tool; absent for an action. */
            tool?: string;
        };
        /** @description Describes a turn that ended without a result. */
        Failure: {
            /** @description The reason, for people. */
            error: string;
            /** @description The reason, for programs. */
            errorCode: components["schemas"]["Code"];
            /**
             * Format: date-time
             * @description The time at which it was recorded, by the store's clock.
             */
            time: string;
            /** @description The number of the turn, from 1. */
            turn: number;
        };
        /** @description A file as callers see it. */
        File: {
            /** @description The file's media type, by the ending of its name. */
            contentType: string;
            /**
             * Format: date-time
             * @description The time at which the file was last modified.
             */
            modifiedAt: string;
            /** @description The file's path, relative to the job's working directory. */
            path: string;
            /** @description The file's size in bytes. */
            size: number;
            /** @description The path of the file on this server. */
            url: string;
        };
        /** @description The change of one file. */
        FileDiff: {
            /** @description The number of added lines. */
            additions: number;
            /** @description True if only the file's name is shown, not its content. */
            binary?: boolean;
            /** @description The number of deleted lines. */
            deletions: number;
            /** @description The change in git's format; empty if it is left out. A very long line is in pieces, each but the last followed by the line "\ The line continues". */
            diff: string;
            /** @description `digest` identifies this change of the file: its names, modes and git object ids, before and after. If a later round changes the file again, the digest differs. */
            digest?: string;
            /** @description `mode` reads "100644→100755" if the mode changed. */
            mode?: string;
            /** @description The number of the first line shown, after the change, if a page begins within a hunk; otherwise absent. */
            new_start?: number;
            /** @description The previous path of a renamed file. */
            old_path?: string;
            /** @description The number of the first line shown, before the change, if a page begins within a hunk; otherwise absent. */
            old_start?: number;
            /** @description The file's path in its repository. */
            path: string;
            /** @description True if this is a commit of another git repository, not a file. */
            repository?: boolean;
            status: components["schemas"]["FileStatus"];
            /** @description The reason why a reviewer should look twice: the file may contain a secret, its content is not shown, or it is a nested repository. It is empty if nothing was found. */
            suspicious?: string;
        };
        /** @description A list of the files that a job made. */
        FileList: {
            /** @description The files, by path. */
            files: components["schemas"]["File"][];
            /** @description True if there are more files than can be listed. */
            truncated?: boolean;
        };
        /**
         * @description - `modified`
         *     - `added`
         *     - `deleted`
         *     - `renamed`
         * @enum {string}
         */
        FileStatus: "modified" | "added" | "deleted" | "renamed";
        /** @description Counts the files of a change. */
        FilesViewed: {
            /** @description The number of changed files. */
            changed: number;
            /** @description The number of changed files that the person has marked as viewed in their present form. */
            viewed: number;
        };
        /** @description Stored data that does not match the records of jobs and checkpoints. The records are authoritative: the lists, slots, queues and timers are derived from them. */
        Finding: {
            /** @description The key in the store, without the prefix of the partition. */
            key: string;
            /** @description The affected member of the key; absent for the whole key. */
            member?: string;
            /** @description True if it was repaired. */
            mended: boolean;
            /** @description `problem` describes what is wrong. */
            problem: string;
            /** @description The affected job; empty if none. */
            requestId?: string;
        };
        /** @description Answers GET /healthz. */
        Health: {
            /** @description Always "ok". */
            status: string;
            /** @description The version of the server. */
            version: string;
        };
        /** @description The event data of a message that Claude has read. */
        HeardData: {
            /** @description The number of that turn's next tool call: 1 for a message that was part of the turn's prompt. */
            beforeToolCall?: number;
            /**
             * Format: date-time
             * @description The time at which it was read.
             */
            heardAt?: string;
            /** @description The state of the message: waiting, then heard. */
            hearing: components["schemas"]["HearingStatus"];
            /** @description The id of the message in the job's session. */
            messageId: number;
            /** @description The chat. */
            sessionId: string;
            /** @description The number of the turn that read it. */
            turn?: number;
        };
        /** @description Describes whether and when Claude has read a message. */
        Hearing: {
            /** @description The number of that turn's next tool call: 1 for a message that was part of the turn's prompt. */
            beforeToolCall?: number;
            /**
             * Format: date-time
             * @description The time at which it was read.
             */
            heardAt?: string;
            /** @description The state of the message: waiting, then heard. */
            hearing: components["schemas"]["HearingStatus"];
            /** @description The number of the turn that read it. */
            turn?: number;
        };
        /**
         * @description - `waiting`: the status of a message that no request to the model contains yet
         *     - `heard`: the status of a message that Claude has read
         * @enum {string}
         */
        HearingStatus: "waiting" | "heard";
        /** @description The answer to the hook. Without an output, the CLI decides by its own allowlist, which contains only what calling back needs. */
        HookAnswer: {
            hookSpecificOutput?: components["schemas"]["HookOutput"];
        };
        HookOutput: {
            /** @description Shown to Claude together with the tool's result. */
            additionalContext?: string;
            /** @description The hook that is answered. */
            hookEventName: string;
            /** @description What the CLI does with the tool call: allow, deny, or defer, which ends the turn. */
            permissionDecision?: string;
            /** @description The reason for the decision, as shown to Claude. */
            permissionDecisionReason?: string;
            /** @description The input to call the tool with, if the person edited it. */
            updatedInput?: unknown;
        };
        /** @description A person's request to stop part of a running turn without ending the job. */
        Interrupt: {
            /** @description True once the commands have been stopped. */
            done?: boolean;
            /** @description The part to stop. */
            scope: components["schemas"]["InterruptScope"];
            /**
             * Format: date-time
             * @description The time at which it was requested.
             */
            time: string;
            /** @description The turn that was running. */
            turn: number;
        };
        /**
         * @description - `command`: the commands that Claude runs; the turn continues
         *     - `turn`: the turn; the next one continues the conversation
         * @enum {string}
         */
        InterruptScope: "command" | "turn";
        /** @description The complete record of a job: one piece of work of one kind for one user, as returned by GET /api/jobs/:id. Times are UTC. */
        Job: {
            /** @description The latest progress that Claude reported; absent before the first. */
            activity?: components["schemas"]["Activity"];
            /** @description The number of consecutive turns that ended without a result. At `maxAttempts` the job fails. */
            attempt?: number;
            /** @description The end of the audit log, which reveals a log that was tampered with; absent while the log is empty. */
            audit?: components["schemas"]["AuditHead"];
            /** @description The job's budget in US dollars, over all attempts and rounds; 0 means no limit of its own. */
            budgetUsd?: number;
            /** @description The question that the job waits for; absent if it does not wait. */
            checkpoint?: components["schemas"]["Checkpoint"];
            /** @description `claudeTurns` counts those in which Claude worked: an approved change is published in a turn without Claude. */
            claudeTurns: number;
            /** @description The versions of the Claude CLI that ran the turns, oldest first: the first one, and every change. Only the latest 50 are kept. */
            cliVersions?: components["schemas"]["CLIVersion"][];
            /**
             * Format: date-time
             * @description The time at which the job was requested.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description The time at which the running timer (callback or human) expires the job; zero when none runs.
             */
            deadline?: string;
            /** @description The reason, for people, why an expired, failed, rejected or cancelled job ended. */
            error?: string;
            /** @description The same reason, for programs. */
            errorCode?: components["schemas"]["Code"];
            /** @description The latest of the actions, tool calls and publications that people have allowed and that did not succeed, oldest first; at most ten. */
            failedActions?: components["schemas"]["FailedAction"][];
            /**
             * Format: date-time
             * @description The time at which the job reached a terminal state; absent until then.
             */
            finishedAt?: string;
            /** @description The request, valid under the kind's input schema. */
            input: Record<string, unknown>;
            /** @description The latest request to stop part of a turn; absent for none. */
            interrupt?: components["schemas"]["Interrupt"];
            /** @description `kind` names the prompt, schemas and policy of the job. */
            kind: string;
            /** @description The version of the kind that the job has until it is moved: the hex SHA-256 of its prompt and schemas. */
            kindVersion: string;
            /** @description The latest failed turn's failure; absent if none has failed. It is kept while the job is retried, and after it has succeeded. */
            lastFailure?: components["schemas"]["Failure"];
            /** @description The number of consecutive turns without a result at which the job fails. */
            maxAttempts?: number;
            /** @description The version to which the job moves with its next turn; absent for none. */
            nextKindVersion?: string;
            /** @description The caller's settings for this job. */
            options?: components["schemas"]["Options"];
            /** @description What the job is doing within its state; absent if there is nothing to add. */
            phase?: components["schemas"]["Phase"];
            /**
             * Format: date-time
             * @description The earliest end of the phase: the time of the next attempt. It is zero if unknown.
             */
            phaseUntil?: string;
            /** @description The commits of the job's change that are public, or may be. No decision and no end of the job takes them back. */
            publishedCommits?: components["schemas"]["Published"][];
            /** @description The job's place in the queue while it waits for a worker; absent otherwise. */
            queue?: components["schemas"]["QueuePlace"];
            /** @description The job's id. Claude repeats it in every callback. */
            requestId: string;
            /** @description The result that Claude submitted, valid under the kind's result schema; absent until it is accepted. */
            result?: Record<string, unknown>;
            /** @description The chat that the job's messages belong to. */
            sessionId: string;
            /** @description True if a stand-in plays Claude, so that all text and results are made up. Either `options` requests it, or no CLI is available. */
            simulated?: boolean;
            /** @description The job's state. */
            status: components["schemas"]["State"];
            /** @description The caller's words for grouping jobs, in the caller's order. */
            tags?: string[];
            /** @description Composed by the kind from the input; empty if the kind has no title. Values of the input are quoted, with invisible characters as escapes. */
            title?: string;
            /** @description `turn` counts the turns started so far, so it is also the number of the latest one. */
            turn: number;
            /**
             * Format: date-time
             * @description The time at which the record last changed.
             */
            updatedAt: string;
            /** @description The sum over all turns. */
            usage: components["schemas"]["Usage"];
            /** @description The owner of the job; only this person receives its events. */
            userId: string;
            /** @description The latest messages of people to the job, with their status: all that wait, and the last of those that Claude has read. */
            words?: components["schemas"]["Word"][];
        };
        /** @description Count the jobs that are retained, of all users. A status or kind without jobs may be missing. */
        JobCounts: {
            /** @description The number of jobs by kind and status. */
            byKind: {
                [key: string]: {
                    [key: string]: number;
                };
            };
            /** @description The number of jobs by status. */
            byStatus: {
                [key: string]: number;
            };
            /** @description The number of jobs. */
            total: number;
        };
        /** @description The complete record of a job: one piece of work of one kind for one user, as returned by GET /api/jobs/:id. Times are UTC. */
        JobFields: {
            /** @description The latest progress that Claude reported; absent before the first. */
            activity?: components["schemas"]["Activity"];
            /** @description The number of consecutive turns that ended without a result. At `maxAttempts` the job fails. */
            attempt?: number;
            /** @description The end of the audit log, which reveals a log that was tampered with; absent while the log is empty. */
            audit?: components["schemas"]["AuditHead"];
            /** @description The job's budget in US dollars, over all attempts and rounds; 0 means no limit of its own. */
            budgetUsd?: number;
            /** @description The question that the job waits for; absent if it does not wait. */
            checkpoint?: components["schemas"]["Checkpoint"];
            /** @description `claudeTurns` counts those in which Claude worked: an approved change is published in a turn without Claude. */
            claudeTurns?: number;
            /** @description The versions of the Claude CLI that ran the turns, oldest first: the first one, and every change. Only the latest 50 are kept. */
            cliVersions?: components["schemas"]["CLIVersion"][];
            /**
             * Format: date-time
             * @description The time at which the job was requested.
             */
            createdAt?: string;
            /**
             * Format: date-time
             * @description The time at which the running timer (callback or human) expires the job; zero when none runs.
             */
            deadline?: string;
            /** @description The reason, for people, why an expired, failed, rejected or cancelled job ended. */
            error?: string;
            /** @description The same reason, for programs. */
            errorCode?: components["schemas"]["Code"];
            /** @description The latest of the actions, tool calls and publications that people have allowed and that did not succeed, oldest first; at most ten. */
            failedActions?: components["schemas"]["FailedAction"][];
            /**
             * Format: date-time
             * @description The time at which the job reached a terminal state; absent until then.
             */
            finishedAt?: string;
            /** @description The request, valid under the kind's input schema. */
            input?: Record<string, unknown>;
            /** @description The latest request to stop part of a turn; absent for none. */
            interrupt?: components["schemas"]["Interrupt"];
            /** @description `kind` names the prompt, schemas and policy of the job. */
            kind?: string;
            /** @description The version of the kind that the job has until it is moved: the hex SHA-256 of its prompt and schemas. */
            kindVersion?: string;
            /** @description The latest failed turn's failure; absent if none has failed. It is kept while the job is retried, and after it has succeeded. */
            lastFailure?: components["schemas"]["Failure"];
            /** @description The number of consecutive turns without a result at which the job fails. */
            maxAttempts?: number;
            /** @description The version to which the job moves with its next turn; absent for none. */
            nextKindVersion?: string;
            /** @description The caller's settings for this job. */
            options?: components["schemas"]["Options"];
            /** @description What the job is doing within its state; absent if there is nothing to add. */
            phase?: components["schemas"]["Phase"];
            /**
             * Format: date-time
             * @description The earliest end of the phase: the time of the next attempt. It is zero if unknown.
             */
            phaseUntil?: string;
            /** @description The commits of the job's change that are public, or may be. No decision and no end of the job takes them back. */
            publishedCommits?: components["schemas"]["Published"][];
            /** @description The job's place in the queue while it waits for a worker; absent otherwise. */
            queue?: components["schemas"]["QueuePlace"];
            /** @description The job's id. Claude repeats it in every callback. */
            requestId?: string;
            /** @description The result that Claude submitted, valid under the kind's result schema; absent until it is accepted. */
            result?: Record<string, unknown>;
            /** @description The chat that the job's messages belong to. */
            sessionId?: string;
            /** @description True if a stand-in plays Claude, so that all text and results are made up. Either `options` requests it, or no CLI is available. */
            simulated?: boolean;
            /** @description The job's state. */
            status?: components["schemas"]["State"];
            /** @description The caller's words for grouping jobs, in the caller's order. */
            tags?: string[];
            /** @description Composed by the kind from the input; empty if the kind has no title. Values of the input are quoted, with invisible characters as escapes. */
            title?: string;
            /** @description `turn` counts the turns started so far, so it is also the number of the latest one. */
            turn?: number;
            /**
             * Format: date-time
             * @description The time at which the record last changed.
             */
            updatedAt?: string;
            /** @description The sum over all turns. */
            usage?: components["schemas"]["Usage"];
            /** @description The owner of the job; only this person receives its events. */
            userId?: string;
            /** @description The latest messages of people to the job, with their status: all that wait, and the last of those that Claude has read. */
            words?: components["schemas"]["Word"][];
        };
        /** @description A page of jobs, newest first, each with the fields that were asked for. */
        JobPage: {
            /** @description The jobs of this page, newest first. */
            jobs: components["schemas"]["JobFields"][];
            /** @description The value of cursor for the next page; absent on the last. */
            nextCursor?: string;
            /**
             * Format: date-time
             * @description Set if the page has fewer jobs than asked for but older ones may match: jobs created before this time have not been searched yet. The next page continues there.
             */
            searchedTo?: string;
        };
        /** @description A kind as callers see it. */
        Kind: {
            /** @description The operations that the server runs for Claude. */
            actions?: components["schemas"]["Action"][];
            /** @description What jobs of this kind do. */
            description: string;
            /** @description The prefix of the names of the kind's events. */
            events: string;
            /** @description The JSON Schema of the input; absent in a list of kinds. */
            inputSchema?: Record<string, unknown>;
            /** @description The kind's name. */
            name: string;
            /** @description The JSON Schema of the result; absent in a list of kinds. */
            resultSchema?: Record<string, unknown>;
            /** @description The current version of the prompt and schemas, see kindVersion of a job. */
            version: string;
        };
        /** @description A list of the kinds of jobs. */
        KindList: {
            /** @description The kinds, by name. */
            kinds: components["schemas"]["Kind"][];
        };
        /** @description Answers POST /api/kinds/reload: the names of the kinds that have changed. */
        KindsReload: {
            /** @description The names of new kinds. */
            added: string[];
            /** @description The names of kinds with a new version. */
            changed: string[];
            /** @description The names of removed kinds. */
            removed: string[];
            /** @description Actions of these kinds that cannot run on this node, and why. */
            warnings?: string[];
        };
        /** @description A file or directory that would not be pushed, with the reason. */
        LeftOut: {
            /** @description The path of the file or directory in its repository. */
            path: string;
            /** @description Why it would not be pushed. */
            reason: string;
        };
        /** @description A rate limit of Claude's that an account has reached. No turn of that account is started until it ends. */
        Limit: {
            /** @description The same reason, for people. */
            error: string;
            /** @description The reason, for programs: usage_limit, rate_limited, overloaded or signed_out. */
            errorCode: components["schemas"]["Code"];
            /**
             * Format: date-time
             * @description The time at which it was reached.
             */
            since: string;
            /**
             * Format: date-time
             * @description The time of the next attempt.
             */
            until: string;
            /** @description True if the time of the next attempt came from the API; otherwise it is an estimate. */
            untilStated: boolean;
        };
        /**
         * meal-suggestions input
         * @description What is asked for: meals for a range of dates.
         */
        "meal-suggestions.input": {
            /**
             * Last date
             * Format: date
             * @description Last date to suggest meals for, included.
             */
            dateRangeEnd: string;
            /**
             * First date
             * Format: date
             * @description First date to suggest meals for.
             */
            dateRangeStart: string;
            /**
             * Dietary restrictions
             * @description What every dish must keep to, such as vegetarian or gluten-free.
             */
            dietaryRestrictions?: string[];
            /**
             * Excluded ingredients
             * @description What no dish may contain.
             */
            excludedIngredients?: string[];
            /**
             * Time limit
             * @description Most minutes that preparation and cooking may take together.
             */
            maxTotalMinutes?: number;
            /**
             * Meal types
             * @description Which meals of the day are wanted. Left out or empty: dinner.
             */
            mealTypes?: components["schemas"]["meal-suggestions.input.MealType"][];
            /**
             * Preferences
             * @description Wishes in the user's own words.
             */
            preferences?: string;
            /**
             * Recipe history
             * @description Dishes that were cooked before.
             */
            recipeHistory?: components["schemas"]["meal-suggestions.input.PastMeal"][];
            /**
             * Servings
             * @description How many people eat.
             */
            servings?: number;
            /**
             * Number of suggestions
             * @description How many suggestions to make: as many as the user sees at once. Left out: one for each date and meal type.
             */
            visibleCount?: number;
        };
        /**
         * @description A meal of the day.
         * @enum {string}
         */
        "meal-suggestions.input.MealType": "breakfast" | "lunch" | "dinner" | "snack";
        /** @description A dish that was cooked before. */
        "meal-suggestions.input.PastMeal": {
            /**
             * Last cooked
             * Format: date
             * @description Date it was cooked last.
             */
            lastCooked?: string;
            /**
             * Meal type
             * @description The meal it was cooked for.
             */
            mealType?: components["schemas"]["meal-suggestions.input.MealType"];
            /**
             * Name
             * @description The dish.
             */
            name: string;
            /**
             * Notes
             * @description What the user remarked about it.
             */
            notes?: string;
            /**
             * Rating
             * @description From 1 (never again) to 5 (favourite).
             */
            rating?: number;
            /**
             * Times cooked
             * @description How often it was cooked so far.
             */
            timesCooked?: number;
        };
        /**
         * meal-suggestions result
         * @description The suggested meals and why they were chosen.
         */
        "meal-suggestions.result": {
            /**
             * Reasoning
             * @description Why these dishes were chosen, for the user to read.
             */
            reasoning: string;
            /**
             * Suggestions
             * @description The suggested meals, in the order of their dates.
             */
            suggestions: components["schemas"]["meal-suggestions.result.Suggestion"][];
        };
        /** @description One line of the shopping list. */
        "meal-suggestions.result.Ingredient": {
            /**
             * Amount
             * @description A number; left out for what is added to taste.
             */
            amount?: number;
            /**
             * Name
             * @description The ingredient, without amount.
             */
            name: string;
            /**
             * Note
             * @description Such as finely chopped.
             */
            note?: string;
            /**
             * Optional
             * @description Whether the dish works without it.
             */
            optional?: boolean;
            /**
             * Unit
             * @description Such as g, ml or tbsp; left out for pieces.
             */
            unit?: string;
        };
        /**
         * @description A meal of the day.
         * @enum {string}
         */
        "meal-suggestions.result.MealType": "breakfast" | "lunch" | "dinner" | "snack";
        /** @description What one serving holds, estimated. */
        "meal-suggestions.result.Nutrition": {
            /**
             * Carbohydrates
             * @description Grams of carbohydrates.
             */
            carbsGrams?: number;
            /**
             * Fat
             * @description Grams of fat.
             */
            fatGrams?: number;
            /**
             * Fibre
             * @description Grams of fibre.
             */
            fiberGrams?: number;
            /**
             * Energy
             * @description Kilocalories.
             */
            kcal?: number;
            /**
             * Protein
             * @description Grams of protein.
             */
            proteinGrams?: number;
            /**
             * Sodium
             * @description Milligrams of sodium.
             */
            sodiumMg?: number;
        };
        /** @description A dish that one can cook from. Only the name is required; give all you can. */
        "meal-suggestions.result.Recipe": {
            /**
             * Cooking
             * @description Minutes on the stove or in the oven.
             */
            cookMinutes?: number;
            /**
             * Cuisine
             * @description Where the dish is at home, such as Italian.
             */
            cuisine?: string;
            /**
             * Description
             * @description One or two sentences that make one want to eat it.
             */
            description?: string;
            /**
             * Difficulty
             * @description How much skill it takes.
             * @enum {string}
             */
            difficulty?: "easy" | "medium" | "hard";
            /**
             * Ingredients
             * @description Everything that goes in, for all servings.
             */
            ingredients?: components["schemas"]["meal-suggestions.result.Ingredient"][];
            /**
             * Name
             * @description What the dish is called.
             */
            name: string;
            /**
             * Nutrition
             * @description Estimate for one serving.
             */
            nutrition?: components["schemas"]["meal-suggestions.result.Nutrition"];
            /**
             * Preparation
             * @description Minutes of preparation.
             */
            prepMinutes?: number;
            /**
             * Servings
             * @description How many people it feeds.
             */
            servings?: number;
            /**
             * Source
             * @description The cookbook or site it comes from, or "Own recipe".
             */
            source?: string;
            /**
             * Steps
             * @description What to do, in order.
             */
            steps?: string[];
            /**
             * Tags
             * @description Words to find it by, such as quick or vegan.
             */
            tags?: string[];
        };
        /** @description One meal on one date. */
        "meal-suggestions.result.Suggestion": {
            /**
             * Accepted
             * @description Whether the user took it; null until they decide.
             * @default null
             */
            readonly accepted: boolean | null;
            /**
             * Date
             * Format: date
             * @description The day of the meal.
             */
            date: string;
            /**
             * Meal type
             * @description The meal of that day.
             */
            mealType: components["schemas"]["meal-suggestions.result.MealType"];
            /**
             * Notes
             * @description The user's notes.
             * @default null
             */
            readonly notes: string | null;
            /**
             * Recipe
             * @description The suggested dish.
             */
            recipe: components["schemas"]["meal-suggestions.result.Recipe"];
            /**
             * Servings override
             * @description Servings that the user wants instead of the recipe's.
             * @default null
             */
            readonly servingsOverride: number | null;
        };
        "media.action.generateMedia": {
            /** @description Such as 16:9 */
            aspect_ratio: string;
            /** @description The file to speak; for a video */
            audio_file?: string;
            /** @enum {string} */
            media_type: "image" | "video";
            /** @description What to show */
            prompt: string;
        };
        /** Request for media */
        "media.input": {
            /** @description As the user asked for it, valid or not */
            aspect_ratio?: string;
            /** @description What a video speaks */
            audio_file?: string;
            /**
             * @default image
             * @enum {string}
             */
            media_type: "image" | "video";
            /** @description The provider's model; the simulated provider has one only */
            model?: string;
            /** @description What the user wants, in their words */
            prompt: string;
        };
        /** Generated media */
        "media.result": {
            aspect_ratio: string;
            height?: number;
            /** @enum {string} */
            media_type?: "image" | "video";
            /** @description One sentence for the user */
            message: string;
            /** @description Where it is */
            url: string;
            width?: number;
        };
        /** @description One entry of a session: see "The chat" in docs/chat.md. */
        Message: {
            /** @description `by` names who wrote the message in the user's name: an API key, or another person. Empty if it was the user themselves. */
            by?: string;
            /** @description Set if the message asks a checkpoint's question. */
            checkpointId?: string;
            /** @description The message as text. */
            content: string;
            /**
             * Format: date-time
             * @description The time at which it was stored.
             */
            createdAt: string;
            /** @description The recipient that an outside orchestrator gave. */
            destination?: string;
            /** @description Set if the message is for Claude. */
            hearing?: components["schemas"]["Hearing"];
            /** @description `id` counts the messages of a session, from 1. */
            id: number;
            /** @description The sender's id of the run. */
            logId?: string;
            messageType?: components["schemas"]["MessageType"];
            /** @description The parts of the message, see Part; always present. */
            parts: components["schemas"]["Part"][];
            /** @description A JSON object with additional data, such as the props of a question. */
            props?: Record<string, unknown>;
            /** @description The job it belongs to; empty if it belongs to none. */
            requestId?: string;
            role: components["schemas"]["Sender"];
            /** @description The author: user or assistant. `role` is the same, in the AI SDK's terms. */
            sender: components["schemas"]["Sender"];
            /** @description The chat that the message belongs to. */
            sessionId: string;
            /**
             * Format: date-time
             * @description The time of its last change: when a call that it shows ended, or when its question was closed.
             */
            updatedAt: string;
            /** @description The user of the chat. */
            userId: string;
        };
        /** @description The event data of a message. */
        MessageData: {
            /**
             * @description HITL_CHECKPOINT for a message that asks a person, otherwise NEW_MESSAGE.
             * @enum {string}
             */
            action: "NEW_MESSAGE" | "HITL_CHECKPOINT";
            /** @description The new message. */
            message: components["schemas"]["Message"];
            /** @description The chat. */
            sessionId: string;
            /**
             * @description Awaiting_human if the message waits for its person's reply.
             * @enum {string}
             */
            status: "processing" | "awaiting_human";
        };
        /** @description The chat has a new message. */
        MessageEvent: {
            data: components["schemas"]["MessageData"];
            /** @description The prefix of the job's kind, a colon, and `message`. */
            event: string;
            /** @description `id` orders the events of one user. It always has 16 digits, and each is greater than the one before. Pass it as "since" to resume. */
            id: string;
            /** @description The version of the job's kind: hex SHA-256. Absent without a job. */
            kindVersion?: string;
            /** @description The job that the event is about. */
            requestId: string;
            /** @description True if a simulated Claude runs the job, so that its content is made up. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description The time at which it was stored, by the store's clock.
             */
            time: string;
            /** @description The owner of the job. */
            userId: string;
        };
        /** @description Claude has read a message that waited. */
        MessageHeardEvent: {
            data: components["schemas"]["HeardData"];
            /** @description The prefix of the job's kind, a colon, and `message:heard`. */
            event: string;
            /** @description `id` orders the events of one user. It always has 16 digits, and each is greater than the one before. Pass it as "since" to resume. */
            id: string;
            /** @description The version of the job's kind: hex SHA-256. Absent without a job. */
            kindVersion?: string;
            /** @description The job that the event is about. */
            requestId: string;
            /** @description True if a simulated Claude runs the job, so that its content is made up. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description The time at which it was stored, by the store's clock.
             */
            time: string;
            /** @description The owner of the job. */
            userId: string;
        };
        /** @description A page of a chat, oldest message first. */
        MessagePage: {
            /** @description The job that the next message to Claude goes to, or that another one follows if it has ended; absent if the chat has no job. */
            latestJob?: string;
            /** @description The messages of this page, oldest first. */
            messages: components["schemas"]["Message"][];
            /** @description The value of after for the next page; absent on the last. */
            nextAfter?: number;
            /** @description The chat's id. */
            sessionId: string;
        };
        /**
         * @description - `text`
         *     - `hitl_checkpoint`
         *     - `tool`
         *     - `result`
         *     - `notice`: the end of a job, in words; only Ringback writes it
         *     - `which`: asks which of several questions a reply is about; only Ringback writes it
         *
         *     More may be added.
         */
        MessageType: string;
        /** @description The body of POST /api/jobs/bulk. */
        NewBulk: {
            /** @description Applied to each of the jobs. */
            action: components["schemas"]["BulkAction"];
            /** @description `checkpointIds` are, for the action answer, the questions that the caller was shown, in the order of `requestIds`. A job that asks another question in the meantime is not answered. */
            checkpointIds?: string[];
            /** @description The ids of the jobs, at most 200. */
            requestIds: string[];
            /** @description `text` is, for the action answer, the answer to each of the questions. */
            text?: string;
        };
        /** @description The body of an approval or a rejection. An approval requires checkpointId, or for a code change iteration and trees. */
        NewDecision: {
            /** @description `checkpointId` identifies the question that the decision is for. The decision is refused if the job no longer asks this question. */
            checkpointId?: string;
            /** @description The number of times the change had been steered. */
            iteration?: number;
            /** @description `reason` explains the decision. */
            reason?: string;
            /** @description The way it was shown, for the audit log: whole, paged or link. */
            shown?: components["schemas"]["Shown"];
            /** @description The git tree ids that were shown, by repository, as in the diff. */
            trees?: {
                [key: string]: string;
            };
            /** @description The number of files of a change that the person approves without having marked them as viewed. The approval is refused if there are more. The console must set it. */
            unviewed?: number;
        };
        /** @description The body of POST /api/jobs/:id/interrupt. */
        NewInterrupt: {
            /** @description Sent to Claude as a message of the user. */
            message?: string;
            /** @description True to stop the whole turn, not only the commands that it runs. */
            turn?: boolean;
        };
        /** @description The body of POST /api/jobs. */
        NewJob: {
            /** @description `idempotencyKey` makes the request safe to repeat: the same key of the same user returns the same job, as long as the job is retained. */
            idempotencyKey?: string;
            /** @description The job's input, which must conform to the kind's input schema. */
            input?: Record<string, unknown>;
            /** @description The name of the kind. */
            kind: string;
            options?: components["schemas"]["Options"];
            /** @description The chat for the job's messages; default a new one. */
            sessionId?: string;
            /** @description `tags` group the job with others for filtering: at most 10, each of up to 64 of the characters A-Z a-z 0-9 . _ : / @ = + -, beginning with a letter or digit. */
            tags?: string[];
            /** @description The owner of the job: a back end may name any user, a person only themselves. */
            userId?: string;
        };
        /**
         * code-change
         * @description Changes code in git repositories; a person sees the change, steers and approves it
         */
        "NewJob.code-change": components["schemas"]["NewJob"] & {
            input?: components["schemas"]["code-change.input"];
            /** @constant */
            kind?: "code-change";
        };
        /**
         * meal-suggestions
         * @description Suggests meals with full recipes for a range of dates
         */
        "NewJob.meal-suggestions": components["schemas"]["NewJob"] & {
            input?: components["schemas"]["meal-suggestions.input"];
            /** @constant */
            kind?: "meal-suggestions";
        };
        /**
         * media
         * @description Generates an image or a talking video, and asks when something is missing or refused (simulated provider)
         */
        "NewJob.media": components["schemas"]["NewJob"] & {
            input?: components["schemas"]["media.input"];
            /** @constant */
            kind?: "media";
        };
        /**
         * ship
         * @description Deploys a project once the user has confirmed it (the command only writes what it would deploy)
         */
        "NewJob.ship": components["schemas"]["NewJob"] & {
            input?: components["schemas"]["ship.input"];
            /** @constant */
            kind?: "ship";
        };
        /** @description The body of POST /api/jobs/:id/viewed. */
        NewMark: {
            /** @description The digest of the file, from the diff. */
            digest: string;
            /** @description The name of the file's repository, from the diff. */
            repository: string;
            /** @description False to remove the mark. */
            viewed: boolean;
        };
        /** @description A message from outside, as accepted by POST /from-llm and POST /to-llm, see docs/chat.md. */
        NewMessage: {
            /** @description The message as text. */
            content?: string;
            /** @description The receiver that an outside orchestrator addresses. */
            destination?: string;
            /** @description The sender's id of the run. */
            logId?: string;
            /** @description The type of the message. */
            messageType?: components["schemas"]["MessageType"];
            /** @description The message as parts in the AI SDK's format, instead of content. */
            parts?: unknown[];
            /** @description A JSON object with further data. */
            props?: Record<string, unknown>;
            /** @description The same as the sender, in the AI SDK's terms. A message of the user may also have the role tool. */
            role?: components["schemas"]["Sender"];
            /** @description The author: user or assistant, depending on the endpoint. */
            sender?: components["schemas"]["Sender"];
            /** @description The chat that the message belongs to. */
            sessionId: string;
            /** @description The user of the chat; default: the caller. */
            userId?: string;
        };
        /** @description An incoming reply. At least one of `decision`, `values` and `text` is set. */
        NewReply: {
            /** @description The decision, if the checkpoint asks for one. */
            decision?: components["schemas"]["Decision"];
            /** @description The number of times the change had been steered. */
            iteration?: number;
            /** @description The extent of a tool call's approval: once, job or always. */
            scope?: components["schemas"]["ApprovalScope"];
            /** @description The way it was shown, for the audit log: whole, paged or link. */
            shown?: components["schemas"]["Shown"];
            /** @description The reply in words. */
            text?: string;
            /** @description The git tree ids that were shown, by repository, as in the diff. */
            trees?: {
                [key: string]: string;
            };
            /** @description The number of files of a change that the person approves without having marked them as viewed. The approval is refused if there are more. The console must set it. */
            unviewed?: number;
            /** @description The requested values, by name. */
            values?: Record<string, unknown>;
        };
        /** @description The body of POST /hitl/runs. */
        NewRun: {
            /** @description `agent_tool_config` contains the kind (default media) and further fields of its input. */
            agent_tool_config?: Record<string, unknown>;
            /** @description The field prompt of the kind's input. */
            prompt: string;
            /** @description The chat for the run's messages; default: a new one. */
            session_id?: string;
            /** @description The owner of the run. */
            user_id?: string;
        };
        /** @description The body of POST /api/jobs/:id/steer. */
        NewSteer: {
            /** @description The instruction for the next round. */
            prompt: string;
        };
        /** @description An undelivered notification. */
        Notification: {
            /** @description The question that was asked or answered. */
            checkpointId?: string;
            /** @description The error of the last attempt. */
            error?: string;
            /** @description The host of the URL that came with the question. */
            host?: string;
            /** @description `id` identifies it. What follows the first colon, with | for each further colon, is the webhook-id that the receiver sees. */
            id: string;
            /**
             * Format: date-time
             * @description The time of the next attempt.
             */
            nextTry?: string;
            /** @description The receiver: webhook, slack, or resume for the reply to a question from outside. */
            receiver: components["schemas"]["Receiver"];
            /** @description The job that ended. */
            requestId?: string;
            /** @description The state: waiting, or given_up: no more attempts are made. */
            status: components["schemas"]["NotificationStatus"];
            /**
             * Format: date-time
             * @description The time of the event.
             */
            time?: string;
        };
        /** @description Counts the undelivered notifications for a receiver. */
        NotificationCount: {
            /** @description The number of notifications that will not be retried. */
            givenUp: number;
            /** @description The receiver: webhook, slack, or resume. */
            receiver: components["schemas"]["Receiver"];
            /** @description The number of notifications that will be retried. */
            waiting: number;
        };
        /** @description A list of undelivered notifications. */
        NotificationList: {
            /** @description The undelivered notifications, oldest first. */
            notifications: components["schemas"]["Notification"][];
        };
        /**
         * @description - `waiting`
         *     - `given_up`
         * @enum {string}
         */
        NotificationStatus: "waiting" | "given_up";
        /** @description Something that is stored in a form of an older format. */
        OlderForm: {
            /** @description How many there are. */
            count: number;
            /** @description What it is, in words. */
            form: string;
        };
        /** @description The caller's settings for one job. */
        Options: {
            /** @description The job's budget in US dollars; 0 for the kind's budget. Only back ends may request more than that. */
            budgetUsd?: number;
            /** @description `priority` decides which job goes first when workers are scarce; empty for the kind's own. */
            priority?: components["schemas"]["Priority"];
            /** @description `simulate` requests a stand-in for Claude; default: none. */
            simulate?: components["schemas"]["Simulation"];
        };
        /** @description Describes the result of something that a person has allowed: an action, a tool call, or the publication of a change. */
        Outcome: {
            /**
             * Format: date-time
             * @description The time at which it was recorded.
             */
            at: string;
            /** @description The reason if it did not succeed, or else what the action returned, on one line; empty if there is nothing to add. */
            message?: string;
            /** @description True if it is known only from the output of the Claude CLI, which is no evidence: the programs of the turn could have written it. */
            reported?: boolean;
            /** @description The outcome. */
            status: components["schemas"]["OutcomeStatus"];
        };
        /**
         * @description - `succeeded`
         *     - `failed`
         *     - `timed_out`
         *     - `unknown`: it was interrupted, so it may have taken effect
         *     - `refused`: Claude asked for it, and the approval was no longer valid for it
         *     - `not_run`: Claude never asked for it
         * @enum {string}
         */
        OutcomeStatus: "succeeded" | "failed" | "timed_out" | "unknown" | "refused" | "not_run";
        /** @description Makes Claude stop. */
        ParkedCheckpoint: {
            /** @description What Claude must do: end its turn. */
            instruction: string;
            /** @description Always "parked". */
            status: string;
        };
        /** @description One piece of a message. */
        Part: {
            /** @description The tool's input. */
            input?: unknown;
            /** @description The tool's output. While the call waits for a person's confirmation, it is the interim answer to Claude. */
            output?: unknown;
            /** @description The state of the call. Once it has a result, it is the state of the result. */
            state?: components["schemas"]["PartState"];
            /** @description The text of a text part. */
            text?: string;
            /** @description `toolCallId` links a tool call to its result. A chat has one part of each. */
            toolCallId?: string;
            /** @description The name of the tool, for parts of a tool call. */
            toolName?: string;
            type: components["schemas"]["PartType"];
        };
        /** @description The event data of a batch. */
        PartialData: {
            /** @description The items of this batch. */
            suggestions: unknown[];
            /** @description The number of items that have arrived so far. */
            total: number;
        };
        /** @description A batch of a large result arrived. */
        PartialEvent: {
            data: components["schemas"]["PartialData"];
            /** @description The prefix of the job's kind, a colon, and `partial`. */
            event: string;
            /** @description `id` orders the events of one user. It always has 16 digits, and each is greater than the one before. Pass it as "since" to resume. */
            id: string;
            /** @description The version of the job's kind: hex SHA-256. Absent without a job. */
            kindVersion?: string;
            /** @description The job that the event is about. */
            requestId: string;
            /** @description True if a simulated Claude runs the job, so that its content is made up. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description The time at which it was stored, by the store's clock.
             */
            time: string;
            /** @description The owner of the job. */
            userId: string;
        };
        /**
         * @description - `input-available`
         *     - `output-available`
         *     - `output-denied`
         *     - `output-error`
         * @enum {string}
         */
        PartState: "input-available" | "output-available" | "output-denied" | "output-error";
        /**
         * @description - `text`
         *     - `tool-call`
         *     - `tool-result`
         * @enum {string}
         */
        PartType: "text" | "tool-call" | "tool-result";
        /** @description The job waits for a worker, or what it waits for has changed. */
        PendingEvent: {
            data: components["schemas"]["StateData"];
            /** @description The prefix of the job's kind, a colon, and `pending`. */
            event: string;
            /** @description `id` orders the events of one user. It always has 16 digits, and each is greater than the one before. Pass it as "since" to resume. */
            id: string;
            /** @description The version of the job's kind: hex SHA-256. Absent without a job. */
            kindVersion?: string;
            /** @description The job that the event is about. */
            requestId: string;
            /** @description True if a simulated Claude runs the job, so that its content is made up. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description The time at which it was stored, by the store's clock.
             */
            time: string;
            /** @description The owner of the job. */
            userId: string;
        };
        /**
         * @description - `queued`: waiting for a worker. If `phaseUntil` is set, the job does not start before then.
         *     - `waiting_for_limit`: waiting for another job of the same user to end its turn. If `phaseUntil` is set, it is waiting for the end of a rate limit of Claude's or of a daily budget.
         *     - `waiting_for_exit`: waiting until the process of the previous turn has exited
         *     - `preparing`: preparing the workspace: cloning, or restoring a change
         *     - `claude`: Claude's own work, or that of a person who plays Claude
         *     - `held`: waiting for a person's reply while Claude's call waits for it
         *     - `capturing`: reading the change that a turn made
         *     - `verifying`: running the verifiers on the change
         *     - `publishing`: pushing an approved change and running the finalizers
         * @enum {string}
         */
        Phase: "queued" | "waiting_for_limit" | "waiting_for_exit" | "preparing" | "claude" | "held" | "capturing" | "verifying" | "publishing";
        /**
         * @description - `interactive`: jobs have a person waiting, and go first
         *     - `batch`: jobs run when no interactive job waits, and occasionally in between
         * @enum {string}
         */
        Priority: "interactive" | "batch";
        /** @description A commit of a job's change that is public, or may be. */
        Published: {
            /** @description The branch that the commit was pushed to. */
            branch: string;
            /** @description The id of the commit. */
            commit: string;
            /** @description The name of the repository. */
            repository: string;
            /** @description True if a push began, and its outcome is not known. */
            unconfirmed?: boolean;
            /** @description The URL of the pull request. */
            url?: string;
        };
        /** @description The place in the queue of a job that waits for a worker. */
        QueuePlace: {
            /** @description `otherUsers` counts the other users with queued jobs of the same priority. API keys take turns, and then the users of each. The count may include users without remaining jobs, if they were cancelled since their last turn. */
            otherUsers: number;
            /** @description `ownJobs` counts the jobs of the same user that start before this one. */
            ownJobs: number;
        };
        /** @description The limit and the current number of jobs of a kind. */
        Quota: {
            /** @description The maximum number of jobs that have started and not ended; 0: unlimited. */
            atOnce: number;
            /** @description The name of the kind. */
            kind: string;
            /** @description `open` counts the jobs that have not ended. */
            open: number;
            /** @description The maximum number of jobs created on a day (UTC); 0: unlimited. */
            perDay: number;
            /** @description `today` counts the jobs created today (UTC), without those that RETENTION has removed. */
            today: number;
        };
        /** @description Answers GET /api/readiness, and GET /readyz of the operators' listener. */
        Readiness: {
            /** @description Claude's rate limits that currently keep jobs waiting, of all nodes. */
            limits?: components["schemas"]["Limit"][];
            /** @description The reasons why it is not. */
            problems?: string[];
            /** @description `sandbox` describes how what runs for jobs is confined. */
            sandbox: string;
            /** @description "ready" if the server can work; otherwise "not ready". */
            status: string;
            /** @description Problems that do not keep the server from working. */
            warnings?: string[];
        };
        /** @description Contains the number of items in a batch, and of all items so far. */
        ReceivedBatch: {
            /** @description The messages that people have written during the turn; they are in one answer only. */
            messages?: components["schemas"]["Utterance"][];
            /** @description `messagesId` shows, in the next request to the model, that Claude has received them. */
            messagesId?: string;
            /** @description The number of items in this batch. */
            received: number;
            /** @description Always true. */
            success: boolean;
            /** @description The number of items received so far. */
            total: number;
        };
        /** @description The event data of an accepted result. */
        ReceivedData: {
            /** @description The number of suggestions in the result, if it is of that form. */
            received?: number;
            /** @description The job's requestId. */
            suggestionId: string;
        };
        /** @description The result was accepted: fetch the job. */
        ReceivedEvent: {
            data: components["schemas"]["ReceivedData"];
            /** @description The prefix of the job's kind, a colon, and `received`. */
            event: string;
            /** @description `id` orders the events of one user. It always has 16 digits, and each is greater than the one before. Pass it as "since" to resume. */
            id: string;
            /** @description The version of the job's kind: hex SHA-256. Absent without a job. */
            kindVersion?: string;
            /** @description The job that the event is about. */
            requestId: string;
            /** @description True if a simulated Claude runs the job, so that its content is made up. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description The time at which it was stored, by the store's clock.
             */
            time: string;
            /** @description The owner of the job. */
            userId: string;
        };
        /** @description Contains the number of suggestions in a result. */
        ReceivedResult: {
            /** @description The number of suggestions in the result. */
            received: number;
            /** @description Always true. */
            success: boolean;
        };
        /**
         * @description - `webhook`: WEBHOOK_URL
         *     - `slack`: SLACK_WEBHOOK_URL
         *     - `resume`: the resume_url of a question from outside, or else WEBHOOK_URL
         * @enum {string}
         */
        Receiver: "webhook" | "slack" | "resume";
        /** @description A person rejected the change. */
        RejectedEvent: {
            data: components["schemas"]["StateData"];
            /** @description The prefix of the job's kind, a colon, and `rejected`. */
            event: string;
            /** @description `id` orders the events of one user. It always has 16 digits, and each is greater than the one before. Pass it as "since" to resume. */
            id: string;
            /** @description The version of the job's kind: hex SHA-256. Absent without a job. */
            kindVersion?: string;
            /** @description The job that the event is about. */
            requestId: string;
            /** @description True if a simulated Claude runs the job, so that its content is made up. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description The time at which it was stored, by the store's clock.
             */
            time: string;
            /** @description The owner of the job. */
            userId: string;
        };
        /** @description A person's answer to a checkpoint. */
        Reply: {
            /** @description The author, if it is not the user themselves: an API key, or another person. */
            by?: string;
            /** @description The confidence in the interpretation of `text`, 0 to 1; 1 if nothing had to be interpreted. */
            confidence?: number;
            /** @description Set if the checkpoint asked for one, and for a cancellation. */
            decision?: components["schemas"]["Decision"];
            /** @description The conversation from the question to this answer, oldest first, if it took more than one message. */
            exchange?: components["schemas"]["Utterance"][];
            /** @description The person's message in the session. */
            messageId?: number;
            /** @description The reason for a denial, as interpreted, or what they want instead. */
            reason?: string;
            /** @description The text that the person wrote, if any. */
            text?: string;
            /** @description The requested values, by name. */
            values?: Record<string, unknown>;
        };
        /** @description Answers a progress report. */
        Reported: {
            /** @description The messages that people have written during the turn; they are in one answer only. */
            messages?: components["schemas"]["Utterance"][];
            /** @description `messagesId` shows, in the next request to the model, that Claude has received them. */
            messagesId?: string;
            /** @description Always true. */
            success: boolean;
        };
        /** @description The response to an rpcRequest. */
        RpcResponse: {
            /** @description The error in the protocol's terms, if there is no result. */
            error?: Record<string, unknown>;
            /** @description The ID of the request. */
            id: unknown;
            /** @description Always "2.0". */
            jsonrpc: string;
            /** @description The result of the method. The result of a tool is in content, as text that contains the callback's JSON answer; isError is set if it is a refusal. */
            result?: Record<string, unknown>;
        };
        /** @description A job in the format of /hitl/runs. */
        Run: {
            /** @description How the person can answer: always "respond_naturally". */
            actions_required?: string[];
            checkpoint_type?: components["schemas"]["CheckpointType"];
            /** @description Always true: the question can be answered in words. */
            conversation_mode?: boolean;
            /** @description `data` contains the checkpoint's props. */
            data?: Record<string, unknown>;
            /** @description `error` describes why the run ended without a result. */
            error?: string;
            /** @description The question to the person. */
            message?: string;
            /** @description `result` conforms to the kind's result schema. */
            result?: Record<string, unknown>;
            /** @description The job's requestId. */
            run_id: string;
            /** @description The chat for the run's messages. */
            session_id: string;
            /** @description True if a simulated Claude runs the job, so that its result is made up. */
            simulated?: boolean;
            status: components["schemas"]["State"];
            /** @description By the type of the checkpoint: APPROVAL, API_CALL, INFORMATION_REVIEW or FORM_REQUIREMENTS. */
            step?: string;
            /** @description The owner of the run. */
            user_id: string;
        };
        /** @description A turn is running, or its phase has changed. */
        RunningEvent: {
            data: components["schemas"]["StateData"];
            /** @description The prefix of the job's kind, a colon, and `running`. */
            event: string;
            /** @description `id` orders the events of one user. It always has 16 digits, and each is greater than the one before. Pass it as "since" to resume. */
            id: string;
            /** @description The version of the job's kind: hex SHA-256. Absent without a job. */
            kindVersion?: string;
            /** @description The job that the event is about. */
            requestId: string;
            /** @description True if a simulated Claude runs the job, so that its content is made up. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description The time at which it was stored, by the store's clock.
             */
            time: string;
            /** @description The owner of the job. */
            userId: string;
        };
        /** @description A part of a question. */
        Segment: {
            /** @description The author of the text. */
            from: components["schemas"]["SegmentSource"];
            /** @description Plain text, never Markdown. A value is written as in JSON, with every character that is invisible or looks like another as a \u escape. */
            text: string;
        };
        /**
         * @description - `kind`: the kind's author
         *     - `ringback`: Ringback
         *     - `value`: the source of the value: Claude, a repository, a third party
         *     - `asker`: the asker, in its own words: Claude, or a system outside Ringback
         * @enum {string}
         */
        SegmentSource: "kind" | "ringback" | "value" | "asker";
        /**
         * @description - `user`
         *     - `assistant`
         *     - `tool`: only as a role: the output of a tool
         * @enum {string}
         */
        Sender: "user" | "assistant" | "tool";
        /** @description Answers /from-llm and /to-llm. */
        SentMessage: {
            /** @description The message's number in its chat, from 1. */
            messageId: number;
            /** @description Always true. */
            success: boolean;
        };
        "ship.action.deployToShipperCloud": {
            /**
             * Project
             * @description The name of the project
             */
            projectName: string;
            /**
             * Reason
             * @description Why it is to be deployed
             */
            reason: string;
        };
        /** Request to ship a project */
        "ship.input": {
            /** @description The project, if the prompt does not name it */
            projectName?: string;
            /** @description What the user wants, in their words */
            prompt: string;
        };
        /** What was shipped */
        "ship.result": {
            /** @description Whether the deployment has happened */
            deployed: boolean;
            deploymentUrl?: string;
            /** @description For the user: what was done, and what was not */
            message: string;
            siteUrl?: string;
        };
        /**
         * @description - `whole`: all of it at once
         *     - `paged`: one page; the rest was approved unseen, by a second act
         *     - `link`: only a link or a command that leads to it
         * @enum {string}
         */
        Shown: "whole" | "paged" | "link";
        /**
         * @description - `manual`: starts no process: a person plays Claude with curl
         *     - `success`: runs the simulated Claude, which succeeds
         *     - `repair`: runs the simulated Claude, which first submits an invalid result, then reads the error and repairs it.
         *     - `failure`: runs the simulated Claude, which reports that it cannot do the job
         *     - `silence`: runs the simulated Claude, which never calls back
         * @enum {string}
         */
        Simulation: "manual" | "success" | "repair" | "failure" | "silence";
        /** @description A message that Slack shows. */
        SlackAnswer: {
            /**
             * @description The visibility: in_channel if everyone in the channel sees it, ephemeral if only the sender of the command does.
             * @enum {string}
             */
            response_type: "in_channel" | "ephemeral";
            /** @description The message, in Slack's mrkdwn. */
            text: string;
        };
        /** @description Contains the fields of a Slack command that are read. */
        SlackForm: {
            /** @description The id of the sender's Slack workspace. */
            team_id?: string;
            /** @description The rest of the command: a verb, the job or question, words. */
            text?: string;
            /** @description The sender's id in Slack. */
            user_id?: string;
            /** @description The sender's name in Slack. */
            user_name?: string;
        };
        /**
         * @description - `pending`: waits for a worker
         *     - `running`: a turn is running
         *     - `awaiting_approval`: parked at a review, confirmation or tool_approval
         *     - `awaiting_input`: parked at a question
         *     - `received`: the result was accepted
         *     - `cancelled`: by the user or the back end
         *     - `rejected`: a person rejected the change at review
         *     - `expired`: a deadline passed
         *     - `failed`: given up, or no attempts left
         * @enum {string}
         */
        State: "pending" | "running" | "awaiting_approval" | "awaiting_input" | "received" | "cancelled" | "rejected" | "expired" | "failed";
        /** @description The event data of a state. */
        StateData: {
            /** @description `attempt` counts consecutive turns that ended without a result. At `maxAttempts` the job fails. */
            attempt?: number;
            /** @description A person's request to stop part of the turn. */
            interrupt?: components["schemas"]["Interrupt"];
            /** @description The failure of the previous turn. */
            lastFailure?: components["schemas"]["Failure"];
            maxAttempts?: number;
            /** @description `phase` describes what happens within it. */
            phase?: components["schemas"]["Phase"];
            /**
             * Format: date-time
             * @description The earliest end of the phase: the time of the next attempt.
             */
            phaseUntil?: string;
            /** @description The new state of the job. */
            status: components["schemas"]["State"];
            /** @description `turn` counts the turns started so far. */
            turn?: number;
        };
        /** @description Counts over everything retained, of all users. */
        Statistics: {
            /** @description Today's budgets (UTC) that are set. Of those of users, they contain the one that the request names, or else the ten of which the most is spent. */
            budgets?: components["schemas"]["Budget"][];
            /** @description Questions to people by type, and `total` is for all types. */
            checkpoints: {
                [key: string]: components["schemas"]["CheckpointStats"];
            };
            /** @description The last 30 days (UTC), oldest first. */
            days: components["schemas"]["Day"][];
            jobs: components["schemas"]["JobCounts"];
            /** @description Claude's rate limits that currently keep jobs waiting. */
            limits?: components["schemas"]["Limit"][];
            /** @description The quotas of kinds that are set. */
            quotas?: components["schemas"]["Quota"][];
            total: components["schemas"]["CheckpointStats"];
        };
        /** @description One round that a person requested. */
        SteeringIteration: {
            /** @description The changed files; absent while the round is running. */
            files_modified?: string[];
            /** @description The number of the round, from 1. */
            iteration_number: number;
            /** @description The output of the round; absent while it is running. */
            output?: string;
            /** @description The person's instruction for the round. */
            prompt: string;
            /**
             * Format: date-time
             * @description The time at which the round was requested.
             */
            timestamp: string;
        };
        /** @description Counts how often a job was steered. */
        SteeringState: {
            /** @description The number of times the job has been steered. */
            current_iteration: number;
            /** @description The rounds so far, oldest first. */
            history?: components["schemas"]["SteeringIteration"][];
            /** @description The maximum number of times; default 5. */
            max_iterations: number;
            /** @description Prompts that arrived while a turn was running. Each becomes a separate round, in this order. */
            queued?: string[];
        };
        /** @description The format of a store, and what of an upgrade is left to do. */
        StoreFormat: {
            /**
             * Format: date-time
             * @description When the store moves to the newest format by itself; absent if it does not.
             */
            finishesAt?: string;
            /** @description The format in which servers write. */
            format: number;
            /** @description The newest format that this version writes. */
            newest: number;
            /** @description What was found in an older form. */
            older: components["schemas"]["OlderForm"][];
            /** @description The oldest format of which records may be left. */
            oldest: number;
            /** @description True if that was rewritten. */
            rewritten: boolean;
            /** @description The servers that use the store. */
            servers: components["schemas"]["StoreServer"][];
        };
        /** @description A server that uses a store. */
        StoreServer: {
            /** @description The format in which it writes. */
            format: number;
            /** @description Its host and address. */
            name: string;
            /** @description The newest format that it reads. */
            reads: number;
        };
        Success: {
            /** @description Always true. */
            success: boolean;
        };
        /** @description The consumption of turns. If the server proxies the requests to the model's API, it counts from the responses; otherwise, these are the CLI's figures. */
        Usage: {
            /** @description The number of input tokens that were read from the cache. */
            cacheReadTokens?: number;
            /** @description The number of input tokens that were written to the cache. */
            cacheWriteTokens?: number;
            /** @description The cost in US dollars: from the price table, or else the CLI's own estimate. */
            costUsd: number;
            /** @description `inputTokens` counts input tokens, including cached ones. */
            inputTokens: number;
            /** @description `outputTokens` counts output tokens. */
            outputTokens: number;
        };
        /** @description One contribution to a conversation. */
        Utterance: {
            /** @description The author, if it is not the user themselves: an API key, or another person. */
            by?: string;
            /** @description The text. */
            content: string;
            sender: components["schemas"]["Sender"];
        };
        /** @description The result of a verifier. */
        VerifierOutput: {
            /** @description The duration in milliseconds. */
            duration_ms: number;
            /** @description The exit code; -1 if the verifier was killed. */
            exit_code: number;
            /** @description The repository in which it ran. */
            repository: string;
            /** @description The verifier's standard error. */
            stderr: string;
            /** @description The verifier's standard output. */
            stdout: string;
            /** @description True if the exit code is 0. */
            success: boolean;
            /** @description True if it was killed because it took too long. */
            timed_out?: boolean;
            /** @description The names of the repository and the verifier: "service:test". */
            verifier: string;
        };
        /** @description The data of the event that a job changes the version of its kind. */
        VersionData: {
            /** @description The version that the job has now. */
            kindVersion: string;
            /** @description The version that it gets with its next turn; absent once it has it. */
            nextKindVersion?: string;
        };
        /** @description The job moves to another version of its kind with its next turn, or has moved. */
        VersionEvent: {
            data: components["schemas"]["VersionData"];
            /** @description The prefix of the job's kind, a colon, and `version`. */
            event: string;
            /** @description `id` orders the events of one user. It always has 16 digits, and each is greater than the one before. Pass it as "since" to resume. */
            id: string;
            /** @description The version of the job's kind: hex SHA-256. Absent without a job. */
            kindVersion?: string;
            /** @description The job that the event is about. */
            requestId: string;
            /** @description True if a simulated Claude runs the job, so that its content is made up. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description The time at which it was stored, by the store's clock.
             */
            time: string;
            /** @description The owner of the job. */
            userId: string;
        };
        /** @description Lists which files of a change under review a person has marked as viewed. */
        Viewed: {
            /** @description The number of changed files. */
            changed: number;
            /** @description The files of the whole change, in its order. */
            files: components["schemas"]["ViewedFile"][];
            /** @description The number of changed files that the person has marked as viewed in their present form. */
            viewed: number;
        };
        /** @description A file of a change, with the person's mark. */
        ViewedFile: {
            /** @description The digest of the file's change, as in the diff. */
            digest?: string;
            /** @description The file's path in its repository. */
            path: string;
            /** @description The name of the file's repository. */
            repository: string;
            /** @description True if the person has marked the file as viewed in its present form. */
            viewed: boolean;
        };
        /** @description A message from a person to a job's Claude, with its status. */
        Word: {
            /** @description The number of that turn's next tool call: 1 for a message that was part of the turn's prompt. */
            beforeToolCall?: number;
            /**
             * Format: date-time
             * @description The time at which it was read.
             */
            heardAt?: string;
            /** @description The state of the message: waiting, then heard. */
            hearing: components["schemas"]["HearingStatus"];
            /** @description The id of the message in the job's session. */
            messageId: number;
            /** @description The number of the turn that read it. */
            turn?: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listCheckpoints: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the previous page; default: the first page. */
                cursor?: string;
                /** @description At least 6 characters of the random part of an id, with or without its prefix. */
                idPrefix?: string;
                /** @description The maximum number of entries in a page: 1 to 500, default 50. */
                limit?: number;
                /** @description Only checkpoints with this status; default: those that wait for a reply. */
                status?: "open" | "reading" | "answered" | "clarified" | "expired" | "cancelled";
                /** @description Only checkpoints of this type; default: all types. */
                type?: "review" | "confirmation" | "tool_approval" | "error_recovery" | "information_request" | "form_requirements";
                /** @description The user, for back ends. A user's token always selects its own user. */
                userId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    listJobs: {
        parameters: {
            query?: {
                /** @description Only jobs created at this time or later. */
                createdSince?: string;
                /** @description Only jobs created before this time. */
                createdUntil?: string;
                /** @description The `nextCursor` of the previous page; default: the first page. */
                cursor?: string;
                /** @description The fields of each job to return, such as `requestId,status`; or `-result,-input` for all but these. */
                fields?: string;
                /** @description At least 6 characters of the random part of an id, with or without its prefix. */
                idPrefix?: string;
                /** @description Only jobs of the kind with this name. */
                kind?: string;
                /** @description The maximum number of entries in a page: 1 to 500, default 50. */
                limit?: number;
                /** @description Words to search for, at most 200 characters. A job matches if its title, kind, id or tags contain each word; case is ignored. */
                q?: string;
                /** @description Only jobs in one of these states: a repeated parameter, or separated by commas. */
                status?: ("pending" | "running" | "awaiting_approval" | "awaiting_input" | "received" | "cancelled" | "rejected" | "expired" | "failed")[];
                /** @description Only jobs with this tag. */
                tag?: string;
                /** @description The user, for back ends. A user's token always selects its own user. */
                userId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
}
/** The input of code-change. */
export interface CodeChangeInput extends Omit<components["schemas"]["code-change.input"], "$defs"> {
}
/** The result of code-change. */
export interface CodeChangeResult extends Omit<components["schemas"]["code-change.result"], "$defs"> {
}
/** The input of meal-suggestions. */
export interface MealSuggestionsInput extends Omit<components["schemas"]["meal-suggestions.input"], "$defs"> {
}
/** The result of meal-suggestions. */
export interface MealSuggestionsResult extends Omit<components["schemas"]["meal-suggestions.result"], "$defs"> {
}
/** The input of media. */
export interface MediaInput extends Omit<components["schemas"]["media.input"], "$defs"> {
}
/** The result of media. */
export interface MediaResult extends Omit<components["schemas"]["media.result"], "$defs"> {
}
/** The input of ship. */
export interface ShipInput extends Omit<components["schemas"]["ship.input"], "$defs"> {
}
/** The result of ship. */
export interface ShipResult extends Omit<components["schemas"]["ship.result"], "$defs"> {
}
/** The kinds of one server, which `ringback-client types` declares here. If there are any, only these can be named. */
export interface ServerKinds {
}
/** The input and result of each built-in kind. Declare your own kinds here, too. */
export interface Kinds {
    "code-change": {
        input: CodeChangeInput;
        result: CodeChangeResult;
    };
    "meal-suggestions": {
        input: MealSuggestionsInput;
        result: MealSuggestionsResult;
    };
    "media": {
        input: MediaInput;
        result: MediaResult;
    };
    "ship": {
        input: ShipInput;
        result: ShipResult;
    };
}
/** The events of jobs, by type. */
export interface Events {
    "pending": components["schemas"]["PendingEvent"];
    "running": components["schemas"]["RunningEvent"];
    "activity": components["schemas"]["ActivityEvent"];
    "partial": components["schemas"]["PartialEvent"];
    "received": components["schemas"]["ReceivedEvent"];
    "error": components["schemas"]["ErrorEvent"];
    "message": components["schemas"]["MessageEvent"];
    "message:heard": components["schemas"]["MessageHeardEvent"];
    "checkpoint": components["schemas"]["CheckpointEvent"];
    "checkpoint:resolved": components["schemas"]["CheckpointResolvedEvent"];
    "action": components["schemas"]["ActionEvent"];
    "version": components["schemas"]["VersionEvent"];
    "cancelled": components["schemas"]["CancelledEvent"];
    "rejected": components["schemas"]["RejectedEvent"];
}
