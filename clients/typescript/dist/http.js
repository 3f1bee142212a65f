import { pause } from './pause.js';
/** A refusal by the server. */
export class RingbackError extends Error {
    status;
    details;
    hint;
    name = 'RingbackError';
    constructor(
    /** The HTTP status; for a refused WebSocket, the equivalent one; 0 for a redirect in a browser. */
    status, message, 
    /** What is wrong with each field. */
    details = [], 
    /** What to do about it. */
    hint) {
        super(message);
        this.status = status;
        this.details = details;
        this.hint = hint;
    }
}
/** The origin of the page; undefined outside of browsers. */
const pageOrigin = () => globalThis.location?.origin;
/** No answer has come. Browsers do not give pages the reason: the message names likely ones. */
export class Unreachable extends Error {
    name = 'Unreachable';
    constructor(server, cause) {
        const page = pageOrigin();
        const elsewhere = page !== undefined && page !== server.origin;
        super(`No answer from the Ringback server at ${server.origin}${elsewhere ? ` to the page at ${page}` : ''}. ` +
            `Check that it runs there (${new URL('healthz', server)})` +
            (elsewhere ? `, and that its CORS_ORIGINS contains ${page}.` : ', and that this machine reaches it.'), { cause });
    }
}
const attempts = 5;
const longestWait = 30_000;
/** Calls the HTTP API: renews tokens, and retries calls if that helps. */
export class Http {
    base;
    token;
    fetch;
    constructor(base, token, fetch) {
        this.base = base;
        this.token = token;
        this.fetch = fetch;
    }
    async call(method, path, call = {}) {
        const url = new URL(path, this.base);
        for (const [name, value] of Object.entries(call.query ?? {})) {
            if (value !== undefined)
                url.searchParams.set(name, String(value));
        }
        const repeatable = call.repeatable ?? method === 'GET';
        let renewed = false;
        for (let attempt = 1;; attempt++) {
            const credential = this.token.get();
            const token = await credential;
            const { response, body } = await this.#send(url, method, token, call).catch((error) => {
                if (call.signal?.aborted)
                    throw error;
                if (!repeatable || attempt >= attempts)
                    throw new Unreachable(this.base, error);
                return { response: undefined, body: undefined };
            });
            if (response && method !== 'GET' && isRedirect(response))
                throw new RingbackError(response.status, `${this.base.origin} redirects elsewhere, so nothing was changed.`, [], onlyReads);
            if (response?.ok)
                return this.#checked(response, body, call);
            if (response?.status === 401 && token && !renewed && this.token.renew(credential)) {
                renewed = true;
                continue;
            }
            const after = response && retryAfter(response.headers);
            const busy = response?.status === 429 || (response?.status === 503 && repeatable); // a 503 may come after the call has taken effect
            if (response && !(busy && attempt < attempts && after <= longestWait))
                throw refusal(response, body);
            await pause(attempt, after, call.signal);
        }
    }
    async #send(url, method, token, { body, signal }) {
        const headers = {};
        if (token)
            headers['Authorization'] = `Bearer ${token}`;
        if (body !== undefined)
            headers['Content-Type'] = 'application/json';
        // A redirected POST would become a GET, whose answer would count as that of the POST.
        const init = { method, headers, signal: signal ?? null, redirect: method === 'GET' ? 'follow' : 'manual' };
        if (body !== undefined)
            init.body = JSON.stringify(body);
        const response = await this.fetch(url, init);
        const text = await response.text(); // fails if the network does
        return { response, body: parsed(text) };
    }
    /** Returns the body of an answer, unless it lacks what the call needs. */
    #checked(response, body, { has }) {
        if (has === undefined || body?.[has])
            return body;
        throw new RingbackError(response.status, `What answers at ${this.base.origin} does not seem to be Ringback: its answer has no ${has}.`);
    }
}
const onlyReads = 'Use the address of Ringback itself: only reads follow redirects.';
/** Reports whether a response is a redirect, whose status browsers hide, or was reached by one. */
const isRedirect = ({ type, status, redirected }) => type === 'opaqueredirect' || redirected || (status >= 300 && status < 400);
/** Returns how many ms the server asks to wait: its header has seconds or a date. */
function retryAfter(headers) {
    const value = headers.get('Retry-After') ?? '1';
    const now = Date.parse(headers.get('Date') ?? '') || Date.now();
    const wait = /^\d+$/.test(value) ? 1000 * Number(value) : Date.parse(value) - now;
    return Math.max(0, wait) || 0;
}
/** Returns undefined for text that is not JSON, such as a proxy's answer. */
function parsed(text) {
    try {
        return JSON.parse(text);
    }
    catch {
        return undefined;
    }
}
function refusal(response, body) {
    const { error, details, hint } = (body ?? {});
    return new RingbackError(response.status, error ?? `${response.status} ${response.statusText}`, details, hint);
}
