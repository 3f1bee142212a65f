import type { Token } from './token.js';
import type { WireEvent, WireText } from './types.js';
/** The state of a connection; events are live only if it is `live`. */
export type ConnectionState = 'connecting' | 'live' | 'waiting';
/** A listener on a connection. */
export interface Ear {
    /** Receives an event of a job. */
    event(event: WireEvent): void;
    /** The job whose events it wants; all jobs of the user if undefined. */
    readonly job?: string;
    /** Whether text is called with the text of that job while Claude writes it. */
    readonly reads?: boolean;
    text?(text: WireText): void;
    /** The server does not let the connection's user follow the job. */
    refused?(error: WireError): void;
    /** Events are missing between the last event and the next one. */
    resync(): void;
    /** All events from here on are delivered, and no earlier ones. */
    joined(): void;
    state(state: ConnectionState): void;
    /** The connection has ended, and connecting again would not help. */
    failed(error: unknown): void;
}
/** The answer to a frame that was refused. */
export interface WireError {
    type: 'error';
    for?: string;
    requestId?: string;
    error: string;
    hint?: string;
}
/** The server's address and how to connect to it. */
export interface Place {
    base: URL;
    token: Token;
    WebSocket: typeof globalThis.WebSocket | undefined;
    userId: string | undefined;
    /** The time in ms after which a silent connection is pinged. */
    heartbeat: number;
}
/**
 * The WebSocket of one user, shared by all listeners. Whenever it breaks, another one is opened
 * that resumes after the last event: the server then sends the missed events, once.
 */
export declare class Connection {
    #private;
    private readonly place;
    /** The id of the last received event. */
    private since;
    private readonly ended;
    constructor(place: Place, 
    /** The id of the last received event. */
    since: string | undefined, ended: () => void);
    add(ear: Ear): void;
    remove(ear: Ear): void;
    close(): void;
}
