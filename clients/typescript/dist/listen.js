import { RingbackError } from './http.js';
import { pause } from './pause.js';
import { named } from './types.js';
/** Returns a listener whose callbacks throw nothing: an exception in one is reported, and loses no event. */
export function guarded(to) {
    const safe = (call) => (...all) => {
        try {
            call?.apply(to, all);
        }
        catch (error) {
            setTimeout(() => {
                throw error;
            });
        }
    };
    const { requestId, since, userId } = to;
    return {
        requestId, since, userId, onText: to.onText && safe(to.onText),
        onEvent: safe(to.onEvent), onResync: safe(to.onResync), onLive: safe(to.onLive), onState: safe(to.onState), onError: safe(to.onError),
    };
}
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
/** Reports whether an event has a higher id than another: ids are decimal numbers. */
const isLater = (id, than) => (id.length === than.length ? id > than : id.length > than.length);
/**
 * Listens to one job. Events from before it joined the connection are read over HTTP; live
 * events wait until then and are delivered afterwards, without duplicates.
 */
export class JobEar extends UserEar {
    http;
    job;
    listener;
    connectionOf;
    #gone = new AbortController();
    #connection;
    #since;
    /** Events up to this one were delivered: `#since`, unless the store has gone back since. */
    #known;
    #reading = false;
    #again = false;
    #waiting = [];
    #isOwners = false;
    constructor(http, job, listener, connectionOf) {
        super(listener);
        this.http = http;
        this.job = job;
        this.listener = listener;
        this.connectionOf = connectionOf;
        this.#since = this.#known = listener.since ?? '0';
    }
    /** Listens on the connection of a user. */
    listen(userId) {
        this.#connection = this.connectionOf(userId);
        this.#connection.add(this);
    }
    stop() {
        this.#gone.abort();
        this.#connection?.remove(this);
    }
    get reads() {
        return this.listener.onText !== undefined;
    }
    text({ requestId, data }) {
        if (requestId === this.job)
            this.listener.onText?.(data);
    }
    /** Listens on the connection of the job's own user, if the caller may read the job. */
    refused({ error, hint }) {
        if (this.#isOwners)
            return this.#fail(new RingbackError(403, error, [], hint));
        this.#isOwners = true;
        this.#connection?.remove(this);
        const { signal } = this.#gone;
        this.http.call('GET', this.#path(), { signal, repeatable: true, has: 'userId' }).then(({ userId }) => signal.aborted || this.listen(userId), (error) => this.#fail(error));
    }
    joined() {
        this.#waiting ??= [];
        this.#again = true;
        if (!this.#reading)
            void this.#catchUp();
    }
    event(event) {
        if (event.requestId !== this.job)
            return;
        this.#waiting ? this.#waiting.push(event) : this.#deliver(event);
    }
    resync() {
        if (this.#waiting)
            this.#again = true; // what is read then has no gap
        else
            this.#forget();
    }
    #path(what = '') {
        return `api/jobs/${encodeURIComponent(this.job)}${what}`;
    }
    #deliver(event) {
        if (!isLater(event.id, this.#known))
            return;
        this.#since = this.#known = event.id;
        super.event(event);
    }
    /** Takes all events that follow as new ones. */
    #forget() {
        this.#known = '0';
        super.resync();
    }
    #fail(error) {
        if (this.#gone.signal.aborted)
            return;
        this.stop();
        this.listener.onError?.(error);
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
                if (error instanceof RingbackError && error.status < 500 && error.status !== 429)
                    return this.#fail(error);
                this.#again = true;
                await pause(++failures, 0, signal).catch(() => { });
            }
        }
        this.#reading = false;
        const waiting = this.#waiting ?? [];
        this.#waiting = undefined;
        for (const event of waiting)
            if (!signal.aborted)
                this.#deliver(event);
        if (!signal.aborted)
            this.listener.onLive?.();
    }
    async #readPast(signal) {
        for (let more = true; more;) {
            const query = { since: this.#since };
            const page = await this.http.call('GET', this.#path('/events'), { query, signal, has: 'events' });
            if (page.resync)
                this.#forget();
            for (const event of page.events) {
                if (signal.aborted)
                    return;
                this.#deliver(event);
            }
            more = page.events.length > 0;
        }
    }
}
