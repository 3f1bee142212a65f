// Makes each call once, and prints those that fail with a 503.
import { Ringback, type RingbackError } from 'ringback-client';

declare const process: { argv: string[] };

const client = new Ringback({ url: process.argv[2]! });
const calls: Record<string, () => Promise<unknown>> = {
  get: () => client.get('req_1'),
  list: () => client.list(),
  create: () => client.create('media', { media_type: 'image', prompt: 'a lake' }),
  reply: () => client.reply('chk_1', { decision: 'approve' }),
  'approve a question': () => client.approve('req_1', { checkpointId: 'chk_1' }),
  'reject a question': () => client.reject('req_1', { checkpointId: 'chk_1' }),
  'reject whatever is asked': () => client.reject('req_1'),
  steer: () => client.steer('req_1', 'shorter'),
  interrupt: () => client.interrupt('req_1'),
  say: () => client.say('s1', 'Hello'),
};
for (const [name, call] of Object.entries(calls)) await call().catch((error: RingbackError) => console.log(`${name}: ${error.status}`));
