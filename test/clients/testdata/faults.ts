// Puts the client into the situations that its arguments name, and prints what it does.
import { type JobEvent, Ringback, RingbackError } from 'ringback-client';

declare const process: { argv: string[]; on(event: 'uncaughtException', call: (error: Error) => void): void };

/** A server of events: it plays the connections of all users. */
class Socket {
  static all: Socket[] = [];
  static owner = 'u1';
  onopen?: () => void;
  onmessage?: (message: { data: string }) => void;
  onclose?: (end: { code: number; reason: string }) => void;
  readonly sent: string[] = [];
  readonly user: string | null;
  constructor(url: URL) {
    this.user = url.searchParams.get('userId');
    Socket.all.push(this);
    setTimeout(() => this.onopen?.());
  }
  tell(frame: object): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
  send(text: string): void {
    const frame = JSON.parse(text) as { type: string; requestId: string };
    if (frame.type === 'ping') return void setTimeout(() => this.tell({ type: 'pong' }));
    this.sent.push(text);
    const mine = this.user === Socket.owner;
    setTimeout(() => this.tell(mine ? { type: 'ack', for: frame.type } : { type: 'error', for: frame.type, requestId: frame.requestId, error: 'not yours' }));
  }
  close(): void {}
}

const event = (id: number, type = 'activity') => ({ id: String(id), event: `k:${type}`, requestId: 'r1', userId: Socket.owner, time: '2026-03-02T18:00:00Z', data: { message: '' } });
const moment = (ms = 5) => new Promise((resolve) => setTimeout(resolve, ms));
const until = async (done: () => unknown) => {
  while (!done()) await moment();
};
const json = (value: unknown, status = 200) => new Response(JSON.stringify(value), { status });

/** Returns a client of a server with these past events. */
function clientOf(userId: string, past: () => object): Ringback {
  Socket.all = [];
  const fetch = async (url: unknown) => {
    await moment(20); // so that live events wait
    return String(url).includes('/events') ? json(past()) : json({ requestId: 'r1', userId: Socket.owner, status: 'running' });
  };
  return new Ringback({ url: 'http://localhost', userId, fetch: fetch as typeof globalThis.fetch, WebSocket: Socket as unknown as typeof WebSocket });
}

const after = (since: string | null, events: ReturnType<typeof event>[]) => events.filter(({ id }) => Number(id) > Number(since));

const cases: Record<string, (url: string) => Promise<unknown>> = {
  redirected: async (url) => {
    const client = new Ringback({ url });
    const calls = [client.create('k', {}), client.cancel('r1'), client.reply('c1', {}), client.say('s1', 'hi'), client.approve('r1', { checkpointId: 'c1' })];
    const ends = await Promise.allSettled(calls);
    return ends.map((end) => (end.status === 'rejected' && end.reason instanceof RingbackError ? 'refused' : 'counts'));
  },
  emptied: async () => {
    const client = new Ringback({ url: 'http://localhost', fetch: async () => json({}) });
    const ends = await Promise.allSettled([client.create('k', {}), client.retry('r1'), client.reply('c1', {}), client.say('s1', 'hi')]);
    return ends.map((end) => (end.status === 'rejected' && end.reason instanceof RingbackError ? 'refused' : 'counts'));
  },
  dated: async () => {
    let calls = 0;
    const busy = () => new Response('{}', { status: 503, headers: { Date: 'Mon, 02 Mar 2026 18:00:00 GMT', 'Retry-After': calls === 1 ? 'Mon, 02 Mar 2026 18:00:00 GMT' : 'Mon, 02 Mar 2026 19:00:00 GMT' } });
    const fetch = async () => (calls++, busy());
    await new Ringback({ url: 'http://localhost', fetch }).get('r1').catch(() => {});
    return calls;
  },
  tokens: async () => {
    let fetched = 0;
    let late = 0;
    const token = async () => (await moment(), `token ${++fetched}`);
    const fetch = async (_: unknown, init?: RequestInit) => {
      const { Authorization } = init!.headers as Record<string, string>;
      if (Authorization === 'Bearer token 1') await moment(10 * ++late); // each is refused when another token is known, or on its way
      return Authorization === 'Bearer token 1' ? json({ error: 'expired' }, 401) : json({ requestId: 'r1' });
    };
    const client = new Ringback({ url: 'http://localhost', token, fetch: fetch as typeof globalThis.fetch });
    await Promise.all(['a', 'b', 'c', 'd'].map((id) => client.get(id)));
    return fetched;
  },
  throwing: async () => {
    const client = clientOf('u1', () => ({ events: [] }));
    let thrown = 0;
    process.on('uncaughtException', () => thrown++);
    const told: string[] = [];
    const onEvent = ({ id }: JobEvent) => {
      told.push(id);
      throw new Error('of the page');
    };
    client.listen({ requestId: 'r1', onEvent, onLive: () => told.push('live') });
    await until(() => Socket.all[0]?.sent.length);
    for (const id of [1, 2, 3]) Socket.all[0]!.tell(event(id));
    await until(() => told.includes('live'));
    Socket.all[0]!.tell(event(4));
    await until(() => thrown === 4);
    client.close();
    return [...told, thrown];
  },
  foreign: async () => {
    Socket.owner = 'u2';
    const client = clientOf('u1', () => ({ events: [] }));
    const told: string[] = [];
    const both = [1, 2].map(() => client.listen({ requestId: 'r1', onEvent: ({ id }) => told.push(id), onError: (error) => told.push(String(error)) }));
    const owners = () => Socket.all.find(({ user }) => user === 'u2');
    await until(() => owners()?.sent.length === 2);
    owners()!.tell(event(7));
    await until(() => told.length === 2);
    both.forEach((stop) => stop());
    return told;
  },
  forbidden: async () => {
    Socket.owner = 'nobody';
    Socket.all = [];
    const fetch = async (url: unknown) => (String(url).includes('/events') ? json({ events: [] }) : json({ error: 'No job' }, 404));
    const client = new Ringback({ url: 'http://localhost', userId: 'u1', fetch: fetch as typeof globalThis.fetch, WebSocket: Socket as unknown as typeof WebSocket });
    try {
      for await (const event of client.watch('r1')) return event;
    } catch (error) {
      return (error as RingbackError).status;
    }
  },
  text: async () => {
    const client = clientOf('u1', () => ({ events: [] }));
    const onText = () => {};
    const all = client.listen({ onEvent: () => {} });
    const [first, second] = [1, 2].map(() => client.listen({ requestId: 'r1', onEvent: () => {}, onText }));
    await until(() => Socket.all[0]?.sent.length === 2);
    const { sent } = Socket.all[0]!;
    sent.length = 0;
    first!();
    const early = sent.length;
    second!();
    all();
    return [early, ...sent];
  },
  repeated: async () => {
    let kept = [event(8), event(9), event(10)];
    const told: string[] = [];
    const client = clientOf('u1', () => ({ events: after(told.length ? told.at(-1)! : '0', kept) }));
    client.listen({ requestId: 'r1', onEvent: ({ id }) => told.push(id), onResync: () => told.push('resync') });
    await until(() => Socket.all[0]?.sent.length);
    const socket = Socket.all[0]!;
    for (const id of [9, 10, 11]) socket.tell(event(id)); // while the past is read: two are read, too
    await until(() => told.includes('11'));
    for (const id of [10, 11, 12]) socket.tell(event(id));
    socket.tell({ event: 'resync' }); // the store has gone back
    kept = [event(8), event(9)];
    for (const id of [6, 6, 7, 13]) socket.tell(event(id));
    client.close();
    return told;
  },
};

for (const name of process.argv[3]!.split(' ')) console.log(name, JSON.stringify(await cases[name]!(process.argv[2]!)));
