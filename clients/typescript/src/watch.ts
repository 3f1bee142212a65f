import type { CallOptions } from './http.js';
import type { Ringback } from './index.js';
import { hasEnded, isLast, type Job, type JobEvent, type Resync } from './types.js';
import { Writer, type Writing } from './writing.js';

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
export type TextSoFar = { type: 'text'; data: Writing };

/** Turns what is told of a job into what can be iterated over, up to the job's end. */
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
          if (typeof waits === 'object' && waits.type === 'text') told.pop(); // nobody has read it: the new one holds it
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
    let last: boolean | undefined; // undefined while nothing was told
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
      // All events of a job that ended long ago may be gone, or lie before since.
      if (live) last ??= hasEnded((await client.get(requestId, { signal })).status);
      if (live && last && told.length === 0) return;
      if (told.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    stop();
  }
}
