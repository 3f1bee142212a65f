import type { Connection, ConnectionState, Ear } from './connection.js';
import { type Http, RingbackError } from './http.js';
import { pause } from './pause.js';
import { type JobEvent, named, type TextPiece, type WireEvent, type WireText } from './types.js';

/** What to listen to, and whom to tell. */
export interface Listener<K = string> {
  /** The one job whose events are wanted: all of them, from its first on. */
  requestId?: string | undefined;
  /** The event behind which to begin. */
  since?: string | undefined;
  /** Whose events they are, where a back end listens. */
  userId?: string | undefined;
  onEvent(event: JobEvent<K>): void;
  /**
   * Events are missing before the next one: read what you show, over HTTP. Without requestId
   * and since it is called first of all, as only what happens from then on is told.
   */
  onResync?(): void;
  /** With requestId: all that has happened so far was told; what comes now happens now. */
  onLive?(): void;
  /** With requestId: what Claude is writing, as it is written. */
  onText?: ((piece: TextPiece) => void) | undefined;
  /** Whether events come as they happen. */
  onState?(state: ConnectionState): void;
  /** Listening has ended, and not by you. */
  onError?(error: unknown): void;
}

/** Listens to all events of a user, from when it is connected. */
export class UserEar implements Ear {
  constructor(private readonly to: Listener) {}

  joined(): void {
    if (this.to.since === undefined) this.resync(); // else the connection begins there
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
 * Listens to one job. What happened before it joined the connection is read over HTTP; what
 * comes over the connection meanwhile waits, and is told after it, without what was in both.
 */
export class JobEar extends UserEar {
  readonly #requestId: string;
  readonly #gone = new AbortController();
  #since: string;
  #reading = false;
  #again = false;
  #waiting: (() => void)[] | undefined = [];
  /** What was told of the past, and may come over the connection yet. */
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
