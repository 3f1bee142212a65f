import { type Call, type CallOptions } from './http.js';
import { type Listener } from './listen.js';
import { type TokenSource } from './token.js';
import type { Checkpoint, CheckpointPage, CheckpointQuery, CreatedJob, Decision, Input, Job, JobEvent, JobPage, JobQuery, KindName, MessagePage, Reply, Resync } from './types.js';
import { type TextSoFar, type WatchOptions } from './watch.js';
export { type Asked, type AskedField, asked, type Segment } from './asked.js';
export type { components, Events, Kinds, ServerKinds, CodeChangeInput, CodeChangeResult, MealSuggestionsInput, MealSuggestionsResult, MediaInput, MediaResult, ShipInput, ShipResult, } from './contract.js';
export type { ConnectionState } from './connection.js';
export { type CallOptions, RingbackError, Unreachable } from './http.js';
export type { Listener } from './listen.js';
export type { TokenSource } from './token.js';
export type { TextSoFar, WatchOptions } from './watch.js';
export { Writer, type Writing } from './writing.js';
export * from './types.js';
/** The server's address and the caller. */
export interface RingbackOptions {
    /** The server's address; default: the page's own. */
    url?: string | URL;
    /** A key or a user's token, or a function that fetches one. */
    token?: TokenSource;
    /** The user whose jobs these are: for back ends, and for servers that everyone may use. */
    userId?: string;
    /** The time in ms after which a silent WebSocket is pinged; default 20,000. */
    heartbeat?: number;
    /** Replaces the runtime's fetch. */
    fetch?: typeof globalThis.fetch;
    /** Replaces the runtime's WebSocket. */
    WebSocket?: typeof globalThis.WebSocket;
}
/** Options of a new job, in addition to its input. */
export interface CreateOptions extends CallOptions {
    userId?: string;
    sessionId?: string;
    /** The same key gives the same job; default: a random key. */
    idempotencyKey?: string;
    options?: {
        simulate?: 'success' | 'repair' | 'failure' | 'silence' | 'manual';
        priority?: 'interactive' | 'batch';
    };
}
/** Options of a message to a conversation. */
export interface SayOptions extends CallOptions {
    userId?: string;
    /** The id of the message with the question that the user was shown; 0 if none was. */
    question?: number | undefined;
    /** The job next to which the user wrote the message; default: the latest of the conversation. */
    requestId?: string | undefined;
    /** Whether the message may start another job when that one has ended; default: true. */
    mayStart?: boolean | undefined;
}
/** A Ringback server. */
export declare class Ringback {
    #private;
    constructor(options?: RingbackOptions);
    /** Asks for a job. Retries after network errors create only one. */
    create<K extends KindName>(kind: K, input: Input<K>, options?: CreateOptions): Promise<CreatedJob>;
    /** Reads the record of a job. */
    get<K = string>(requestId: string, options?: CallOptions): Promise<Job<K>>;
    /** Reads a page of jobs, newest first. */
    list(query?: JobQuery, options?: CallOptions): Promise<JobPage>;
    /** Ends a job now. */
    cancel(requestId: string, options?: CallOptions): Promise<Job>;
    /** Stops the commands that Claude runs, and keeps the job; with `turn`, or called again, the whole turn. */
    interrupt(requestId: string, what?: {
        message?: string;
        turn?: boolean;
    }, options?: CallOptions): Promise<Job>;
    /** Retries a job that has expired, failed or been cancelled. */
    retry(requestId: string, options?: CallOptions): Promise<Job>;
    /** Moves a job that has not ended to the current version of its kind, from its next turn on. */
    move(requestId: string, options?: CallOptions): Promise<Job>;
    /** Approves the current question of a job: requires checkpointId, or iteration and trees for a code change. */
    approve(requestId: string, decision: Decision, options?: CallOptions): Promise<Job>;
    /** Rejects the current question of a job. */
    reject(requestId: string, decision?: Decision, options?: CallOptions): Promise<Job>;
    /** Asks for another round of a code change. */
    steer(requestId: string, prompt: string, options?: CallOptions): Promise<Job>;
    /** Reads a page of questions: with `{ status: 'open' }`, the inbox. */
    checkpoints(query?: CheckpointQuery, options?: CallOptions): Promise<CheckpointPage>;
    /** Answers a question: by a decision, by values, or in words. */
    reply(checkpointId: string, reply: Reply, options?: CallOptions): Promise<Checkpoint>;
    /** Reads a page of a conversation, oldest message first: those after the message `after`. */
    messages(sessionId: string, query?: {
        after?: number;
        limit?: number;
        userId?: string;
    }, options?: CallOptions): Promise<MessagePage>;
    /**
     * Writes to a conversation. The message answers the question that was shown when it was written: the
     * message `question`, 0 if none was. If that question is closed, it answers none. Without `question`,
     * it may answer whatever is open. If another job than `requestId` would receive it, nothing is sent, and
     * the error has the status 409.
     */
    say(sessionId: string, content: string, options?: SayOptions): Promise<void>;
    /**
     * Follows a job to its end: all of its events, from the first on or after `since`, each
     * once. A `resync` among them means that some are no longer kept, and contains the record.
     */
    watch<K = string>(requestId: string, options?: WatchOptions & {
        text?: false;
    }): AsyncGenerator<JobEvent<K> | Resync<K>, void, undefined>;
    watch<K = string>(requestId: string, options: WatchOptions): AsyncGenerator<JobEvent<K> | Resync<K> | TextSoFar, void, undefined>;
    /** Listens to a job, or to all of a user's, until the function that it returns is called. */
    listen<K = string>(listener: Listener<K>): () => void;
    /** Calls any other endpoint of the API. */
    request<T>(method: string, path: string, call?: Call): Promise<T>;
    /** Closes all connections without calling any listener. */
    close(): void;
}
