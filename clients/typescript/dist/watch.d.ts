import type { CallOptions } from './http.js';
import type { Ringback } from './index.js';
import { type JobEvent, type Resync } from './types.js';
import { type Writing } from './writing.js';
/** Options for following a job. */
export interface WatchOptions extends CallOptions {
    /** The id of the event after which to begin; default: the job's first event. */
    since?: string;
    /** The job's user, if a back end watches. */
    userId?: string;
    /** Also yields what Claude is writing, as `text`: each time all of it so far. */
    text?: boolean;
}
/** What Claude is writing: all of the text so far. It is not kept: the whole text follows as a message. */
export type TextSoFar = {
    type: 'text';
    data: Writing;
};
/** Yields the events of a job until its end. */
export declare function watch<K>(client: Ringback, requestId: string, options: WatchOptions): AsyncGenerator<JobEvent<K> | Resync<K> | TextSoFar, void, undefined>;
