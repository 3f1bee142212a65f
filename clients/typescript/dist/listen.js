import { RingbackError } from './http.js';
import { pause } from './pause.js';
import { named } from './types.js';
/** Listens to all events of a user, from the time it is connected. */
export class UserEar {
    to;
    constructor(to) {
        this.to = to;
    }
    joined() {
        if (this.to.since === undefined)
            this.resync(); // otherwise the connection begins there
    }
    event(event) {
        this.to.onEvent(named(event));
    }
    resync() {
        this.to.onResync?.();
    }
    state(state) {
        this.to.onState?.(state);
    }
    failed(error) {
        this.to.onError?.(error);
    }
}
/**
 * Listens to one job. Events from before it joined the connection are read over HTTP; live
 * events wait until then and are delivered afterwards, without duplicates.
 */
export class JobEar extends UserEar {
    http;
    connection;
    listener;
    #requestId;
    #gone = new AbortController();
    #since;
    #reading = false;
    #again = false;
    #waiting = [];
    /** Ids of past events that were delivered and may still arrive over the connection. */
    #read = new Set();
    constructor(http, connection, listener) {
        super(listener);
        this.http = http;
        this.connection = connection;
        this.listener = listener;
        this.#requestId = listener.requestId;
        this.#since = listener.since ?? '0';
    }
    get reads() {
        return this.listener.onText && this.#requestId;
    }
    text({ requestId, data }) {
        if (requestId === this.#requestId)
            this.listener.onText?.(data);
    }
    joined() {
        this.#waiting ??= [];
        this.#again = true;
        if (!this.#reading)
            void this.#catchUp();
    }
    event(event) {
        if (event.requestId !== this.#requestId)
            return;
        const tell = () => {
            if (this.#read.delete(event.id))
                return;
            this.#since = event.id;
            super.event(event);
        };
        this.#waiting ? this.#waiting.push(tell) : tell();
    }
    resync() {
        const tell = () => super.resync();
        this.#waiting ? this.#waiting.push(tell) : tell();
    }
    stop() {
        this.#gone.abort();
    }
    async #catchUp() {
        this.#reading = true;
        const { signal } = this.#gone;
        for (let failures = 0; this.#again && !signal.aborted;) {
            this.#again = false;
            try {
                await this.#readPast(signal);
            }
            catch (error) {
                if (signal.aborted)
                    return;
                if (error instanceof RingbackError && error.status < 500 && error.status !== 429) {
                    this.connection.remove(this);
                    return this.listener.onError?.(error);
                }
                this.#again = true;
                await pause(++failures, 0, signal).catch(() => { });
            }
        }
        this.#reading = false;
        const waiting = this.#waiting ?? [];
        this.#waiting = undefined;
        for (const tell of waiting)
            if (!signal.aborted)
                tell();
        if (!signal.aborted)
            this.listener.onLive?.();
    }
    async #readPast(signal) {
        for (let more = true; more;) {
            const query = { since: this.#since };
            const page = await this.http.call('GET', `api/jobs/${encodeURIComponent(this.#requestId)}/events`, { query, signal, repeatable: true });
            if (page.resync)
                super.resync();
            for (const event of page.events) {
                if (signal.aborted)
                    return;
                this.#since = event.id;
                this.#read.add(event.id);
                super.event(event);
            }
            more = page.events.length > 0;
        }
    }
}
