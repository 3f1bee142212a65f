// A page that shows what waits, and one job, by the hooks.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Ringback } from 'ringback-client';
import { RingbackProvider, useChat, useInbox, useJob } from 'ringback-react';

const query = new URLSearchParams(location.search);
const ringback = new Ringback({ url: query.get('server')!, userId: 'u1' });

function Chat({ sessionId }: { sessionId: string }) {
  const { messages, say, look } = useChat(sessionId, { requestId: query.get('beside') ?? undefined, mayStart: query.has('start') || undefined });
  const [failure, setFailure] = useState('');
  return (
    <>
      <p>
        {messages.length} said, fresh: {messages.filter(({ isFresh }) => isFresh).map(({ content }) => content).join('; ') || 'none'}.
      </p>
      <p>{failure}</p>
      <button onClick={look}>Look</button>
      <button onClick={() => void say('Hello')}>Greet</button>
      <button onClick={() => void say('yes').catch((failure: Error) => setFailure(failure.message))}>Agree</button>
    </>
  );
}

function Page() {
  const { checkpoints, isPending, reply } = useInbox();
  const [requestId, setRequestId] = useState(query.get('job') ?? undefined);
  const { job, activity, writing, error } = useJob(requestId, { text: true });
  return (
    <>
      <p>{isPending ? 'reading' : `${checkpoints.length} waiting`}</p>
      {checkpoints.map((checkpoint) => (
        <button key={checkpoint.id} onClick={() => void reply(checkpoint.id, { decision: 'approve' })}>
          {checkpoint.message}
        </button>
      ))}
      {query.has('chat') && <Chat sessionId={query.get('chat')!} />}
      <p>
        job: {job?.status ?? 'none'} {activity?.message} {writing?.text} error: {error?.message ?? 'none'}
      </p>
      <button onClick={() => setRequestId(undefined)}>Forget</button>
    </>
  );
}

createRoot(document.getElementById('root')!).render(
  <QueryClientProvider client={new QueryClient()}>
    <RingbackProvider client={ringback}>
      <Page />
    </RingbackProvider>
  </QueryClientProvider>,
);
