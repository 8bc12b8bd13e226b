import type { Database } from '../../src/infrastructure/database/database.js';
import type { AttemptFacts } from '../../src/modules/message-state/attempt-facts.js';
import type {
  Fact,
  LockedMessage,
  MessageState,
  Result,
  StatusEvent,
} from '../../src/modules/message-state/facts.types.js';
import { MessageCase } from '../../src/modules/message-state/message-case.js';

/** What is stored of a message, and what its facts led to; times are microseconds since the epoch. */
export type StoredMessage = Readonly<Record<'state' | 'queue' | 'attempts' | 'events' | 'body', unknown>>;
type Row = Record<string, unknown>;

/** What lists show of each. */
export const SHOWN = 'Hello';

/** Writes messages as `MessageCase` is to find them, each for a recipient of its own. */
export async function storeMessages(database: Database, messages: readonly LockedMessage[]): Promise<void> {
  const insert = (table: string, rows: readonly Row[]) => insertRows(database, table, rows);
  await insert(
    'message',
    messages.map((each) => ({
      ...ownerOf(each),
      id: each.id,
      direction: 'outbound',
      type: 'text',
      recipient: each.recipient,
      sendAt: (each.work?.scheduledFor ?? null) === null ? null : each.createdAt,
      ttlSeconds: each.timeToLive / 1_000_000,
    })),
  );
  await insert(
    'message_content',
    messages.map(({ id }) => ({ messageId: id, body: SHOWN, content: {} })),
  );
  await insert(
    'message_state',
    messages.map((each) => ({ ...ownerOf(each), messageId: each.id, ...each.state })),
  );
  await insert(
    'message_attempt',
    messages.flatMap(({ id, organizationId, attempts }) =>
      attempts.map((attempt) => ({ messageId: id, organizationId, ...attempt })),
    ),
  );
  await insert(
    'message_queue',
    messages.flatMap((each) => {
      if (each.work === null) return [];
      const { isHeld, isPaused, newDueAt: _, ...work } = each.work;
      const heldUntil = isPaused ? Infinity : (work.scheduledFor ?? each.createdAt);
      const held = { dueAt: dueAtOf(each), heldUntil: isHeld ? heldUntil : null };
      return [
        {
          ...ownerOf(each),
          messageId: each.id,
          recipient: each.recipient,
          retriedAt: each.state.retriedAt,
          ...work,
          ...held,
        },
      ];
    }),
  );
}

function dueAtOf({ work }: LockedMessage): number | null {
  return work === null || work.isHeld || work.attemptId !== null ? null : work.queuedAt;
}

/** What `MessageCase` makes of a message, transaction by transaction: what must be stored then. */
export class ExpectedMessage {
  readonly results: { result: Result; moved: boolean }[] = [];
  private readonly events: Row[] = [];
  private body = SHOWN;
  /** It entered the queue: it has a place there behind all others. */
  private isNewInQueue = false;

  /** @param turn default: as `storeMessages` has written it. */
  constructor(
    private message: LockedMessage,
    private turn: { dueAt: number | null; notBefore: number | null } = { dueAt: dueAtOf(message), notBefore: null },
  ) {}

  /** Applies facts that are read and written together. */
  apply(facts: readonly Fact[], now: number): void {
    const made = new MessageCase({ ...this.message, now });
    let entered = false;
    for (const fact of facts) {
      const [wasOut, known] = [made.work === null, made.events.length];
      this.results.push({ result: made.apply(fact), moved: made.events.length > known });
      entered ||= wasOut && made.work !== null;
    }
    const { work, state } = made;
    const isMoved = work !== null && (work.newDueAt !== null || work.attemptId !== this.message.work?.attemptId);
    if (entered || isMoved || work === null)
      this.turn = { dueAt: work?.newDueAt ?? null, notBefore: work?.newDueAt ?? null };
    this.isNewInQueue ||= entered;
    this.events.push(...made.events.map((event) => eventRow(event, state)));
    this.body = made.body ?? this.body;
    this.message = {
      ...this.message,
      state,
      work: work && { ...work, newDueAt: null },
      attempts: [...made.attempts.values()],
    };
  }

  get stored(): StoredMessage {
    const { state, work, attempts, id, organizationId, recipient } = this.message;
    const { newDueAt: _, ...row } = work ?? { newDueAt: null };
    const attention = ['failed', 'outcome_unknown'].includes(state.status) ? state.status : null;
    return {
      state: { ...ownerOf(this.message), messageId: id, attention, ...state },
      queue: work && {
        ...ownerOf(this.message),
        messageId: id,
        recipient,
        tag: null,
        retriedAt: state.retriedAt,
        ...row,
        ...this.turn,
        isNew: this.isNewInQueue,
      },
      attempts: attempts
        .map((attempt: AttemptFacts) => ({ messageId: id, organizationId, ...attempt }))
        .sort((a, b) => a.number - b.number),
      events: this.events,
      body: this.body,
    };
  }
}

// The log keeps milliseconds.
function eventRow({ from, to, at, attempt, failure, sequence }: StatusEvent, state: MessageState): Row {
  const { category, code, message } = failure;
  const isPriced = (state.pricingCategory ?? state.pricingType) !== null;
  const pricing = {
    billable: state.billable,
    category: state.pricingCategory,
    type: state.pricingType,
    subtype: state.pricingSubtype,
    model: state.pricingModel,
  };
  return {
    sequence,
    from,
    to,
    at: Math.floor(at / 1_000),
    recordedAt: Math.floor(at / 1_000),
    attempt,
    category,
    error: code === null && message === null ? null : { code: code ?? 'UNKNOWN', message: message ?? '' },
    pricing: isPriced ? pricing : null,
    isToBeDelivered: true,
  };
}

/** What is stored of messages. `seqs`: the places in the queue that they had. */
export async function readStored(
  database: Database,
  ids: readonly string[],
  seqs: ReadonlyMap<string, number>,
): Promise<Map<string, StoredMessage>> {
  const rows = await database.query<ReadRow>(STORED, [ids]);
  return new Map(
    rows.map(({ id, state, queue, attempts, events, body }) => [
      id,
      {
        state: columns(state),
        queue: queue && queueRow(columns(queue), seqs.get(id)),
        attempts: (attempts ?? []).map(columns),
        events: (events ?? []).map((event) => ({
          ...event,
          at: Date.parse(event.at),
          recordedAt: Math.floor(microsOf(event.recordedAt) / 1_000),
        })),
        body,
      },
    ]),
  );
}

/** The places in the queue. */
export async function seqsOf(database: Database, ids: readonly string[]): Promise<Map<string, number>> {
  const rows = await database.query<{ id: string; seq: number }>(
    'select message_id as id, seq::integer from message_queue where message_id = any($1::uuid[])',
    [ids],
  );
  return new Map(rows.map(({ id, seq }) => [id, seq]));
}

/** Where two values differ: the path of each place, and both. */
export function differences(expected: unknown, found: unknown, path = ''): string[] {
  if (Object.is(expected, found)) return [];
  if (!isObject(expected) || !isObject(found))
    return [`${path}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`];
  const keys = [...new Set([...Object.keys(expected), ...Object.keys(found)])];
  return keys.flatMap((key) => differences(expected[key], found[key], path === '' ? key : `${path}.${key}`));
}

interface ReadRow extends Row {
  id: string;
  state: Row;
  queue: Row | null;
  attempts: Row[] | null;
  events: (Row & { at: string; recordedAt: string })[] | null;
  body: string | null;
}

const STORED = `
select m.id, to_jsonb(s) as state, to_jsonb(q) as queue, c.body,
  (select jsonb_agg(to_jsonb(a) order by a.number) from message_attempt a where a.message_id = m.id) as attempts,
  told.events
from message m left join message_content c on c.message_id = m.id
left join message_state s on s.message_id = m.id left join message_queue q on q.message_id = m.id
left join (
  select e.data ->> 'message_id' as id, jsonb_agg(jsonb_build_object('sequence', e.data -> 'sequence',
    'from', e.data -> 'previous_status', 'to', e.data -> 'status', 'at', e.data -> 'occurred_at', 'recordedAt', e.occurred_at,
    'attempt', e.data -> 'attempt', 'category', e.data -> 'failure_category', 'error', e.data -> 'error', 'pricing', e.data -> 'pricing',
    'isToBeDelivered', exists (select from webhook_queue w where w.event_id = e.id))
    order by (e.data -> 'sequence')::integer, e.id) as events
  from webhook_event e where e.data ->> 'message_id' = any($1::text[]) group by 1) as told on told.id = m.id::text
where m.id = any($1::text[]::uuid[])`;

function queueRow({ seq, heldUntil, ...row }: Row, before: number | undefined): Row {
  const isNew = before === undefined || seq !== before;
  return { ...row, isHeld: heldUntil !== null, isPaused: heldUntil === Infinity, isNew };
}

const ownerOf = ({ organizationId, connectionId, conversationId, createdAt }: LockedMessage): Row => ({
  organizationId,
  connectionId,
  conversationId,
  createdAt,
});

async function insertRows(database: Database, table: string, rows: readonly Row[]): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const names = Object.keys(first).map(snake).join(', ');
  const values = rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([key, value]) => [snake(key), valueOf(key, value)])),
  );
  await database.execute(
    `insert into ${table} (${names}) select ${names} from jsonb_populate_recordset(null::${table}, $1)`,
    [JSON.stringify(values)],
  );
}

function columns(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      const key = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      return [key, IS_TIME.test(key) && typeof value === 'string' ? microsOf(value) : value];
    }),
  );
}

const IS_TIME = /(At|Until|scheduledFor|notBefore)$/;
const snake = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function valueOf(key: string, value: unknown): unknown {
  if (typeof value !== 'number' || !IS_TIME.test(key)) return value;
  if (value === Infinity) return 'infinity';
  const micros = String(value % 1_000_000).padStart(6, '0');
  return `${new Date(value / 1_000).toISOString().slice(0, 19)}.${micros}Z`;
}

function microsOf(time: string): number {
  if (time === 'infinity') return Infinity;
  const fraction = /\.(\d+)/.exec(time)?.[1] ?? '';
  return Math.floor(Date.parse(time) / 1_000) * 1_000_000 + Number(fraction.padEnd(6, '0'));
}

function isObject(value: unknown): value is Row {
  return typeof value === 'object' && value !== null;
}
