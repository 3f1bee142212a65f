/**
 * A key or token, or what fetches one: it is called for the first, and whenever the server
 * takes the last one no longer. undefined says that nobody is signed in any more.
 */
export type TokenSource = string | (() => string | undefined | Promise<string | undefined>);

/** The token that counts now. Whoever needs a new one at the same time gets the same. */
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
    if (this.#value === undefined) this.#current = undefined; // somebody may sign in later
    return this.#value;
  }

  /** Forgets a token that was refused; false where there can be no other. */
  renew(refused: string): boolean {
    if (typeof this.source !== 'function') return false;
    if (this.#value === refused) this.#current = undefined;
    return true;
  }
}
