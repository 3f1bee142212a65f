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
/** Where the server is, and who calls it. */
export interface RingbackOptions {
    /** Its address; a page's own where none is given. */
    url?: string | URL;
    /** A key or a user's token, or what fetches one. */
    token?: TokenSource;
    /** Whose jobs these are: for back ends, and for servers that everyone may use. */
    userId?: string;
    /** How many ms a WebSocket may be silent before the server is asked whether it is there; 20,000. */
    heartbeat?: number;
    /** In place of the runtime's own. */
    fetch?: typeof globalThis.fetch;
    /** In place of the runtime's own. */
    WebSocket?: typeof globalThis.WebSocket;
}
/** What may be said of a new job beside its input. */
export interface CreateOptions extends CallOptions {
    userId?: string;
    sessionId?: string;
    /** The same key gives the same job; one is made up where there is none. */
    idempotencyKey?: string;
    options?: {
        simulate?: 'success' | 'repair' | 'failure' | 'silence' | 'manual';
        priority?: 'interactive' | 'batch';
    };
}
/** A Ringback server. */
export declare class Ringback {
    #private;
    constructor(options?: RingbackOptions);
    /** Asks for a job. However often the network makes this try, there will be one. */
    create<K extends KindName>(kind: K, input: Input<K>, options?: CreateOptions): Promise<CreatedJob>;
    /** Reads the record of a job. */
    get<K = string>(requestId: string, options?: CallOptions): Promise<Job<K>>;
    /** Reads a page of jobs, newest first. */
    list(query?: JobQuery, options?: CallOptions): Promise<JobPage>;
    /** Ends a job now. */
    cancel(requestId: string, options?: CallOptions): Promise<Job>;
    /** Stops the commands that Claude runs, and keeps the job; with `turn`, or asked again, the whole turn. */
    interrupt(requestId: string, what?: {
        message?: string;
        turn?: boolean;
    }, options?: CallOptions): Promise<Job>;
    /** Starts a job again that has expired, failed or been cancelled. */
    retry(requestId: string, options?: CallOptions): Promise<Job>;
    /** Moves a job that has not ended to the current version of its kind, from its next turn on. */
    move(requestId: string, options?: CallOptions): Promise<Job>;
    /** Approves the current question of a job: requires checkpointId, or iteration and trees for a code change. */
    approve(requestId: string, decision: Decision, options?: CallOptions): Promise<Job>;
    /** Says no to it. */
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
    /** Writes to a conversation: the answer to what is asked there, or a message to Claude. */
    say(sessionId: string, content: string, options?: CallOptions & {
        userId?: string;
    }): Promise<void>;
    /**
     * Follows a job to its end: all of its events, from the first on or behind `since`, each
     * once. `resync` among them says that some are no longer kept, and brings the record.
     */
    watch<K = string>(requestId: string, options?: WatchOptions & {
        text?: false;
    }): AsyncGenerator<JobEvent<K> | Resync<K>, void, undefined>;
    watch<K = string>(requestId: string, options: WatchOptions): AsyncGenerator<JobEvent<K> | Resync<K> | TextSoFar, void, undefined>;
    /** Listens to a job, or to all of a user's, until the function that it returns is called. */
    listen<K = string>(listener: Listener<K>): () => void;
    /** Calls whatever else the API offers. */
    request<T>(method: string, path: string, call?: Call): Promise<T>;
    /** Closes all connections, and tells nobody. */
    close(): void;
}
