// A page that asks for suggestions of which the test plays Claude, and shows them twice: by the
// hook that asks, and by one that only follows.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { Ringback } from 'ringback-client';
import { RingbackProvider, useJob, useSuggestions } from 'ringback-react';

const url = new URLSearchParams(location.search).get('server')!;
const played: typeof fetch = (input, init) => {
  const body = init?.method === 'POST' && JSON.stringify({ ...JSON.parse(String(init.body)), options: { simulate: 'manual' } });
  return fetch(input, body ? { ...init, body } : init);
};
const ringback = new Ringback({ url, userId: 'u1', fetch: played });

function Page() {
  const { start, requestId, isRunning, suggestions, job } = useSuggestions();
  return (
    <>
      <button onClick={() => start({ dateRangeStart: '2026-03-02', dateRangeEnd: '2026-03-04' })}>Suggest</button>
      <p>
        asked: {isRunning ? 'running' : 'at rest'} {suggestions.map(({ recipe }) => recipe.name).join(', ')}. {job?.result?.reasoning}
      </p>
      <Follower requestId={requestId} />
    </>
  );
}

function Follower({ requestId }: { requestId: string | undefined }) {
  const { suggestions, ended } = useJob<'meal-suggestions'>(requestId);
  return (
    <p>
      followed: {requestId} {ended ? 'ended' : 'open'} {suggestions.map(({ recipe }) => recipe.name).join(', ')}.
    </p>
  );
}

createRoot(document.getElementById('root')!).render(
  <QueryClientProvider client={new QueryClient()}>
    <RingbackProvider client={ringback}>
      <Page />
    </RingbackProvider>
  </QueryClientProvider>,
);
