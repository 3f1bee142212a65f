/**
 * A key or token, or what fetches one: it is called for the first, and whenever the server
 * takes the last one no longer. undefined says that nobody is signed in any more.
 */
export type TokenSource = string | (() => string | undefined | Promise<string | undefined>);
/** The token that counts now. Whoever needs a new one at the same time gets the same. */
export declare class Token {
    #private;
    private readonly source?;
    constructor(source?: TokenSource | undefined);
    get(): Promise<string | undefined>;
    /** Forgets a token that was refused; false where there can be no other. */
    renew(refused: string): boolean;
}
