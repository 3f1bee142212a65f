// Writes to a chat, with and without the job next to which it is shown.
import { Ringback, RingbackError } from 'ringback-client';

declare const process: { argv: string[] };

const client = new Ringback({ url: process.argv[2]! });
await client.say('s1', 'anyone');
await client.say('s1', 'yes', { question: 3, requestId: 'req_1' });
await client.say('s1', 'no more', { question: 0, requestId: 'req_1', mayStart: false }).catch((error: RingbackError) => console.log(error.status));
