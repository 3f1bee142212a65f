const first = 500;
const longest = 30_000;
/** Returns how many ms to wait before another attempt: longer each time, with a random part. */
export const backOff = (attempt) => Math.min(longest, first * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
/** Waits before another attempt, at least as long as the server asks for. */
export function pause(attempt, atLeast = 0, signal) {
    return new Promise((resolve, reject) => {
        const stop = () => {
            clearTimeout(timer);
            reject(signal.reason);
        };
        const timer = setTimeout(() => {
            signal?.removeEventListener('abort', stop);
            resolve();
        }, atLeast + backOff(attempt));
        if (signal?.aborted)
            stop();
        else
            signal?.addEventListener('abort', stop, { once: true });
    });
}
