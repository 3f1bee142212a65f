import { pause } from './pause.js';
import type { Token } from './token.js';
import type { Detail } from './types.js';

/** A refusal by the server. */
export class RingbackError extends Error {
  override readonly name = 'RingbackError';
  constructor(
    /** The HTTP status; for a refused WebSocket, the equivalent one. */
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
  /** Whether the call is idempotent, so that it may be retried if no answer has come. */
  repeatable?: boolean;
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
    const text = await response.text(); // fails if the network does
    return { response, body: parsed(text) };
  }
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
