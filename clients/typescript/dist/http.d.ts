import type { Token } from './token.js';
import type { Detail } from './types.js';
/** What the server has refused, and why. */
export declare class RingbackError extends Error {
    /** The HTTP status; of a WebSocket that was refused, the one that means the same. */
    readonly status: number;
    /** What is wrong with each field. */
    readonly details: readonly Detail[];
    /** What to do about it. */
    readonly hint?: string | undefined;
    readonly name = "RingbackError";
    constructor(
    /** The HTTP status; of a WebSocket that was refused, the one that means the same. */
    status: number, message: string, 
    /** What is wrong with each field. */
    details?: readonly Detail[], 
    /** What to do about it. */
    hint?: string | undefined);
}
/** No answer has come. Browsers do not tell a page why: the message names what can be the reason. */
export declare class Unreachable extends Error {
    readonly name = "Unreachable";
    constructor(server: URL, cause: unknown);
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
/** Calls the HTTP API: with a token that is renewed, and again where that helps. */
export declare class Http {
    #private;
    readonly base: URL;
    readonly token: Token;
    readonly fetch: typeof globalThis.fetch;
    constructor(base: URL, token: Token, fetch: typeof globalThis.fetch);
    call<T>(method: string, path: string, call?: Call): Promise<T>;
}
