import type { Schemas } from './api.ts';
import { State, type Tone } from './parts.tsx';

export type Campaign = Schemas['TagListItem'];

const CAMPAIGN_STATES: Readonly<Record<Campaign['status'], readonly [tone: Tone, words: string]>> = {
  active: ['good', 'active'],
  paused: ['warn', 'paused'],
  scheduled: ['none', 'waits for its start'],
  resuming: ['none', 'is being resumed'],
  canceling: ['warn', 'is being canceled'],
  retrying: ['none', 'is being retried'],
};

export const numberText = (count: number): string => count.toLocaleString();

export function CampaignState({ campaign: { status, counts } }: { campaign: Campaign }) {
  const [tone, words] = CAMPAIGN_STATES[status];
  const waits = (counts.queued ?? 0) + (counts.processing ?? 0) > 0;
  if (status === 'active') return <State tone={waits ? 'good' : 'none'}>{waits ? 'is sending' : 'done'}</State>;
  return <State tone={tone}>{words}</State>;
}
