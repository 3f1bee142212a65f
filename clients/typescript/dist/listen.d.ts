import type { Connection, ConnectionState, Ear, WireError } from './connection.js';
import { type Http } from './http.js';
import { type JobEvent, type TextPiece, type WireEvent, type WireText } from './types.js';
/** What to listen to, and the callbacks. */
export interface Listener<K = string> {
    /** If set, only this job's events are delivered: all of them, from its first on. */
    requestId?: string | undefined;
    /** The id of the event after which to begin. */
    since?: string | undefined;
    /** The user whose events are delivered, if a back end listens. */
    userId?: string | undefined;
    onEvent(event: JobEvent<K>): void;
    /**
     * Events are missing before the next one: read again over HTTP what you show. Without
     * requestId and since it is called first, because only later events are delivered.
     */
    onResync?(): void;
    /** With requestId: all past events were delivered; the next ones are live. */
    onLive?(): void;
    /** With requestId: what Claude is writing, as it is written. */
    onText?: ((piece: TextPiece) => void) | undefined;
    /** Called when the state of the connection changes. */
    onState?(state: ConnectionState): void;
    /** Listening has ended because of an error. */
    onError?(error: unknown): void;
}
/** Returns a listener whose callbacks throw nothing: an exception in one is reported, and loses no event. */
export declare function guarded(to: Listener): Listener;
/** Listens to all events of a user, from the time it is connected. */
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
 * Listens to one job. Events from before it joined the connection are read over HTTP; live
 * events wait until then and are delivered afterwards, without duplicates.
 */
export declare class JobEar extends UserEar {
    #private;
    private readonly http;
    readonly job: string;
    private readonly listener;
    private readonly connectionOf;
    constructor(http: Http, job: string, listener: Listener, connectionOf: (userId: string | undefined) => Connection);
    /** Listens on the connection of a user. */
    listen(userId: string | undefined): void;
    stop(): void;
    get reads(): boolean;
    text({ requestId, data }: WireText): void;
    /** Listens on the connection of the job's own user, if the caller may read the job. */
    refused({ error, hint }: WireError): void;
    joined(): void;
    event(event: WireEvent): void;
    resync(): void;
}
