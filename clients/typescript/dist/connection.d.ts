import type { Token } from './token.js';
import type { WireEvent, WireText } from './types.js';
/** Whether events come as they happen. */
export type ConnectionState = 'connecting' | 'live' | 'waiting';
/** Who hears what comes over a connection. */
export interface Ear {
    /** Something happened to a job. */
    event(event: WireEvent): void;
    /** The job whose text is wanted as Claude writes it, and who hears of it. */
    readonly reads?: string | undefined;
    text?(text: WireText): void;
    /** What was heard and what comes next do not join. */
    resync(): void;
    /** From here on all is heard; what was before is not. */
    joined(): void;
    state(state: ConnectionState): void;
    /** It has ended, and connecting again is of no use. */
    failed(error: unknown): void;
}
/** Where and how to connect. */
export interface Place {
    base: URL;
    token: Token;
    WebSocket: typeof globalThis.WebSocket | undefined;
    userId: string | undefined;
    /** How many ms a connection may be silent before the server is asked whether it is there. */
    heartbeat: number;
}
/**
 * The WebSocket of one user, shared by all who listen. Whenever it breaks, another is opened
 * that goes on behind the last event: the server then sends what was missed, once.
 */
export declare class Connection {
    #private;
    private readonly place;
    /** The last event that was heard. */
    private since;
    private readonly ended;
    constructor(place: Place, 
    /** The last event that was heard. */
    since: string | undefined, ended: () => void);
    add(ear: Ear): void;
    remove(ear: Ear): void;
    close(): void;
}
