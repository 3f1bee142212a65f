import type { CallOptions } from './http.js';
import type { Ringback } from './index.js';
import { hasEnded, isLast, type Job, type JobEvent, type Resync } from './types.js';

/** How a job is followed. */
export interface WatchOptions extends CallOptions {
  /** The event behind which to begin; from the job's first on where none is named. */
  since?: string;
  /** Whose job it is, where a back end watches. */
  userId?: string;
}

/** Turns what is told of a job into what can be iterated over, up to the job's end. */
export async function* watch<K>(client: Ringback, requestId: string, options: WatchOptions): AsyncGenerator<JobEvent<K> | Resync<K>, void, undefined> {
  const { since, userId, signal } = options;
  const told: (JobEvent<K> | 'resync')[] = [];
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
          last = isLast(next);
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
