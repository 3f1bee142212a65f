/**
 * A key or token, or a function that fetches one: it is called for the first one, and whenever
 * the server no longer accepts the last one. undefined means that no user is signed in.
 */
export type TokenSource = string | (() => string | undefined | Promise<string | undefined>);
/** The current token. Concurrent callers share one fetch of a new one. */
export declare class Token {
    #private;
    private readonly source?;
    constructor(source?: TokenSource | undefined);
    /** Returns the current token: the same promise until it is renewed. */
    get(): Promise<string | undefined>;
    /** Forgets a refused token, unless another one was fetched since; returns false if there can be no other. */
    renew(refused: Promise<string | undefined>): boolean;
}
