import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { Ringback } from 'ringback-client';
import { RingbackProvider } from 'ringback-react';
import { Suggestions } from './suggestions.js';

// In production, your back end gives the page a token: { url, token: () => fetch('/token').then(…) }.
const url = new URLSearchParams(location.search).get('server') ?? 'http://localhost:3001';
const ringback = new Ringback({ url, userId: 'u1' });

createRoot(document.getElementById('root')!).render(
  <QueryClientProvider client={new QueryClient()}>
    <RingbackProvider client={ringback}>
      <Suggestions />
    </RingbackProvider>
  </QueryClientProvider>,
);
