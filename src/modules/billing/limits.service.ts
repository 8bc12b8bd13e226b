import type { AppError } from '../../common/app-error.js';
import type { Statements } from '../../infrastructure/database/database.js';
import { insertWebhookEvents, isoTime } from '../webhook/webhook.types.js';
import { billingErrors } from './billing.errors.js';

export const LIMIT_KINDS = ['messages_per_day', 'marketing_per_recipient_per_week'] as const;
export type LimitKind = (typeof LIMIT_KINDS)[number];

/** A message as far as limits are concerned. */
export interface CountedMessage {
  id: string;
  organizationId: string;
  /** Digits, or a user id. */
  recipient: string;
  isMarketing: boolean;
}

/** How much of a limit is used. */
export interface LimitState {
  kind: LimitKind;
  limit: number;
  used: number;
  renewsAt: Date;
  retryAfterSeconds: number;
}

/** The limits of a workspace, and the day and the week that it is there. */
interface LimitsRow {
  organizationId: string;
  messagesPerDay: number | null;
  marketingPerRecipientPerWeek: number | null;
  day: string;
  week: string;
  dayEnds: Date;
  weekEnds: Date;
  now: Date;
}

/** One count: of a workspace and period, or of a recipient in it. */
interface Account extends LimitState {
  organizationId: string;
  recipient: string;
  period: string;
  /** Since it was read. */
  taken: number;
  warned: number;
  /** A share that was reached now, in per cent; 0: none. */
  reached: number;
}

/** Shares of a limit that are announced, in per cent. */
const WARNED_AT = [100, 80];

/**
 * The limits of the workspaces of a transaction, which locks them to its end: of several processes one counts at a time,
 * so exactly as many messages are taken as a limit says. Lock nothing of a message afterwards that another transaction may
 * hold while it waits for the workspace.
 */
export class LimitBook {
  private readonly limits: ReadonlyMap<string, LimitsRow>;
  private readonly accounts = new Map<string, Account>();
  private readonly reserved: { message: CountedMessage; accounts: readonly Account[] }[] = [];

  private constructor(
    rows: readonly LimitsRow[],
    private readonly statements: Statements,
  ) {
    this.limits = new Map(rows.map((row) => [row.organizationId, row]));
  }

  /** Locks the workspaces that have limits, in one order, and reads what is used. In a transaction. */
  static async open(messages: readonly CountedMessage[], statements: Statements): Promise<LimitBook> {
    const ids = [...new Set(messages.map(({ organizationId }) => organizationId))];
    const rows = await statements.query<LimitsRow>(`${LIMITS} order by o.id for no key update of o`, [ids]);
    const book = new LimitBook(rows, statements);
    if (rows.length > 0) {
      await statements.execute(SETTLE, [rows.map(({ organizationId }) => organizationId)]);
      await book.read(messages);
    }
    return book;
  }

  /** What is used at this moment, without a lock. */
  static async states(message: CountedMessage, statements: Statements): Promise<LimitState[]> {
    const rows = await statements.query<LimitsRow>(LIMITS, [[message.organizationId]]);
    const book = new LimitBook(rows, statements);
    await book.read([message]);
    return book.accountsOf(message);
  }

  /** Counts the messages that have room, in their order, each as if it were taken; returns the others. */
  split<M extends CountedMessage>(messages: readonly M[]): { fit: M[]; over: M[] } {
    const planned = new Map<Account, number>();
    const fit: M[] = [];
    const over: M[] = [];
    for (const message of messages) {
      const accounts = this.accountsOf(message);
      const hasRoom = accounts.every((account) => account.used + (planned.get(account) ?? 0) < account.limit);
      (hasRoom ? fit : over).push(message);
      if (hasRoom) for (const account of accounts) planned.set(account, (planned.get(account) ?? 0) + 1);
    }
    return { fit, over };
  }

  /** The message was made. */
  take(message: CountedMessage): void {
    const accounts = this.accountsOf(message);
    if (accounts.length === 0) return;
    for (const account of accounts) {
      account.used += 1;
      account.taken += 1;
      if (account.kind === 'messages_per_day') {
        const share = WARNED_AT.find((percent) => account.used * 100 >= account.limit * percent) ?? 0;
        if (share > account.warned) account.warned = account.reached = share;
      }
    }
    this.reserved.push({ message, accounts });
  }

  /** Why the message has no room. */
  refusalOf(message: CountedMessage): LimitState | null {
    return this.accountsOf(message).find(({ used, limit }) => used >= limit) ?? null;
  }

  /** Writes what was taken, with the events of shares that were reached. */
  async write(): Promise<void> {
    if (this.reserved.length === 0) return;
    const used = [...this.accounts.values()].filter(({ taken }) => taken > 0);
    const rows = this.reserved.map(({ message: { id, organizationId }, accounts }) => {
      const week = accounts.find(({ kind }) => kind === 'marketing_per_recipient_per_week');
      const day = accounts.find(({ kind }) => kind === 'messages_per_day');
      return { id, organizationId, day: day?.period, week: week?.period, recipient: week?.recipient };
    });
    await this.statements.execute(WRITE, [JSON.stringify(used), JSON.stringify(rows)]);
    const reached = used.filter(({ reached: percent }) => percent > 0);
    if (reached.length > 0) await this.statements.execute(ANNOUNCE, [JSON.stringify(reached)]);
  }

  private async read(messages: readonly CountedMessage[]): Promise<void> {
    for (const message of messages) this.open(message);
    const keys = [...this.accounts.values()];
    if (keys.length === 0) return;
    const rows = await this.statements.query<{ index: number; used: number; warned: number }>(USED, [
      JSON.stringify(keys.map((key, index) => ({ ...key, index }))),
    ]);
    for (const { index, used, warned } of rows) Object.assign(keys[index] as Account, { used, warned });
  }

  private open({ organizationId, recipient, isMarketing }: CountedMessage): void {
    const row = this.limits.get(organizationId);
    if (row === undefined) return;
    this.add(row, 'messages_per_day', row.messagesPerDay, '', row.day, row.dayEnds);
    if (!isMarketing) return;
    const { marketingPerRecipientPerWeek: limit, week, weekEnds } = row;
    this.add(row, 'marketing_per_recipient_per_week', limit, recipient, week, weekEnds);
  }

  private add(
    { organizationId, now }: LimitsRow,
    kind: LimitKind,
    limit: number | null,
    recipient: string,
    period: string,
    renewsAt: Date,
  ): void {
    const key = keyOf(organizationId, kind, recipient);
    if (limit === null || this.accounts.has(key)) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((renewsAt.getTime() - now.getTime()) / 1_000));
    const counts = { used: 0, taken: 0, warned: 0, reached: 0 };
    this.accounts.set(key, { organizationId, kind, limit, recipient, period, renewsAt, retryAfterSeconds, ...counts });
  }

  private accountsOf({ organizationId, recipient, isMarketing }: CountedMessage): Account[] {
    const keys = [keyOf(organizationId, 'messages_per_day', '')];
    if (isMarketing) keys.push(keyOf(organizationId, 'marketing_per_recipient_per_week', recipient));
    return keys.flatMap((key) => this.accounts.get(key) ?? []);
  }
}

/** WORKSPACE_LIMIT_REACHED (429), or RECIPIENT_LIMIT_REACHED (422). */
export function limitReached(state: LimitState): AppError {
  return state.kind === 'messages_per_day'
    ? billingErrors.WORKSPACE_LIMIT_REACHED(state)
    : billingErrors.RECIPIENT_LIMIT_REACHED(state);
}

function keyOf(organizationId: string, kind: LimitKind, recipient: string): string {
  return `${organizationId}/${kind}/${recipient}`;
}

const LIMITS = `
select o.id as "organizationId", o.messages_per_day as "messagesPerDay",
  o.marketing_per_recipient_per_week as "marketingPerRecipientPerWeek", now.at as now,
  to_char(local.at, 'YYYY-MM-DD') as day, to_char(date_trunc('week', local.at), 'YYYY-MM-DD') as week,
  (date_trunc('day', local.at) + interval '1 day') at time zone o.time_zone as "dayEnds",
  (date_trunc('week', local.at) + interval '1 week') at time zone o.time_zone as "weekEnds"
from organization o cross join (select clock_timestamp() as at) as now
cross join lateral (select now.at at time zone o.time_zone as at) as local
where o.id = any($1::uuid[]) and coalesce(o.messages_per_day, o.marketing_per_recipient_per_week) is not null`;

// Those of messages that failed unsent.
const SETTLE = `
with gone as (
  delete from limit_reservation where organization_id = any($1::uuid[]) and released
  returning organization_id, day, week, recipient
), back as (
  select organization_id, 'messages_per_day' as kind, '' as recipient, day as period, count(*)::integer as n
  from gone where day is not null group by organization_id, day
  union all
  select organization_id, 'marketing_per_recipient_per_week', recipient, week, count(*)::integer
  from gone where week is not null and recipient is not null group by organization_id, recipient, week
)
update limit_use u set used = greatest(0, u.used - back.n) from back
where u.organization_id = back.organization_id and u.kind = back.kind and u.recipient = back.recipient
  and u.period = back.period`;

// Less what failed and was not subtracted yet: nothing, where the workspace is locked.
const USED = `
select k.index, u.warned, greatest(0, u.used - (
  select count(*)::integer from limit_reservation r where r.organization_id = u.organization_id and r.released
    and case k.kind when 'messages_per_day' then r.day = u.period else r.week = u.period and r.recipient = u.recipient end
  )) as used
from json_to_recordset($1) as k (index integer, "organizationId" uuid, kind text, recipient text, period date)
join limit_use u on u.organization_id = k."organizationId" and u.kind = k.kind and u.recipient = k.recipient
  and u.period = k.period`;

const WRITE = `
with counted as (
  insert into limit_use as u (organization_id, kind, recipient, period, used, warned)
  select "organizationId", kind, recipient, period, taken, warned
  from json_to_recordset($1) as k ("organizationId" uuid, kind text, recipient text, period date, taken integer, warned integer)
  on conflict (organization_id, kind, recipient, period)
  do update set used = u.used + excluded.used, warned = greatest(u.warned, excluded.warned)
)
insert into limit_reservation (message_id, organization_id, day, week, recipient)
select id, "organizationId", day, week, recipient
from json_to_recordset($2) as r (id uuid, "organizationId" uuid, day date, week date, recipient text)
on conflict (message_id)
do update set day = excluded.day, week = excluded.week, recipient = excluded.recipient, released = false`;

const ANNOUNCE = `
with reached as (
  select "organizationId" as organization_id, 'workspace.limit.reached'::text as event_type, now.at as occurred_at,
    null::uuid[] as connection_ids, null::bytea as trace_context, jsonb_build_object('kind', kind, 'percent', reached,
      'limit', k."limit", 'used', used, 'remaining', greatest(0, k."limit" - used), 'renews_at', ${isoTime('k."renewsAt"')},
      'occurred_at', ${isoTime('now.at')}) as event_data
  from json_to_recordset($1) as k ("organizationId" uuid, kind text, "limit" integer, used integer, reached integer,
    "renewsAt" timestamptz) cross join (select clock_timestamp() as at) as now
), ${insertWebhookEvents('reached')}
select count(*) from announced`;
