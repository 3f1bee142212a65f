// Watches a job whose text comes in pieces, one of which is missing, and prints what it is told.
import { Ringback } from 'ringback-client';

const piece = (block: number, piece: number, text: string, whole?: boolean, thinking?: boolean) =>
  ({ event: 'talk:text', requestId: 'req_1', userId: 'u1', data: { turn: 1, block, piece, text, whole, thinking } });
const frames = [
  piece(1, 7, 'Hel', true), piece(1, 8, 'lo'), piece(1, 10, '!'),
  piece(2, 1, 'Hm', true, true),
  piece(3, 1, 'Bye', true),
  { id: '1-1', event: 'talk:received', requestId: 'req_1', userId: 'u1', time: '2026-03-02T18:00:00Z', data: { suggestionId: 'req_1' } },
];

class Socket {
  onopen?: () => void;
  onmessage?: (message: { data: string }) => void;
  constructor() {
    setTimeout(() => this.onopen?.());
  }
  send(frame: string): void {
    const { type } = JSON.parse(frame);
    if (type === 'ping') setTimeout(() => this.onmessage?.({ data: '{"type":"pong"}' }));
    // Each frame in a moment of its own, so that each is read before the next one comes.
    if (type === 'subscribe') frames.forEach((frame, i) => setTimeout(() => this.onmessage?.({ data: JSON.stringify(frame) }), 20 * (i + 1)));
  }
  close(): void {}
}

const answer = async (url: unknown) => new Response(String(url).includes('/events') ? '{"events":[]}' : '{"status":"running"}');
const client = new Ringback({ url: 'http://localhost', fetch: answer as typeof fetch, WebSocket: Socket as unknown as typeof WebSocket });
for await (const told of client.watch('req_1', { text: true })) {
  console.log(told.type === 'text' ? `${told.data.block} ${told.data.thinking ? 'thinking ' : ''}${told.data.text}` : told.type);
}
