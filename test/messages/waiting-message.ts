import type { SendingWorkspace } from './fixture.js';

/** What a queued message says of its wait. */
export interface Waiting {
  waiting?: { reason: string; until: string | null; ahead: number };
  estimated_send_at?: string | null;
  expires_at?: string;
}

export const waitingOf = async (workspace: SendingWorkspace, id: string) =>
  (await workspace.message(id)) as Waiting & Record<string, unknown>;
