// Asks for one job of a server that is hard to reach.
import { Ringback } from 'ringback-client';

declare const process: { argv: string[] };

const tokens = ['first', 'second'];
const client = new Ringback({ url: process.argv[2]!, token: () => tokens.shift() });
console.log((await client.create('haiku', { topic: 'autumn' })).requestId);
