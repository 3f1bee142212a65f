import { pause } from './pause.js';
import type { Token } from './token.js';
import type { Detail } from './types.js';

/** A refusal by the server. */
export class RingbackError extends Error {
  override readonly name = 'RingbackError';
  constructor(
    /** The HTTP status; for a refused WebSocket, the equivalent one; 0 for a redirect in a browser. */
    readonly status: number,
    message: string,
    /** What is wrong with each field. */
    readonly details: readonly Detail[] = [],
    /** What to do about it. */
    readonly hint?: string,
  ) {
    super(message);
  }
}

/** The origin of the page; undefined outside of browsers. */
const pageOrigin = (): string | undefined => (globalThis as { location?: { origin?: string } }).location?.origin;

/** No answer has come. Browsers do not give pages the reason: the message names likely ones. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  constructor(server: URL, cause: unknown) {
    const page = pageOrigin();
    const elsewhere = page !== undefined && page !== server.origin;
    super(
      `No answer from the Ringback server at ${server.origin}${elsewhere ? ` to the page at ${page}` : ''}. ` +
        `Check that it runs there (${new URL('healthz', server)})` +
        (elsewhere ? `, and that its CORS_ORIGINS contains ${page}.` : ', and that this machine reaches it.'),
      { cause },
    );
  }
}

/** Options of a call. */
export interface CallOptions {
  /** Aborts the call. */
  signal?: AbortSignal | undefined;
}

/** One call of the HTTP API. */
export interface Call extends CallOptions {
  query?: object | undefined;
  body?: unknown;
  /** Whether the call takes effect only once if it arrives twice, so that it is retried if no answer has come, or a 503; default: for GET. */
  repeatable?: boolean;
  /** A field that each answer to the call has: without it, something other than Ringback has answered. */
  has?: string;
}

const attempts = 5;
const longestWait = 30_000;

/** Calls the HTTP API: renews tokens, and retries calls if that helps. */
export class Http {
  constructor(
    readonly base: URL,
    readonly token: Token,
    readonly fetch: typeof globalThis.fetch,
  ) {}

  async call<T>(method: string, path: string, call: Call = {}): Promise<T> {
    const url = new URL(path, this.base);
    for (const [name, value] of Object.entries(call.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const repeatable = call.repeatable ?? method === 'GET';
    let renewed = false;
    for (let attempt = 1; ; attempt++) {
      const credential = this.token.get();
      const token = await credential;
      const { response, body } = await this.#send(url, method, token, call).catch((error: unknown) => {
        if (call.signal?.aborted) throw error;
        if (!repeatable || attempt >= attempts) throw new Unreachable(this.base, error);
        return { response: undefined, body: undefined };
      });
      if (response && method !== 'GET' && isRedirect(response)) throw new RingbackError(response.status, `${this.base.origin} redirects elsewhere, so nothing was changed.`, [], onlyReads);
      if (response?.ok) return this.#checked(response, body, call) as T;
      if (response?.status === 401 && token && !renewed && this.token.renew(credential)) {
        renewed = true;
        continue;
      }
      const after = response && retryAfter(response.headers);
      const busy = response?.status === 429 || (response?.status === 503 && repeatable); // a 503 may come after the call has taken effect
      if (response && !(busy && attempt < attempts && after! <= longestWait)) throw refusal(response, body);
      await pause(attempt, after, call.signal);
    }
  }

  async #send(url: URL, method: string, token: string | undefined, { body, signal }: Call) {
    const headers: Record<string, string> = {};
    if (token) headers['Authorization'] = `Bearer ${token}`;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    // A redirected POST would become a GET, whose answer would count as that of the POST.
    const init: RequestInit = { method, headers, signal: signal ?? null, redirect: method === 'GET' ? 'follow' : 'manual' };
    if (body !== undefined) init.body = JSON.stringify(body);
    const response = await this.fetch(url, init);
    const text = await response.text(); // fails if the network does
    return { response, body: parsed(text) };
  }

  /** Returns the body of an answer, unless it lacks what the call needs. */
  #checked(response: Response, body: unknown, { has }: Call): unknown {
    if (has === undefined || (body as Record<string, unknown> | undefined)?.[has]) return body;
    throw new RingbackError(response.status, `What answers at ${this.base.origin} does not seem to be Ringback: its answer has no ${has}.`);
  }
}

const onlyReads = 'Use the address of Ringback itself: only reads follow redirects.';

/** Reports whether a response is a redirect, whose status browsers hide, or was reached by one. */
const isRedirect = ({ type, status, redirected }: Response): boolean => type === 'opaqueredirect' || redirected || (status >= 300 && status < 400);

/** Returns how many ms the server asks to wait: its header has seconds or a date. */
function retryAfter(headers: Headers): number {
  const value = headers.get('Retry-After') ?? '1';
  const now = Date.parse(headers.get('Date') ?? '') || Date.now();
  const wait = /^\d+$/.test(value) ? 1000 * Number(value) : Date.parse(value) - now;
  return Math.max(0, wait) || 0;
}

/** Returns undefined for text that is not JSON, such as a proxy's answer. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refusal(response: Response, body: unknown): RingbackError {
  const { error, details, hint } = (body ?? {}) as { error?: string; details?: Detail[]; hint?: string };
  return new RingbackError(response.status, error ?? `${response.status} ${response.statusText}`, details, hint);
}
