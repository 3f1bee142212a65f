/**
 * The client of a Ringback server for browsers and Node. It asks for jobs and follows them.
 */
import { Connection } from './connection.js';
import { type Call, type CallOptions, Http } from './http.js';
import { guarded, JobEar, type Listener, UserEar } from './listen.js';
import { Token, type TokenSource } from './token.js';
import type { Checkpoint, CheckpointPage, CheckpointQuery, CreatedJob, Decision, Input, Job, JobEvent, JobPage, JobQuery, KindName, MessagePage, Reply, Resync } from './types.js';
import { type TextSoFar, watch, type WatchOptions } from './watch.js';

export { type Asked, type AskedField, asked, type Segment } from './asked.js';
export type {
  components, Events, Kinds, ServerKinds,
  CodeChangeInput, CodeChangeResult, MealSuggestionsInput, MealSuggestionsResult, MediaInput, MediaResult, ShipInput, ShipResult,
} from './contract.js';
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
  options?: { simulate?: 'success' | 'repair' | 'failure' | 'silence' | 'manual'; priority?: 'interactive' | 'batch' };
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
export class Ringback {
  readonly #http: Http;
  readonly #options: RingbackOptions;
  readonly #shared = new Map<string | undefined, Connection>();
  readonly #all = new Set<Connection>();

  constructor(options: RingbackOptions = {}) {
    const base = new URL(options.url ?? '/', globalThis.location?.href);
    if (!base.pathname.endsWith('/')) base.pathname += '/';
    this.#options = options;
    this.#http = new Http(base, new Token(options.token), options.fetch ?? ((input, init) => globalThis.fetch(input, init)));
  }

  /** Asks for a job. Retries after network errors create only one. */
  create<K extends KindName>(kind: K, input: Input<K>, options: CreateOptions = {}): Promise<CreatedJob> {
    const { signal, ...more } = options;
    const body = { kind, input, userId: this.#options.userId, idempotencyKey: newKey(), ...more };
    return this.request('POST', 'api/jobs', { body, signal, repeatable: true, has: 'requestId' });
  }

  /** Reads the record of a job. */
  get<K = string>(requestId: string, options?: CallOptions): Promise<Job<K>> {
    return this.request('GET', job(requestId), options);
  }

  /** Reads a page of jobs, newest first. */
  list(query?: JobQuery, options?: CallOptions): Promise<JobPage> {
    return this.request('GET', 'api/jobs', { ...options, query: { userId: this.#options.userId, ...query } });
  }

  /** Ends a job now. */
  cancel(requestId: string, options?: CallOptions): Promise<Job> {
    return this.#change(requestId, 'cancel', options);
  }

  /** Stops the commands that Claude runs, and keeps the job; with `turn`, or called again, the whole turn. */
  interrupt(requestId: string, what: { message?: string; turn?: boolean } = {}, options?: CallOptions): Promise<Job> {
    return this.#change(requestId, 'interrupt', options, what);
  }

  /** Retries a job that has expired, failed or been cancelled. */
  retry(requestId: string, options?: CallOptions): Promise<Job> {
    return this.#change(requestId, 'retry', options);
  }

  /** Moves a job that has not ended to the current version of its kind, from its next turn on. */
  move(requestId: string, options?: CallOptions): Promise<Job> {
    return this.#change(requestId, 'move', options);
  }

  /** Approves the current question of a job: requires checkpointId, or iteration and trees for a code change. */
  approve(requestId: string, decision: Decision, options?: CallOptions): Promise<Job> {
    return this.#change(requestId, 'approve', { ...options, repeatable: decision.checkpointId !== undefined }, decision);
  }

  /** Rejects the current question of a job. */
  reject(requestId: string, decision: Decision = {}, options?: CallOptions): Promise<Job> {
    return this.#change(requestId, 'reject', { ...options, repeatable: decision.checkpointId !== undefined }, decision);
  }

  /** Asks for another round of a code change. */
  steer(requestId: string, prompt: string, options?: CallOptions): Promise<Job> {
    return this.#change(requestId, 'steer', options, { prompt });
  }

  /** Reads a page of questions: with `{ status: 'open' }`, the inbox. */
  checkpoints(query?: CheckpointQuery, options?: CallOptions): Promise<CheckpointPage> {
    return this.request('GET', 'api/checkpoints', { ...options, query: { userId: this.#options.userId, ...query } });
  }

  /** Answers a question: by a decision, by values, or in words. */
  reply(checkpointId: string, reply: Reply, options?: CallOptions): Promise<Checkpoint> {
    return this.request('POST', `api/checkpoints/${encodeURIComponent(checkpointId)}/reply`, { ...options, body: reply, repeatable: true, has: 'id' });
  }

  /** Reads a page of a conversation, oldest message first: those after the message `after`. */
  messages(sessionId: string, query: { after?: number; limit?: number; userId?: string } = {}, options?: CallOptions): Promise<MessagePage> {
    return this.request('GET', `api/sessions/${encodeURIComponent(sessionId)}/messages`, { ...options, query: { userId: this.#options.userId, ...query } });
  }

  /**
   * Writes to a conversation. The message answers the question that was shown when it was written: the
   * message `question`, 0 if none was. If that question is closed, it answers none. Without `question`,
   * it may answer whatever is open. If another job than `requestId` would receive it, nothing is sent, and
   * the error has the status 409.
   */
  async say(sessionId: string, content: string, options: SayOptions = {}): Promise<void> {
    const { signal, question, requestId, mayStart, ...more } = options;
    const props = { checkpoint_message_id: question, request_id: requestId, may_start: mayStart };
    await this.request('POST', 'to-llm', { body: { sessionId, content, userId: this.#options.userId, props, ...more }, signal, has: 'success' });
  }

  /**
   * Follows a job to its end: all of its events, from the first on or after `since`, each
   * once. A `resync` among them means that some are no longer kept, and contains the record.
   */
  watch<K = string>(requestId: string, options?: WatchOptions & { text?: false }): AsyncGenerator<JobEvent<K> | Resync<K>, void, undefined>;
  watch<K = string>(requestId: string, options: WatchOptions): AsyncGenerator<JobEvent<K> | Resync<K> | TextSoFar, void, undefined>;
  watch<K = string>(requestId: string, options: WatchOptions = {}): AsyncGenerator<JobEvent<K> | Resync<K> | TextSoFar, void, undefined> {
    return watch<K>(this, requestId, options);
  }

  /** Listens to a job, or to all of a user's, until the function that it returns is called. */
  listen<K = string>(listener: Listener<K>): () => void {
    const to = guarded(listener as unknown as Listener); // the type of events is only for the caller
    const userId = to.userId ?? this.#options.userId;
    if (to.requestId !== undefined) {
      const ear = new JobEar(this.#http, to.requestId, to, (owner) => this.#connection(owner));
      ear.listen(userId);
      return () => ear.stop();
    }
    const connection = this.#connection(userId, to.since);
    const ear = new UserEar(to);
    connection.add(ear);
    return () => connection.remove(ear);
  }

  /** Calls any other endpoint of the API. */
  request<T>(method: string, path: string, call?: Call): Promise<T> {
    return this.#http.call<T>(method, path, call);
  }

  /** Changes a job and returns its record. */
  #change(requestId: string, what: string, options?: Call, body?: unknown): Promise<Job> {
    return this.request('POST', job(requestId, what), { ...options, body, has: 'requestId' });
  }

  /** Closes all connections without calling any listener. */
  close(): void {
    for (const connection of [...this.#all]) connection.close();
  }

  /** Returns the shared connection of a user; a separate one if since is set. */
  #connection(userId: string | undefined, since?: string): Connection {
    const known = since === undefined ? this.#shared.get(userId) : undefined;
    if (known) return known;
    const { base, token } = this.#http;
    const WebSocket = this.#options.WebSocket ?? globalThis.WebSocket;
    const place = { base, token, WebSocket, userId, heartbeat: this.#options.heartbeat ?? 20_000 };
    const connection: Connection = new Connection(place, since, () => {
      this.#all.delete(connection);
      if (this.#shared.get(userId) === connection) this.#shared.delete(userId);
    });
    this.#all.add(connection);
    if (since === undefined) this.#shared.set(userId, connection);
    return connection;
  }
}

const job = (requestId: string, what?: string): string => `api/jobs/${encodeURIComponent(requestId)}${what ? '/' + what : ''}`;

/** Pages without TLS have no crypto.randomUUID. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
