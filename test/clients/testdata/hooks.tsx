// A page that shows what waits, and one job, by the hooks.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { Ringback } from 'ringback-client';
import { RingbackProvider, useInbox, useJob } from 'ringback-react';

const query = new URLSearchParams(location.search);
const ringback = new Ringback({ url: query.get('server')!, userId: 'u1' });

function Page() {
  const { checkpoints, isPending, reply } = useInbox();
  const { job, activity, writing, error } = useJob(query.get('job') ?? undefined, { text: true });
  return (
    <>
      <p>{isPending ? 'reading' : `${checkpoints.length} waiting`}</p>
      {checkpoints.map((checkpoint) => (
        <button key={checkpoint.id} onClick={() => void reply(checkpoint.id, { decision: 'approve' })}>
          {checkpoint.message}
        </button>
      ))}
      <p>
        job: {job?.status ?? 'none'} {activity?.message} {writing?.text} {error?.message}
      </p>
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
