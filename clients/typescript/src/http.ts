import { pause } from './pause.js';
import type { Token } from './token.js';
import type { Detail } from './types.js';

/** What the server has refused, and why. */
export class RingbackError extends Error {
  override readonly name = 'RingbackError';
  constructor(
    /** The HTTP status; of a WebSocket that was refused, the one that means the same. */
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

/** No answer has come. Browsers do not tell a page why: the message names what can be the reason. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  constructor(server: URL, cause: unknown) {
    const page = pageOrigin();
    const elsewhere = page !== undefined && page !== server.origin;
    super(
      `No answer from the Ringback server at ${server.origin}${elsewhere ? ` to the page at ${page}` : ''}. ` +
        `Check that it runs there (${new URL('healthz', server)})` +
        (elsewhere ? `, and that its CORS_ORIGINS holds ${page}.` : ', and that this machine reaches it.'),
      { cause },
    );
  }
}

/** How a call is made. */
export interface CallOptions {
  /** Gives the call up. */
  signal?: AbortSignal | undefined;
}

/** One call of the HTTP API. */
export interface Call extends CallOptions {
  query?: object | undefined;
  body?: unknown;
  /** Whether it may be sent again when no answer has come: it has the same effect twice as once. */
  repeatable?: boolean;
}

const attempts = 5;
const longestWait = 30_000;

/** Calls the HTTP API: with a token that is renewed, and again where that helps. */
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
    let renewed = false;
    for (let attempt = 1; ; attempt++) {
      const token = await this.token.get();
      const { response, body } = await this.#send(url, method, token, call).catch((error: unknown) => {
        if (call.signal?.aborted) throw error;
        if (!call.repeatable || attempt >= attempts) throw new Unreachable(this.base, error);
        return { response: undefined, body: undefined };
      });
      if (response?.ok) return body as T;
      if (response?.status === 401 && token && !renewed && this.token.renew(token)) {
        renewed = true;
        continue;
      }
      const after = response && 1000 * Number(response.headers.get('Retry-After') ?? 1);
      const busy = response?.status === 429 || response?.status === 503;
      if (response && !(busy && attempt < attempts && after! <= longestWait)) throw refusal(response, body);
      await pause(attempt, after, call.signal);
    }
  }

  async #send(url: URL, method: string, token: string | undefined, { body, signal }: Call) {
    const headers: Record<string, string> = {};
    if (token) headers['Authorization'] = `Bearer ${token}`;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const init: RequestInit = { method, headers, signal: signal ?? null };
    if (body !== undefined) init.body = JSON.stringify(body);
    const response = await this.fetch(url, init);
    const text = await response.text(); // which breaks where the network does
    return { response, body: parsed(text) };
  }
}

/** What stands between may answer with something else than JSON. */
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
