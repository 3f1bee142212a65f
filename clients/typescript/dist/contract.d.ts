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
        Action: {
            confirm: string;
            description: string;
            inputSchema: Record<string, unknown>;
            name: string;
            title: string;
        };
        /** @description One progress report. */
        Activity: {
            /** @description What a person reads. */
            message: string;
            /** @description The share done in percent, 0 to 100. */
            progress: number;
            /** @description The phase of the work. */
            type: components["schemas"]["ActivityType"];
        };
        /** @description Claude reported progress. */
        ActivityEvent: {
            data: components["schemas"]["Activity"];
            /** @description The prefix of the job's kind, a colon, and `activity`. */
            event: string;
            /** @description `id` orders the events of one user: digits, always 16 of them, each event's greater than the last. "since" takes it to resume. */
            id: string;
            /** @description The version of the job's kind, see Job; empty without a job. */
            kindVersion?: string;
            /** @description The job it happened to. */
            requestId: string;
            /** @description Whether its job is, see Job. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description When it was stored, by the store's clock.
             */
            time: string;
            /** @description Whose job it is. */
            userId: string;
        };
        /**
         * @description - `thinking`
         *     - `querying`
         *     - `results`
         * @enum {string}
         */
        ActivityType: "thinking" | "querying" | "results";
        /** @description Who did something. */
        Actor: {
            /** @description Where it came from: an IP address. */
            address?: string;
            /** @description The name of the key by which a back end was let in; empty without one. */
            key?: string;
            /** @description The person; empty for a back end that named none. */
            userId?: string;
            /** @description How it came in: one of the Via constants. */
            via: string;
        };
        /** @description Tells Claude the reply; parkedCheckpoint, to stop. */
        AnsweredCheckpoint: {
            /** @description What people have written while the turn runs; they are in one answer only. */
            messages?: components["schemas"]["Utterance"][];
            /** @description `messagesId` shows in the next request to the model that Claude has heard them. */
            messagesId?: string;
            reply: components["schemas"]["Reply"];
            status: string;
        };
        /** @description A standing approval of tool calls, until it is revoked. */
        Approval: {
            /** @description `covers` says in plain words what the rule lets through. */
            covers?: components["schemas"]["Segment"][];
            /** Format: date-time */
            createdAt: string;
            id: string;
            /** @description Whose jobs it is for; RequestID the only one, empty for all of them. */
            kind: string;
            requestId?: string;
            /** @description What it permits, as the person has seen it: a rule of the kind, or, behind a tool's name and a colon, one call. */
            rule: string;
            userId: string;
        };
        /** @description What a user has allowed for more than once. */
        ApprovalList: {
            approvals: components["schemas"]["Approval"][];
        };
        /**
         * @description - `once`: for exactly this input, one time
         *     - `job`: for whatever matches the rule, in this job
         *     - `always`: for whatever matches the rule, for this user
         * @enum {string}
         */
        ApprovalScope: "once" | "job" | "always";
        /** @description One line of a job's audit log, which is only ever added to. */
        AuditEntry: {
            /** @description The name of an action, Tool of a tool of the CLI: one of them is set. */
            action?: string;
            /** @description Who decided; nil where nobody did. */
            by?: components["schemas"]["Actor"];
            checkpointId?: string;
            /** @description `detail` says why something was refused. */
            detail?: string;
            /** @description What happened: asked, approve, deny, steer, cancel, answered, unclear, expired, withdrawn, started, finished, refused, or allowed by a standing approval. */
            event: string;
            /** @description How many files the change had, and how many of them the person who decided had marked as viewed; nil if it was not about a change. */
            files?: components["schemas"]["FilesViewed"];
            /** @description What it is to be done with, and InputDigest the SHA-256 of its canonical JSON (RFC 8785), in hex. */
            input?: Record<string, unknown>;
            inputDigest?: string;
            /** @description The version of the kind under which it happened, see Job. */
            kindVersion?: string;
            /** @description How a run ended: success, error or unknown. */
            outcome?: string;
            /** @description The digest of the preview of an action with this input, as people were shown it; empty without one. */
            previewDigest?: string;
            /** @description The digest of the entry before, as it is stored: hex SHA-256. It is empty for the first, and PreviousUnknown where the log was begun without. */
            previous?: string;
            requestId: string;
            /** @description What a yes for more than once to the call of a tool permits; empty for an action. */
            rule?: string;
            /** @description The run of an action. */
            run?: string;
            /** @description How far an approval goes: once, job or always. */
            scope?: components["schemas"]["ApprovalScope"];
            /** @description How what was decided on had been shown, as the client stated; empty if it stated nothing. Trees are what of a change it named, by repository. */
            shown?: components["schemas"]["Shown"];
            /** Format: date-time */
            time: string;
            tool?: string;
            trees?: {
                [key: string]: string;
            };
            type?: components["schemas"]["CheckpointType"];
        };
        /** @description The end of an audit log whose entries are chained. It is kept apart from the log, and with every entry it changes in the same step: so it tells of an end that was cut off. */
        AuditHead: {
            /** @description How many entries the chain has. */
            count: number;
            /** @description That of the last entry: hex SHA-256 of its bytes as they are stored. It is empty for a log without entries. */
            digest?: string;
        };
        /** @description A budget of today. */
        Budget: {
            /** @description `budgetUsd` may be spent until the day turns, and SpentUSD was. */
            budgetUsd: number;
            kind?: string;
            /** @description "server" for all jobs, or "kind" for those of Kind. */
            of: components["schemas"]["BudgetOf"];
            spentUsd: number;
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
         * @enum {string}
         */
        BulkAction: "cancel" | "retry";
        /** @description What became of one job. */
        BulkOutcome: {
            /** @description `error` says why nothing was done to the job, and Hint what to do; absent if it was done. */
            error?: string;
            hint?: string;
            /** @description The job's id. */
            requestId: string;
        };
        /** @description Answers POST /api/jobs/bulk. */
        BulkOutcomes: {
            /** @description What became of each job, in the order of the request. */
            jobs: components["schemas"]["BulkOutcome"][];
            /** @description `succeeded` counts the jobs to which it was done. */
            succeeded: number;
        };
        /** @description What Claude finds in its prompt. */
        CallbackConfiguration: {
            /** @description Where callbacks are sent. */
            callbackBaseUrl: string;
            /** @description Where the repositories lie that Claude works on: a directory of the machine that runs the turn. Left out where it is another one, where the job works on none, and until they are there. */
            directory?: string;
            /** @description The signature of this turn's callbacks. */
            hmac: string;
            requestId: string;
        };
        /** @description The job was cancelled. */
        CancelledEvent: {
            data: components["schemas"]["StateData"];
            /** @description The prefix of the job's kind, a colon, and `cancelled`. */
            event: string;
            /** @description `id` orders the events of one user: digits, always 16 of them, each event's greater than the last. "since" takes it to resume. */
            id: string;
            /** @description The version of the job's kind, see Job; empty without a job. */
            kindVersion?: string;
            /** @description The job it happened to. */
            requestId: string;
            /** @description Whether its job is, see Job. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description When it was stored, by the store's clock.
             */
            time: string;
            /** @description Whose job it is. */
            userId: string;
        };
        /** @description A question to a person, see docs/people.md. */
        Checkpoint: {
            /**
             * Format: date-time
             * @description When it was closed; zero before.
             */
            answeredAt?: string;
            /**
             * Format: date-time
             * @description When it was asked.
             */
            createdAt: string;
            /** @description What was said since the question was first put, oldest first: replies that were not clear, or are being read, and what was asked back. */
            exchange?: components["schemas"]["Utterance"][];
            /** @description Whether Claude's call still waits for the reply, in the same turn. */
            held?: boolean;
            /** @description What a reply names; replies in a chat need not. */
            id: string;
            /** @description The question as the person reads it. */
            message: string;
            /** @description The checkpoint's message in the session. */
            messageId: number;
            /** @description The checkpoint that asks again where the reply was not clear. */
            next?: string;
            /** @description A JSON object that describes what is asked, see Props. */
            props: Record<string, unknown>;
            /** @description What the person answered; nil before. */
            reply?: components["schemas"]["Reply"];
            /** @description The job that waits; empty when something outside Ringback asked. */
            requestId?: string;
            /** @description `sessionId` and UserID say whom it is put to, and where. */
            sessionId: string;
            /** @description `status` says whether it still waits for a reply. */
            status: components["schemas"]["CheckpointStatus"];
            /** @description The call of a tool in the chat that waits for the decision; empty where no call does. */
            toolCallId?: string;
            /** @description `type` says what sort of question it is. */
            type: components["schemas"]["CheckpointType"];
            userId: string;
        };
        /** @description How many checkpoints there are. */
        CheckpointCount: {
            count: number;
        };
        /** @description A person is asked. */
        CheckpointEvent: {
            data: components["schemas"]["Checkpoint"];
            /** @description The prefix of the job's kind, a colon, and `checkpoint`. */
            event: string;
            /** @description `id` orders the events of one user: digits, always 16 of them, each event's greater than the last. "since" takes it to resume. */
            id: string;
            /** @description The version of the job's kind, see Job; empty without a job. */
            kindVersion?: string;
            /** @description The job it happened to. */
            requestId: string;
            /** @description Whether its job is, see Job. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description When it was stored, by the store's clock.
             */
            time: string;
            /** @description Whose job it is. */
            userId: string;
        };
        /** @description A page of the inbox. */
        CheckpointPage: {
            checkpoints: components["schemas"]["Checkpoint"][];
            /** @description What to pass as cursor for the next page; absent on the last. */
            nextCursor?: string;
        };
        /** @description A question no longer waits: it was answered, or its job has ended. */
        CheckpointResolvedEvent: {
            data: components["schemas"]["Checkpoint"];
            /** @description The prefix of the job's kind, a colon, and `checkpoint:resolved`. */
            event: string;
            /** @description `id` orders the events of one user: digits, always 16 of them, each event's greater than the last. "since" takes it to resume. */
            id: string;
            /** @description The version of the job's kind, see Job; empty without a job. */
            kindVersion?: string;
            /** @description The job it happened to. */
            requestId: string;
            /** @description Whether its job is, see Job. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description When it was stored, by the store's clock.
             */
            time: string;
            /** @description Whose job it is. */
            userId: string;
        };
        /** @description The counts of one type of checkpoint, and what follows from them. Rates are null as long as nothing can be said. */
        CheckpointStats: {
            answered: number;
            /** @description `answeredWhileHeld` counts those answered while the call that asked still waited. */
            answeredWhileHeld: number;
            answeredWhileHeldShare: number | null;
            approvalRate: number | null;
            /** @description `approved` and Denied count the decisions. */
            approved: number;
            cancelled: number;
            clarified: number;
            denied: number;
            expired: number;
            meanSecondsToAnswer: number | null;
            /** @description `opened` counts those put to a person; the rest, what became of them. */
            opened: number;
        };
        /**
         * @description - `open`
         *     - `reading`: a reply came, and Claude is asked what it means
         *     - `answered`: a person replied
         *     - `clarified`: the reply was not clear: the checkpoint Next asks again
         *     - `expired`: nobody replied in time
         *     - `cancelled`: the job ended otherwise
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
        /** @description Counts what took no longer than UpToSeconds, and longer than the class before. */
        Class: {
            count: number;
            upToSeconds: number | null;
        };
        /** @description A version of the Claude CLI that ran turns of a job. */
        CLIVersion: {
            /** @description The first turn that it ran. It ran the later ones too, up to the next entry's. */
            fromTurn: number;
            /** @description What the CLI's program answers to --version, never what a turn printed: such as 2.1.329, or simulated for the stand-in, or unknown if the program gave no answer. */
            version: string;
        };
        /**
         * @description - `callback_timeout`: no result within CALLBACK_TIMEOUT of the turn's start
         *     - `queue_timeout`: no worker became free in time
         *     - `human_timeout`: nobody answered within HUMAN_TIMEOUT
         *     - `spawn_failed`: the CLI could not be started
         *     - `exited_without_callback`
         *     - `cli_failed`: the CLI exited with an error
         *     - `output_limit`: the CLI printed more than is kept
         *     - `stalled`: the turn hung: see stall_timeout and tool_timeout of its kind
         *     - `budget`: the kind's spending limit for one turn was reached
         *     - `budget_exceeded`: a budget of the job or of the day is used up
         *     - `claude_failed`: Claude itself reported that it cannot do the job
         *     - `invalid_result`
         *     - `kind_missing`: the job's version of its kind cannot be read
         *     - `callbacks_off`: the kind works by callbacks, and the server takes none (USE_CALLBACK_CLAUDE)
         *     - `cancelled`
         *     - `rejected`: a person rejected the change
         *     - `workspace`: a repository could not be cloned
         *     - `finalize_failed`: the change could not be published
         *     - `usage_limit`: what the account may use is used up
         *     - `rate_limited`: too many requests at once
         *     - `overloaded`: the model's API has no room
         *     - `signed_out`: the API does not know the key, or the sign-in has expired
         *
         *     Others may come.
         */
        Code: ("callback_timeout" | "queue_timeout" | "human_timeout" | "spawn_failed" | "exited_without_callback" | "cli_failed" | "output_limit" | "stalled" | "budget" | "budget_exceeded" | "claude_failed" | "invalid_result" | "kind_missing" | "callbacks_off" | "cancelled" | "rejected" | "workspace" | "finalize_failed" | "usage_limit" | "rate_limited" | "overloaded" | "signed_out") | string;
        /** Request for a code change */
        "code-change.input": {
            /** @default 5 */
            max_steering_iterations: number;
            /** @description What to change */
            prompt: string;
            /** @description Where to change it */
            repos: ({
                /** @description Where to begin; default: the repository's own default branch */
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
            sessionId: string;
            status: components["schemas"]["State"];
        };
        /** @description Answers POST /api/suggestions. */
        CreatedSuggestions: {
            /** @description The job's id. */
            requestId: string;
            status: components["schemas"]["State"];
        };
        /** @description What was counted on a day, over all users, kinds and nodes. */
        Day: {
            approvals: components["schemas"]["Class"][];
            /** @description What turns that ended on it have cost, by kind. */
            costUSD: {
                [key: string]: number;
            };
            /** @description The day, in UTC. */
            date: string;
            /** @description `firstCallback` counts those turns by how long it took until Claude first called back, Approvals the decisions by how long they took. */
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
        /** @description One thing wrong with a request, placed so that the sender can mend it. */
        Detail: {
            /** @description `message` says what was found and what is allowed. */
            message: string;
            /** @description The JSON pointer (RFC 6901) of the offending value; "" is the whole body. */
            path: string;
        };
        /** @description What a job has changed in one repository. */
        DiffOutput: {
            files: components["schemas"]["FileDiff"][];
            /** @description The first line of a page, from 1, and NextFrom that of the next one; 0 behind the last. */
            from?: number;
            hint?: string;
            /** @description How often the change was steered when this was captured, and Tree git's id of exactly what is shown: an approval may name both. */
            iteration: number;
            /** @description What lies there and would not be pushed. */
            left_out?: components["schemas"]["LeftOut"][];
            next_from?: number;
            /** @description Its name, which is its directory's too. */
            repository: string;
            /** @description `summary` reads "3 files changed, +45, -12". */
            summary: string;
            /** @description How many lines the whole diff has; Truncated, whether some of them are left out or cut, and Hint how to see those. */
            total_lines: number;
            tree?: string;
            truncated: boolean;
        };
        /** @description Says that something was done. */
        Done: {
            success: boolean;
        };
        /** @description An error that people and Claude read. It is the body of every answer that is not a success. */
        Error: {
            /** @description `details` name each wrong field, at most 20. */
            details?: components["schemas"]["Detail"][];
            /** @description `error` says briefly what is wrong. */
            error: string;
            /** @description `hint` says what to do about it. */
            hint?: string;
        };
        /** @description The data of the event of a job that expired or failed. */
        ErrorData: {
            /** @description `error` says for people, ErrorCode for programs why it ended. */
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
            /** @description `id` orders the events of one user: digits, always 16 of them, each event's greater than the last. "since" takes it to resume. */
            id: string;
            /** @description The version of the job's kind, see Job; empty without a job. */
            kindVersion?: string;
            /** @description The job it happened to. */
            requestId: string;
            /** @description Whether its job is, see Job. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description When it was stored, by the store's clock.
             */
            time: string;
            /** @description Whose job it is. */
            userId: string;
        };
        /** @description Something that happened to a job, as WebSocket clients receive it. */
        Event: components["schemas"]["PendingEvent"] | components["schemas"]["RunningEvent"] | components["schemas"]["ActivityEvent"] | components["schemas"]["PartialEvent"] | components["schemas"]["ReceivedEvent"] | components["schemas"]["ErrorEvent"] | components["schemas"]["MessageEvent"] | components["schemas"]["MessageHeardEvent"] | components["schemas"]["CheckpointEvent"] | components["schemas"]["CheckpointResolvedEvent"] | components["schemas"]["CancelledEvent"] | components["schemas"]["RejectedEvent"];
        /** @description The events of one job, oldest first. */
        EventPage: {
            events: components["schemas"]["Event"][];
            /** @description Whether since is not in the store's past: read the record anew. */
            resync?: boolean;
        };
        /** @description What was found in a store. */
        Examination: {
            /** @description The first MaxFindings. */
            findings: components["schemas"]["Finding"][];
            /** @description `found` counts the findings, and Mended those that were put right. */
            found: number;
            mended: number;
            /** @description `notifications` count those that have not got through, by receiver. */
            notifications?: components["schemas"]["NotificationCount"][];
        };
        /** @description How a turn ended that brought no result. */
        Failure: {
            error: string;
            /** @description `errorCode` says for programs, Error for people what went wrong. */
            errorCode: components["schemas"]["Code"];
            /**
             * Format: date-time
             * @description When it was booked, by the store's clock.
             */
            time: string;
            /** @description Which one, from 1. */
            turn: number;
        };
        /** @description A file as callers see it. */
        File: {
            contentType: string;
            /** Format: date-time */
            modifiedAt: string;
            path: string;
            size: number;
            /** @description Where the file is, on this server. */
            url: string;
        };
        /** @description What has changed in one file. */
        FileDiff: {
            additions: number;
            /** @description Whether the file is named only, not shown. */
            binary?: boolean;
            deletions: number;
            /** @description The change as git shows it; empty where it is left out. */
            diff: string;
            /** @description `digest` identifies this change of the file: its names, modes and git's ids of its content, before and after. Another round that changes the file again has another digest. */
            digest?: string;
            /** @description `mode` reads "100644→100755" where that changed. */
            mode?: string;
            new_start?: number;
            /** @description Where a renamed file was. */
            old_path?: string;
            /** @description `old_start` and NewStart are the numbers of the first lines of Diff, before and after the change, where a page begins in the midst of a part of it; 0 where it begins with its head. */
            old_start?: number;
            path: string;
            /** @description Whether this is a commit of another git repository, not a file. */
            repository?: boolean;
            status: components["schemas"]["FileStatus"];
            /** @description `suspicious` says why a reviewer should look twice: the file may hold a secret, or is a repository of its own. Empty where nothing is found. */
            suspicious?: string;
        };
        /** @description The files that a job made. */
        FileList: {
            files: components["schemas"]["File"][];
            /** @description Whether there are more, which cannot be listed. */
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
            /** @description How many files have changed, and Viewed how many of them the person has marked as viewed, as they are now. */
            changed: number;
            viewed: number;
        };
        /** @description Something stored that does not fit the records of jobs and checkpoints. The records are the truth: from them follows in which lists they are, who holds a worker, what waits, and which clocks run. */
        Finding: {
            /** @description Where, without the prefix of the partition, and Member what of it; empty for all of it. */
            key: string;
            member?: string;
            /** @description Whether it was put right. */
            mended: boolean;
            /** @description `problem` says what is wrong. */
            problem: string;
            /** @description The job that it is about; empty for none. */
            requestId?: string;
        };
        /** @description Answers GET /healthz. */
        Health: {
            status: string;
            version: string;
        };
        /** @description The data of the event that Claude has heard a message. */
        HeardData: {
            beforeToolCall?: number;
            /**
             * Format: date-time
             * @description When it was heard.
             */
            heardAt?: string;
            /** @description Waiting, then heard. */
            hearing: components["schemas"]["HearingStatus"];
            /** @description The message in the job's session. */
            messageId: number;
            /** @description The chat. */
            sessionId: string;
            /** @description The turn that has heard it, and BeforeToolCall which of that turn's tool calls came next: 1 for a message that the turn began with. */
            turn?: number;
        };
        /** @description Says whether Claude has heard a message, and when. */
        Hearing: {
            beforeToolCall?: number;
            /**
             * Format: date-time
             * @description When it was heard.
             */
            heardAt?: string;
            /** @description Waiting, then heard. */
            hearing: components["schemas"]["HearingStatus"];
            /** @description The turn that has heard it, and BeforeToolCall which of that turn's tool calls came next: 1 for a message that the turn began with. */
            turn?: number;
        };
        /**
         * @description - `waiting`: is one that no request to the model holds yet.
         *     - `heard`: is one that Claude has read.
         * @enum {string}
         */
        HearingStatus: "waiting" | "heard";
        /** @description The answer to the hook. Without an output, the CLI decides by its own allowlist, which holds nothing but what calling back needs. */
        HookAnswer: {
            hookSpecificOutput?: components["schemas"]["HookOutput"];
        };
        HookOutput: {
            /** @description Shown to Claude beside what the tool gives back. */
            additionalContext?: string;
            hookEventName: string;
            permissionDecision?: string;
            permissionDecisionReason?: string;
            updatedInput?: unknown;
        };
        /** @description A person's request to stop what a running turn does, and to keep the job. */
        Interrupt: {
            /** @description True once the commands have been stopped. */
            done?: boolean;
            /** @description What is stopped. */
            scope: components["schemas"]["InterruptScope"];
            /**
             * Format: date-time
             * @description When it was requested.
             */
            time: string;
            /** @description The turn that was running. */
            turn: number;
        };
        /**
         * @description - `command`: the commands that Claude runs; the turn goes on
         *     - `turn`: the turn; the next one goes on in the same conversation
         * @enum {string}
         */
        InterruptScope: "command" | "turn";
        /** @description The whole record of one piece of work of one kind for one user, as GET /api/jobs/:id shows it. Times are UTC. */
        Job: {
            /** @description The latest progress that Claude reported; nil before the first. */
            activity?: components["schemas"]["Activity"];
            /** @description `attempt` counts turns in a row that ended without a result; at MaxAttempts the job has failed. */
            attempt?: number;
            /** @description The end of its audit log, by which a log that was tampered with is known; nil while nothing is in it. */
            audit?: components["schemas"]["AuditHead"];
            /** @description What the job may cost in US dollars, over all attempts and rounds; 0: no limit of its own. */
            budgetUsd?: number;
            /** @description The question the job waits at; nil when it does not wait. */
            checkpoint?: components["schemas"]["Checkpoint"];
            /** @description The versions of the Claude CLI that ran the turns, oldest first: the first one, and then each change. Of more than 50, the latest are kept. */
            cliVersions?: components["schemas"]["CLIVersion"][];
            /**
             * Format: date-time
             * @description When the job was asked for.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the clock that runs now (callback or human) expires the job; zero when none runs.
             */
            deadline?: string;
            /** @description `error` says in words for a person why an expired, failed, rejected or cancelled job ended. */
            error?: string;
            /** @description `errorCode` says the same for programs, see the Code constants. */
            errorCode?: components["schemas"]["Code"];
            /**
             * Format: date-time
             * @description When the job reached a terminal state; zero before.
             */
            finishedAt?: string;
            /** @description What was asked for, valid under the kind's input schema. */
            input: Record<string, unknown>;
            /** @description The latest request to stop what a turn does; nil for none. */
            interrupt?: components["schemas"]["Interrupt"];
            /** @description `kind` names the prompt, schemas and policy the job runs under. */
            kind: string;
            /** @description The version of the kind under which the job began and ends: the hex SHA-256 of what its prompt and schemas were. */
            kindVersion: string;
            /** @description How the latest turn that failed ended; nil when none has. It is kept while the job is tried again, and after it has succeeded. */
            lastFailure?: components["schemas"]["Failure"];
            maxAttempts?: number;
            /** @description The caller's wishes for this job alone. */
            options?: components["schemas"]["Options"];
            /** @description `phase` says what is going on within State; empty where there is nothing more to say. */
            phase?: components["schemas"]["Phase"];
            /**
             * Format: date-time
             * @description Until when it goes on at least: when the next attempt is made; zero where that is not known.
             */
            phaseUntil?: string;
            /** @description What a job waits behind that waits for a worker; nil for any other. */
            queue?: components["schemas"]["QueuePlace"];
            /** @description The job's id; every callback of its Claude repeats it. */
            requestId: string;
            /** @description What Claude submitted, valid under the kind's result schema; nil until it was accepted. */
            result?: Record<string, unknown>;
            /** @description The chat that the job's messages belong to. */
            sessionId: string;
            /** @description Whether a stand-in plays Claude, so that whatever is said and submitted is made up: asked for by Options, or for want of a CLI. */
            simulated?: boolean;
            /** @description Where the job stands, see State. */
            status: components["schemas"]["State"];
            /** @description The words by which whoever asked for the job groups it with others, in their order. */
            tags?: string[];
            /** @description What the kind calls the job, by its input; empty if the kind has no title. Values of the input are literals: in quotes, with what is not seen as escapes. */
            title?: string;
            /** @description `turn` counts the turns started so far; the running one is the last. */
            turn: number;
            /**
             * Format: date-time
             * @description When the record last changed.
             */
            updatedAt: string;
            /** @description `usage` sums what all turns used. */
            usage: components["schemas"]["Usage"];
            /** @description The person the job belongs to; only they receive its events. */
            userId: string;
            /** @description The latest messages that people have written to the job, and whether Claude has heard them: all that wait, and of the others the last. */
            words?: components["schemas"]["Word"][];
        };
        /** @description Count the jobs that are kept, of all users. A status or kind of which there are none may be missing. */
        JobCounts: {
            byKind: {
                [key: string]: {
                    [key: string]: number;
                };
            };
            byStatus: {
                [key: string]: number;
            };
            total: number;
        };
        /** @description The whole record of one piece of work of one kind for one user, as GET /api/jobs/:id shows it. Times are UTC. */
        JobFields: {
            /** @description The latest progress that Claude reported; nil before the first. */
            activity?: components["schemas"]["Activity"];
            /** @description `attempt` counts turns in a row that ended without a result; at MaxAttempts the job has failed. */
            attempt?: number;
            /** @description The end of its audit log, by which a log that was tampered with is known; nil while nothing is in it. */
            audit?: components["schemas"]["AuditHead"];
            /** @description What the job may cost in US dollars, over all attempts and rounds; 0: no limit of its own. */
            budgetUsd?: number;
            /** @description The question the job waits at; nil when it does not wait. */
            checkpoint?: components["schemas"]["Checkpoint"];
            /** @description The versions of the Claude CLI that ran the turns, oldest first: the first one, and then each change. Of more than 50, the latest are kept. */
            cliVersions?: components["schemas"]["CLIVersion"][];
            /**
             * Format: date-time
             * @description When the job was asked for.
             */
            createdAt?: string;
            /**
             * Format: date-time
             * @description When the clock that runs now (callback or human) expires the job; zero when none runs.
             */
            deadline?: string;
            /** @description `error` says in words for a person why an expired, failed, rejected or cancelled job ended. */
            error?: string;
            /** @description `errorCode` says the same for programs, see the Code constants. */
            errorCode?: components["schemas"]["Code"];
            /**
             * Format: date-time
             * @description When the job reached a terminal state; zero before.
             */
            finishedAt?: string;
            /** @description What was asked for, valid under the kind's input schema. */
            input?: Record<string, unknown>;
            /** @description The latest request to stop what a turn does; nil for none. */
            interrupt?: components["schemas"]["Interrupt"];
            /** @description `kind` names the prompt, schemas and policy the job runs under. */
            kind?: string;
            /** @description The version of the kind under which the job began and ends: the hex SHA-256 of what its prompt and schemas were. */
            kindVersion?: string;
            /** @description How the latest turn that failed ended; nil when none has. It is kept while the job is tried again, and after it has succeeded. */
            lastFailure?: components["schemas"]["Failure"];
            maxAttempts?: number;
            /** @description The caller's wishes for this job alone. */
            options?: components["schemas"]["Options"];
            /** @description `phase` says what is going on within State; empty where there is nothing more to say. */
            phase?: components["schemas"]["Phase"];
            /**
             * Format: date-time
             * @description Until when it goes on at least: when the next attempt is made; zero where that is not known.
             */
            phaseUntil?: string;
            /** @description What a job waits behind that waits for a worker; nil for any other. */
            queue?: components["schemas"]["QueuePlace"];
            /** @description The job's id; every callback of its Claude repeats it. */
            requestId?: string;
            /** @description What Claude submitted, valid under the kind's result schema; nil until it was accepted. */
            result?: Record<string, unknown>;
            /** @description The chat that the job's messages belong to. */
            sessionId?: string;
            /** @description Whether a stand-in plays Claude, so that whatever is said and submitted is made up: asked for by Options, or for want of a CLI. */
            simulated?: boolean;
            /** @description Where the job stands, see State. */
            status?: components["schemas"]["State"];
            /** @description The words by which whoever asked for the job groups it with others, in their order. */
            tags?: string[];
            /** @description What the kind calls the job, by its input; empty if the kind has no title. Values of the input are literals: in quotes, with what is not seen as escapes. */
            title?: string;
            /** @description `turn` counts the turns started so far; the running one is the last. */
            turn?: number;
            /**
             * Format: date-time
             * @description When the record last changed.
             */
            updatedAt?: string;
            /** @description `usage` sums what all turns used. */
            usage?: components["schemas"]["Usage"];
            /** @description The person the job belongs to; only they receive its events. */
            userId?: string;
            /** @description The latest messages that people have written to the job, and whether Claude has heard them: all that wait, and of the others the last. */
            words?: components["schemas"]["Word"][];
        };
        /** @description A page of jobs, newest first, each with the fields that were asked for. */
        JobPage: {
            jobs: components["schemas"]["JobFields"][];
            /** @description What to pass as cursor for the next page; absent on the last. */
            nextCursor?: string;
            /**
             * Format: date-time
             * @description Set if the page has fewer jobs than asked for, and older ones may match: jobs that were created before then were not looked at yet. The next page goes on there.
             */
            searchedTo?: string;
        };
        /** @description A kind as callers see it. */
        Kind: {
            /** @description What the server does for Claude; Confirm says when a person must allow it. */
            actions?: components["schemas"]["Action"][];
            description: string;
            /** @description The prefix of its events' names. */
            events: string;
            /** @description `inputSchema` and ResultSchema are JSON Schemas; a list of kinds leaves them out. */
            inputSchema?: Record<string, unknown>;
            name: string;
            resultSchema?: Record<string, unknown>;
            /** @description That of its prompt and schemas now, see kindVersion of a job. */
            version: string;
        };
        /** @description What can be asked for. */
        KindList: {
            kinds: components["schemas"]["Kind"][];
        };
        /** @description A file or directory that would not be pushed, and why. */
        LeftOut: {
            path: string;
            reason: string;
        };
        /** @description A limit of Claude's that an account has reached. Until it ends, no turn of that account is started. */
        Limit: {
            error: string;
            /** @description One of LimitCodes, and Error says it for people. */
            errorCode: components["schemas"]["Code"];
            /**
             * Format: date-time
             * @description When it was reached, Until when the next turn is tried.
             */
            since: string;
            /** Format: date-time */
            until: string;
            /** @description Whether Until is what the API said. Else it is a guess. */
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
            mealTypes?: components["schemas"]["meal-suggestions.input"]["$defs"]["MealType"][];
            /**
             * Preferences
             * @description Wishes in the user's own words.
             */
            preferences?: string;
            /**
             * Recipe history
             * @description Dishes that were cooked before.
             */
            recipeHistory?: components["schemas"]["meal-suggestions.input"]["$defs"]["PastMeal"][];
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
            $defs: {
                /**
                 * @description A meal of the day.
                 * @enum {string}
                 */
                MealType: "breakfast" | "lunch" | "dinner" | "snack";
                /** @description A dish that was cooked before. */
                PastMeal: {
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
                    mealType?: components["schemas"]["meal-suggestions.input"]["$defs"]["MealType"];
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
            };
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
            suggestions: components["schemas"]["meal-suggestions.result"]["$defs"]["Suggestion"][];
            $defs: {
                /** @description One line of the shopping list. */
                Ingredient: {
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
                MealType: "breakfast" | "lunch" | "dinner" | "snack";
                /** @description What one serving holds, estimated. */
                Nutrition: {
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
                Recipe: {
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
                    ingredients?: components["schemas"]["meal-suggestions.result"]["$defs"]["Ingredient"][];
                    /**
                     * Name
                     * @description What the dish is called.
                     */
                    name: string;
                    /**
                     * Nutrition
                     * @description Estimate for one serving.
                     */
                    nutrition?: components["schemas"]["meal-suggestions.result"]["$defs"]["Nutrition"];
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
                Suggestion: {
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
                    mealType: components["schemas"]["meal-suggestions.result"]["$defs"]["MealType"];
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
                    recipe: components["schemas"]["meal-suggestions.result"]["$defs"]["Recipe"];
                    /**
                     * Servings override
                     * @description Servings that the user wants instead of the recipe's.
                     * @default null
                     */
                    readonly servingsOverride: number | null;
                };
            };
        };
        "media.action.generateMedia": {
            /** @description Such as 16:9 */
            aspect_ratio: string;
            /** @description The file to speak; for a video */
            audio_file?: string;
            /** @enum {unknown} */
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
             * @enum {unknown}
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
            /** @enum {unknown} */
            media_type?: "image" | "video";
            /** @description One sentence for the user */
            message: string;
            /** @description Where it is */
            url: string;
            width?: number;
        };
        /** @description One entry of a session: see "The chat" in docs/people.md. */
        Message: {
            /** @description Set on the message that puts a checkpoint. */
            checkpointId?: string;
            /** @description The message as text. */
            content: string;
            /**
             * Format: date-time
             * @description When it was stored.
             */
            createdAt: string;
            /** @description Whom an outside orchestrator sent it to. */
            destination?: string;
            /** @description Set if the message is for Claude. */
            hearing?: components["schemas"]["Hearing"];
            /** @description `id` counts the messages of a session, from 1. */
            id: number;
            /** @description The sender's own id of the run. */
            logId?: string;
            messageType?: components["schemas"]["MessageType"];
            /** @description What it consists of, see Part; always present. */
            parts: components["schemas"]["Part"][];
            /** @description A JSON object of further facts, see Props and ReplyProps. */
            props?: Record<string, unknown>;
            /** @description The job it belongs to; empty for none of ours. */
            requestId?: string;
            role: components["schemas"]["Sender"];
            /** @description User or assistant; Role says the same in the AI SDK's word. */
            sender: components["schemas"]["Sender"];
            sessionId: string;
            /**
             * Format: date-time
             * @description When it last changed: when a call that it shows ended, or the question that it puts was closed.
             */
            updatedAt: string;
            userId: string;
        };
        /** @description The data of a message's event. */
        MessageData: {
            /**
             * @description HITL_CHECKPOINT for a message that asks a person, else NEW_MESSAGE.
             * @enum {string}
             */
            action: "NEW_MESSAGE" | "HITL_CHECKPOINT";
            /** @description What was said. */
            message: components["schemas"]["Message"];
            /** @description The chat. */
            sessionId: string;
            /**
             * @description `status` says whether the chat waits for its person.
             * @enum {string}
             */
            status: "processing" | "awaiting_human";
        };
        /** @description Something was said in the chat. */
        MessageEvent: {
            data: components["schemas"]["MessageData"];
            /** @description The prefix of the job's kind, a colon, and `message`. */
            event: string;
            /** @description `id` orders the events of one user: digits, always 16 of them, each event's greater than the last. "since" takes it to resume. */
            id: string;
            /** @description The version of the job's kind, see Job; empty without a job. */
            kindVersion?: string;
            /** @description The job it happened to. */
            requestId: string;
            /** @description Whether its job is, see Job. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description When it was stored, by the store's clock.
             */
            time: string;
            /** @description Whose job it is. */
            userId: string;
        };
        /** @description Claude has read a message that waited. */
        MessageHeardEvent: {
            data: components["schemas"]["HeardData"];
            /** @description The prefix of the job's kind, a colon, and `message:heard`. */
            event: string;
            /** @description `id` orders the events of one user: digits, always 16 of them, each event's greater than the last. "since" takes it to resume. */
            id: string;
            /** @description The version of the job's kind, see Job; empty without a job. */
            kindVersion?: string;
            /** @description The job it happened to. */
            requestId: string;
            /** @description Whether its job is, see Job. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description When it was stored, by the store's clock.
             */
            time: string;
            /** @description Whose job it is. */
            userId: string;
        };
        /** @description A part of a chat, oldest message first. */
        MessagePage: {
            messages: components["schemas"]["Message"][];
            /** @description What to pass as after for the next page; absent on the last. */
            nextAfter?: number;
            sessionId: string;
        };
        /**
         * @description - `text`
         *     - `hitl_checkpoint`
         *     - `tool`
         *     - `result`
         *     - `notice`: what became of a job, in words
         *     - `which`: asks which of several questions a reply is about; nobody else writes it
         *
         *     Others may come.
         */
        MessageType: ("text" | "hitl_checkpoint" | "tool" | "result" | "notice" | "which") | string;
        /** @description The body of POST /api/jobs/bulk. */
        NewBulk: {
            /** @description What is done to each of the jobs. */
            action: components["schemas"]["BulkAction"];
            /** @description The jobs, at most 200. */
            requestIds: string[];
        };
        /** @description The body of an approval or a rejection. An approval requires checkpointId, or for a code change iteration and trees. */
        NewDecision: {
            /** @description The question that is decided on. The decision is refused if the job asks another one by now. */
            checkpointId?: string;
            /** @description How often the change had been steered. */
            iteration?: number;
            /** @description `reason` explains the decision. */
            reason?: string;
            /** @description How it was shown, for the audit log: whole, paged or link. */
            shown?: components["schemas"]["Shown"];
            /** @description Git's ids of what was shown, by repository, as the diff tells them. */
            trees?: {
                [key: string]: string;
            };
            /** @description How many files of a change the person approves that they have not marked as viewed. The approval is refused if there are more by now. The console must state it. */
            unviewed?: number;
        };
        /** @description The body of POST /api/jobs/:id/interrupt. */
        NewInterrupt: {
            /** @description What Claude is told, as a message of the user's. */
            message?: string;
            /** @description True to stop the whole turn, not only the commands that it runs. */
            turn?: boolean;
        };
        /** @description The body of POST /api/jobs. */
        NewJob: {
            /** @description `idempotencyKey` makes the request repeatable: the same key of the same user gives the same job, for as long as that is kept. */
            idempotencyKey?: string;
            input?: Record<string, unknown>;
            /** @description What sort of job it is to be, and Input what is asked of it: by the kind's input schema. */
            kind: string;
            options?: components["schemas"]["Options"];
            /** @description The chat that its messages go to; a new one where none is named. */
            sessionId?: string;
            /** @description `tags` group the job with others, to be listed by: at most 10, each of up to 64 of the characters A-Z a-z 0-9 . _ : / @ = + -, beginning with a letter or digit. */
            tags?: string[];
            /** @description Whose job it is: a back end may name any user, a person only themselves. */
            userId?: string;
        };
        /** @description The body of POST /api/jobs/:id/viewed. */
        NewMark: {
            digest: string;
            /** @description `repository` and Digest identify the file as it was shown, see the diff. */
            repository: string;
            /** @description False to take the mark back. */
            viewed: boolean;
        };
        /** @description A message from outside, as POST /from-llm and POST /to-llm take it, see docs/people.md. */
        NewMessage: {
            /** @description The message as text. */
            content?: string;
            /** @description Whom an orchestrator outside sends it to. */
            destination?: string;
            /** @description The sender's own id of the run. */
            logId?: string;
            /** @description What sort of message it is. */
            messageType?: components["schemas"]["MessageType"];
            /** @description `parts` may be given in the place of Content, as the AI SDK has them. */
            parts?: unknown[];
            /** @description A JSON object of further facts. */
            props?: Record<string, unknown>;
            /** @description `role` says the same as Sender in the AI SDK's word, and may be tool in a message of the user. */
            role?: components["schemas"]["Sender"];
            /** @description User or assistant, as the endpoint has it. */
            sender?: components["schemas"]["Sender"];
            /** @description The chat, UserID whose it is. */
            sessionId: string;
            userId?: string;
        };
        /** @description A reply as it comes in: at least one of its fields is set. */
        NewReply: {
            /** @description A yes or no, where one is asked for; Values are those that were asked for, by name; Text is the reply in words. */
            decision?: components["schemas"]["Decision"];
            /** @description How often the change had been steered. */
            iteration?: number;
            /** @description How far an approval of a tool call goes: once, job or always. */
            scope?: components["schemas"]["ApprovalScope"];
            /** @description How it was shown, for the audit log: whole, paged or link. */
            shown?: components["schemas"]["Shown"];
            text?: string;
            /** @description Git's ids of what was shown, by repository, as the diff tells them. */
            trees?: {
                [key: string]: string;
            };
            /** @description How many files of a change the person approves that they have not marked as viewed. The approval is refused if there are more by now. The console must state it. */
            unviewed?: number;
            values?: Record<string, unknown>;
        };
        /** @description The rest of that body. */
        NewRun: {
            /** @description `agent_tool_config` holds the kind, else media, and further fields of its input. */
            agent_tool_config?: Record<string, unknown>;
            /** @description The field prompt of the kind's input. */
            prompt: string;
            /** @description The chat, UserID whose it is. */
            session_id?: string;
            user_id?: string;
        };
        /** @description The body of POST /api/jobs/:id/steer. */
        NewSteer: {
            /** @description `prompt` says what the next round is to do. */
            prompt: string;
        };
        /** @description One that has not got through yet. */
        Notification: {
            /** @description The question that was asked or answered. */
            checkpointId?: string;
            /** @description Why the last try failed. */
            error?: string;
            /** @description That of the address that came with the question. */
            host?: string;
            /** @description `id` names it. Behind its first colon, with | for each further one, it is the webhook-id that the receiver sees. */
            id: string;
            /**
             * Format: date-time
             * @description When it is tried again.
             */
            nextTry?: string;
            /** @description Webhook, slack, or resume for the reply to a question from outside. */
            receiver: components["schemas"]["Receiver"];
            /** @description The job that has ended. */
            requestId?: string;
            /** @description Waiting, or given_up: it is tried no more. */
            status: components["schemas"]["NotificationStatus"];
            /**
             * Format: date-time
             * @description When it happened.
             */
            time?: string;
        };
        /** @description Counts the notifications for a receiver that have not got through. */
        NotificationCount: {
            givenUp: number;
            /** @description Webhook, slack, or resume. */
            receiver: components["schemas"]["Receiver"];
            /** @description `waiting` counts those that are still tried, GivenUp those that are not. */
            waiting: number;
        };
        /** @description Lists notifications that have not got through. */
        NotificationList: {
            notifications: components["schemas"]["Notification"][];
        };
        /**
         * @description - `waiting`
         *     - `given_up`
         * @enum {string}
         */
        NotificationStatus: "waiting" | "given_up";
        /** @description The caller's wishes for one job. */
        Options: {
            /** @description What the job may cost in US dollars; 0 means the kind's own budget. Only back ends may ask for more than that. */
            budgetUsd?: number;
            /** @description `priority` decides who goes first when workers are scarce; empty means the kind's own. */
            priority?: components["schemas"]["Priority"];
            /** @description `simulate` asks for a stand-in instead of Claude, see Simulation. */
            simulate?: components["schemas"]["Simulation"];
        };
        ParkedCheckpoint: {
            instruction: string;
            status: string;
        };
        /** @description One piece of a message. */
        Part: {
            /** @description What the tool is called with; Output is what it gave back, and in a call that waits for a person's confirmation, what Claude is answered meanwhile. */
            input?: unknown;
            output?: unknown;
            /** @description How far a call is: that of its result once it has one. */
            state?: components["schemas"]["PartState"];
            /** @description What a text part says. */
            text?: string;
            /** @description `toolCallId` joins a tool's call and its result: a chat has one part of each. */
            toolCallId?: string;
            toolName?: string;
            type: components["schemas"]["PartType"];
        };
        /** @description The data of a batch's event. */
        PartialData: {
            /** @description The items of this batch. */
            suggestions: unknown[];
            /** @description How many items have arrived in all. */
            total: number;
        };
        /** @description A batch of a large result arrived. */
        PartialEvent: {
            data: components["schemas"]["PartialData"];
            /** @description The prefix of the job's kind, a colon, and `partial`. */
            event: string;
            /** @description `id` orders the events of one user: digits, always 16 of them, each event's greater than the last. "since" takes it to resume. */
            id: string;
            /** @description The version of the job's kind, see Job; empty without a job. */
            kindVersion?: string;
            /** @description The job it happened to. */
            requestId: string;
            /** @description Whether its job is, see Job. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description When it was stored, by the store's clock.
             */
            time: string;
            /** @description Whose job it is. */
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
            /** @description `id` orders the events of one user: digits, always 16 of them, each event's greater than the last. "since" takes it to resume. */
            id: string;
            /** @description The version of the job's kind, see Job; empty without a job. */
            kindVersion?: string;
            /** @description The job it happened to. */
            requestId: string;
            /** @description Whether its job is, see Job. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description When it was stored, by the store's clock.
             */
            time: string;
            /** @description Whose job it is. */
            userId: string;
        };
        /**
         * @description - `queued`: is waiting for a worker; where Job.PhaseUntil is set, not before then.
         *     - `waiting_for_limit`: is waiting for another job of the same user to end its turn; where Job.PhaseUntil is set, for the end of a limit of Claude's.
         *     - `waiting_for_exit`: is waiting for the process of the turn before to be gone.
         *     - `preparing`: is making the workspace ready: cloning, or restoring a change.
         *     - `claude`: is Claude's own work, or a person's who plays Claude.
         *     - `held`: is a question to a person while the call of Claude that asks still waits.
         *     - `capturing`: is reading what a turn has changed.
         *     - `verifying`: is running the verifiers on it.
         *     - `publishing`: is pushing an approved change and running the finalizers.
         * @enum {string}
         */
        Phase: "queued" | "waiting_for_limit" | "waiting_for_exit" | "preparing" | "claude" | "held" | "capturing" | "verifying" | "publishing";
        /**
         * @description - `interactive`: jobs have a person waiting and go first.
         *     - `batch`: jobs run when no interactive job waits, and now and then between.
         * @enum {string}
         */
        Priority: "interactive" | "batch";
        /** @description What a job waits behind that waits for a worker. */
        QueuePlace: {
            /** @description `otherUsers` counts the other users with jobs of the same priority in line. Users take turns: one job of each starts before each job of this user. It may count users whose jobs have been cancelled since their last turn. */
            otherUsers: number;
            /** @description `ownJobs` counts the jobs of the same user that start before this one. */
            ownJobs: number;
        };
        /** @description How many jobs of a kind there may be, and are. */
        Quota: {
            /** @description How many may have begun and not ended; 0: any number. */
            atOnce: number;
            kind: string;
            /** @description `open` counts the jobs that have not ended. */
            open: number;
            /** @description How many may be created on a day (UTC); 0: any number. */
            perDay: number;
            /** @description `today` counts the jobs created today (UTC), without those that RETENTION has removed. */
            today: number;
        };
        /** @description Answers GET /readyz. */
        Readiness: {
            /** @description Those of Claude's that keep jobs waiting, of all nodes. */
            limits?: components["schemas"]["Limit"][];
            /** @description `sandbox` says what confines what runs for jobs. */
            sandbox: string;
            status: string;
            /** @description What is not as it should be. */
            warnings?: string[];
        };
        /** @description Says how many items were in a batch, and how many there are in all. */
        ReceivedBatch: {
            /** @description What people have written while the turn runs; they are in one answer only. */
            messages?: components["schemas"]["Utterance"][];
            /** @description `messagesId` shows in the next request to the model that Claude has heard them. */
            messagesId?: string;
            received: number;
            success: boolean;
            total: number;
        };
        /** @description The data of the event of an accepted result. */
        ReceivedData: {
            /** @description How many suggestions the result holds, where it holds such. */
            received?: number;
            /** @description The job's requestId. */
            suggestionId: string;
        };
        /** @description The result was accepted: fetch the job. */
        ReceivedEvent: {
            data: components["schemas"]["ReceivedData"];
            /** @description The prefix of the job's kind, a colon, and `received`. */
            event: string;
            /** @description `id` orders the events of one user: digits, always 16 of them, each event's greater than the last. "since" takes it to resume. */
            id: string;
            /** @description The version of the job's kind, see Job; empty without a job. */
            kindVersion?: string;
            /** @description The job it happened to. */
            requestId: string;
            /** @description Whether its job is, see Job. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description When it was stored, by the store's clock.
             */
            time: string;
            /** @description Whose job it is. */
            userId: string;
        };
        /** @description Says how many suggestions a result held. */
        ReceivedResult: {
            received: number;
            success: boolean;
        };
        /**
         * @description - `webhook`: WEBHOOK_URL
         *     - `slack`: SLACK_WEBHOOK_URL
         *     - `resume`: the resume_url of a question from outside, else WEBHOOK_URL
         * @enum {string}
         */
        Receiver: "webhook" | "slack" | "resume";
        /** @description A person rejected the change. */
        RejectedEvent: {
            data: components["schemas"]["StateData"];
            /** @description The prefix of the job's kind, a colon, and `rejected`. */
            event: string;
            /** @description `id` orders the events of one user: digits, always 16 of them, each event's greater than the last. "since" takes it to resume. */
            id: string;
            /** @description The version of the job's kind, see Job; empty without a job. */
            kindVersion?: string;
            /** @description The job it happened to. */
            requestId: string;
            /** @description Whether its job is, see Job. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description When it was stored, by the store's clock.
             */
            time: string;
            /** @description Whose job it is. */
            userId: string;
        };
        /** @description A person's answer to a checkpoint. */
        Reply: {
            /** @description How sure the reading of Text is, 0 to 1; 1 where nothing had to be understood. */
            confidence?: number;
            /** @description Given where the checkpoint asked for one, and for a cancellation. */
            decision?: components["schemas"]["Decision"];
            /** @description All that was said from the question to this answer, oldest first, where it took more than one message. */
            exchange?: components["schemas"]["Utterance"][];
            /** @description The person's message in the session. */
            messageId?: number;
            /** @description Why they said no, as far as it was understood, or what they want instead. */
            reason?: string;
            /** @description What the person wrote, if they did. */
            text?: string;
            /** @description The values that were asked for, by name. */
            values?: Record<string, unknown>;
        };
        /** @description Answers a progress report. */
        Reported: {
            /** @description What people have written while the turn runs; they are in one answer only. */
            messages?: components["schemas"]["Utterance"][];
            /** @description `messagesId` shows in the next request to the model that Claude has heard them. */
            messagesId?: string;
            success: boolean;
        };
        /** @description The answer to one. */
        RpcResponse: {
            /** @description Why there is none, in the protocol's words. */
            error?: Record<string, unknown>;
            /** @description That of the request. */
            id: unknown;
            /** @description 2.0. */
            jsonrpc: string;
            /** @description What was asked for. A tool's is in content, as text, which is the JSON that the callback answers; isError says that it is a refusal. */
            result?: Record<string, unknown>;
        };
        /** @description A job as /hitl/runs calls and words it. */
        Run: {
            actions_required?: string[];
            checkpoint_type?: components["schemas"]["CheckpointType"];
            conversation_mode?: boolean;
            /** @description The checkpoint's props. */
            data?: Record<string, unknown>;
            /** @description `error` says why it ended without a result. */
            error?: string;
            message?: string;
            /** @description Valid under the kind's result schema. */
            result?: Record<string, unknown>;
            /** @description The job's requestId. */
            run_id: string;
            session_id: string;
            /** @description Whether a stand-in plays Claude. */
            simulated?: boolean;
            status: components["schemas"]["State"];
            step?: string;
            user_id: string;
        };
        /** @description A turn is running, or what goes on in it has changed. */
        RunningEvent: {
            data: components["schemas"]["StateData"];
            /** @description The prefix of the job's kind, a colon, and `running`. */
            event: string;
            /** @description `id` orders the events of one user: digits, always 16 of them, each event's greater than the last. "since" takes it to resume. */
            id: string;
            /** @description The version of the job's kind, see Job; empty without a job. */
            kindVersion?: string;
            /** @description The job it happened to. */
            requestId: string;
            /** @description Whether its job is, see Job. */
            simulated?: boolean;
            /**
             * Format: date-time
             * @description When it was stored, by the store's clock.
             */
            time: string;
            /** @description Whose job it is. */
            userId: string;
        };
        /** @description A part of a question. */
        Segment: {
            /** @description Whose words these are. */
            from: components["schemas"]["SegmentSource"];
            /** @description What the part says: plain text, never Markdown. A value is written as in JSON, with each character that is not seen, or looks like another, as a \u escape. */
            text: string;
        };
        /**
         * @description - `kind`: the kind's author
         *     - `ringback`: Ringback
         *     - `value`: whoever chose the value: Claude, a repository, a stranger
         *     - `asker`: whoever asks in their own words: Claude, or something outside Ringback
         * @enum {string}
         */
        SegmentSource: "kind" | "ringback" | "value" | "asker";
        /**
         * @description - `user`
         *     - `assistant`
         *     - `tool`: a role only: what a tool gave back
         * @enum {string}
         */
        Sender: "user" | "assistant" | "tool";
        /** @description Answers /from-llm and /to-llm. */
        SentMessage: {
            /** @description The message's place in its chat, from 1. */
            messageId: number;
            success: boolean;
        };
        "ship.action.deployToShipperCloud": {
            /** @description The name of the project */
            projectName: string;
            /** @description Why it is to be deployed */
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
         *     - `paged`: a page of it, and the rest was approved unseen by a second act
         *     - `link`: not there, but a link or a command that leads to it
         * @enum {string}
         */
        Shown: "whole" | "paged" | "link";
        /**
         * @description - `manual`: starts nothing: a person plays Claude with curl.
         *     - `success`: runs the simulated Claude, which succeeds.
         *     - `repair`: runs the simulated Claude, which first submits an invalid result, reads the answer and repairs it.
         *     - `failure`: runs the simulated Claude, which reports that it cannot do the job.
         *     - `silence`: runs the simulated Claude, which never calls back.
         * @enum {string}
         */
        Simulation: "manual" | "success" | "repair" | "failure" | "silence";
        /** @description What Slack shows. */
        SlackAnswer: {
            /**
             * @description In_channel where all may read it, ephemeral for whoever asked alone.
             * @enum {string}
             */
            response_type: "in_channel" | "ephemeral";
            text: string;
        };
        /** @description What Slack sends of a command, as far as it is read. */
        SlackForm: {
            /** @description TeamID, UserID and UserName say who typed it. */
            team_id?: string;
            /** @description What stood behind the command: a verb, the job or question, words. */
            text?: string;
            user_id?: string;
            user_name?: string;
        };
        /**
         * @description - `pending`: waits for a worker
         *     - `running`: a turn is running
         *     - `awaiting_approval`: parked at a review, confirmation or tool_approval
         *     - `awaiting_input`: parked at a question
         *     - `received`: the result was accepted
         *     - `cancelled`: by the user or the back end
         *     - `rejected`: a person said no at review
         *     - `expired`: a deadline passed
         *     - `failed`: the CLI could not do it
         * @enum {string}
         */
        State: "pending" | "running" | "awaiting_approval" | "awaiting_input" | "received" | "cancelled" | "rejected" | "expired" | "failed";
        /** @description The data of a state's event. */
        StateData: {
            /** @description `attempt` counts turns in a row that ended without a result; at MaxAttempts the job has failed. */
            attempt?: number;
            /** @description A person's request to stop what the turn does. */
            interrupt?: components["schemas"]["Interrupt"];
            /** @description How the turn before failed. */
            lastFailure?: components["schemas"]["Failure"];
            maxAttempts?: number;
            /** @description `phase` says what goes on within it. */
            phase?: components["schemas"]["Phase"];
            /**
             * Format: date-time
             * @description Until when it goes on at least: when the next attempt is made.
             */
            phaseUntil?: string;
            /** @description The job's state from now on. */
            status: components["schemas"]["State"];
            /** @description `turn` counts the turns started so far. */
            turn?: number;
        };
        /** @description Count what is kept, of all users. */
        Statistics: {
            /** @description Those of today (UTC) that are set. */
            budgets?: components["schemas"]["Budget"][];
            /** @description Questions to people by type, Total those of all types. */
            checkpoints: {
                [key: string]: components["schemas"]["CheckpointStats"];
            };
            /** @description The last 30 (UTC), the oldest first. */
            days: components["schemas"]["Day"][];
            jobs: components["schemas"]["JobCounts"];
            /** @description Those of Claude's that keep jobs waiting. */
            limits?: components["schemas"]["Limit"][];
            /** @description Those of kinds that are set. */
            quotas?: components["schemas"]["Quota"][];
            total: components["schemas"]["CheckpointStats"];
        };
        /** @description One round that a person asked for. */
        SteeringIteration: {
            /** @description `files_modified` and Output are what came of it; absent while it runs. */
            files_modified?: string[];
            iteration_number: number;
            output?: string;
            prompt: string;
            /** Format: date-time */
            timestamp: string;
        };
        /** @description Tells how often a job was steered. */
        SteeringState: {
            current_iteration: number;
            history?: components["schemas"]["SteeringIteration"][];
            /** @description The most that are allowed; default 5. */
            max_iterations: number;
            /** @description Prompts that came while a turn was running: each is a round of its own, in this order. */
            queued?: string[];
        };
        Success: {
            success: boolean;
        };
        /** @description What turns consumed: counted from the answers of the model's API by the server if it passes the requests on, or else as the CLI reports it. */
        Usage: {
            /** @description `cacheReadTokens` and CacheWriteTokens are those of InputTokens that were read from the cache and written to it. */
            cacheReadTokens?: number;
            cacheWriteTokens?: number;
            /** @description What they cost in US dollars: by the table of prices, or else the CLI's own estimate. */
            costUsd: number;
            /** @description `inputTokens` counts tokens read, cached ones included. */
            inputTokens: number;
            /** @description `outputTokens` counts tokens written. */
            outputTokens: number;
        };
        /** @description What one side said, as others are told of it. */
        Utterance: {
            content: string;
            sender: components["schemas"]["Sender"];
        };
        /** @description How a verifier ended. */
        VerifierOutput: {
            /** @description How long it took, in milliseconds. */
            duration_ms: number;
            /** @description -1 when it was ended from outside. */
            exit_code: number;
            /** @description Where it ran. */
            repository: string;
            stderr: string;
            stdout: string;
            success: boolean;
            /** @description Whether it was ended for taking too long. */
            timed_out?: boolean;
            /** @description The repository and the verifier's name: "service:test". */
            verifier: string;
        };
        /** @description What of a change under review a person has marked as viewed. */
        Viewed: {
            /** @description How many files have changed, and Viewed how many of them the person has marked as viewed, as they are now. */
            changed: number;
            /** @description The files of the whole change, in its order. */
            files: components["schemas"]["ViewedFile"][];
            viewed: number;
        };
        /** @description A file of a change, as a person has marked it or not. */
        ViewedFile: {
            /** @description That of the file's change, see FileDiff. */
            digest?: string;
            path: string;
            repository: string;
            viewed: boolean;
        };
        /** @description A message of a person that is for a job's Claude, and whether Claude has heard it. */
        Word: {
            beforeToolCall?: number;
            /**
             * Format: date-time
             * @description When it was heard.
             */
            heardAt?: string;
            /** @description Waiting, then heard. */
            hearing: components["schemas"]["HearingStatus"];
            /** @description The message in the job's session. */
            messageId: number;
            /** @description The turn that has heard it, and BeforeToolCall which of that turn's tool calls came next: 1 for a message that the turn began with. */
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
                /** @description The `nextCursor` of the page before. */
                cursor?: string;
                /** @description Six or more characters of the random part of an id, with or without what stands before it. */
                idPrefix?: string;
                /** @description How many a page has; 50 where nothing is said. */
                limit?: number;
                /** @description A status; what waits where none is named. */
                status?: "open" | "reading" | "answered" | "clarified" | "expired" | "cancelled";
                /** @description A type. */
                type?: "review" | "confirmation" | "tool_approval" | "error_recovery" | "information_request" | "form_requirements";
                /** @description Whose they are: for back ends to name. A person sees their own alone. */
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
                /** @description When they were asked for, at the earliest. */
                createdSince?: string;
                /** @description They were asked for before then. */
                createdUntil?: string;
                /** @description The `nextCursor` of the page before. */
                cursor?: string;
                /** @description The fields that are wanted of each job, such as `requestId,status`; or `-result,-input` for all but these. */
                fields?: string;
                /** @description Six or more characters of the random part of an id, with or without what stands before it. */
                idPrefix?: string;
                /** @description A kind's name. */
                kind?: string;
                /** @description How many a page has; 50 where nothing is said. */
                limit?: number;
                /** @description Words, at most 200 characters: each is in the title, the kind, the id or a tag, in any case. */
                q?: string;
                /** @description A state. */
                status?: "pending" | "running" | "awaiting_approval" | "awaiting_input" | "received" | "cancelled" | "rejected" | "expired" | "failed";
                /** @description A tag that they have. */
                tag?: string;
                /** @description Whose they are: for back ends to name. A person sees their own alone. */
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
/** What code-change takes. */
export interface CodeChangeInput extends Omit<components["schemas"]["code-change.input"], "$defs"> {
}
/** What comes of code-change. */
export interface CodeChangeResult extends Omit<components["schemas"]["code-change.result"], "$defs"> {
}
/** What meal-suggestions takes. */
export interface MealSuggestionsInput extends Omit<components["schemas"]["meal-suggestions.input"], "$defs"> {
}
/** What comes of meal-suggestions. */
export interface MealSuggestionsResult extends Omit<components["schemas"]["meal-suggestions.result"], "$defs"> {
}
/** What media takes. */
export interface MediaInput extends Omit<components["schemas"]["media.input"], "$defs"> {
}
/** What comes of media. */
export interface MediaResult extends Omit<components["schemas"]["media.result"], "$defs"> {
}
/** What ship takes. */
export interface ShipInput extends Omit<components["schemas"]["ship.input"], "$defs"> {
}
/** What comes of ship. */
export interface ShipResult extends Omit<components["schemas"]["ship.result"], "$defs"> {
}
/** The kinds of one server: `ringback-client types` declares them here. If there are any, no other kind can be named. */
export interface ServerKinds {
}
/** What each kind that is built in takes, and what comes of it. Declare your own kinds here, too. */
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
/** The events of jobs, by what has happened. */
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
    "cancelled": components["schemas"]["CancelledEvent"];
    "rejected": components["schemas"]["RejectedEvent"];
}
