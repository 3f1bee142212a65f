/**
 * A key or token, or a function that fetches one: it is called for the first one, and whenever
 * the server no longer accepts the last one. undefined means that no user is signed in.
 */
export type TokenSource = string | (() => string | undefined | Promise<string | undefined>);

/** The current token. Concurrent callers share one fetch of a new one. */
export class Token {
  #current: Promise<string | undefined> | undefined;

  constructor(private readonly source?: TokenSource) {}

  /** Returns the current token: the same promise until it is renewed. */
  get(): Promise<string | undefined> {
    if (typeof this.source !== 'function') return Promise.resolve(this.source);
    this.#current ??= this.#fetch(this.source).catch((error: unknown) => {
      this.#current = undefined;
      throw error;
    });
    return this.#current;
  }

  async #fetch(source: () => string | undefined | Promise<string | undefined>): Promise<string | undefined> {
    const value = await source();
    if (value === undefined) this.#current = undefined; // a user may sign in later
    return value;
  }

  /** Forgets a refused token, unless another one was fetched since; returns false if there can be no other. */
  renew(refused: Promise<string | undefined>): boolean {
    if (typeof this.source !== 'function') return false;
    if (this.#current === refused) this.#current = undefined;
    return true;
  }
}
