/**
 * The client of a Ringback server for browsers and Node. It asks for jobs and follows them.
 */
import { Connection } from './connection.js';
import { Http } from './http.js';
import { guarded, JobEar, UserEar } from './listen.js';
import { Token } from './token.js';
import { watch } from './watch.js';
export { asked } from './asked.js';
export { RingbackError, Unreachable } from './http.js';
export { Writer } from './writing.js';
export * from './types.js';
/** A Ringback server. */
export class Ringback {
    #http;
    #options;
    #shared = new Map();
    #all = new Set();
    constructor(options = {}) {
        const base = new URL(options.url ?? '/', globalThis.location?.href);
        if (!base.pathname.endsWith('/'))
            base.pathname += '/';
        this.#options = options;
        this.#http = new Http(base, new Token(options.token), options.fetch ?? ((input, init) => globalThis.fetch(input, init)));
    }
    /** Asks for a job. Retries after network errors create only one. */
    create(kind, input, options = {}) {
        const { signal, ...more } = options;
        const body = { kind, input, userId: this.#options.userId, idempotencyKey: newKey(), ...more };
        return this.request('POST', 'api/jobs', { body, signal, repeatable: true, has: 'requestId' });
    }
    /** Reads the record of a job. */
    get(requestId, options) {
        return this.request('GET', job(requestId), options);
    }
    /** Reads a page of jobs, newest first. */
    list(query, options) {
        return this.request('GET', 'api/jobs', { ...options, query: { userId: this.#options.userId, ...query } });
    }
    /** Ends a job now. */
    cancel(requestId, options) {
        return this.#change(requestId, 'cancel', options);
    }
    /** Stops the commands that Claude runs, and keeps the job; with `turn`, or called again, the whole turn. */
    interrupt(requestId, what = {}, options) {
        return this.#change(requestId, 'interrupt', options, what);
    }
    /** Retries a job that has expired, failed or been cancelled. */
    retry(requestId, options) {
        return this.#change(requestId, 'retry', options);
    }
    /** Moves a job that has not ended to the current version of its kind, from its next turn on. */
    move(requestId, options) {
        return this.#change(requestId, 'move', options);
    }
    /** Approves the current question of a job: requires checkpointId, or iteration and trees for a code change. */
    approve(requestId, decision, options) {
        return this.#change(requestId, 'approve', { ...options, repeatable: decision.checkpointId !== undefined }, decision);
    }
    /** Rejects the current question of a job. */
    reject(requestId, decision = {}, options) {
        return this.#change(requestId, 'reject', { ...options, repeatable: decision.checkpointId !== undefined }, decision);
    }
    /** Asks for another round of a code change. */
    steer(requestId, prompt, options) {
        return this.#change(requestId, 'steer', options, { prompt });
    }
    /** Reads a page of questions: with `{ status: 'open' }`, the inbox. */
    checkpoints(query, options) {
        return this.request('GET', 'api/checkpoints', { ...options, query: { userId: this.#options.userId, ...query } });
    }
    /** Answers a question: by a decision, by values, or in words. */
    reply(checkpointId, reply, options) {
        return this.request('POST', `api/checkpoints/${encodeURIComponent(checkpointId)}/reply`, { ...options, body: reply, repeatable: true, has: 'id' });
    }
    /** Reads a page of a conversation, oldest message first: those after the message `after`. */
    messages(sessionId, query = {}, options) {
        return this.request('GET', `api/sessions/${encodeURIComponent(sessionId)}/messages`, { ...options, query: { userId: this.#options.userId, ...query } });
    }
    /**
     * Writes to a conversation. The message answers the question that was shown when it was written: the
     * message `question`, 0 if none was. If that question is closed, it answers none. Without `question`,
     * it may answer whatever is open. If another job than `requestId` would receive it, nothing is sent, and
     * the error has the status 409.
     */
    async say(sessionId, content, options = {}) {
        const { signal, question, requestId, mayStart, ...more } = options;
        const props = { checkpoint_message_id: question, request_id: requestId, may_start: mayStart };
        await this.request('POST', 'to-llm', { body: { sessionId, content, userId: this.#options.userId, props, ...more }, signal, has: 'success' });
    }
    watch(requestId, options = {}) {
        return watch(this, requestId, options);
    }
    /** Listens to a job, or to all of a user's, until the function that it returns is called. */
    listen(listener) {
        const to = guarded(listener); // the type of events is only for the caller
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
    request(method, path, call) {
        return this.#http.call(method, path, call);
    }
    /** Changes a job and returns its record. */
    #change(requestId, what, options, body) {
        return this.request('POST', job(requestId, what), { ...options, body, has: 'requestId' });
    }
    /** Closes all connections without calling any listener. */
    close() {
        for (const connection of [...this.#all])
            connection.close();
    }
    /** Returns the shared connection of a user; a separate one if since is set. */
    #connection(userId, since) {
        const known = since === undefined ? this.#shared.get(userId) : undefined;
        if (known)
            return known;
        const { base, token } = this.#http;
        const WebSocket = this.#options.WebSocket ?? globalThis.WebSocket;
        const place = { base, token, WebSocket, userId, heartbeat: this.#options.heartbeat ?? 20_000 };
        const connection = new Connection(place, since, () => {
            this.#all.delete(connection);
            if (this.#shared.get(userId) === connection)
                this.#shared.delete(userId);
        });
        this.#all.add(connection);
        if (since === undefined)
            this.#shared.set(userId, connection);
        return connection;
    }
}
const job = (requestId, what) => `api/jobs/${encodeURIComponent(requestId)}${what ? '/' + what : ''}`;
/** Pages without TLS have no crypto.randomUUID. */
function newKey() {
    return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
