import type { InboundNotification, RawNotification } from '../notifications/outgoing.js';
import type { PlanName } from '../messages/status-plan.js';
import type { PricingCategory, TakenMessage } from '../messages/taken-message.js';

/** A notification that is no status: kept until it is acknowledged. */
export type QueuedNotification = InboundNotification | RawNotification;

/**
 * The journal's lines, one letter and tab-separated fields. Not JSON objects, because a million of them are read at
 * start; the body stands last and stays text.
 * - `m` a message was taken
 * - `d` steps were acknowledged: pairs of sequence and bits
 * - `q` a notification was queued, `x` it was acknowledged
 * - `i` ids of a customer's message, `r` everything before this line is void
 */
export function messageLine(m: TakenMessage): string {
  return (
    `m\t${m.sequence}\t${m.doneSteps}\t${m.id}\t${m.phoneNumberId}\t${m.to}\t${m.waId ?? ''}\t${m.type}\t${m.pricing}\t` +
    `${m.takenAt}\t${m.plan}\t${JSON.stringify(m.callback)}\t${m.rawBody}\n`
  );
}

/** Reads an `m` line's fields back. Throws where the line was torn. */
export function parseMessage(line: string): TakenMessage {
  const fields: string[] = [];
  let from = 2;
  for (let i = 0; i < 11; i++) {
    const to = line.indexOf('\t', from);
    if (to === -1) throw new Error('torn line');
    fields.push(line.slice(from, to));
    from = to + 1;
  }
  const [sequence, done, id, phoneNumberId, to, waId, type, pricing, takenAt, plan, callback] = fields as [
    ...(readonly [string, string, string, string, string, string, string]),
    PricingCategory,
    string,
    PlanName,
    string,
  ];
  const rawBody = line.slice(from);
  if (!rawBody.endsWith('}')) throw new Error('torn line');
  return {
    sequence: Number(sequence),
    doneSteps: Number(done),
    id,
    phoneNumberId,
    to,
    waId: waId === '' ? null : waId,
    type,
    pricing,
    takenAt: Number(takenAt),
    plan,
    callback: JSON.parse(callback) as string | null,
    rawBody,
    toldSteps: 0,
  };
}

export function doneLine(steps: readonly (readonly [sequence: number, bits: number])[]): string {
  return `d\t${steps.map(([sequence, bits]) => `${sequence}:${bits}`).join(' ')}\n`;
}

export function parseDone(line: string): [sequence: number, bits: number][] {
  return line
    .slice(2)
    .split(' ')
    .map((pair) => {
      const [sequence, bits] = pair.split(':').map(Number);
      if (!Number.isInteger(sequence) || !Number.isInteger(bits)) throw new Error('torn line');
      return [sequence as number, bits as number];
    });
}

export function queuedLine(item: QueuedNotification): string {
  return `q\t${item.sequence}\t${JSON.stringify(item)}\n`;
}

export function parseQueued(line: string): QueuedNotification {
  return JSON.parse(line.slice(line.indexOf('\t', 2) + 1)) as QueuedNotification;
}
