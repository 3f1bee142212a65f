/**
 * A key or token, or a function that fetches one: it is called for the first one, and whenever
 * the server no longer accepts the last one. undefined means that no user is signed in.
 */
export type TokenSource = string | (() => string | undefined | Promise<string | undefined>);

/** The current token. Concurrent callers share one fetch of a new one. */
export class Token {
  #current: Promise<string | undefined> | undefined;
  #value: string | undefined;

  constructor(private readonly source?: TokenSource) {}

  get(): Promise<string | undefined> {
    if (typeof this.source !== 'function') return Promise.resolve(this.source);
    this.#current ??= this.#fetch(this.source).catch((error: unknown) => {
      this.#current = undefined;
      throw error;
    });
    return this.#current;
  }

  async #fetch(source: () => string | undefined | Promise<string | undefined>): Promise<string | undefined> {
    this.#value = await source();
    if (this.#value === undefined) this.#current = undefined; // a user may sign in later
    return this.#value;
  }

  /** Forgets a refused token; returns false if there can be no other. */
  renew(refused: string): boolean {
    if (typeof this.source !== 'function') return false;
    if (this.#value === refused) this.#current = undefined;
    return true;
  }
}
