import { follow } from './follow.js';

declare const process: { argv: string[] };

await follow(JSON.parse(process.argv[2]!), (requestId, id) => console.log(JSON.stringify([requestId, id])));
