/** How long to wait before another attempt: longer each time, and never the same for all. */
export declare const backOff: (attempt: number) => number;
/** Waits before another attempt, at least as long as the server asks for. */
export declare function pause(attempt: number, atLeast?: number, signal?: AbortSignal): Promise<void>;
