// What the types of the client say of events and kinds. It is never run.
import type { Ringback } from 'ringback-client';

declare module 'ringback-client' {
  interface Kinds {
    haiku: { input: { topic: string }; result: { lines: [string, string, string] } };
  }
}

export async function builtIn(client: Ringback): Promise<string> {
  const { requestId } = await client.create('meal-suggestions', { dateRangeStart: '2026-03-02', dateRangeEnd: '2026-03-04', mealTypes: ['dinner'] });
  // @ts-expect-error the kind's input has no such field
  await client.create('meal-suggestions', { dateRangeStart: '2026-03-02', dateRangeEnd: '2026-03-04', guests: 2 });
  for await (const event of client.watch<'meal-suggestions'>(requestId)) {
    switch (event.type) {
      case 'activity':
        return event.data.message;
      case 'partial':
        return event.data.suggestions[0]!.recipe.name;
      case 'error':
        return event.data.error;
      case 'checkpoint':
        await client.reply(event.data.id, { decision: 'approve' });
        break;
      case 'resync':
        return event.job.status;
    }
  }
  await client.list({ status: 'failed' });
  await client.list({ status: ['failed', 'expired'] });
  // @ts-expect-error there is no such state
  await client.list({ status: ['failed', 'done'] });
  for await (const event of client.watch(requestId, { text: true })) if (event.type === 'text') return event.data.text;
  const job = await client.get<'meal-suggestions'>(requestId);
  return job.result?.reasoning ?? '';
}

export async function own(client: Ringback): Promise<string | undefined> {
  const { requestId } = await client.create('haiku', { topic: 'autumn' });
  // @ts-expect-error the topic is missing
  await client.create('haiku', {});
  return (await client.get<'haiku'>(requestId)).result?.lines[1];
}

export async function undeclared(client: Ringback): Promise<unknown> {
  const { requestId } = await client.create('sonnet', { whatever: true });
  return (await client.get(requestId)).result?.['lines'];
}
