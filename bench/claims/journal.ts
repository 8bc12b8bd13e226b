import type { BenchContext, Claim } from '../bench-context.js';
import { atMostTimes, type Finding } from '../finding.js';
import { median } from '../../test/support/rig/figures.js';
import { freePort } from '../../test/support/rig/free-port.js';
import { recipientNumber } from '../../test/support/rig/recipients.js';
import { conversationId, MESSAGES_EACH, seedJournal, userId } from '../../test/support/rig/seed-journal.js';
import { Stage } from '../../test/support/rig/stage.js';
import { journalWrites, type Grown } from './journal-writes.js';

const SMALL = 10_000;
const CONNECTIONS = 5;
/** So that pace does not bind. */
const THROUGHPUT = 10_000;

/** Its process has the role api only, until all pages are read. */
interface Journal extends Grown {
  /** Puts a process of both roles in place of the api's. */
  withWorker: () => Promise<Grown>;
}

/** A query string for the nth request; `turn` makes pages differ, so that not one page is read again and again. */
type Filter = (journal: Journal, turn: number) => Record<string, string>;

const connectionOf = (journal: Journal, turn: number): string =>
  journal.workspace.connections[turn % CONNECTIONS]?.id ?? '';

const numberOf = (journal: Journal, turn: number): string =>
  journal.workspace.connections[turn % CONNECTIONS]?.phoneNumber ?? '';

const contactOf = (journal: Journal, turn: number): number => turn % (journal.count / MESSAGES_EACH);

/** Some moment within the journal, which has a message a second. */
function within(journal: Journal, turn: number): string {
  return new Date(Date.now() - ((turn * 7_919) % journal.count) * 1_000).toISOString();
}

const FILTERS: Readonly<Record<string, Filter>> = {
  'no filter': () => ({}),
  'before a time': (journal, turn) => ({ before: within(journal, turn) }),
  'before a time and id': (journal, turn) => ({
    before: within(journal, turn),
    before_id: 'ffffffff-ffff-7fff-bfff-ffffffffffff',
  }),
  connection_id: (journal, turn) => ({ connection_id: connectionOf(journal, turn) }),
  'status=read': () => ({ status: 'read' }),
  'status=failed (one in a hundred)': () => ({ status: 'failed' }),
  'status=outcome_unknown (60 in all)': () => ({ status: 'outcome_unknown' }),
  'status=queued (one in a hundred)': () => ({ status: 'queued' }),
  'status=processing': () => ({ status: 'processing' }),
  'direction=outbound': () => ({ direction: 'outbound' }),
  'direction=inbound': () => ({ direction: 'inbound' }),
  // The short journal has no more of them.
  'from one of our numbers, failed, twenty': (journal, turn) => ({
    from: numberOf(journal, turn),
    status: 'failed',
    limit: '20',
  }),
  'from a customer': (journal, turn) => ({ from: recipientNumber(contactOf(journal, turn)) }),
  'connection_id, status and before': (journal, turn) => ({
    connection_id: connectionOf(journal, turn),
    status: 'delivered',
    before: within(journal, turn),
  }),
  conversation_id: (journal, turn) => ({ conversation_id: conversationId(contactOf(journal, turn)) }),
  'conversation_id, outbound': (journal, turn) => ({
    conversation_id: conversationId(contactOf(journal, turn)),
    direction: 'outbound',
  }),
  'conversation_id, queued': (journal, turn) => ({
    conversation_id: conversationId(contactOf(journal, turn)),
    status: 'queued',
  }),
  recipient: (journal, turn) => ({ recipient: userId(contactOf(journal, turn)) }),
  to: (journal, turn) => ({ to: recipientNumber(contactOf(journal, turn)) }),
  'to, failed': (journal, turn) => ({ to: recipientNumber(contactOf(journal, turn)), status: 'failed' }),
  client_message_id: (journal, turn) => ({ client_message_id: `order-${contactOf(journal, turn)}` }),
};

/** Pages of fifty, and new messages, in a short and in a long journal. */
export const journalClaim: Claim = {
  name: 'journal',
  measure: (context) =>
    context.scope.within(async (scope) => {
      const large = context.quick ? 500_000 : 5_000_000;
      const [small, big] = [await open(context, scope, SMALL), await open(context, scope, large)];
      const turns = context.quick ? 100 : 400;
      const findings: Finding[] = [];
      for (const [name, filter] of Object.entries(FILTERS)) {
        const [smallMs, bigMs] = await compare(small, big, filter, turns);
        context.say(`journal, ${name}: ${smallMs.toFixed(2)} and ${bigMs.toFixed(2)} ms`);
        findings.push(
          atMostTimes(
            1.2,
            { claim: `journal page of 50 in ${large} rows, ${name}`, value: bigMs, unit: 'ms' },
            { name: `in ${SMALL} rows`, value: smallMs },
          ),
        );
      }
      return [...findings, ...(await journalWrites(context, scope, await small.withWorker(), await big.withWorker()))];
    }),
};

async function open(context: BenchContext, scope: BenchContext['scope'], count: number): Promise<Journal> {
  const port = await freePort();
  const webhookUrl = `http://127.0.0.1:${port}/platform/whatsapp/webhook`;
  const simulator = { statuses: 'on', webhookUrl } as const;
  const stage = await Stage.set(scope, await context.postgres(), 'journal', { simulator });
  const workspace = await stage.workspace(CONNECTIONS, THROUGHPUT);
  await seedJournal(stage.database.pool, workspace.connections, count);
  const api = await stage.herald('api', port);
  const journal = { database: stage.database, workspace, process: api, count };
  const withWorker = async (): Promise<Grown> => {
    await api.child.stop();
    return { ...journal, process: await stage.herald('api,worker', port) };
  };
  return { ...journal, withWorker };
}

/** Medians of milliseconds; the two take turns, so that both meet the same machine. */
async function compare(small: Journal, big: Journal, filter: Filter, turns: number): Promise<[number, number]> {
  const smallMs: number[] = [];
  const bigMs: number[] = [];
  // The first pages warm caches and compiler.
  for (let turn = -10; turn < turns; turn++) {
    const order = turn % 2 === 0 ? [small, big] : [big, small];
    for (const journal of order) {
      const ms = await page(journal, filter, turn + 10);
      if (turn >= 0) (journal === small ? smallMs : bigMs).push(ms);
    }
  }
  return [median(smallMs), median(bigMs)];
}

async function page(journal: Journal, filter: Filter, turn: number): Promise<number> {
  const query = new URLSearchParams(filter(journal, turn)).toString();
  const startedAt = performance.now();
  const response = await fetch(`${journal.process.url}/api/v1/messages?${query}`, {
    headers: { authorization: `Bearer ${journal.workspace.apiKey}` },
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`GET /messages?${query} was answered ${response.status}: ${text}`);
  return performance.now() - startedAt;
}
