import { hasEnded, isLast } from './types.js';
import { Writer } from './writing.js';
/** Yields the events of a job until its end. */
export async function* watch(client, requestId, options) {
    const { since, userId, signal, text } = options;
    const told = [];
    const writer = new Writer();
    let live = false;
    let failure;
    let wake = () => { };
    const note = (what) => {
        what();
        wake();
    };
    const stop = client.listen({
        requestId,
        since,
        userId,
        onEvent: (event) => note(() => told.push(event)),
        onText: text
            ? (piece) => {
                const data = writer.add(piece);
                const waits = told.at(-1);
                if (!data)
                    return;
                if (typeof waits === 'object' && waits.type === 'text')
                    told.pop(); // not read yet: the new one contains it
                note(() => told.push({ type: 'text', data }));
            }
            : undefined,
        onResync: () => note(() => told.push('resync')),
        onLive: () => note(() => (live = true)),
        onError: (error) => note(() => (failure = { error })),
    });
    const abort = () => note(() => (failure = { error: signal.reason }));
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted)
        abort();
    try {
        let last; // undefined before the first event
        for (;;) {
            for (let next; (next = told.shift());) {
                if (next !== 'resync') {
                    if (next.type !== 'text')
                        last = isLast(next);
                    yield next;
                    continue;
                }
                const job = await client.get(requestId, { signal });
                last = hasEnded(job.status);
                yield { type: 'resync', job };
            }
            if (failure)
                throw failure.error;
            // All events of a job that ended long ago may be gone, or precede since.
            if (live)
                last ??= hasEnded((await client.get(requestId, { signal })).status);
            if (live && last && told.length === 0)
                return;
            if (told.length === 0)
                await new Promise((resolve) => (wake = resolve));
        }
    }
    finally {
        signal?.removeEventListener('abort', abort);
        stop();
    }
}
