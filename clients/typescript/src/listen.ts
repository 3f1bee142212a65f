import type { Connection, ConnectionState, Ear, WireError } from './connection.js';
import { type Http, RingbackError } from './http.js';
import { pause } from './pause.js';
import { type Job, type JobEvent, named, type TextPiece, type WireEvent, type WireText } from './types.js';

/** What to listen to, and the callbacks. */
export interface Listener<K = string> {
  /** If set, only this job's events are delivered: all of them, from its first on. */
  requestId?: string | undefined;
  /** The id of the event after which to begin. */
  since?: string | undefined;
  /** The user whose events are delivered, if a back end listens. */
  userId?: string | undefined;
  onEvent(event: JobEvent<K>): void;
  /**
   * Events are missing before the next one: read again over HTTP what you show. Without
   * requestId and since it is called first, because only later events are delivered.
   */
  onResync?(): void;
  /** With requestId: all past events were delivered; the next ones are live. */
  onLive?(): void;
  /** With requestId: what Claude is writing, as it is written. */
  onText?: ((piece: TextPiece) => void) | undefined;
  /** Called when the state of the connection changes. */
  onState?(state: ConnectionState): void;
  /** Listening has ended because of an error. */
  onError?(error: unknown): void;
}

/** Returns a listener whose callbacks throw nothing: an exception in one is reported, and loses no event. */
export function guarded(to: Listener): Listener {
  const safe = <A extends unknown[]>(call: ((...all: A) => void) | undefined) => (...all: A): void => {
    try {
      call?.apply(to, all);
    } catch (error) {
      setTimeout(() => {
        throw error;
      });
    }
  };
  const { requestId, since, userId } = to;
  return {
    requestId, since, userId, onText: to.onText && safe(to.onText),
    onEvent: safe(to.onEvent), onResync: safe(to.onResync), onLive: safe(to.onLive), onState: safe(to.onState), onError: safe(to.onError),
  };
}

/** Listens to all events of a user, from the time it is connected. */
export class UserEar implements Ear {
  constructor(private readonly to: Listener) {}

  joined(): void {
    if (this.to.since === undefined) this.resync(); // otherwise the connection begins there
  }
  event(event: WireEvent): void {
    this.to.onEvent(named(event));
  }
  resync(): void {
    this.to.onResync?.();
  }
  state(state: ConnectionState): void {
    this.to.onState?.(state);
  }
  failed(error: unknown): void {
    this.to.onError?.(error);
  }
}

interface EventPage {
  events: WireEvent[];
  resync?: boolean;
}

/** Reports whether an event has a higher id than another: ids are decimal numbers. */
const isLater = (id: string, than: string): boolean => (id.length === than.length ? id > than : id.length > than.length);

/**
 * Listens to one job. Events from before it joined the connection are read over HTTP; live
 * events wait until then and are delivered afterwards, without duplicates.
 */
export class JobEar extends UserEar {
  readonly #gone = new AbortController();
  #connection: Connection | undefined;
  #since: string;
  /** Events up to this one were delivered: `#since`, unless the store has gone back since. */
  #known: string;
  #reading = false;
  #again = false;
  #waiting: WireEvent[] | undefined = [];
  #isOwners = false;

  constructor(
    private readonly http: Http,
    readonly job: string,
    private readonly listener: Listener,
    private readonly connectionOf: (userId: string | undefined) => Connection,
  ) {
    super(listener);
    this.#since = this.#known = listener.since ?? '0';
  }

  /** Listens on the connection of a user. */
  listen(userId: string | undefined): void {
    this.#connection = this.connectionOf(userId);
    this.#connection.add(this);
  }

  stop(): void {
    this.#gone.abort();
    this.#connection?.remove(this);
  }

  get reads(): boolean {
    return this.listener.onText !== undefined;
  }

  text({ requestId, data }: WireText): void {
    if (requestId === this.job) this.listener.onText?.(data);
  }

  /** Listens on the connection of the job's own user, if the caller may read the job. */
  refused({ error, hint }: WireError): void {
    if (this.#isOwners) return this.#fail(new RingbackError(403, error, [], hint));
    this.#isOwners = true;
    this.#connection?.remove(this);
    const { signal } = this.#gone;
    this.http.call<Job>('GET', this.#path(), { signal, repeatable: true, has: 'userId' }).then(
      ({ userId }) => signal.aborted || this.listen(userId),
      (error: unknown) => this.#fail(error),
    );
  }

  override joined(): void {
    this.#waiting ??= [];
    this.#again = true;
    if (!this.#reading) void this.#catchUp();
  }

  override event(event: WireEvent): void {
    if (event.requestId !== this.job) return;
    this.#waiting ? this.#waiting.push(event) : this.#deliver(event);
  }

  override resync(): void {
    if (this.#waiting) this.#again = true; // what is read then has no gap
    else this.#forget();
  }

  #path(what = ''): string {
    return `api/jobs/${encodeURIComponent(this.job)}${what}`;
  }

  #deliver(event: WireEvent): void {
    if (!isLater(event.id, this.#known)) return;
    this.#since = this.#known = event.id;
    super.event(event);
  }

  /** Takes all events that follow as new ones. */
  #forget(): void {
    this.#known = '0';
    super.resync();
  }

  #fail(error: unknown): void {
    if (this.#gone.signal.aborted) return;
    this.stop();
    this.listener.onError?.(error);
  }

  async #catchUp(): Promise<void> {
    this.#reading = true;
    const { signal } = this.#gone;
    for (let failures = 0; this.#again && !signal.aborted; ) {
      this.#again = false;
      try {
        await this.#readPast(signal);
      } catch (error) {
        if (error instanceof RingbackError && error.status < 500 && error.status !== 429) return this.#fail(error);
        this.#again = true;
        await pause(++failures, 0, signal).catch(() => {});
      }
    }
    this.#reading = false;
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const event of waiting) if (!signal.aborted) this.#deliver(event);
    if (!signal.aborted) this.listener.onLive?.();
  }

  async #readPast(signal: AbortSignal): Promise<void> {
    for (let more = true; more; ) {
      const query = { since: this.#since };
      const page = await this.http.call<EventPage>('GET', this.#path('/events'), { query, signal, has: 'events' });
      if (page.resync) this.#forget();
      for (const event of page.events) {
        if (signal.aborted) return;
        this.#deliver(event);
      }
      more = page.events.length > 0;
    }
  }
}
