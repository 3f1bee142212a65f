// Listens where it may not, and tells with which status each attempt ends.
import { Ringback, RingbackError } from 'ringback-client';

declare const process: { argv: string[] };

const { url, token } = JSON.parse(process.argv[2]!) as { url: string; token: string };
const attempts = {
  anotherUser: new Ringback({ url, token, userId: 'u2' }),
  wrongKey: new Ringback({ url, token: 'wrong' }),
  wrongTokens: new Ringback({ url, token: async () => 'wrong' }),
};
for (const [name, client] of Object.entries(attempts)) {
  const error = await new Promise((resolve) => client.listen({ onEvent: () => {}, onError: resolve }));
  console.log(name, error instanceof RingbackError ? error.status : error);
}
