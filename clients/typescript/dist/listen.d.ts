import type { Connection, ConnectionState, Ear } from './connection.js';
import { type Http } from './http.js';
import { type JobEvent, type TextPiece, type WireEvent, type WireText } from './types.js';
/** What to listen to, and whom to tell. */
export interface Listener<K = string> {
    /** The one job whose events are wanted: all of them, from its first on. */
    requestId?: string | undefined;
    /** The event behind which to begin. */
    since?: string | undefined;
    /** Whose events they are, where a back end listens. */
    userId?: string | undefined;
    onEvent(event: JobEvent<K>): void;
    /**
     * Events are missing before the next one: read what you show, over HTTP. Without requestId
     * and since it is called first of all, as only what happens from then on is told.
     */
    onResync?(): void;
    /** With requestId: all that has happened so far was told; what comes now happens now. */
    onLive?(): void;
    /** With requestId: what Claude is writing, as it is written. */
    onText?: ((piece: TextPiece) => void) | undefined;
    /** Whether events come as they happen. */
    onState?(state: ConnectionState): void;
    /** Listening has ended, and not by you. */
    onError?(error: unknown): void;
}
/** Listens to all events of a user, from when it is connected. */
export declare class UserEar implements Ear {
    private readonly to;
    constructor(to: Listener);
    joined(): void;
    event(event: WireEvent): void;
    resync(): void;
    state(state: ConnectionState): void;
    failed(error: unknown): void;
}
/**
 * Listens to one job. What happened before it joined the connection is read over HTTP; what
 * comes over the connection meanwhile waits, and is told after it, without what was in both.
 */
export declare class JobEar extends UserEar {
    #private;
    private readonly http;
    private readonly connection;
    private readonly listener;
    constructor(http: Http, connection: Connection, listener: Listener & {
        requestId: string;
    });
    get reads(): string | undefined;
    text({ requestId, data }: WireText): void;
    joined(): void;
    event(event: WireEvent): void;
    resync(): void;
    stop(): void;
}
