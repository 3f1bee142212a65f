import type { CallOptions } from './http.js';
import type { Ringback } from './index.js';
import { type JobEvent, type Resync } from './types.js';
import { type Writing } from './writing.js';
/** How a job is followed. */
export interface WatchOptions extends CallOptions {
    /** The event behind which to begin; from the job's first on where none is named. */
    since?: string;
    /** Whose job it is, where a back end watches. */
    userId?: string;
    /** Also tells, as `text`, what Claude is writing: each time all of it so far. */
    text?: boolean;
}
/** What Claude is writing: all of the text so far. It is not kept: the whole text follows as a message. */
export type TextSoFar = {
    type: 'text';
    data: Writing;
};
/** Turns what is told of a job into what can be iterated over, up to the job's end. */
export declare function watch<K>(client: Ringback, requestId: string, options: WatchOptions): AsyncGenerator<JobEvent<K> | Resync<K> | TextSoFar, void, undefined>;
