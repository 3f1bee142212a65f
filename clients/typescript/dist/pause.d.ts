/** Returns how many ms to wait before another attempt: longer each time, with a random part. */
export declare const backOff: (attempt: number) => number;
/** Waits before another attempt, at least as long as the server asks for. */
export declare function pause(attempt: number, atLeast?: number, signal?: AbortSignal): Promise<void>;
