import { useQuery } from '@tanstack/react-query';
import { api, ApiError, dataOf } from './api.ts';
import { useCan } from './session.ts';

// Herald may turn it off by itself.
const LOOK_MS = 15_000;

/** Null: there is none. */
export function useWebhook() {
  const can = useCan();
  return useQuery({
    queryKey: ['webhook'],
    queryFn: async ({ signal }) => {
      try {
        return (await dataOf(api.GET('/api/v1/webhook', { signal }))).data;
      } catch (error) {
        if (error instanceof ApiError && error.code === 'WEBHOOK_NOT_FOUND') return null;
        throw error;
      }
    },
    enabled: can('webhooks:read'),
    refetchInterval: LOOK_MS,
  });
}
