import type { ApiClient } from '../support/api-client.js';
import { waitFor } from '../support/wait-for.js';

export interface Replay {
  id: string;
  status: string;
  total: number;
  done: number;
  created_at: string;
  finished_at: string | null;
}

export const ago = (seconds: number): string => new Date(Date.now() - seconds * 1_000).toISOString();

export async function start(api: ApiClient, body: object): Promise<Replay> {
  const answer = await api.post('/webhook/replay', body);
  if (answer.status !== 202) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.data as Replay;
}

export const readReplay = async (api: ApiClient, id: string): Promise<Replay> =>
  (await api.get(`/webhook/replay/${id}`)).body.data as Replay;

export const ended = (api: ApiClient, id: string): Promise<Replay> =>
  waitFor(
    async () => {
      const replay = await readReplay(api, id);
      return replay.status === 'done' ? replay : undefined;
    },
    { what: 'the replay to end' },
  );
