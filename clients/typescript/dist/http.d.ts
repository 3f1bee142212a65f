import type { Token } from './token.js';
import type { Detail } from './types.js';
/** A refusal by the server. */
export declare class RingbackError extends Error {
    /** The HTTP status; for a refused WebSocket, the equivalent one; 0 for a redirect in a browser. */
    readonly status: number;
    /** What is wrong with each field. */
    readonly details: readonly Detail[];
    /** What to do about it. */
    readonly hint?: string | undefined;
    readonly name = "RingbackError";
    constructor(
    /** The HTTP status; for a refused WebSocket, the equivalent one; 0 for a redirect in a browser. */
    status: number, message: string, 
    /** What is wrong with each field. */
    details?: readonly Detail[], 
    /** What to do about it. */
    hint?: string | undefined);
}
/** No answer has come. Browsers do not give pages the reason: the message names likely ones. */
export declare class Unreachable extends Error {
    readonly name = "Unreachable";
    constructor(server: URL, cause: unknown);
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
/** Calls the HTTP API: renews tokens, and retries calls if that helps. */
export declare class Http {
    #private;
    readonly base: URL;
    readonly token: Token;
    readonly fetch: typeof globalThis.fetch;
    constructor(base: URL, token: Token, fetch: typeof globalThis.fetch);
    call<T>(method: string, path: string, call?: Call): Promise<T>;
}
