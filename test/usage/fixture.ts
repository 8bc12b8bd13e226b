import type { ApiClient } from '../support/api-client.js';

export const MEASURES = [
  'submitted',
  'accepted',
  'sent',
  'delivered',
  'read',
  'failed',
  'outcome_unknown',
  'received',
] as const;
export type Figures = Record<(typeof MEASURES)[number], number>;
export interface Row extends Figures {
  start: string;
  country?: string | null;
  connection?: string | null;
  connection_id?: string | null;
  billable: Record<string, number>;
  failures: Record<string, number>;
  cost: Cost | null;
  cost_of_priced: Cost | null;
  unpriced: Record<string, number>;
}
export interface Cost {
  currency: string;
  amount: string;
}

export async function usage(api: ApiClient, query = ''): Promise<{ data: Row[]; totals: Row; as_of: string | null }> {
  const { status, body } = await api.get(`/usage?${query}`);
  expect(status).toBe(200);
  return body as unknown as { data: Row[]; totals: Row; as_of: string | null };
}
