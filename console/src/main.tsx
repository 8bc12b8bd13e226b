import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { ApiError } from './api.ts';
import './style.css';

const RETRIES = 20;
const RETRY_MS = 1_500;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // A refusal stays one; a service that is away comes back.
      retry: (count, error) => error instanceof ApiError && error.status === 0 && count < RETRIES,
      retryDelay: RETRY_MS,
      refetchOnWindowFocus: false,
    },
  },
});

const root = document.querySelector('#root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}
