/** The current token. Concurrent callers share one fetch of a new one. */
export class Token {
    source;
    #current;
    constructor(source) {
        this.source = source;
    }
    /** Returns the current token: the same promise until it is renewed. */
    get() {
        if (typeof this.source !== 'function')
            return Promise.resolve(this.source);
        this.#current ??= this.#fetch(this.source).catch((error) => {
            this.#current = undefined;
            throw error;
        });
        return this.#current;
    }
    async #fetch(source) {
        const value = await source();
        if (value === undefined)
            this.#current = undefined; // a user may sign in later
        return value;
    }
    /** Forgets a refused token, unless another one was fetched since; returns false if there can be no other. */
    renew(refused) {
        if (typeof this.source !== 'function')
            return false;
        if (this.#current === refused)
            this.#current = undefined;
        return true;
    }
}
