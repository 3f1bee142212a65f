import type { Connection, ConnectionState, Ear } from './connection.js';
import { type Http, RingbackError } from './http.js';
import { pause } from './pause.js';
import { type JobEvent, named, type TextPiece, type WireEvent, type WireText } from './types.js';

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

/**
 * Listens to one job. Events from before it joined the connection are read over HTTP; live
 * events wait until then and are delivered afterwards, without duplicates.
 */
export class JobEar extends UserEar {
  readonly #requestId: string;
  readonly #gone = new AbortController();
  #since: string;
  #reading = false;
  #again = false;
  #waiting: (() => void)[] | undefined = [];
  /** Ids of past events that were delivered and may still arrive over the connection. */
  readonly #read = new Set<string>();

  constructor(
    private readonly http: Http,
    private readonly connection: Connection,
    private readonly listener: Listener & { requestId: string },
  ) {
    super(listener);
    this.#requestId = listener.requestId;
    this.#since = listener.since ?? '0';
  }

  get reads(): string | undefined {
    return this.listener.onText && this.#requestId;
  }

  text({ requestId, data }: WireText): void {
    if (requestId === this.#requestId) this.listener.onText?.(data);
  }

  override joined(): void {
    this.#waiting ??= [];
    this.#again = true;
    if (!this.#reading) void this.#catchUp();
  }

  override event(event: WireEvent): void {
    if (event.requestId !== this.#requestId) return;
    const tell = () => {
      if (this.#read.delete(event.id)) return;
      this.#since = event.id;
      super.event(event);
    };
    this.#waiting ? this.#waiting.push(tell) : tell();
  }

  override resync(): void {
    const tell = () => super.resync();
    this.#waiting ? this.#waiting.push(tell) : tell();
  }

  stop(): void {
    this.#gone.abort();
  }

  async #catchUp(): Promise<void> {
    this.#reading = true;
    const { signal } = this.#gone;
    for (let failures = 0; this.#again && !signal.aborted; ) {
      this.#again = false;
      try {
        await this.#readPast(signal);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof RingbackError && error.status < 500 && error.status !== 429) {
          this.connection.remove(this);
          return this.listener.onError?.(error);
        }
        this.#again = true;
        await pause(++failures, 0, signal).catch(() => {});
      }
    }
    this.#reading = false;
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const tell of waiting) if (!signal.aborted) tell();
    if (!signal.aborted) this.listener.onLive?.();
  }

  async #readPast(signal: AbortSignal): Promise<void> {
    for (let more = true; more; ) {
      const query = { since: this.#since };
      const page = await this.http.call<EventPage>('GET', `api/jobs/${encodeURIComponent(this.#requestId)}/events`, { query, signal, repeatable: true });
      if (page.resync) super.resync();
      for (const event of page.events) {
        if (signal.aborted) return;
        this.#since = event.id;
        this.#read.add(event.id);
        super.event(event);
      }
      more = page.events.length > 0;
    }
  }
}
