/** The current token. Concurrent callers share one fetch of a new one. */
export class Token {
    source;
    #current;
    #value;
    constructor(source) {
        this.source = source;
    }
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
        this.#value = await source();
        if (this.#value === undefined)
            this.#current = undefined; // a user may sign in later
        return this.#value;
    }
    /** Forgets a refused token; returns false if there can be no other. */
    renew(refused) {
        if (typeof this.source !== 'function')
            return false;
        if (this.#value === refused)
            this.#current = undefined;
        return true;
    }
}
