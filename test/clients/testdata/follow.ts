// Follows jobs by the client, and tells the id of each event as it comes.
import { Ringback } from 'ringback-client';

export interface Settings {
  url: string;
  /** Where tokens are fetched. */
  tokens: string;
  heartbeat: number;
  requestIds: string[];
}

export async function follow({ url, tokens, heartbeat, requestIds }: Settings, tell: (requestId: string, id: string) => void): Promise<void> {
  const client = new Ringback({ url, heartbeat, token: async () => (await fetch(tokens)).text() });
  await Promise.all(
    requestIds.map(async (requestId) => {
      for await (const event of client.watch(requestId)) tell(requestId, event.type === 'resync' ? `resync ${event.job.status}` : event.id);
    }),
  );
}
