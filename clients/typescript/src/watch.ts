import type { CallOptions } from './http.js';
import type { Ringback } from './index.js';
import { hasEnded, isLast, type Job, type JobEvent, type Resync } from './types.js';
import { Writer, type Writing } from './writing.js';

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
export type TextSoFar = { type: 'text'; data: Writing };

/** Yields the events of a job until its end. */
export async function* watch<K>(client: Ringback, requestId: string, options: WatchOptions): AsyncGenerator<JobEvent<K> | Resync<K> | TextSoFar, void, undefined> {
  const { since, userId, signal, text } = options;
  const told: (JobEvent<K> | TextSoFar | 'resync')[] = [];
  const writer = new Writer();
  let live = false;
  let failure: { error: unknown } | undefined;
  let wake = () => {};
  const note = (what: () => void) => {
    what();
    wake();
  };
  const stop = client.listen<K>({
    requestId,
    since,
    userId,
    onEvent: (event) => note(() => told.push(event)),
    onText: text
      ? (piece) => {
          const data = writer.add(piece);
          const waits = told.at(-1);
          if (!data) return;
          if (typeof waits === 'object' && waits.type === 'text') told.pop(); // not read yet: the new one contains it
          note(() => told.push({ type: 'text', data }));
        }
      : undefined,
    onResync: () => note(() => told.push('resync')),
    onLive: () => note(() => (live = true)),
    onError: (error) => note(() => (failure = { error })),
  });
  const abort = () => note(() => (failure = { error: signal!.reason }));
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  try {
    let last: boolean | undefined; // undefined before the first event
    for (;;) {
      for (let next; (next = told.shift()); ) {
        if (next !== 'resync') {
          if (next.type !== 'text') last = isLast(next);
          yield next;
          continue;
        }
        const job: Job<K> = await client.get<K>(requestId, { signal });
        last = hasEnded(job.status);
        yield { type: 'resync', job };
      }
      if (failure) throw failure.error;
      // All events of a job that ended long ago may be gone, or precede since.
      if (live) last ??= hasEnded((await client.get(requestId, { signal })).status);
      if (live && last && told.length === 0) return;
      if (told.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    stop();
  }
}
