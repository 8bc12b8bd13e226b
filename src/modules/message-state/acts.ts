import type { MessageAct } from './message.types.js';
import { timeOf } from './facts.repository.js';
import type { Fact } from './facts.types.js';
import type { MessageCase } from './message-case.js';

/** A row of `message_act`. Times are microseconds since the epoch. */
type ActRow = Pick<MessageAct, 'apiKeyId' | 'failureCategory' | 'errorCode'> & {
  act: 'retried' | 'canceled';
  messageId: string;
  organizationId: string;
  at: number | null;
  queuedAt: number | null;
  failedAt: number | null;
};

/** What is kept of a retry or a cancel that was applied. */
export function actOf(fact: Fact, { message, state }: MessageCase): ActRow | null {
  const of = { messageId: message.id, organizationId: message.organizationId };
  if (fact.kind === 'canceled') {
    const nothing = { queuedAt: null, failedAt: null, failureCategory: null, errorCode: null };
    return { ...of, at: state.failedAt, act: 'canceled', apiKeyId: fact.apiKeyId ?? null, ...nothing };
  }
  if (fact.kind !== 'retry') return null;
  const { queuedAt, failedAt, failureCategory, errorCode } = message.state;
  const ended = { queuedAt, failedAt, failureCategory, errorCode };
  return { ...of, at: message.now, act: 'retried', apiKeyId: fact.apiKeyId ?? null, ...ended };
}

const time = (name: string): string => timeOf(`"${name}"`);

/** $1 rows. */
export const INSERT_ACTS = `
insert into message_act (message_id, organization_id, at, act, api_key_id, queued_at, failed_at, failure_category, error_code)
select "messageId", "organizationId", ${time('at')}, act, "apiKeyId", ${time('queuedAt')}, ${time('failedAt')}, "failureCategory",
  "errorCode"
from json_to_recordset($1) as a ("messageId" uuid, "organizationId" uuid, at float8, act text, "apiKeyId" text,
  "queuedAt" float8, "failedAt" float8, "failureCategory" text, "errorCode" text)`;
